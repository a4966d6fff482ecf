// `baton status`: what runs or waits, and what ended last.
import type { Status } from '../../app/operations/status.ts';
import type { Usage } from '../../kernel/state.ts';
import { again, type Call, EXIT, flag, out, outJson } from '../command.ts';
import { costText } from '../cost-text.ts';
import { oneLine } from '../safe-text.ts';
import { allowed } from '../show-operation.ts';

export async function run(call: Call): Promise<number> {
  if (flag(call.values, 'metrics')) return (await import('../metrics.ts')).showMetrics(call);
  const status = (await allowed(call, 'status', {})) as unknown as Status;
  if (call.json) outJson(status);
  else if (status.head === 0)
    out(`${status.workspace}: no cast was run here yet. Start one with: ${again(call)} cast "…"`);
  else for (const line of lines(status, again(call))) out(line);
  return EXIT.ok;
}

function lines({ workspace, hold, trust, down, open, ended, cutOff }: Status, baton: string): string[] {
  return [
    // Whether a cast is trusted is said with the cast: a bundled loadout brings a registry of its own.
    `${workspace}  (${trust === 'on' ? 'its registry is in force' : 'no registry of its own'})`,
    ...(hold ? [`  HELD by ${hold.by}: ${oneLine(hold.reason)}; nothing new starts until \`${baton} unhold\``] : []),
    ...down.map(
      ({ runner, reason, since, askAt }) =>
        `  ${oneLine(runner, 80)} is down since ${since}; its turns wait, and it is asked again at ${askAt}: ${oneLine(reason, 200)}`,
    ),
    ...open.map(
      ({ cast, status, request, reason, driver, usage, since, holds }) =>
        `  ${cast}  ${doing(status, driver, reason, baton)}${keeping(cast, since, holds, baton)}${used(usage)}  ${oneLine(request, 60)}`,
    ),
    ...(open.length === 0 ? ['  nothing runs or waits'] : []),
    ...ended.map(
      ({ cast, status, code, request }) => `  ${cast}  ${status}${code ? ` (${code})` : ''}  ${oneLine(request, 60)}`,
    ),
    ...cutOff.map(({ approval }) => `  ${approval} began, and nobody knows how it ended: ${baton} approvals`),
  ];
}

/** What others cannot have because the cast stands, since when, and where it is said how to free it. */
function keeping(cast: string, since: string | null, holds: readonly string[], baton: string): string {
  if (holds.length === 0) return '';
  const when = since === null ? '' : ` since ${since}`;
  return `  keeps ${oneLine(holds.join(', '), 80)}${when} (\`${baton} why ${cast}\` says how to free it)`;
}

function used({ input, output, ...cost }: Usage): string {
  if (input + output === 0) return '';
  return `  ${input + output} tokens${cost.cost > 0 ? ` for ${costText(cost)}` : ''}`;
}

function doing(status: string, driver: number | null, reason: string, baton: string): string {
  if (status !== 'running') return reason ? `${status} (${oneLine(reason, 300)})` : status;
  return driver === null ? `crashed: carry on with \`${baton} resume\`` : `running in process ${driver}`;
}
