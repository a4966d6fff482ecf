// The environment of an approved command. It starts empty: a list of dangerous names would never be whole. What it gets are
// the search path that was approved, language, terminal and time zone as they were when it was asked for, and the home and
// the variables that are handed over by name, whose values must be the same when it runs.
import { userVariables } from '../agents/environment.ts';
import type { SealedRequest } from '../kernel/approval/request.ts';
import { scrub } from '../kernel/secrets.ts';
import type { SealKey } from './seal-key.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** They are stored in clear with the request, and the command runs with them whatever they are by then. */
const PLAIN = /^(?:LANG|LC_[A-Z]{1,30}|TERM|TZ)$/;
const PLAIN_CHARS_MAX = 200;
/** A home leads to settings of many programs, so it is handed over like a variable that is named. */
const HOME = 'HOME';

/** Language, terminal and time zone. A value that looks like a secret is left out. */
export function plainVariables(env: Variables): Readonly<Record<string, string>> {
  const plain: Record<string, string> = {};
  for (const name of Object.keys(env).sort()) {
    const value = env[name];
    if (value === undefined || !PLAIN.test(name) || value.length > PLAIN_CHARS_MAX) continue;
    if (scrub(value).found.length === 0) plain[name] = value;
  }
  return plain;
}

/** The names of the variables whose values are bound, in order: the home, and what is handed over by name. */
export function boundNames(handed: readonly string[]): readonly string[] {
  const named = handed.filter((name) => name !== 'PATH' && !PLAIN.test(name));
  return [...new Set([HOME, ...named])].sort();
}

/** The mark of each variable's value, or null where it is not set. */
export function marksOf(
  names: readonly string[],
  env: Variables,
  key: SealKey,
): Readonly<Record<string, string | null>> {
  const values = userVariables(env);
  return Object.fromEntries(
    names.map((name) => {
      const value = values[name];
      return [name, value === undefined ? null : key.mark(`env:${name}`, value)];
    }),
  );
}

/** The whole environment of a command whose variables were compared. */
export function environmentOf(
  { path, plainEnv, envMarks }: Pick<SealedRequest, 'path' | 'plainEnv' | 'envMarks'>,
  env: Variables,
): Record<string, string> {
  const given: Record<string, string> = { ...plainEnv, PATH: path };
  const values = userVariables(env);
  for (const [name, mark] of Object.entries(envMarks)) {
    const value = values[name];
    if (mark !== null && value !== undefined) given[name] = value;
  }
  return given;
}
