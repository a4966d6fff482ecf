// `baton status`: what runs or waits, and what ended last.

import { listCasts } from '../../app/cast-list.ts';
import { hasLog } from '../../app/state-folder.ts';
import { heldLocks } from '../../kernel/ledger/wire.ts';
import { isOver, type Usage } from '../../kernel/state.ts';
import { again, type Call, EXIT, flag, out, outJson } from '../command.ts';
import { costText } from '../cost-text.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withDoor } from '../looking.ts';
import { oneLine } from '../safe-text.ts';

const ENDED_SHOWN = 3;

export async function run(call: Call): Promise<number> {
  if (flag(call.values, 'metrics')) return (await import('../metrics.ts')).showMetrics(call);
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) {
    if (call.json)
      outJson({
        workspace: workspace.dir,
        head: 0,
        hold: null,
        trust: 'off',
        down: [],
        open: [],
        ended: [],
        cutOff: [],
      });
    else out(`${workspace.dir}: no cast was run here yet. Start one with: ${again(call)} cast "…"`);
    return EXIT.ok;
  }
  const status = await withDoor(call, async (door) => {
    const { hold, trust } = await door.standing();
    let casts = await listCasts(door, Date.now());
    const isAbandoned = async ({ cast, status }: (typeof casts)[number]) =>
      status === 'running' && (await door.driverOf(cast)) === null;
    // Whoever seems to be left alone may have ended between the two looks.
    if ((await Promise.all(casts.map(isAbandoned))).includes(true)) casts = await listCasts(door, Date.now());
    const isStanding = casts.some(({ status }) => status === 'paused' || status === 'waiting');
    const ledger = isStanding ? await door.ledger() : null;
    const open = await Promise.all(
      casts
        .filter((cast) => !isOver(cast.status))
        .map(async (cast) => {
          const driver = (await door.driverOf(cast.cast))?.pid ?? null;
          const { usage = { input: 0, output: 0, cost: 0 }, since } = (await door.cast(cast.cast)) ?? {};
          const locks = ledger && cast.status !== 'running' ? heldLocks(ledger, cast.cast) : [];
          const holds = [...new Set(locks.map(({ path }) => path))];
          return { ...cast, driver, usage, since: since === undefined ? null : new Date(since).toISOString(), holds };
        }),
    );
    // What a cast that still stands began is among what it waits for.
    const isOpen = (id: string | undefined) => open.some(({ cast }) => cast === id);
    const cutOff = (await door.cutOff()).filter(({ from }) => !isOpen(from?.cast));
    return {
      workspace: workspace.dir,
      head: (await door.head()).seq,
      hold: hold === null ? null : { ...hold },
      trust: trust.registry === null ? 'off' : 'on',
      down: (await door.outages(Date.now())).map(({ runner, code, reason, since, askAt }) => ({
        ...{ runner, code, reason },
        ...{ since: new Date(since).toISOString(), askAt: new Date(askAt).toISOString() },
      })),
      open,
      ended: casts.filter((cast) => isOver(cast.status)).slice(-ENDED_SHOWN),
      cutOff: cutOff.map(({ id, from }) => ({ approval: id, cast: from?.cast ?? null })),
    };
  });
  if (call.json) outJson(status);
  else for (const line of lines(status, again(call))) out(line);
  return EXIT.ok;
}

type Status = {
  workspace: string;
  hold: { readonly by: string; readonly reason: string } | null;
  trust: string;
  /** Runners whose turns wait, because their provider or their sign-in is down. */
  down: readonly { readonly runner: string; readonly reason: string; readonly since: string; readonly askAt: string }[];
  open: readonly {
    cast: string;
    status: string;
    request: string;
    reason: string;
    driver: number | null;
    usage: Usage;
    since: string | null;
    holds: readonly string[];
  }[];
  ended: readonly { cast: string; status: string; code: string | null; request: string }[];
  /** Approvals of casts that are over, or of none, of which something began; nobody knows how it ended. */
  cutOff: readonly { approval: string; cast: string | null }[];
};

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
