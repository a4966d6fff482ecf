// The environment of an agent: a list of allowed variables, because an unlisted variable cannot leak. Keys of other services do not
// reach an agent. Here is also how a program's file is found on PATH.

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AttemptDirs, MCP_URL_VARIABLE } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { traceVariables } from './trace-context.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** What every program needs to start, to find its own files, and to get out where only a proxy leads out. */
export const USUAL = [
  ...['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TERM', 'TMPDIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
];

type Sources = {
  /** The program's own variables: its credentials, and where its settings lie. */
  readonly program: readonly string[];
  /** What the materia lists. */
  readonly listed: readonly string[];
  /** Set by us, whatever is inherited. */
  readonly set: Readonly<Record<string, string>>;
};

type Turn = Pick<Packet, 'cast' | 'turn' | 'attempt' | 'task'>;

export function agentEnvironment(
  inherited: Variables,
  { program, listed, set }: Sources,
  { cast, turn, attempt, task }: Turn,
  { attemptDir, configDir }: Pick<AttemptDirs, 'attemptDir' | 'configDir'>,
): Record<string, string> {
  const given = { ...only([...USUAL, ...program, ...listed], userVariables(inherited)), ...set };
  return {
    ...given,
    PATH: withBaton(given.PATH),
    // Attempts are in the state folder. Without a named home, that folder is the home.
    BATON_HOME: resolve(inherited.BATON_HOME || dirname(dirname(attemptDir))),
    // With it `baton exec` finds the key with which a permission was sealed, where that is not in the usual place.
    ...(inherited.BATON_CONFIG ? { BATON_CONFIG: resolve(inherited.BATON_CONFIG) } : {}),
    // An agent that has gone elsewhere still asks and runs in its own workspace.
    BATON_WORKSPACE: dirname(configDir),
    // A driver within an attempt has inherited the address of another cast's server.
    ...(inherited[MCP_URL_VARIABLE] && !inherited.BATON_ATTEMPT
      ? { [MCP_URL_VARIABLE]: inherited[MCP_URL_VARIABLE] }
      : {}),
    BATON_CAST: cast,
    BATON_ATTEMPT: `${turn}.${attempt}`,
    ...(task ? { BATON_TASK: task.id, BATON_FENCE: String(task.fence) } : {}),
    ...traceVariables(inherited, { cast, turn, attempt }),
  };
}

/** Where this very program lies. */
const OWN_FOLDER = fileURLToPath(new URL('../../bin', import.meta.url));

/** The program that an agent runs what was approved with. */
export const OWN_PROGRAM = join(OWN_FOLDER, 'baton');

/** Agents run approved commands with `baton`. If no program has that name, ours is added at the end of the path. */
export function withBaton(path: string | undefined): string {
  if (findExecutable('baton', path, '/') !== null) return path ?? '';
  return path === undefined || path === '' ? OWN_FOLDER : `${path}${delimiter}${OWN_FOLDER}`;
}

/** How bin/baton keeps a variable that must not bring code into this program. */
const KEPT = /^BATON_USER_(.+)$/;

/** The user's variables, under their own names: those that were kept away from this program are for others to see. */
export function userVariables(env: Variables): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => KEPT.test(name));
  const rest = Object.entries(env).filter(([name]) => !KEPT.test(name));
  return Object.fromEntries([...rest, ...kept.map(([name, value]) => [name.replace(KEPT, '$1'), value] as const)]);
}

/** The named variables that are set. */
export function only(names: readonly string[], inherited: Variables): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of names) {
    const value = inherited[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** Null where there is no such file that may be run. A name with a slash is looked up from `cwd`, any other on `PATH`. */
export function findExecutable(program: string, path: string | undefined, cwd: string): string | null {
  if (program.includes('/')) return [resolve(cwd, program)].find(isExecutable) ?? null;
  const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isExecutable) ?? null;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
