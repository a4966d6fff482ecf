// Which attempt of a cast started this process: by its environment, or by the processes above. An attempt that only the
// environment names must be proved.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { supervisedFolder } from '../agents/inside-attempt.ts';
import {
  type AttemptClaim,
  type AttemptName,
  attemptNamed,
  fenceOfKey,
  isKeyOf,
  KEY_VARIABLE,
  parseClaim,
} from '../agents/process/attempt-folder.ts';
import { filesIn } from '../agents/process/first-attempt.ts';
import { ancestorsOf, commandOf, isAlive, type ProcessRow } from '../agents/process/process-identity.ts';

export type Attempt = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  readonly fence: number | null;
  /** Its task in the ledger. */
  readonly task: string | null;
  /** The folder shared by its engine and its agent. */
  readonly dir: string;
};

type Variables = Readonly<Record<string, string | undefined>>;

/** The attempt that the environment names, or null. */
export function attemptIn(env: Variables, stateDir: string): Attempt | null {
  const { BATON_CAST: cast = '', BATON_ATTEMPT: number = '', BATON_FENCE: fence = '', BATON_TASK: task } = env;
  const [, turn, attempt] = /^([1-9][0-9]{0,8})\.([1-9][0-9]{0,8})$/.exec(number) ?? [];
  // The name becomes part of a path.
  if (!/^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/.test(cast) || turn === undefined || attempt === undefined) return null;
  return {
    cast,
    turn: Number(turn),
    attempt: Number(attempt),
    fence: /^[0-9]{1,15}$/.test(fence) ? Number(fence) : null,
    task: task || null,
    dir: join(stateDir, 'attempts', `${cast}-${turn}.${attempt}`),
  };
}

/** An attempt found by the processes above. An agent may fake an environment or a supervisor, but only below its real one. */
export type AttemptAbove = AttemptName;

/** The attempt of the outermost supervisor above, or null. */
export function attemptAbove(pid = process.pid): AttemptAbove | null {
  for (const above of ancestorsOf(pid).toReversed()) {
    const folder = supervisedFolder(commandOf(above.pid));
    const claim = folder === null ? null : readClaimIn(folder);
    if (folder !== null && isHeldBy(claim, above)) return attemptNamed(folder);
  }
  return null;
}

function readClaimIn(folder: string): AttemptClaim | null {
  try {
    return parseClaim(readFileSync(join(folder, 'claim'), 'utf8'));
  } catch {
    return null;
  }
}

function isHeldBy(claim: AttemptClaim | null, { pid, startTime }: ProcessRow): boolean {
  return claim?.by === 'supervisor' && claim.pid === pid && claim.startTime === startTime;
}

/**
 * Whether an attempt from the environment is proved: its supervisor is alive, and the environment holds the secret that this
 * supervisor gave only to its child. `dir` is the folder of the attempt.
 */
export function isVouchedFor(dir: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const key = env[KEY_VARIABLE] ?? '';
  return key !== '' && runsOf(dir).some((folder) => isKeyOf(folder, key) && isSupervised(folder));
}

/** The attempt whose secret this is, while its supervisor lives. Its task is not known here. */
export function attemptWithKey(stateDir: string, key: string): Attempt | null {
  const attempts = join(stateDir, 'attempts');
  const folder = filesIn(attempts)
    .map((name) => join(attempts, name))
    .find((each) => isKeyOf(each, key) && isSupervised(each));
  const named = folder === undefined ? null : attemptNamed(folder);
  if (folder === undefined || named === null) return null;
  const { cast, turn, attempt } = named;
  const dir = join(attempts, `${cast}-${turn}.${attempt}`);
  return { cast, turn, attempt, fence: fenceOfKey(folder), task: null, dir };
}

/** An attempt that waited for its provider has several folders, each with its own secret. */
function runsOf(dir: string): readonly string[] {
  const own = basename(dir);
  const names = filesIn(dirname(dir)).filter((name) => name === own || name.startsWith(`${own}.again-`));
  return names.map((name) => join(dirname(dir), name));
}

function isSupervised(folder: string): boolean {
  try {
    const claim = parseClaim(readFileSync(join(folder, 'claim'), 'utf8'));
    return claim?.by === 'supervisor' && isAlive(claim);
  } catch {
    return false; // It has no claim, or was removed.
  }
}
