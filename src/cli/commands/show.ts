// `baton show`: one cast as it is now, or one turn of it.
import type { Given } from '../../app/perform.ts';
import type { CastView, TurnView } from '../../app/views/shown-cast.ts';
import type { TaskView } from '../../app/views/tasks.ts';
import type { TurnDetail } from '../../app/views/turn-detail.ts';
import { itemsText } from '../../kernel/cast/summary.ts';
import { counted } from '../../kernel/text.ts';
import { again, type Call, EXIT, out, outJson, text, UsageError } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { filesText, notRunLines, reportLines, resultLines, spentText } from '../result-lines.ts';
import { oneLine } from '../safe-text.ts';
import { allowed } from '../show-operation.ts';

export async function run(call: Call, giving: Giving): Promise<number> {
  const given = await giving();
  const withTurns = given.turns === true;
  const number = text(call.values, 'turn');
  if (number !== undefined) return showTurn(call, number, given);
  const { stands: _stands, ...details } = await allowed(call, 'cast.show', {
    ...given,
    turns: withTurns || !call.json,
  });
  const view = details as unknown as CastView;
  if (call.json) outJson(view);
  else for (const line of lines(view, again(call))) out(line);
  return EXIT.ok;
}

async function showTurn(call: Call, number: string, { turns, ...given }: Given): Promise<number> {
  if (turns) throw new UsageError('say --turn or --turns, not both');
  if (!/^[1-9]\d{0,9}$/.test(number)) throw new UsageError(`--turn must be the number of a turn, not ${number}`);
  const detail = await allowed(call, 'cast.turn', { ...given, turn: Number(number) });
  const { turnLines } = await import('../show-turn.ts');
  if (call.json) outJson(detail);
  else for (const line of turnLines(detail as unknown as TurnDetail)) out(line);
  return EXIT.ok;
}

function lines(view: CastView, baton: string): string[] {
  const { cast, status, code, reason, loadout, request, usage, accepted, trust, data, branch, root, items } = view;
  const { turns = [], tasks = [] } = view;
  return [
    `cast      ${cast}`,
    `status    ${status}${code ? ` (${code})` : ''}${reason && status !== 'completed' ? `: ${reason}` : ''}`,
    `loadout   ${loadout}`,
    `request   ${request}`,
    ...(branch === undefined ? [] : [`branch    ${branch} in ${root}`]),
    ...(items ? [`items     ${itemsText(items)}`] : []),
    `used      ${counted(usage.tokens, 'token')}${spentText(usage)}, ${counted(accepted, 'accepted handoff')}`,
    ...(trust === null ? [] : [`trust     ${trust}`]),
    ...resultLines(view, baton),
    ...reportLines(view, baton, true),
    ...notRunLines(view),
    ...(tasks.length === 0 ? [] : ['tasks', ...tasks.map(taskLine)]),
    'turns',
    ...turns.flatMap(({ turn, socket, materia, visit, title, attempt, verdict, warning }) => {
      const end = verdict as { code?: string; reason?: string } | null;
      const said =
        end === null ? 'running' : end.code === 'OK' ? end.reason : `${end.code}: ${oneLine(end.reason ?? '', 200)}`;
      const line = `  ${turn}.${attempt}  ${socket} ${oneLine(materia, 40)} visit ${visit}${title === null ? '' : ` · ${oneLine(title, 60)}`}  ${said}`;
      return warning === undefined ? [line] : [line, `       ! ${oneLine(warning, 300)}`];
    }),
    ...turns.filter(({ turn, attempt }) => isLast(turns, turn, attempt)).flatMap(askedFor),
    'data',
    ...JSON.stringify(data, null, 2)
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}

function taskLine({ task, title, status, code, reason, skipped, ...work }: TaskView): string {
  const why = code === null ? '' : `: ${code}: ${oneLine(reason, 120)}`;
  const files = filesText(work);
  return `  ${task}  ${oneLine(title, 60)}  ${skipped ? 'skipped' : status}${files === '' ? '' : `, ${files}`}${why}`;
}

function isLast(turns: readonly TurnView[], turn: number, attempt: number): boolean {
  return !turns.some((other) => other.turn === turn && other.attempt > attempt);
}

/** What a person is asked in a turn of theirs; an agent that asks has said it in the line of its turn. */
function askedFor({ turn, brief, verdict, output }: TurnView): string[] {
  const { code } = (verdict ?? {}) as { code?: string };
  if (code !== 'ANSWER_NEEDED' || output !== null) return [];
  return [`brief of turn ${turn}`, ...brief.split('\n').map((line) => `  ${line}`)];
}
