// A call of `baton exec` in a line of shell. It counts only if it is alone on the line and starts this very program. For
// anything else the refusal names what differs from the approved call.
import { realpathSync } from 'node:fs';
import { programFor } from '../approvals/bound-parts.ts';
import { exactly, seen } from '../kernel/approval/difference.ts';
import type { Difference } from '../kernel/approval/request.ts';
import type { Approval } from '../kernel/approval/state.ts';
import { scrub } from '../kernel/secrets.ts';
import { truncate } from '../kernel/text.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { type Invocation, plainWords, stepsOf } from '../shell/programs.ts';

export type ExecCall =
  | { readonly kind: 'alone'; readonly id: string; readonly argv: readonly string[] }
  /** The call differs from each approval that it names. */
  | {
      readonly kind: 'changed';
      readonly ids: readonly string[];
      differencesTo(approval: Approval): readonly Difference[];
    }
  | { readonly kind: 'unclear'; readonly refusal: Denied };

/** Where the line would run, and the path of this program. */
export type CallContext = { readonly cwd: string; readonly path: string; readonly program: string };

export const FORM = 'say exactly: baton exec --approval ID -- ARGV…, alone on its line, with what was approved';

/** Null where the line calls no `baton exec`. */
export function execCall(line: string, context: CallContext): ExecCall | null {
  const read = stepsOf(line);
  const calls = read.ok ? read.steps.flatMap(({ runs }) => runs).filter((run) => isExec(run)) : [];
  const [call] = calls;
  if (!call) return null;
  const words = plainWords(line);
  const isSelf = words !== null && isOurs(words[0] ?? '', context);
  const ids = [...new Set(calls.flatMap(idsIn))];
  if (isSelf && words[1] === 'exec') {
    const end = words.indexOf('--');
    const options = words.slice(2, end === -1 ? 2 : end).filter((word) => word !== '--json');
    const id = idOf(options);
    if (id !== undefined) return { kind: 'alone', id, argv: words.slice(end + 1) };
  }
  if (ids.length === 0) {
    const reason = `an approved command runs alone, and by baton itself; ${FORM}`;
    return { kind: 'unclear', refusal: deny('APPROVAL_MISMATCH', reason) };
  }
  const isAlone = words !== null && /(?:^|\/)baton$/.test(words[0] ?? '');
  const differencesTo = (approval: Approval) => {
    const parts = isAlone && !isSelf ? [] : around(line, call.named, approval);
    return parts.length > 0 ? parts : [ofProgram(call.named, context)];
  };
  return { kind: 'changed', ids, differencesTo };
}

/** Any file may be named baton. Only this very program counts. */
export function isOurs(word: string, { cwd, path, program }: CallContext): boolean {
  return programFor(word, cwd, path)?.path === realpathSync(program);
}

function isExec({ program, args }: Invocation): boolean {
  return (
    program === 'baton' &&
    args.some(({ text }) => text === 'exec') &&
    args.some(({ text }) => text.startsWith('--approval'))
  );
}

/** The value of `--approval`, if it is the only option. */
function idOf(options: readonly string[]): string | undefined {
  const [option = '', value] = options;
  if (options.length === 1) return /^--approval=(.+)$/.exec(option)?.[1];
  return options.length === 2 && option === '--approval' ? value : undefined;
}

function idsIn({ args }: Invocation): readonly string[] {
  return approvalsNamed(args.map(({ text }) => text));
}

/** Every approval that the words of a call name. */
export function approvalsNamed(texts: readonly string[]): readonly string[] {
  const end = texts.indexOf('--');
  const options = texts.slice(0, end === -1 ? undefined : end);
  return options.flatMap((text, at) => {
    const id = text === '--approval' ? options[at + 1] : /^--approval=(.+)$/.exec(text)?.[1];
    return id === undefined || id === '' ? [] : [id];
  });
}

function ofProgram(name: string, { cwd, path, program }: CallContext): Difference {
  const given = programFor(name, cwd, path)?.path ?? 'none is found';
  return { part: 'program', name: truncate(exactly(name), NAME_CHARS_MAX), approved: realpathSync(program), given };
}

const NAME_CHARS_MAX = 120;
const NOTHING = 'nothing';

/** What the line has before and after the approved call, or else the words that differ. */
export function around(line: string, named: string, { id, sealed }: Approval): readonly Difference[] {
  const given = scrub(line).text.trim();
  const calls = sealed.commands.map(({ display }) => `${named} exec --approval ${id} -- ${display}`);
  const whole = calls.find((call) => given.includes(call));
  if (whole !== undefined) {
    const at = given.indexOf(whole);
    const parts = { before: [0, at], after: [at + whole.length, given.length] } as const;
    return Object.entries(parts).flatMap(([name, part]) =>
      part[0] === part[1] ? [] : [differs(name, NOTHING, partOf(given, part))],
    );
  }
  const call = calls[0] ?? `${named} exec --approval ${id}`;
  const [ours, words] = [call.split(' '), given.split(' ')];
  const head = sharedHead(ours, words);
  const tail = sharedHead(ours.slice(head).reverse(), words.slice(head).reverse());
  const [approved = NOTHING, other = NOTHING] = [call, given].map((text) => between(text, head, tail));
  return [differs('line', approved, other)];
}

function differs(name: string, approved: string, given: string): Difference {
  return { part: 'line', name, approved, given };
}

/** The text without `head` words at its start and `tail` words at its end. */
function between(text: string, head: number, tail: number): string {
  const words = text.split(' ');
  const start = words.slice(0, head).reduce((sum, word) => sum + word.length + 1, 0);
  const middle = words.slice(head, words.length - tail).join(' ');
  return middle === '' ? NOTHING : partOf(text, [start, start + middle.length]);
}

/** A part of a line, without the values of variables. */
function partOf(line: string, part: Range): string {
  return seen(hideValues(line, valuesIn(line), part));
}

function sharedHead(one: readonly string[], other: readonly string[]): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

// The values of variables in a line. A value without a visible end hides the rest of the line.

/** `end` is not part of the range. */
type Range = readonly [start: number, end: number];

// A name, with an index if it has one.
const NAME = /(?<![\w-])[A-Za-z_]\w*(?:\[[^\]\n]{0,64}\])?\+?=/g;

export function valuesIn(line: string): readonly Range[] {
  const ranges: Range[] = [];
  let end = 0;
  for (const { 0: name, index } of line.matchAll(NAME)) {
    const start = index + name.length;
    if (start < end) continue;
    end = endOfValue(line, start);
    if (end > start) ranges.push([start, end]);
  }
  return ranges;
}

/** A part of the line with three dots instead of each value, also of a value that is only partly inside. */
export function hideValues(line: string, ranges: readonly Range[], [from, to]: Range): string {
  let shown = '';
  let at = from;
  for (const [start, end] of ranges) {
    if (end <= at || start >= to) continue;
    shown += `${line.slice(at, Math.max(at, start))}...`;
    at = Math.min(end, to);
  }
  return shown + line.slice(at, to);
}

/** The end of the word that begins at `start`, including quotes, escapes, substitutions and brackets. */
function endOfValue(line: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < line.length) {
    const char = line[at] ?? '';
    if (char === '\\') at = afterEscape(line, at);
    else if (char === "'") at = afterQuote(line, at, line[at - 1] === '$');
    else if (char === '"' || char === '`') at = afterQuote(line, at, true);
    else if (char === '(' || char === '{') {
      depth += 1;
      at += 1;
    } else if (depth === 0 && /[\s;&|()]/.test(char)) return at;
    else {
      if (depth > 0 && (char === ')' || char === '}')) depth -= 1;
      at += 1;
    }
  }
  return line.length;
}

/** In a line that is itself quoted, an escaped quote ends at the next escaped quote. */
function afterEscape(line: string, at: number): number {
  const quote = line[at + 1];
  const end = quote === '"' || quote === "'" ? line.indexOf(`\\${quote}`, at + 2) : -1;
  return Math.min(end === -1 ? at + 2 : end + 2, line.length);
}

function afterQuote(line: string, start: number, hasEscapes: boolean): number {
  const quote = line[start];
  for (let at = start + 1; at < line.length; at += 1) {
    if (hasEscapes && line[at] === '\\') at += 1;
    // A substitution inside quotes has its own quotes, so the end cannot be found.
    else if (quote === '"' && /^\$[({]/.test(line.slice(at, at + 2))) return line.length;
    else if (line[at] === quote) return at + 1;
  }
  return line.length;
}
