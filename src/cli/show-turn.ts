// How one turn is shown in full.
import { issuesBeyond } from '../app/views/result.ts';
import type { AttemptDetail, ReportDetail, TurnDetail } from '../app/views/turn-detail.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { counted } from '../kernel/text.ts';
import { spentText } from './result-lines.ts';
import { oneLine } from './safe-text.ts';

export function turnLines(turn: TurnDetail): readonly string[] {
  const { attempts, reports } = turn;
  const report = reports.at(-1);
  return [
    ...headOf(turn),
    ...part('INPUT', turn.input === null ? [] : pretty(turn.input)),
    ...attempts.flatMap((attempt, index) => attemptLines(attempt, attempts[index - 1])),
    ...part('reports', reports.flatMap(reportLines)),
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

function reportLines({ attempt, at, note, warnings }: ReportDetail): readonly string[] {
  const said = note.summary ?? note.openGaps[0] ?? note.keyOutputs[0] ?? '';
  return [
    `${at}  attempt ${attempt}  ${note.status}${said ? `: ${oneLine(said, 200)}` : ''}`,
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
  const said = (output ?? '').split('\n').filter((line) => line !== '');
  return [
    `${oneLine(name, 60)}  ${ok ? 'passed' : 'FAILED'}: ${oneLine(found, 300)}`,
    ...said.map((line) => `  ${oneLine(line, 300)}`),
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

/** A heading and what stands under it; nothing where nothing does. */
function part(name: string, below: readonly string[]): readonly string[] {
  return below.length === 0 ? [] : [name, ...below.map(indented)];
}

function indented(line: string): string {
  return `  ${line}`;
}
