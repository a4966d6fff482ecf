// Names each part of a command that differs from what was approved, and writes text so that nothing in it can hide. Values of
// variables are never shown; arguments are shown only where they hold no secret.
import { truncate } from '../text.ts';
import type { Difference, Presented, SealedCommand, SealedRequest } from './request.ts';

const DIFFERENCES_MAX = 8;
const SHOWN_MAX = 120;

/** Byte for byte the same arguments. */
export function isSameCommand({ marks }: SealedCommand, presented: Pick<Presented, 'marks'>): boolean {
  return marks.length === presented.marks.length && marks.every((mark, index) => mark === presented.marks[index]);
}

/** The place of the command that is most like the one that is presented. */
export function nearestCommand({ commands }: SealedRequest, presented: Pick<Presented, 'marks'>): number {
  let [best, most] = [0, -1];
  for (const [index, { marks }] of commands.entries()) {
    const same = marks.filter((mark, at) => mark === presented.marks[at]).length;
    if (same > most) [best, most] = [index, same];
  }
  return best;
}

export function differencesOf(sealed: SealedRequest, command: SealedCommand, given: Presented): readonly Difference[] {
  const all = [
    ...ofPolicy(sealed, given),
    ...ofArguments(command, given),
    ...(sealed.cwd === given.cwd ? [] : [differs('folder', 'cwd', sealed.cwd, given.cwd)]),
    ...ofPrograms(command, given),
    ...ofPlaces(command, given),
    ...ofFiles(command, given),
    ...ofEnvironment(sealed, given),
    ...(sealed.log === given.log ? [] : [differs('log', 'log', 'the log it was asked in', 'another, or a copy of it')]),
  ];
  // Every part is equal and the whole is not: the stored request is not the sealed one.
  if (all.length === 0 && command.seal !== given.seal) {
    return [differs('seal', 'seal', command.seal.slice(0, 12), given.seal.slice(0, 12))];
  }
  return all.slice(0, DIFFERENCES_MAX);
}

export function spoken({ part, name, approved, given }: Difference): string {
  const what = part === name || name === '' ? part : `${part} ${name}`;
  return `${what}: approved ${approved}, given ${given}`;
}

function ofArguments({ argv, marks }: SealedCommand, given: Presented): Difference[] {
  const found: Difference[] = [];
  for (let at = 0; at < Math.max(marks.length, given.marks.length); at += 1) {
    if (marks[at] === given.marks[at]) continue;
    found.push(differs('argument', String(at), argumentAt(argv, marks, at), argumentAt(given.argv, given.marks, at)));
  }
  return found;
}

function argumentAt(argv: readonly string[] | null, marks: readonly string[], at: number): string {
  if (at >= marks.length) return 'none';
  const text = argv?.[at];
  return text === undefined ? 'one that is not shown' : seen(text);
}

function ofPrograms({ programs }: SealedCommand, given: Presented): Difference[] {
  return Object.entries(programs).flatMap(([name, sealed]) => {
    const now = given.programs[name] ?? null;
    if (sealed?.path !== now?.path) {
      return [differs('program', name, sealed?.path ?? 'none was found', now?.path ?? 'none is found')];
    }
    return sealed?.digest === now?.digest ? [] : [differs('program', name, 'its bytes', 'other bytes')];
  });
}

function ofPlaces({ places }: SealedCommand, given: Presented): Difference[] {
  return Object.entries(places).flatMap(([name, place]) => {
    const now = given.places[name] ?? 'nowhere';
    return place === now ? [] : [differs('place', name, place, now)];
  });
}

function ofFiles({ files }: SealedCommand, given: Presented): Difference[] {
  return Object.entries(files).flatMap(([path, digest]) => {
    const now = given.files[path] ?? 'absent';
    return now === digest ? [] : [differs('file', path, contentOf(digest), contentOf(now))];
  });
}

function contentOf(digest: string): string {
  return digest === 'absent' ? 'no file' : digest.slice(0, 19);
}

function ofEnvironment({ envMarks }: SealedRequest, given: Presented): Difference[] {
  const names = new Set([...Object.keys(envMarks), ...Object.keys(given.envMarks)]);
  return [...names].flatMap((name) => {
    const mark = envMarks[name] ?? null;
    const now = given.envMarks[name] ?? null;
    if (mark === now) return [];
    const isChanged = mark !== null && now !== null;
    return [
      differs(
        'environment',
        name,
        mark === null ? 'not set' : 'set',
        isChanged ? 'another value' : mark === null ? 'set' : 'not set',
      ),
    ];
  });
}

function ofPolicy(sealed: SealedRequest, given: Presented): Difference[] {
  // Under another key all marks differ, which would tell nothing.
  const key = sealed.keyId === given.keyId ? [] : [differs('seal', 'key', sealed.keyId, given.keyId)];
  if (sealed.policy === given.policy) return key;
  return [...key, differs('policy', 'policy', sealed.policy.slice(0, 12), given.policy.slice(0, 12))];
}

function differs(part: Difference['part'], name: string, approved: string, given: string): Difference {
  return { part, name, approved, given };
}

/** Look-alikes and what cannot be seen are written out, so that a difference is visible. */
export function seen(text: string): string {
  const shown = exactly(text);
  return JSON.stringify(shown.length > SHOWN_MAX ? `${shown.slice(0, SHOWN_MAX)}…` : shown).replaceAll(
    '\\\\u{',
    '\\u{',
  );
}

/** Commands and paths: everything beyond plain ASCII is written out, because every byte of them counts. */
export function exactly(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, writtenOut);
}

/** What an agent says in its own words: letters of all languages stay, what acts or cannot be seen does not. */
export function inWords(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(UNSEEN, writtenOut).trim();
}

/** Invisible by their kind, besides fillers and the blank of Braille, which count as letters and symbols. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Z} ]/gu;

function writtenOut(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

const WISH_CHARS_MAX = 1_200;

/** What a person would allow, described from the seal and not from the agent's words. */
export function requestText({ commands, operation }: SealedRequest): string {
  const shown = commands.map(({ display }) => exactly(display));
  const [only = ''] = shown;
  const all =
    shown.length === 0
      ? `permission in words: ${inWords(operation)}`
      : shown.length === 1
        ? only
        : `${shown.length} commands: ${shown.map((command, index) => `(${index + 1}) ${command}`).join(' ')}`;
  return truncate(all, WISH_CHARS_MAX);
}
