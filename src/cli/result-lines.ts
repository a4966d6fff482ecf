// What a cast produced, as lines for a terminal: its last text first, then its items, then what a failed turn really said.
import { type CastResult, type Failure, type Issue, issuesBeyond, type LastText } from '../app/views/result.ts';
import type { TaskView } from '../app/views/tasks.ts';
import { counted } from '../kernel/counted.ts';
import { oneLine, safe } from './safe-text.ts';
import { table } from './table.ts';

const LINES_MAX = 40;
const LINE_CHARS_MAX = 2_000;
const TITLE_CHARS_MIN = 16;
const INDENT = '  ';

export type ShownResult = {
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
    ...(last && !last.isReport ? textLines(last, `${oneLine(last.materia, 60)}:`, cast, baton) : []),
    ...(failure ? failureLines(failure, cast, baton, withIssues ? issuesBeyond(reason, failure.issues) : []) : []),
  ];
}

/** Each work item with its outcome and how many files it changed. Titles are cut so that a row fits the terminal. */
export function itemLines(tasks: readonly TaskView[] = [], columns = process.stdout.columns): string[] {
  const items = tasks.filter(({ isItem }) => isItem);
  if (items.length === 0) return [];
  const ends = items.map((task) => [outcomeOf(task), filesText(task)]);
  const taken = [0, 1].map((column) => Math.max(7, ...ends.map((end) => end[column]?.length ?? 0)) + 2);
  const room = columns === undefined ? undefined : columns - taken.reduce((sum, width) => sum + width);
  const titles = items.map(({ title }) => oneLine(title, room && Math.max(TITLE_CHARS_MIN, room)));
  return table(
    ends.map((end, index) => [titles[index] ?? '', ...end]),
    ['item', 'outcome', 'files'],
  );
}

/** What became of an item: in the ledger a skipped one is done, and one that was left early is canceled. */
function outcomeOf({ status, skipped, code }: TaskView): string {
  if (code === 'LEFT_EARLY') return 'left early';
  return skipped ? 'skipped' : status;
}

/** How many files the turns of a task changed; empty where none of them may write. */
export function filesText({ files }: Pick<TaskView, 'files'>): string {
  if (files === undefined) return '';
  return files === 0 ? 'changed no file' : counted(files, 'file');
}

function failureLines(failure: Failure, cast: string, baton: string, issues: readonly Issue[]): string[] {
  const { text, materia } = failure;
  const wrong = issues.map(({ path, message }) => `  at ${oneLine(path, 200) || '$'}: ${oneLine(message, 400)}`);
  const part = failure.issues.length === 0 ? 'end' : 'start';
  const said = text === '' ? [] : textLines(failure, `What ${oneLine(materia, 60)} said:`, cast, baton, part);
  return [...said, ...(wrong.length === 0 ? [] : ['What is wrong with it:', ...wrong])];
}

/** The beginning of a long text, or its end where that says what went wrong. */
function textLines(
  { text, isCut, turn }: LastText,
  heading: string,
  cast: string,
  baton: string,
  part: 'start' | 'end' = 'start',
): string[] {
  const all = safe(text).split('\n');
  const kept = part === 'start' ? all.slice(0, LINES_MAX) : all.slice(-LINES_MAX);
  const width = (process.stdout.columns ?? Number.POSITIVE_INFINITY) - INDENT.length;
  const shown = kept.flatMap((line) => wrapped(cutLine(line), width)).map((line) => `${INDENT}${line}`.trimEnd());
  const isWhole = kept.length === all.length && !isCut;
  const more = isWhole ? [] : [`${INDENT}… all of it: ${baton} show ${cast} --turn ${turn}`];
  return part === 'start' ? [heading, ...shown, ...more] : [heading, ...more, ...shown];
}

function cutLine(line: string): string {
  return line.length <= LINE_CHARS_MAX ? line : `${line.slice(0, LINE_CHARS_MAX)}…`;
}

/** The line in pieces of at most `width` characters, cut between words where there are any. */
export function wrapped(line: string, width: number): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > width && width > 0) {
    const space = rest.lastIndexOf(' ', width);
    const isIndent = rest.slice(0, space + 1).trim() === '';
    const end = isIndent ? width : space;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(isIndent ? end : end + 1);
  }
  return [...pieces, rest];
}
