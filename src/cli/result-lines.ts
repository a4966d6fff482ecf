// The result of a cast as lines for a terminal: its last text, its items, the output of a failed turn, what agents reported about
// the goal, and how the cast ended with its figures and the next command.
import { costText, durationText, wholeNumber, withSocketNames } from '../app/views/in-words.ts';
import {
  type CastResult,
  type Failure,
  type FailureIssue,
  issuesBeyond,
  type LastText,
  type TaskView,
} from '../app/views/result.ts';
import type { CastView } from '../app/views/shown-cast.ts';
import { itemsText } from '../kernel/cast/summary.ts';
import type { Consolidation, Consumption, Proposal, Statement } from '../kernel/report/consolidation.ts';
import { counted } from '../kernel/text.ts';
import { type Paint, Ready, type ShownLine, statusColour, table } from './paint.ts';
import { oneLine, safe, wrap } from './terminal-text.ts';

const LINES_MAX = 40;
const LINE_CHARS_MAX = 2_000;
const INDENT = '  ';

type ShownResult = {
  readonly cast: string;
  /** The reason of the cast, where it is shown next to the result. */
  readonly reason?: string;
  readonly result?: CastResult;
};

/** The text and the failure. `baton` is how the program is called. `withIssues` is false where they are listed already. */
export function resultLines({ cast, reason = '', result }: ShownResult, baton: string, withIssues = true): string[] {
  if (!result) return [];
  const { failure, nothingPlanned } = result;
  const last = result.last?.turn === failure?.turn ? null : result.last;
  return [
    ...(nothingPlanned ? ['Nothing was planned: the list of work items is empty.'] : []),
    ...(last && !last.isReport ? textLines(last, `${oneLine(last.name, 60)}:`, cast, baton) : []),
    ...(failure ? failureLines(failure, cast, baton, withIssues ? issuesBeyond(reason, failure.issues) : []) : []),
  ];
}

/** Each work item with its outcome and how many files it changed. Titles are cut so that a row fits the terminal. */
export function itemLines(tasks: readonly TaskView[] = [], columns = process.stdout.columns): readonly ShownLine[] {
  const items = tasks.filter(({ isItem }) => isItem);
  if (items.length === 0) return [];
  const ends = items.map((task) => [outcomeOf(task), filesText(task)]);
  const rows = ends.map((end, index) => [items[index]?.title ?? '', ...end]);
  return table(rows, ['item', 'outcome', 'files'], ['outcome', 'files'], columns);
}

/** What became of an item: in the ledger a skipped one is done, and one that was left early or left out is canceled. */
function outcomeOf({ status, skipped, code, files = 0, kept }: TaskView): string {
  // What was done for it is in the files still, where it was not taken out of a worktree.
  if (code === 'PARKED') return kept === undefined && files > 0 ? 'parked, its changes stay' : 'parked';
  if (code === 'LEFT_EARLY') return 'left early';
  if (status === 'canceled') return 'left out';
  return skipped ? 'skipped' : status;
}

/** How many files the turns of a task changed; empty where none of them may write. */
export function filesText({ files }: Pick<TaskView, 'files'>): string {
  if (files === undefined) return '';
  return files === 0 ? 'changed no file' : counted(files, 'file');
}

function failureLines(failure: Failure, cast: string, baton: string, issues: readonly FailureIssue[]): string[] {
  const { text, name } = failure;
  const wrong = issues.map(({ path, message }) => `  at ${oneLine(path, 200) || '$'}: ${oneLine(message, 400)}`);
  const part = failure.issues.length === 0 ? 'end' : 'start';
  const words = text === '' ? [] : textLines(failure, `What ${oneLine(name, 60)} said:`, cast, baton, part);
  return [...words, ...(wrong.length === 0 ? [] : ['What is wrong with it:', ...wrong])];
}

/** The beginning of a long text, or its end where that says what went wrong. */
function textLines(
  { text, isCut, turn }: LastText,
  heading: string,
  cast: string,
  baton: string,
  part: 'start' | 'end' = 'start',
): string[] {
  const all = plannedLines(text) ?? safe(text).split('\n');
  const kept = part === 'start' ? all.slice(0, LINES_MAX) : all.slice(-LINES_MAX);
  const shown = kept.map((line) => `${INDENT}${cutLine(line)}`.trimEnd());
  const isWhole = kept.length === all.length && !isCut;
  const more = isWhole ? [] : [`${INDENT}… all of it: ${baton} show ${cast} --turn ${turn}`];
  return part === 'start' ? [heading, ...shown, ...more] : [heading, ...more, ...shown];
}

/** The titles of a list of work items; null where the text is none. */
function plannedLines(text: string): readonly string[] | null {
  if (!text.startsWith('{')) return null;
  try {
    const { workItems } = JSON.parse(text);
    if (!Array.isArray(workItems) || workItems.length === 0) return null;
    return workItems.map((item, at) => `${at + 1}. ${oneLine(String(item?.title ?? JSON.stringify(item)), 200)}`);
  } catch {
    return null;
  }
}

function cutLine(line: string): string {
  return line.length <= LINE_CHARS_MAX ? line : `${line.slice(0, LINE_CHARS_MAX)}…`;
}

type Spent = {
  readonly tokens: number;
  readonly cost: number;
  readonly estimated?: true;
  readonly unpricedTokens?: number;
};

/** The cost of so many tokens, to follow their number. An unknown price is named as unknown. */
export function spentText({ tokens, unpricedTokens = 0, ...spent }: Spent): string {
  if (tokens === 0 || (spent.cost === 0 && unpricedTokens === 0)) return '';
  if (spent.cost === 0) return ', cost unknown';
  const without = unpricedTokens > 0 ? ` (without ${counted(unpricedTokens, 'token')} of unknown cost)` : '';
  return ` for ${costText(spent)}${without}`;
}

/** Nothing where no agent reported with a status. `isWhole` leaves nothing out of what was found. */
export function reportLines(
  { cast, report, differences = [], memorySuggestions = 0 }: CastView,
  baton: string,
  isWhole = false,
): string[] {
  if (!report) return [];
  const isOne = report.agents.length === 1;
  return [
    ...part('summary', isWhole ? report.findings.flatMap(linesIn) : summaryLines(report, `${baton} show ${cast}`)),
    ...part(
      'status',
      report.reports
        .filter(({ status }) => status !== 'COMPLETE')
        .map(({ agent, item, status }) => `${agent}${item === null ? '' : ` on ${item}`}: ${status}`),
    ),
    ...part('verified', spokenLines(report.verification, isOne)),
    ...part('open gaps', spokenLines(report.openGaps, isOne)),
    ...part('conflicts', spokenLines(report.conflicts, isOne)),
    ...part('impacts', spokenLines(report.crossLayerImpacts, isOne)),
    ...part('rollbacks', spokenLines(report.rollbacks, isOne)),
    ...part('proposed', report.proposals.filter(({ reported, allowed }) => !reported || !allowed).map(proposalLine)),
    ...part(
      'window',
      report.contextConsumption.map((each) => windowLine(each, isOne)),
    ),
    ...part(
      'evidence',
      differences.flatMap(({ turn, agent, notRun, unnamed, unapproved = [] }) => [
        ...unapproved.map((command) => `! ${agent}, turn ${turn}, ran without approval: ${oneLine(command, 200)}`),
        ...notRun.map(
          (command) => `! ${agent}, turn ${turn}, names a command that was not run: ${oneLine(command, 200)}`,
        ),
        ...unnamed.map(
          (command) => `! ${agent}, turn ${turn}, ran a command it does not name: ${oneLine(command, 200)}`,
        ),
      ]),
    ),
    ...(memorySuggestions === 0
      ? []
      : part('memory', [`${counted(memorySuggestions, 'suggestion')} to remember; decide with: ${baton} memory list`])),
  ];
}

/** The commands that agents asked to run and that did not run. */
export function notRunLines({ notRun = [] }: CastView): string[] {
  return part(
    'not run',
    notRun.map(({ approval, command, outcome }) => `! ${outcome}: ${oneLine(command, 200)} (${approval})`),
  );
}

/** The rest of what was found is there to be asked for. */
function summaryLines({ summary, leftOut }: Consolidation, rest: string): string[] {
  const lines = linesIn(summary);
  return leftOut === 0 ? lines : lines.with(-1, `${lines.at(-1)}: ${rest}`);
}

/** An agent's own words stay as they are, lines included. */
function linesIn(words: string): string[] {
  return words === '' ? [] : safe(words).split('\n');
}

function spokenLines(list: readonly (Statement & { readonly item?: string | null })[], isOne: boolean): string[] {
  return list.map(({ agent, item = null, text }) => oneLine(withSpeaker(text, agent, item, isOne), 400));
}

/** One agent alone need not be named, but its items do. */
function withSpeaker(text: string, agent: string, item: string | null, isOne: boolean): string {
  const who = [...(isOne ? [] : [agent]), ...(item === null ? [] : [item])].join(' on ');
  return who === '' ? text : `${who}: ${text}`;
}

function proposalLine({ agent, by, socket, noWay, refusal }: Proposal): string {
  const who = `${oneLine(agent, 80)} (by ${by})`;
  if (refusal !== null) return `${who}: the boundaries refuse it: ${oneLine(refusal, 200)}`;
  return noWay === null ? `${who}: a way leads there, to ${socket}` : `${who}: ${noWay}`;
}

function windowLine({ agent, item, tokens_used: tokens, pct_window: percent }: Consumption, isOne: boolean): string {
  const lines = [
    ...(typeof tokens === 'number' ? [counted(tokens, 'token')] : []),
    ...(typeof percent === 'number' ? [`${percent} % of the window`] : []),
  ].join(', ');
  return withSpeaker(lines, agent, item, isOne);
}

const WIDTH = 9;

/** The first line next to its heading, the others below it. */
function part(name: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `${(index === 0 ? name : '').padEnd(WIDTH)} ${line}`.trimEnd());
}

const LABEL_WIDTH = 8;
const FILES_SHOWN = 6;

/** `baton` is how the program is called. */
export function closingLines(view: CastView, baton: string, paint: Paint): readonly ShownLine[] {
  return [
    new Ready(headOf(view, paint)),
    ...reasonOf(view),
    ...waitLines(view),
    ...tableLines(view, paint),
    ...nextLines(view, baton, paint),
  ];
}

function headOf({ cast, status, code, quest }: CastView, paint: Paint): string {
  const words: Readonly<Record<CastView['status'], string>> = {
    completed: 'completed',
    running: 'is running',
    waiting: 'is waiting for a person',
    paused: 'is paused',
    failed: 'failed',
    aborted: 'was aborted',
  };
  const why = code === null || status === 'aborted' ? '' : ` (${safe(code)})`;
  return `${paint.bold(`Cast ${safe(cast)}`)} ${statusColour(status, { ...paint, bold: (text) => text }).replace(status, words[status])}${why}${quest === undefined ? '' : `, for quest ${safe(quest)}`}`;
}

/** What its steps wait for. */
export function waitLines({ waits = [], sockets }: CastView): readonly string[] {
  return waits.map(({ socket, for: what, until, found }) => {
    const last = found === undefined ? '' : `; the last look found: ${found}`;
    return `  ${withSocketNames(`${socket} waits until ${what}`, sockets)} (at the latest ${until.slice(0, 16).replace('T', ' ')} UTC)${last}`;
  });
}

function reasonOf({ status, reason, sockets }: CastView): readonly string[] {
  return status === 'completed' || status === 'running' || reason === ''
    ? []
    : [`  ${withSocketNames(reason, sockets)}`];
}

/** Items, time, tokens, cost, files and checks, as far as there are any. */
export function tableLines(view: CastView, paint: Paint): readonly ShownLine[] {
  const { cast, events, items, usage, elapsedMs, result, path, accepted } = view;
  const { files, checks } = result;
  return [
    ...(items ? [row('items', itemsText(items).replace(/ items? done/, ' done'), paint)] : []),
    row(
      'time',
      `${durationText(elapsedMs)} for ${counted(path.length, 'step')}, ${counted(accepted, 'handoff')} accepted`,
      paint,
    ),
    ...(events === undefined ? [] : [row('events', `${events} (baton events list ${safe(cast)})`, paint)]),
    ...(usage.tokens > 0 ? [row('tokens', wholeNumber(usage.tokens), paint)] : []),
    ...costRows(view, paint),
    ...(files ? [row('files', filesLine(files), paint)] : []),
    ...(checks ? [row('checks', checksText(checks, paint), paint)] : []),
  ];
}

function costRows({ usage }: CastView, paint: Paint): readonly ShownLine[] {
  const { cost, unpricedTokens = 0 } = usage;
  if (cost === 0 && unpricedTokens === 0) return [];
  if (cost === 0) return [row('cost', 'unknown: its agents named no price', paint)];
  const how = usage.estimated ? ', worked out from a table of prices' : '';
  const rest = unpricedTokens > 0 ? `, without ${wholeNumber(unpricedTokens)} tokens of unknown price` : '';
  return [row('cost', `${costText(usage)}${how}${rest}`, paint)];
}

function filesLine({ count, first }: NonNullable<CastView['result']['files']>): string {
  if (count === 0) return 'none changed';
  const shown = first.slice(0, FILES_SHOWN).map((path) => oneLine(path, 60));
  const more = count > shown.length ? ` and ${count - shown.length} more` : '';
  return `${count} changed: ${shown.join(', ')}${more}`;
}

function checksText({ passed, failed }: NonNullable<CastView['result']['checks']>, paint: Paint): string {
  const good = passed > 0 ? [`${passed} passed`] : [];
  const bad = failed.length > 0 ? [paint.bad(`failed: ${failed.map((name) => oneLine(name, 40)).join(', ')}`)] : [];
  return [...good, ...bad].join(', ');
}

/** The commands that go on from here. `isShown` is for `show` itself: the work on its branch, and a step in full. */
export function nextLines(view: CastView, baton: string, paint: Paint, isShown = false): readonly ShownLine[] {
  const { cast, status, code, driven, worktree, result } = view;
  const hasWork = worktree?.state === 'ready' && (result.files?.count ?? 0) > 0;
  const isReady = hasWork && (status === 'completed' || status === 'failed' || status === 'aborted');
  const ways: readonly Way[] = [
    ...(driven === false ? ([[`resume ${cast}`, 'carry it on']] as const) : []),
    ...(driven === false || (isShown && status === 'completed') ? [] : wayOn(cast, status, code)),
    ...(isShown && isReady ? ([[`diff ${cast}`, 'what it changed; then merge or undo']] as const) : []),
    ...(isShown ? ([[`show ${cast} --turn N`, 'one step in full']] as const) : []),
  ];
  return ways.map(([command, why], index) => {
    const what = why === '' ? '' : `  ${paint.dim(why)}`;
    return new Ready(`${labelled(index === 0 ? 'next' : '', paint)}${safe(`${baton} ${command}`)}${what}`);
  });
}

type Way = readonly [command: string, why: string];

function wayOn(cast: string, status: CastView['status'], code: string | null): readonly Way[] {
  switch (status) {
    case 'completed':
      return [[`show ${cast}`, '']];
    case 'running':
      return [[`watch ${cast}`, '']];
    case 'waiting':
      return [[`why ${cast}`, 'every way on']];
    case 'paused':
      return [[`continue ${cast}`, '']];
    default:
      return [
        ...(code === 'BUDGET_EXHAUSTED' ? ([[`revive ${cast}`, 'with as much again']] as const) : []),
        ...(code === 'EDGE_BUDGET_EXHAUSTED' ? ([[`revive ${cast}`, 'allow as many more rounds']] as const) : []),
        [`recast ${cast}`, 'carry it on from there'],
        [`why ${cast}`, 'what happened'],
      ];
  }
}

/** One line of the table. A text that is too long goes on below itself. */
function row(label: string, text: string, paint: Paint): ShownLine {
  const pieces = wrap(`${labelled(label, paint)}${text}`, process.stdout.columns ?? 0, LABEL_WIDTH + 2);
  return new Ready(pieces.join('\n'));
}

function labelled(label: string, paint: Paint): string {
  return `  ${paint.dim(label.padEnd(LABEL_WIDTH))}`;
}
