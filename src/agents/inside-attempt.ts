// Whether this process was started by an agent or by something an agent started. Every attempt marks its environment, and a
// mark that was taken off here is still found in a process above; where it was taken off there too, the supervisor of the
// attempt is left, which no agent can change. Checkers run code that agents may have written, in no attempt. They have a parent of
// their own that is recognized, whatever program drives the cast; and what a command of ours starts counts as well.
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readAttemptClaim } from './process/attempt-folder.ts';
import { ancestorsOf, commandOf, processVariables } from './process/process-identity.ts';
import { ATTEMPT_MARK } from './process/process-tree.ts';

const MARKS = [ATTEMPT_MARK, 'BATON_ATTEMPT'];

export function isInsideAttempt(env: Readonly<Record<string, string | undefined>>, pid = process.pid): boolean {
  if (MARKS.some((name) => (env[name] ?? '') !== '')) return true;
  return ancestorsOf(pid).some((above) => {
    if (isMarked(above.pid)) return true;
    const command = commandOf(above.pid);
    return supervisedFolder(command) !== null || isCheckerParent(command) || runsProjectCode(command);
  });
}

/** The words that run a checker below a shell, which stays its parent and reads none of its words. */
export function belowCheckerParent(command: readonly string[]): readonly string[] {
  return ['sh', '-c', '"$@"; exit $?', 'baton-checker', ...command];
}

/** Whether a command line is that of a checker's parent. */
export function isCheckerParent(command: string): boolean {
  return /^(?:[^\0 ]*\/)?sh[\0 ]-c[\0 ]"\$@"; exit \$\?[\0 ]baton-checker[\0 ]/.test(command);
}

/**
 * Whether a command line is one of ours that may run code of the project. A server starts only commands of ours for its
 * clients, `--detach` only the process that drives the cast, and `--ui` starts a server next to the cast.
 */
export function runsProjectCode(command: string): boolean {
  const [, rest] = OWN_PROGRAM.exec(command.slice(0, 8_192)) ?? [];
  if (rest === undefined) return false;
  const all = rest.split(command.includes('\0') ? '\0' : ' ');
  // What follows is the person's own text.
  const words = all.includes('--') ? all.slice(0, all.indexOf('--')) : all;
  const name = words.find((word, at) => word !== '' && !word.startsWith('-') && words[at - 1] !== '-C');
  if (words.includes('--detach')) return false;
  if (name === 'cast' || name === 'demo') return !words.includes('--ui');
  return name === undefined || !SERVERS.includes(name);
}

/** They run nothing of the project themselves. Casts that they are asked for get processes of their own. */
const SERVERS: readonly string[] = ['mcp', 'serve', 'ui'];

/** Node, options of Node, `bin/main.cjs` of a checkout or a package, and then the arguments. */
const OWN_PROGRAM = /^[^\0 ]*node[^\0 ]*[\0 ](?:--[^\0 ]+[\0 ])*(?:[^\0]*?\/)?bin\/main\.cjs(?:[\0 ]|$)(.*)$/s;

/** The folder of the attempt that a supervisor was started on, as its command line says; null for any other program. */
export function supervisedFolder(command: string): string | null {
  const [, folder] = /supervisor\.[jt]s[\0 ](\/[^\0]+)\0?$/.exec(command.slice(-8_192)) ?? [];
  return folder ?? null;
}

/**
 * Whether the attempt in this folder has started us: its supervisor is a process above. What an environment says can be
 * made up by the process that starts us; that cannot. An attempt without a supervisor has started no process.
 */
export async function isStartedByAttempt(dir: string, pid = process.pid): Promise<boolean> {
  const claims = await Promise.all((await runsOf(dir)).map((folder) => readAttemptClaim(folder).catch(() => null)));
  const supervisors = claims.filter((claim) => claim?.by === 'supervisor');
  return ancestorsOf(pid).some((above) =>
    supervisors.some((claim) => claim?.pid === above.pid && claim.startTime === above.startTime),
  );
}

/** The attempt's own folder, and those of runs that were made after it because a provider asked for patience. */
async function runsOf(dir: string): Promise<readonly string[]> {
  const names = await readdir(dirname(dir)).catch(() => []);
  const own = basename(dir);
  return names
    .filter((name) => name === own || name.startsWith(`${own}.again-`))
    .map((name) => join(dirname(dir), name));
}

function isMarked(pid: number): boolean {
  const env = processVariables(pid) ?? {};
  return MARKS.some((name) => env[name] !== undefined);
}
