// Checkers verify what agents claim. A person declares them in the configuration, under names; packets refer to the names
// and to nothing else, so that no agent's text ever becomes a command.
import { isObject, isPositiveInteger, isString, isText, type Json, type JsonObject, objectAt } from '../json.ts';
import { normalPath } from '../ledger/path.ts';
import type { Socket } from './config.ts';

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

/** After each turn that writes code, or for the whole work before it is merged. */
export const CHECKER_TIMES = ['turn', 'merge'] as const;
export type CheckerTime = (typeof CHECKER_TIMES)[number];
/** The names of the declared checkers that run at this time, in their order; without `when`, after each turn. */
export function checkersAt(declared: JsonObject, time: CheckerTime): readonly string[] {
  return Object.entries(declared).flatMap(([name, definition]) => {
    if (!isObject(definition) || readChecker(definition) === null) return [];
    return (definition.when === 'merge' ? 'merge' : 'turn') === time ? [name] : [];
  });
}

/** Those that run during a cast: after every turn, and where single sockets ask for them. */
export function checkersOfTurns(declared: JsonObject, sockets: Readonly<Record<string, Socket>>): readonly string[] {
  const named = Object.values(sockets).flatMap(({ checkers }) => checkers ?? []);
  return [...new Set([...checkersAt(declared, 'turn'), ...named])];
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

export function isPath(value: Json | undefined): value is string {
  if (!isText(value)) return false;
  const normal = normalPath(value);
  return normal.ok && !normal.path.startsWith('/');
}

function isPaths(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPath);
}
