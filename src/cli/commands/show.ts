// `baton show`: one cast as it is now, or one turn of it in full.
import type { Given } from '../../app/perform.ts';
import { costText, durationText, wholeNumber, withSocketNames } from '../../app/views/in-words.ts';
import { issuesBeyond } from '../../app/views/result.ts';
import type { CastView, TurnView } from '../../app/views/shown-cast.ts';
import type { AttemptDetail, ReportDetail, TurnDetail } from '../../app/views/turn-detail.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { again, type Call, EXIT_CODE, flag, out, outJson, text, UsageError } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { paintFor, Ready, type ShownLine, statusColour, table } from '../paint.ts';
import {
  filesText,
  nextLines,
  notRunLines,
  reportLines,
  resultLines,
  spentText,
  tableLines,
  waitLines,
} from '../result-lines.ts';
import { allowed } from '../show-operation.ts';
import { oneLine, safe } from '../terminal-text.ts';

export async function showCommand(call: Call, giving: Giving): Promise<number> {
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
  if (call.json) outJson(detail);
  else for (const line of turnLines(detail as unknown as TurnDetail)) out(line);
  return EXIT_CODE.ok;
}

function lines(call: Call, view: CastView): readonly ShownLine[] {
  const { cast, status, code, reason, loadout, request, trust, data, quest, sockets, driven } = view;
  const { turns = [] } = view;
  const baton = again(call);
  const paint = paintFor(process.stdout, call.env);
  const isVerbose = flag(call.values, 'verbose');
  const why = reason !== '' && status !== 'completed' && status !== 'running';
  const results = resultLines(view, baton);
  return [
    new Ready(
      `Cast ${safe(cast)}  ${statusColour(driven === false ? 'crashed' : status, paint)}${code ? ` (${safe(code)})` : ''}`,
    ),
    ...(why ? [`  ${withSocketNames(reason, sockets)}`] : []),
    `  ${safe(loadout)}: ${oneLine(request, isVerbose ? undefined : REQUEST_CHARS_MAX)}`,
    ...(quest === undefined ? [] : [`  for quest ${safe(quest)}`]),
    ...waitLines(view),
    ...branchLines(view, isVerbose),
    ...(trust === 'on' ? ['  its agents speak with pinned prompts'] : []),
    '',
    ...(results.length > 0 ? [...results, ''] : []),
    ...tableLines(view, paint),
    ...reportLines(view, baton, true),
    ...notRunLines(view),
    ...taskTable(view),
    ...stepTable(view, isVerbose),
    ...turns.flatMap(({ turn, attempt, warning }) =>
      warning === undefined ? [] : [`! turn ${turn}.${attempt}: ${withSocketNames(oneLine(warning, 300), sockets)}`],
    ),
    ...turns.filter(({ turn, attempt }) => isLast(turns, turn, attempt)).flatMap((turn) => askedFor(turn, view)),
    ...(flag(call.values, 'data') ? ['', 'data', ...dataLines(data)] : []),
    '',
    ...nextLines(view, baton, paint, true),
  ];
}

function branchLines({ branch, root, worktree }: CastView, isVerbose: boolean): readonly string[] {
  if (branch === undefined) return [];
  if (worktree?.state === 'merged') return [`  its branch ${branch} is merged`];
  if (worktree?.state === 'undone') return [`  its work on branch ${branch} was taken back`];
  return [`  on branch ${branch}${isVerbose ? ` in ${root}` : ''}`];
}

const REQUEST_CHARS_MAX = 300;

function dataLines(data: Json): readonly ShownLine[] {
  const lines = JSON.stringify(data, null, 2).split('\n');
  return lines.map((line) => new Ready(`  ${safe(line)}`));
}

function taskTable({ tasks = [], sockets }: CastView): readonly ShownLine[] {
  if (tasks.length === 0) return [];
  const rows = tasks.map(({ task, title, status, code, reason, skipped, ...work }) => {
    const why = code === null ? '' : `${code}: ${withSocketNames(reason, sockets)}`;
    return [task, title, skipped ? 'skipped' : status, filesText(work), why];
  });
  const hasWhy = rows.some((row) => row.at(-1) !== '');
  const head = ['task', 'title', 'status', 'files', ...(hasWhy ? ['why'] : [])];
  return ['', ...table(rows, head, ['task', 'status'])];
}

/** One row for each attempt: what it was, how it ended, what it took. */
function stepTable(view: CastView, isVerbose: boolean): readonly ShownLine[] {
  const { turns = [], sockets } = view;
  if (turns.length === 0) return [];
  const rows = turns.map(({ turn, attempt, socket, materia, visit, title, verdict, elapsedMs, usage }) => {
    const name = sockets[socket]?.name ?? socket;
    const step = title === null ? name : `${name} · ${title}`;
    const tokens = usage ? usage.input + usage.output : 0;
    return [
      attempt === 1 ? String(turn) : `${turn}.${attempt}`,
      step,
      ...(isVerbose ? [`${socket}${materia === name ? '' : ` ${materia}`}, visit ${visit}`] : []),
      outcomeOf(verdict, view),
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

function outcomeOf(verdict: Json, { sockets, driven }: CastView): string {
  const end = verdict as { code?: string; reason?: string } | null;
  if (end === null) return driven === false ? 'cut off' : 'running';
  const reason = withSocketNames(end.reason ?? '', sockets);
  return end.code === 'OK' ? reason.replace(/^accepted: /, '') : `${end.code}: ${reason}`;
}

function isLast(turns: readonly TurnView[], turn: number, attempt: number): boolean {
  return !turns.some((other) => other.turn === turn && other.attempt > attempt);
}

/** What a person is asked to do in a step of theirs; the row of the turn has the words of an agent that asks. */
function askedFor({ turn, socket, brief, verdict, output }: TurnView, { sockets }: CastView): string[] {
  const { code } = (verdict ?? {}) as { code?: string };
  if (code !== 'ANSWER_NEEDED' || output !== null) return [];
  return [
    '',
    `What ${sockets[socket]?.name ?? socket} asks of you (turn ${turn}):`,
    ...brief.split('\n').map((line) => `  ${line}`),
  ];
}

function turnLines(turn: TurnDetail): readonly string[] {
  const { attempts, reports } = turn;
  const report = reports.at(-1);
  return [
    ...headOf(turn),
    ...part('INPUT', turn.input === null ? [] : pretty(turn.input)),
    ...attempts.flatMap((attempt, index) => attemptLines(attempt, attempts[index - 1])),
    ...part('reports', reports.flatMap(reportedLines)),
    ...part(
      'exchange',
      turn.exchange.map(
        ({ from, by, at, text }) => `${at}  ${from === 'runtime' ? 'baton' : by}: ${oneLine(text, 1_000)}`,
      ),
    ),
    ...part('evidence', report ? evidenceLines(report) : []),
    ...part('commands', commandLines(turn)),
    ...part('checks', turn.checks.flatMap(checkLines)),
    ...part('context', turn.context.map(contextLine)),
    ...part('deposits', turn.deposits.map(depositLine)),
    ...part(
      'memory',
      turn.memory.map(({ id, description, body }) => `${id}  ${oneLine(description ?? body, 200)}`),
    ),
    ...part(
      'approvals',
      turn.approvals.map(
        ({ id, at, what, by, said }) =>
          `${at}  ${id} ${what}${by ? ` by ${by}` : ''}${said ? `: ${oneLine(said, 300)}` : ''}`,
      ),
    ),
    ...part('rollback', report?.rollbackExecuted ? [oneLine(textOf(report.rollbackExecuted), 500)] : []),
    ...part('window', report?.contextConsumption ? [oneLine(textOf(report.contextConsumption), 200)] : []),
  ];
}

function headOf(turn: TurnDetail): readonly string[] {
  const { usage } = turn;
  const tokens = usage.input + usage.output;
  return [
    `cast      ${turn.cast}`,
    `step      ${oneLine(turn.name, 60)}${turn.title === null ? '' : ` · ${oneLine(turn.title, 80)}`}`,
    `turn      ${turn.turn}, visit ${turn.visit} of ${turn.socket}`,
    `started   ${turn.startedAt}`,
    `used      ${counted(tokens, 'token')}${spentText({ ...usage, tokens })}, ${counted(turn.attempts.length, 'attempt')}`,
    ...(turn.models.length === 0 ? [] : [`model     ${turn.models.map((model) => oneLine(model, 60)).join(', ')}`]),
  ];
}

/** A brief that is the same as the one before is not shown again. */
function attemptLines(attempt: AttemptDetail, before: AttemptDetail | undefined): readonly string[] {
  const { attempt: number, startedAt, brief, output, warning, agent } = attempt;
  const briefs = brief === before?.brief ? ['as before'] : brief.split('\n');
  return [
    `attempt ${number}, ${startedAt}  ${verdictText(attempt.verdict)}`,
    ...[...(warning === undefined ? [] : [warning]), ...(agent?.warnings ?? [])].map(
      (each) => `  ! ${oneLine(each, 300)}`,
    ),
    ...part('brief', briefs).map(indented),
    ...part('output', output === null ? [] : output.split('\n')).map(indented),
    ...issueLines(attempt.verdict).map(indented),
  ];
}

function verdictText(verdict: Json): string {
  if (!isObject(verdict)) return 'running';
  const reason = oneLine(textOf(verdict.reason ?? ''), 300);
  return verdict.code === 'OK' ? reason : `${textOf(verdict.code ?? '')}: ${reason}`;
}

function issueLines(verdict: Json): readonly string[] {
  const details = isObject(verdict) && isObject(verdict.details) ? verdict.details : {};
  const all = Array.isArray(details.issues) ? details.issues.filter(isObject) : [];
  const issues = issuesBeyond(verdictText(verdict), all);
  return part(
    'issues',
    issues.map(({ path, message }) => `${textOf(path ?? '')}: ${oneLine(textOf(message ?? ''), 300)}`),
  );
}

function reportedLines({ attempt, at, note, warnings }: ReportDetail): readonly string[] {
  const words = note.summary ?? note.openGaps[0] ?? note.keyOutputs[0] ?? '';
  return [
    `${at}  attempt ${attempt}  ${note.status}${words ? `: ${oneLine(words, 200)}` : ''}`,
    ...warnings.map((warning) => `  ! ${oneLine(warning, 300)}`),
  ];
}

function evidenceLines({ evidence, note }: ReportDetail): readonly string[] {
  if (evidence === null) return ['only its text was kept'];
  const lists = Object.entries(evidence).flatMap(([key, value]) =>
    Array.isArray(value) && value.length > 0 ? [key, ...value.map((each) => `  ${oneLine(entryText(each), 500)}`)] : [],
  );
  return [...lists, ...(note.verification === null ? [] : ['verification', `  ${oneLine(note.verification, 500)}`])];
}

function entryText(value: Json): string {
  const command = isObject(value) ? (value.command ?? value.cmd) : undefined;
  if (!isObject(value) || !isString(command)) return textOf(value);
  return `\`${command}\`${value.result === undefined ? '' : ` -> ${textOf(value.result)}`}`;
}

function commandLines({ commands }: TurnDetail): readonly string[] {
  if (commands === null) return [];
  return [
    `${counted(commands.ran.length, 'command')} ${commands.ran.length === 1 ? 'was' : 'were'} seen to run`,
    ...commands.notRun.map((command) => `! named in the report, and not run: ${oneLine(command, 300)}`),
    ...commands.unnamed.map((command) => `! run, and not named in the report: ${oneLine(command, 300)}`),
  ];
}

function checkLines({ name, ok, found, output }: TurnDetail['checks'][number]): readonly string[] {
  const lines = (output ?? '').split('\n').filter((line) => line !== '');
  return [
    `${oneLine(name, 60)}  ${ok ? 'passed' : 'FAILED'}: ${oneLine(found, 300)}`,
    ...lines.map((line) => `  ${oneLine(line, 300)}`),
  ];
}

function contextLine(write: TurnDetail['context'][number]): string {
  if (write.written) return `${write.section}  written, version ${write.version}`;
  return `${write.section}  rejected: ${write.code}: ${oneLine(write.reason, 300)}`;
}

function depositLine({
  name,
  type,
  ac_id: criterion,
  brief_id: brief,
  ...rest
}: TurnDetail['deposits'][number]): string {
  const what = rest.artifact_path ?? rest.text ?? '';
  const size = rest.size_bytes === undefined ? '' : `, ${counted(rest.size_bytes, 'byte')}`;
  return `${name}  ${type} for ${oneLine(criterion, 80)} of brief ${brief}${size}: ${oneLine(what, 300)}`;
}

function pretty(value: JsonObject): readonly string[] {
  return JSON.stringify(value, null, 2).split('\n');
}

function textOf(value: Json): string {
  return isString(value) ? value : JSON.stringify(value);
}

/** A heading and the lines under it; nothing without lines. */
function part(name: string, below: readonly string[]): readonly string[] {
  return below.length === 0 ? [] : [name, ...below.map(indented)];
}

function indented(line: string): string {
  return `  ${line}`;
}
