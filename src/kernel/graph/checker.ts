// Checkers verify what agents claim. A person declares them in the configuration, under names; packets refer to the names
// and to nothing else, so that no agent's text ever becomes a command.
import { isObject, isPositiveInteger, isString, isText, type Json, type JsonObject } from '../json.ts';
import { normalPath } from '../ledger/path.ts';
import { objectAt } from './authored.ts';
import { error, type Findings, listed, shown } from './issue.ts';
import { BOOLEAN, checkShapes, checkUnknown, POSITIVE_INTEGER, type Shape, type Shapes, TEXT } from './shape.ts';

export type Checker =
  /** Runs a program, without a shell, and looks at its exit code. */
  | {
      readonly kind: 'command';
      readonly command: readonly string[];
      readonly exitCode: number;
      readonly timeoutMs: number;
    }
  | { readonly kind: 'file'; readonly file: string; readonly exists: boolean; readonly contains: string | null }
  /** The value at a place of a JSON file. */
  | { readonly kind: 'json'; readonly file: string; readonly at: readonly string[]; readonly equals: Json }
  /** Nothing was changed but these paths and what lies below them. */
  | { readonly kind: 'diff'; readonly paths: readonly string[] };

export const CHECKER_TIMEOUT_MS = 300_000;

/** The checker that a definition declares, or null where it declares none. */
export function readChecker(definition: Json | undefined): Checker | null {
  if (!isObject(definition)) return null;
  const { command, file, json, diff } = definition;
  if (isCommand(command)) {
    const { exitCode, timeoutMs } = definition;
    return {
      kind: 'command',
      command,
      exitCode: typeof exitCode === 'number' ? exitCode : 0,
      timeoutMs: isPositiveInteger(timeoutMs) ? timeoutMs : CHECKER_TIMEOUT_MS,
    };
  }
  if (isPath(file)) {
    const { exists, contains } = definition;
    return { kind: 'file', file, exists: exists !== false, contains: isString(contains) ? contains : null };
  }
  if (isPath(json)) return { kind: 'json', file: json, at: placeOf(definition), equals: definition.equals ?? null };
  return isPaths(diff) ? { kind: 'diff', paths: diff } : null;
}

/** The names under which checkers are declared. */
export function checkerNames(config: JsonObject): readonly string[] {
  const declared = objectAt(config, 'checkers');
  return Object.keys(declared).filter((name) => readChecker(declared[name]) !== null);
}

const PATH: Shape = { accepts: isPath, wants: 'a path inside the workspace' };
const EXIT_CODE: Shape = {
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 255,
  wants: 'an exit code, from 0 to 255',
};
const STEPS: Shape = {
  accepts: (value) => isText(value) && !value.split('.').includes(''),
  wants: 'names joined by dots, such as a.b.0.c',
};
const POINTER: Shape = { accepts: (value) => isString(value) && /^(?:\/|$)/.test(value), wants: 'a JSON pointer' };
const ANY: Shape = { accepts: () => true, wants: 'a value' };

/** After each turn that writes code, or for the whole work before it is merged. */
export const CHECKER_TIMES = ['turn', 'merge'] as const;
export type CheckerTime = (typeof CHECKER_TIMES)[number];
const WHEN: Shape = {
  accepts: (value) => value === 'turn' || value === 'merge',
  wants: '"turn" (quick, after each turn) or "merge" (the whole work)',
};

/** The names of the declared checkers that run at this time, in their order; without `when`, after each turn. */
export function checkersAt(declared: JsonObject, time: CheckerTime): readonly string[] {
  return Object.entries(declared).flatMap(([name, definition]) => {
    if (!isObject(definition) || readChecker(definition) === null) return [];
    return (definition.when === 'merge' ? 'merge' : 'turn') === time ? [name] : [];
  });
}

/** What may stand beside the member that says of which sort a checker is. */
const SORTS: Readonly<Record<string, Shapes>> = {
  command: {
    command: { accepts: isCommand, wants: 'a list: the program and its arguments, which no shell sees' },
    exitCode: EXIT_CODE,
    timeoutMs: POSITIVE_INTEGER,
    when: WHEN,
  },
  file: { file: PATH, exists: BOOLEAN, contains: TEXT, when: WHEN },
  json: { json: PATH, pointer: POINTER, path: STEPS, equals: ANY, when: WHEN },
  diff: { diff: { accepts: isPaths, wants: 'a list of paths inside the workspace, at least one' }, when: WHEN },
};

export function* checkCheckers(checkers: Json | undefined): Findings {
  if (checkers === undefined) return;
  if (!isObject(checkers)) {
    const message = `checkers is ${shown(checkers)}. Write an object from names to checkers.`;
    yield error('INVALID_CONFIG', 'checkers', message);
    return;
  }
  for (const [name, definition] of Object.entries(checkers)) {
    if (definition !== null) yield* checkChecker(definition, `checkers.${name}`);
  }
}

function* checkChecker(definition: Json, path: string): Findings {
  const sorts = Object.keys(SORTS);
  if (!isObject(definition)) {
    const message = `A checker is an object, not ${shown(definition)}. Write one of ${listed(sorts)} into it.`;
    yield error('INVALID_CONFIG', path, message);
    return;
  }
  const [sort, another] = sorts.filter((name) => definition[name] !== undefined);
  const shapes = sort === undefined ? undefined : SORTS[sort];
  if (sort === undefined || shapes === undefined || another !== undefined) {
    const found = sort === undefined ? 'none' : `${sort} and ${another}`;
    yield error('INVALID_CONFIG', path, `A checker has exactly one of ${listed(sorts)}; this one has ${found}.`);
    return;
  }
  yield* checkShapes(definition, shapes, path, 'INVALID_CONFIG');
  yield* checkUnknown(definition, Object.keys(shapes), path, `a ${sort} checker`);
  if (sort === 'json') yield* checkPlace(definition, path);
  if (definition.exists === false && definition.contains !== undefined) {
    const message = 'A file that must not exist cannot contain a text. Leave one of the two out.';
    yield error('INVALID_CONFIG', `${path}.contains`, message);
  }
}

function* checkPlace(definition: JsonObject, path: string): Findings {
  if ((definition.pointer === undefined) === (definition.path === undefined)) {
    const message = 'A json checker says with pointer or with path, not both, which value it looks at.';
    yield error('INVALID_CONFIG', path, message);
  }
  if (definition.equals === undefined) {
    yield error('INVALID_CONFIG', `${path}.equals`, 'A json checker needs equals: the value that is expected there.');
  }
}

/** The steps to a value: those of a JSON pointer, or the names of a dotted path. */
function placeOf({ pointer, path }: JsonObject): readonly string[] {
  if (isString(pointer)) {
    return pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return isText(path) ? path.split('.') : [];
}

function isCommand(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && isText(value[0]) && value.every(isString);
}

function isPath(value: Json | undefined): value is string {
  if (!isText(value)) return false;
  const normal = normalPath(value);
  return normal.ok && !normal.path.startsWith('/');
}

function isPaths(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPath);
}
