// `baton show`: one cast as it is now, or one turn of it.
import type { Given } from '../../app/perform.ts';
import { costText, durationText, wholeNumber } from '../../app/views/figures.ts';
import type { CastView, TurnView } from '../../app/views/shown-cast.ts';
import { withSocketNames } from '../../app/views/socket-names.ts';
import type { TaskView } from '../../app/views/tasks.ts';
import type { TurnDetail } from '../../app/views/turn-detail.ts';
import type { Json } from '../../kernel/json.ts';
import { tableLines } from '../closing-lines.ts';
import { again, type Call, EXIT_CODE, flag, out, outJson, text, UsageError } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { paintFor, Ready, type ShownLine, statusColour } from '../paint.ts';
import { filesText, notRunLines, reportLines, resultLines } from '../result-lines.ts';
import { oneLine, safe } from '../safe-text.ts';
import { allowed } from '../show-operation.ts';
import { table } from '../table.ts';

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
  else for (const line of lines(call, view)) out(line);
  return EXIT_CODE.ok;
}

async function showTurn(call: Call, number: string, { turns, ...given }: Given): Promise<number> {
  if (turns) throw new UsageError('say --turn or --turns, not both');
  if (!/^[1-9]\d{0,9}$/.test(number)) throw new UsageError(`--turn must be the number of a turn, not ${number}`);
  const detail = await allowed(call, 'cast.turn', { ...given, turn: Number(number) });
  const { turnLines } = await import('../show-turn.ts');
  if (call.json) outJson(detail);
  else for (const line of turnLines(detail as unknown as TurnDetail)) out(line);
  return EXIT_CODE.ok;
}

function lines(call: Call, view: CastView): readonly ShownLine[] {
  const { cast, status, code, reason, loadout, request, trust, data, branch, root, sockets } = view;
  const { turns = [], tasks = [] } = view;
  const baton = again(call);
  const paint = paintFor(process.stdout, call.env);
  const isVerbose = flag(call.values, 'verbose');
  const why = reason !== '' && status !== 'completed' && status !== 'running';
  const results = resultLines(view, baton);
  return [
    new Ready(`Cast ${safe(cast)}  ${statusColour(status, paint)}${code ? ` (${safe(code)})` : ''}`),
    ...(why ? [`  ${withSocketNames(reason, sockets)}`] : []),
    `  ${safe(loadout)}: ${oneLine(request, isVerbose ? undefined : REQUEST_CHARS_MAX)}`,
    ...(branch === undefined ? [] : [`  on branch ${branch}${isVerbose ? ` in ${root}` : ''}`]),
    ...(trust === 'on' ? ['  its agents speak with pinned prompts'] : []),
    '',
    ...(results.length > 0 ? [...results, ''] : []),
    ...tableLines(view, paint),
    ...reportLines(view, baton, true),
    ...notRunLines(view),
    ...taskTable(tasks),
    ...stepTable(view, isVerbose),
    ...turns.flatMap(({ turn, attempt, warning }) =>
      warning === undefined ? [] : [`! turn ${turn}.${attempt}: ${withSocketNames(oneLine(warning, 300), sockets)}`],
    ),
    ...turns.filter(({ turn, attempt }) => isLast(turns, turn, attempt)).flatMap((turn) => askedFor(turn, view)),
    ...(flag(call.values, 'data') ? ['', 'data', ...dataLines(data)] : []),
    '',
    new Ready(paint.dim(`One step in full: ${safe(baton)} show ${safe(cast)} --turn N`)),
  ];
}

const REQUEST_CHARS_MAX = 300;

function dataLines(data: Json): readonly ShownLine[] {
  const lines = JSON.stringify(data, null, 2).split('\n');
  return lines.map((line) => new Ready(`  ${safe(line)}`));
}

function taskTable(tasks: readonly TaskView[]): readonly ShownLine[] {
  if (tasks.length === 0) return [];
  const rows = tasks.map(({ task, title, status, code, reason, skipped, ...work }) => {
    const why = code === null ? '' : `${code}: ${reason}`;
    return [task, title, skipped ? 'skipped' : status, filesText(work), why];
  });
  const hasWhy = rows.some((row) => row.at(-1) !== '');
  const head = ['task', 'title', 'status', 'files', ...(hasWhy ? ['why'] : [])];
  return ['', ...table(rows, head, ['task', 'status'])];
}

/** One row for each attempt: what it was, how it ended, what it took. */
function stepTable({ turns = [], sockets }: CastView, isVerbose: boolean): readonly ShownLine[] {
  if (turns.length === 0) return [];
  const rows = turns.map(({ turn, attempt, socket, materia, visit, title, verdict, elapsedMs, usage }) => {
    const name = sockets[socket]?.name ?? socket;
    const step = title === null ? name : `${name} · ${title}`;
    const tokens = usage ? usage.input + usage.output : 0;
    return [
      attempt === 1 ? String(turn) : `${turn}.${attempt}`,
      step,
      ...(isVerbose ? [`${socket} ${materia}, visit ${visit}`] : []),
      outcomeOf(verdict, sockets),
      elapsedMs === undefined ? '' : durationText(elapsedMs),
      tokens === 0 ? '' : wholeNumber(tokens),
      usage && usage.cost > 0 ? costText(usage) : '',
    ];
  });
  const all = ['turn', 'step', ...(isVerbose ? ['socket'] : []), 'result', 'took', 'tokens', 'cost'];
  const isShown = all.map((name, at) => !['tokens', 'cost'].includes(name) || rows.some((row) => row[at] !== ''));
  const kept = (row: readonly string[]) => row.filter((_, at) => isShown[at]);
  return ['', ...table(rows.map(kept), kept(all), ['turn', 'took', 'tokens', 'cost'])];
}

function outcomeOf(verdict: Json, sockets: CastView['sockets']): string {
  const end = verdict as { code?: string; reason?: string } | null;
  if (end === null) return 'running';
  const reason = withSocketNames(end.reason ?? '', sockets);
  return end.code === 'OK' ? reason.replace(/^accepted: /, '') : `${end.code}: ${reason}`;
}

function isLast(turns: readonly TurnView[], turn: number, attempt: number): boolean {
  return !turns.some((other) => other.turn === turn && other.attempt > attempt);
}

/** What a person is asked to do in a step of theirs; an agent that asks has said it in the row of its turn. */
function askedFor({ turn, socket, brief, verdict, output }: TurnView, { sockets }: CastView): string[] {
  const { code } = (verdict ?? {}) as { code?: string };
  if (code !== 'ANSWER_NEEDED' || output !== null) return [];
  return [
    '',
    `What ${sockets[socket]?.name ?? socket} asks of you (turn ${turn}):`,
    ...brief.split('\n').map((line) => `  ${line}`),
  ];
}
