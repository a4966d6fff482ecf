// Compares the commands that a report names with the commands that were seen to run. Both are split into steps. A change of
// folder, a shell around them, spacing, comments and viewers behind a pipe make no difference; anything else does.
import { COMMAND_CHARS_MAX, COMMANDS_MAX } from '../cast/budget.ts';
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { truncate } from '../text.ts';
import { sectionAt, valuesAt } from './sections.ts';

export type CommandDifferences = {
  /** Named in the report, and not run according to its program. */
  readonly notRun: readonly string[];
  /** Run, and not named in the report. */
  readonly unnamed: readonly string[];
};

const LISTED_MAX = 20;
/** So much of a command is looked at. */
const CHARS_MAX = 2_000;
const CLAIMS_MAX = 200;
const CUT = '…';

export function compareCommands(claimed: readonly string[], ran: readonly string[]): CommandDifferences {
  const runs = ran.slice(0, COMMANDS_MAX).map(shapeOf);
  const steps = new Set(runs.flatMap((run) => run.steps));
  const cuts = runs.filter(({ isCut }) => isCut);
  const wasRun = (claim: Shape) =>
    runs.some(({ whole }) => whole === claim.whole) ||
    claim.steps.every((step) => steps.has(step)) ||
    cuts.some(({ whole }) => claim.whole.startsWith(whole));
  const claims = claimed.slice(0, CLAIMS_MAX).map((claim) => claimShape(claim, wasRun));
  const named = new Set(claims.flatMap((claim) => claim.steps));
  const isNamed = (run: Shape) =>
    run.isCut
      ? claims.some(({ whole }) => whole.startsWith(run.whole))
      : claims.some(({ whole }) => whole === run.whole) || run.steps.every((step) => named.has(step));
  // Where the list was full, more may have been run than is known.
  const isFull = ran.length >= COMMANDS_MAX;
  return {
    notRun: isFull ? [] : texts(claims.filter((claim) => !wasRun(claim))),
    unnamed: texts(runs.filter((run) => !isNamed(run))),
  };
}

/** Brackets after a command are a remark only where the text before them was seen to run. */
function claimShape(claim: string, wasRun: (shape: Shape) => boolean): Shape {
  const whole = shapeOf(claim);
  const before = wasRun(whole) ? null : beforeBrackets(claim.slice(0, CHARS_MAX).trim());
  const bare = before === null ? whole : shapeOf(before);
  return wasRun(bare) ? bare : whole;
}

/** Behind one of these, brackets are a command of their own. */
const BEGINS_COMMAND = /(?:^|[;&|!({<>$=]|\b(?:if|then|else|elif|do|while|until|time|in))$/;

/** The text before the closing brackets; null where it does not end with brackets. */
function beforeBrackets(text: string): string | null {
  let depth = 0;
  let open = -1;
  let close = -1;
  for (const { index, char } of unquoted(text)) {
    if (char === '(' && depth++ === 0) open = index;
    if (char === ')' && --depth === 0) close = index;
    if (depth < 0) return null;
  }
  if (close !== text.length - 1 || depth !== 0 || !/\s/.test(text.charAt(open - 1))) return null;
  const before = text.slice(0, open).trimEnd();
  return BEGINS_COMMAND.test(before) ? null : before;
}

/** The characters outside of quotes that are not escaped. */
function* unquoted(text: string): Generator<{ readonly index: number; readonly char: string }> {
  let quote = '';
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charAt(index);
    if (char === '\\' && quote !== "'") index += 1;
    else if (quote !== '') quote = quote === char ? '' : quote;
    else if (char === "'" || char === '"') quote = char;
    else yield { index, char };
  }
}

function texts(shapes: readonly Shape[]): readonly string[] {
  const commands = shapes.map(({ whole, isCut }) => truncate(isCut ? `${whole}${CUT}` : whole, COMMAND_CHARS_MAX));
  return [...new Set(commands)].slice(0, LISTED_MAX);
}

type Shape = {
  /** On one line and without the shell around it. */
  readonly whole: string;
  /** What it is made of, without what only leads there or only looks at it. */
  readonly steps: readonly string[];
  /** The end of it is not known. */
  readonly isCut: boolean;
};

function shapeOf(given: string): Shape {
  const text = given.slice(0, CHARS_MAX);
  const isCut = text.length >= COMMAND_CHARS_MAX && text.endsWith(CUT);
  const bare = unwrapped(stripped(isCut ? text.slice(0, -1) : text));
  const whole = collapsed(bare);
  const steps = stepsOf(bare).filter((step) => !LEADS_THERE.test(step));
  return { whole, steps: steps.length > 0 ? steps : [whole], isCut };
}

/** The marks with which people quote a command. */
function stripped(text: string): string {
  const bare = text.trim().replace(/^\$ /, '');
  return bare.length > 1 && bare.startsWith('`') && bare.endsWith('`') ? bare.slice(1, -1) : bare;
}

const SHELL = /^(?:\/usr)?(?:\/bin\/)?(?:ba|da|z)?sh +(?:-[a-z]+ +)*-[a-z]*c +(['"]?)/;

function unwrapped(text: string): string {
  const shell = SHELL.exec(text);
  if (!shell) return text;
  const [start, quote] = shell;
  const inner = text.slice(start.length);
  if (!quote) return inner;
  const body = inner.endsWith(quote) ? inner.slice(0, -1) : inner;
  return quote === "'" ? body.replaceAll("'\\''", "'") : body.replace(/\\(["\\$`])/g, '$1');
}

const LEADS_THERE = /^(?:cd|pushd|popd|set)(?: |$)/;
const VIEWER = /^(?:head|tail|less|more|cat|tee)(?: |$)/;

/** Split where one command ends and the next begins, outside of quotes. */
function stepsOf(text: string): readonly string[] {
  const steps: string[] = [];
  let step = '';
  let isPiped = false;
  let quote = '';
  const end = (piped: boolean) => {
    const done = collapsed(step.replace(/(?:^|\s)2>&1(?=\s|$)/g, ' '));
    if (done !== '' && !(isPiped && VIEWER.test(done))) steps.push(done);
    isPiped = piped;
    step = '';
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\' && quote !== "'") {
      step += text.slice(at, at + 2);
      at += 1;
    } else if (quote !== '' || char === "'" || char === '"') {
      quote = quote === '' ? char : quote === char ? '' : quote;
      step += char;
    } else if (char === '#' && /(?:^|\s)$/.test(step)) {
      // A comment is for the reader and is never run; it ends with its line.
      const line = text.indexOf('\n', at);
      at = (line === -1 ? text.length : line) - 1;
    } else if (char === ';' || char === '\n' || (char === '|' && text.charAt(at + 1) !== '|')) {
      end(char === '|');
    } else if ((char === '&' || char === '|') && text.charAt(at + 1) === char) {
      end(false);
      at += 1;
    } else step += char;
  }
  end(false);
  return steps;
}

function collapsed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A number of skipped tests is a result, and the command was run. */
const SAYS_NOT_RUN = /\b(?:not run|not executed|(?<!\d )skipped|n\/a)\b/i;

export function claimedCommands(report: JsonObject): string[] {
  return valuesAt(sectionAt(report, 'evidence_report'), 'commands_run').flatMap((entry) => commandIn(entry) ?? []);
}

/** Null where the entry names no command, or one that was not run. */
function commandIn(entry: Json): string | null {
  const named = isObject(entry) ? (entry.command ?? entry.cmd) : entry;
  if (!isString(named)) return null;
  const { command, result } = isObject(entry) ? { command: named.trim(), result: '' } : parted(named.trim());
  if (command === '' || command.toLowerCase() === 'none') return null;
  return SAYS_NOT_RUN.test(command) || NOT_RUN.test(result) ? null : command;
}

/** So a result begins that says that there is none. */
const NOT_RUN = /^[\s(*_]*(?:not run|not executed|skipped|n\/a)\b/i;

type Parted = { readonly command: string; readonly result: string };

/** The command, and what came of it: `npm test -> ok`, `npm run build: exit 0`. */
function parted(text: string): Parted {
  const end = text.startsWith('`') ? text.indexOf('`', 1) : -1;
  const behind = end === -1 ? '' : text.slice(end + 1);
  const marked = /^\s*(?:->|=>|→|:|\()/.exec(behind);
  if (marked) return { command: text.slice(1, end).trim(), result: behind.slice(marked[0].length) };
  let quote = '';
  for (const { index, 0: found } of text.matchAll(QUOTE_OR_MARK)) {
    // Within quotes it is a part of the command.
    if (found === "'" || found === '"') quote = quote === '' ? found : quote === found ? '' : quote;
    else if (quote === '') return { command: text.slice(0, index).trim(), result: text.slice(index + found.length) };
  }
  return { command: text, result: '' };
}

const QUOTE_OR_MARK = /['"]| (?:->|=>|→) |: (?=(?:exit|ok|pass|fail|success)(?:\b|ed\b))/gi;
