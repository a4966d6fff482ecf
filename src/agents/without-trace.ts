// What a program said when it broke, without the trace of its calls: the error is one line of that, and the trace behind it is
// long enough to push it out of every bound. Runtimes that end with the error, and ones that begin with it, are both read.

/** So much of the end is looked at. */
const CHARS_MAX = 32_000;
const HEAD_LINES_MAX = 10;
/** Of what is left: the first line, which is the error, and the last ones. */
const KEPT_LINES_MAX = 5;
const LINE_CHARS_MAX = 390;

const FRAME = /^\s+at \S/;
/** What stands around the frames and says nothing: marks under a line of source, what was left out, braces, the runtime. */
const AROUND = /^\s*(?:[~^]+|\.{3} \d+ (?:lines|more)\b.{0,100}|[{}\]],?|Node\.js v\S+)?\s*$/;
const TRACEBACK = /^Traceback \(most recent call last\):/;
const ERROR = /^(?:Uncaught )?[\w.$]{0,100}(?:Error|Exception)\b/;

/** The same words where there is no trace among them. */
export function withoutTrace(said: string): string {
  const lines = said.slice(-CHARS_MAX).trimEnd().split('\n');
  const head = headOf(lines);
  if (head !== null) return kept(lines.slice(head));
  return lines.some((line) => TRACEBACK.test(line)) ? kept(outsideOf(lines)) : said;
}

function kept(lines: readonly string[]): string {
  const told = lines
    .filter((line) => !FRAME.test(line) && !AROUND.test(line))
    .map((line) => line.replace(/ \{$/, '').slice(0, LINE_CHARS_MAX));
  const isLong = told.length > KEPT_LINES_MAX;
  return (isLong ? [...told.slice(0, 1), '…', ...told.slice(2 - KEPT_LINES_MAX)] : told).join('\n');
}

/** Where the words of the last error begin whose calls are listed below it; one that is indented is the cause of another. */
function headOf(lines: readonly string[]): number | null {
  const last = lines.findLastIndex((line, at) => FRAME.test(lines[at + 1] ?? '') && /^\S/.test(line));
  if (last === -1) return null;
  const from = Math.max(0, last - HEAD_LINES_MAX);
  const begin = lines.slice(from, last + 1).findLastIndex((line) => ERROR.test(line));
  return begin === -1 ? last : from + begin;
}

/** The lines that belong to no traceback: each is indented, and the error stands below it. */
function outsideOf(lines: readonly string[]): readonly string[] {
  let isInside = false;
  return lines.filter((line) => {
    if (TRACEBACK.test(line)) isInside = true;
    else if (/^\S/.test(line)) isInside = false;
    return !isInside;
  });
}
