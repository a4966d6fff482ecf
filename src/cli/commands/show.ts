// `baton show`: one cast, as it stands.

import type { CastView, TaskView, TurnView } from '../../engine/view.ts';
import { type Call, EXIT, flag, out, outJson } from '../command.ts';
import { counted } from '../counted.ts';
import { loadView } from '../ending.ts';
import { oneLine } from '../safe-text.ts';
import { nameCast, withDoor } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const withTurns = flag(call.values, 'turns');
  const view = await withDoor(call, async (door) =>
    loadView(door, (await nameCast(door, call.words[0])).cast, withTurns || !call.json),
  );
  if (call.json) outJson(view);
  else for (const line of lines(view)) out(line);
  return EXIT.ok;
}

function lines({
  cast,
  status,
  code,
  reason,
  loadout,
  request,
  usage,
  accepted,
  trust,
  data,
  branch,
  root,
  turns = [],
  tasks = [],
}: CastView): string[] {
  return [
    `cast      ${cast}`,
    `status    ${status}${code ? ` (${code})` : ''}${reason && status !== 'completed' ? `: ${reason}` : ''}`,
    `loadout   ${loadout}`,
    `request   ${request}`,
    ...(branch === undefined ? [] : [`branch    ${branch} in ${root}`]),
    `used      ${counted(usage.tokens, 'token')}${costOf(usage)}, ${counted(accepted, 'accepted handoff')}`,
    `trust     ${trust}`,
    ...(tasks.length === 0 ? [] : ['tasks', ...tasks.map(taskLine)]),
    'turns',
    ...turns.map(({ turn, socket, materia, visit, title, attempt, verdict }) => {
      const end = verdict as { code?: string; reason?: string } | null;
      const said =
        end === null ? 'running' : end.code === 'OK' ? end.reason : `${end.code}: ${oneLine(end.reason ?? '', 200)}`;
      return `  ${turn}.${attempt}  ${socket} ${oneLine(materia, 40)} visit ${visit}${title === null ? '' : ` · ${oneLine(title, 60)}`}  ${said}`;
    }),
    ...turns.flatMap(askedFor),
    'data',
    ...JSON.stringify(data, null, 2)
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}

function taskLine({ task, title, status, code, reason }: TaskView): string {
  const why = code === null ? '' : `: ${code}: ${oneLine(reason, 120)}`;
  return `  ${task}  ${oneLine(title, 60)}  ${status}${why}`;
}

/** What a person is asked in a turn of theirs. */
function askedFor({ turn, brief, verdict }: TurnView): string[] {
  const { code } = (verdict ?? {}) as { code?: string };
  if (code !== 'ANSWER_NEEDED') return [];
  return [`brief of turn ${turn}`, ...brief.split('\n').map((line) => `  ${line}`)];
}

/** What is known of the cost; a price that nobody told is not nothing. */
function costOf({ cost, tokens, unpricedTokens = 0 }: CastView['usage']): string {
  if (tokens === 0 || (cost === 0 && unpricedTokens === 0)) return '';
  if (cost === 0) return ', cost unknown';
  return ` for ${cost.toFixed(4)}${unpricedTokens > 0 ? ` (without ${counted(unpricedTokens, 'token')} of unknown cost)` : ''}`;
}
