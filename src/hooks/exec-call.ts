// The call of `baton exec` in a line of shell. It counts only alone on its line and by this very program; of anything else it
// is said what stands around the call or differs in it, so that whoever is refused sees it, and the log too.
import { realpathSync } from 'node:fs';
import { programFor } from '../approvals/look.ts';
import { exactly, seen } from '../kernel/approval/difference.ts';
import type { Difference } from '../kernel/approval/request.ts';
import type { Approval } from '../kernel/approval/state.ts';
import { cut } from '../kernel/cast/cut.ts';
import { scrub } from '../kernel/secrets.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { type Invocation, stepsOf } from '../shell/programs.ts';
import { plainWords } from '../shell/words.ts';
import { type Range, valuesIn, withoutValues } from './hidden-values.ts';

export type ExecCall =
  | { readonly kind: 'alone'; readonly id: string; readonly argv: readonly string[] }
  /** Each of the approvals it names is asked for otherwise than it was given. */
  | {
      readonly kind: 'changed';
      readonly ids: readonly string[];
      differencesTo(approval: Approval): readonly Difference[];
    }
  | { readonly kind: 'unclear'; readonly refusal: Denied };

/** Where the line would be run, and the program that we are. */
export type CallScene = { readonly cwd: string; readonly path: string; readonly program: string };

export const FORM = 'say exactly: baton exec --approval ID -- ARGV…, alone on its line, with what was approved';

/** Null where the line calls no `baton exec`. */
export function execCall(line: string, scene: CallScene): ExecCall | null {
  const read = stepsOf(line);
  const calls = read.ok ? read.steps.flatMap(({ runs }) => runs).filter((run) => isExec(run)) : [];
  const [call] = calls;
  if (!call) return null;
  const words = plainWords(line);
  const isSelf = words !== null && isOurs(words[0] ?? '', scene);
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
    const told = isAlone && !isSelf ? [] : around(line, call.named, approval);
    return told.length > 0 ? told : [ofProgram(call.named, scene)];
  };
  return { kind: 'changed', ids, differencesTo };
}

/** Anything may be called baton; only this very program counts. */
export function isOurs(word: string, { cwd, path, program }: CallScene): boolean {
  return programFor(word, cwd, path)?.path === realpathSync(program);
}

function isExec({ program, args }: Invocation): boolean {
  return (
    program === 'baton' &&
    args.some(({ text }) => text === 'exec') &&
    args.some(({ text }) => text.startsWith('--approval'))
  );
}

/** Of exactly this option the value. */
function idOf(options: readonly string[]): string | undefined {
  const [option = '', value] = options;
  if (options.length === 1) return /^--approval=(.+)$/.exec(option)?.[1];
  return options.length === 2 && option === '--approval' ? value : undefined;
}

function idsIn({ args }: Invocation): readonly string[] {
  return approvalsNamed(args.map(({ text }) => text));
}

/** Whatever the words of a call name as an approval, also more than one. */
export function approvalsNamed(texts: readonly string[]): readonly string[] {
  const end = texts.indexOf('--');
  const options = texts.slice(0, end === -1 ? undefined : end);
  return options.flatMap((text, at) => {
    const id = text === '--approval' ? options[at + 1] : /^--approval=(.+)$/.exec(text)?.[1];
    return id === undefined || id === '' ? [] : [id];
  });
}

function ofProgram(name: string, { cwd, path, program }: CallScene): Difference {
  const given = programFor(name, cwd, path)?.path ?? 'none is found';
  return { part: 'program', name: cut(exactly(name), NAME_CHARS_MAX), approved: realpathSync(program), given };
}

const NAME_CHARS_MAX = 120;
const NOTHING = 'nothing';

/** What the line has before and behind the call as it was given; else the words in which the two differ. */
export function around(line: string, named: string, { id, sealed }: Approval): readonly Difference[] {
  const given = scrub(line).text.trim();
  const calls = sealed.commands.map(({ display }) => `${named} exec --approval ${id} -- ${display}`);
  const whole = calls.find((call) => given.includes(call));
  if (whole !== undefined) {
    const at = given.indexOf(whole);
    const parts = { before: [0, at], after: [at + whole.length, given.length] } as const;
    return Object.entries(parts).flatMap(([name, part]) =>
      part[0] === part[1] ? [] : [differs(name, NOTHING, shown(given, part))],
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

/** The text without so many words at its two ends. */
function between(text: string, head: number, tail: number): string {
  const words = text.split(' ');
  const start = words.slice(0, head).reduce((sum, word) => sum + word.length + 1, 0);
  const middle = words.slice(head, words.length - tail).join(' ');
  return middle === '' ? NOTHING : shown(text, [start, start + middle.length]);
}

/** A part of a line. The values of variables are never told. */
function shown(line: string, part: Range): string {
  return seen(withoutValues(line, valuesIn(line), part));
}

function sharedHead(one: readonly string[], other: readonly string[]): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
