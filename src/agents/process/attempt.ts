// The engine's side of an attempt: start it under a supervisor, wait for its end or cause it, and find out after a
// crash what became of it. Everything known is in the attempt's folder, so any engine can continue any attempt.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HANDED_OVER } from '../../engine/ports.ts';
import { knownValues } from '../../kernel/credential.ts';
import { USUAL } from '../environment.ts';
import {
  type ExitRecord,
  isErrno,
  readAttemptClaim,
  readChild,
  readExit,
  type SupervisorPacket,
  syncFolder,
  takeClaim,
  unrun,
  writeDurably,
} from './attempt-folder.ts';
import { noteFirstAttempt } from './first-attempt.ts';
import { identityOfChild, isAlive, killProcess } from './process-identity.ts';
import { ATTEMPT_MARK, endTree, groupOf, treeMembers } from './process-tree.ts';

export type { ExitRecord, SupervisorPacket as Packet } from './attempt-folder.ts';

export type AttemptEnd = ExitRecord & {
  /** The supervisor ended without an exit record, so it is unknown how far the child got. The child does not run any more. */
  readonly lost: boolean;
  /** What was kept, as UTF-8 with invalid bytes replaced. */
  readonly stdout: string;
  readonly stderr: string;
};

type Recovered = 'never-started' | 'running' | 'finished' | 'lost';

/** In addition to file events, which not every file system delivers. */
const POLL_MS = 1_000;
/** A supervisor that has not claimed its attempt by then is not going to. It loses the claim if it comes after all. */
const CLAIM_MS = 20_000;

/**
 * Prepares the folder and starts a supervisor on it. The folder must not have been used before: an attempt is started
 * once. Answers when the supervisor's process exists, and rejects when the folder or the process cannot be made.
 */
export async function startAttempt(dir: string, packet: SupervisorPacket, stdin: string | Uint8Array): Promise<void> {
  await mkdir(path.dirname(dir), { recursive: true, mode: 0o700 });
  await mkdir(dir, { mode: 0o700 }).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error;
    throw new Error(`${dir} is there already: another process runs this attempt`);
  });
  await syncFolder(path.dirname(dir));
  await writeDurably(dir, 'stdin', stdin);
  await writeDurably(dir, 'packet.json', JSON.stringify({ ...packet, hides: secretsOf(packet) }));
  const args = ['--disable-warning=ExperimentalWarning', SUPERVISOR, path.resolve(dir)];
  const supervisor = spawn(process.execPath, args, { detached: true, stdio: 'ignore', cwd: '/', env: supervisorEnv() });
  await once(supervisor, 'spawn');
  if (supervisor.pid !== undefined) noteFirstAttempt(path.resolve(dir), identityOfChild(supervisor.pid));
  supervisor.unref();
}

/** What every program gets is no secret, and is in many texts. */
function secretsOf({ env }: SupervisorPacket): readonly string[] {
  return knownValues(
    env,
    Object.keys(env).filter((name) => !USUAL.includes(name)),
  );
}

/**
 * Runs a program that ends by itself, such as git, without a supervisor: starting one takes longer than the program. If this process
 * dies, the program goes on, and `endLeftovers` finds it by the same folder. Only the end of what it printed is kept.
 */
export async function runBriefly(
  dir: string,
  { argv, cwd, env, timeoutMs, graceMs }: Pick<SupervisorPacket, 'argv' | 'cwd' | 'env' | 'timeoutMs' | 'graceMs'>,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const mark = await realpath(dir);
  const [program = '', ...args] = argv;
  const startedAt = Date.now();
  const child = spawn(program, args, {
    ...{ cwd, env: { ...env, [ATTEMPT_MARK]: mark } },
    ...{ detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  const kept = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      kept[name] = `${kept[name]}${text}`.slice(-BRIEF_CHARS_MAX);
    });
  }
  const closed = new Promise<Partial<AttemptEnd>>((resolve) => {
    child.once('error', ({ message }) => resolve({ error: `${program} could not be started: ${message}` }));
    child.once('close', (code, ended) => resolve({ code, signal: ended }));
  });
  if (child.pid === undefined) return { ...unrun({}), ...(await closed), ...kept, lost: false };
  const identity = identityOfChild(child.pid);
  await writeFile(path.join(dir, 'child.json'), JSON.stringify(identity), { mode: 0o600 });
  const over = new AbortController();
  const timeout = sleep(timeoutMs, 'timedOut' as const, { signal: over.signal }).catch(() => 'ended' as const);
  const aborted = once(signal, 'abort', { signal: over.signal }).then(
    () => 'aborted' as const,
    () => 'ended' as const,
  );
  const why = signal.aborted ? 'aborted' : await Promise.race([closed.then(() => 'ended' as const), timeout, aborted]);
  if (why !== 'ended') await endTree({ child: identity, mark, fresh: true }, graceMs);
  const end = await closed;
  over.abort();
  return {
    ...unrun({}),
    startedAt,
    ...end,
    ...kept,
    timedOut: why === 'timedOut',
    aborted: why === 'aborted',
    lost: false,
  };
}

const BRIEF_CHARS_MAX = 16_384;

/** Waits until the attempt has ended, and after an abort makes it end. Works for attempts of other engines too. */
export async function awaitAttempt(dir: string, signal: AbortSignal): Promise<AttemptEnd> {
  const bell = watchFolder(dir, signal);
  const claimBy = performance.now() + CLAIM_MS;
  let isTold = false;
  try {
    for (;;) {
      if (signal.aborted && signal.reason === HANDED_OVER) return handedOver();
      const exit = await readExit(dir);
      if (exit !== null) return await withOutput(dir, exit, false);
      const claim = await readAttemptClaim(dir);
      if (claim === null) {
        const isOver = signal.aborted || performance.now() > claimBy;
        if (isOver && (await recoverAttempt(dir)) === 'never-started') return neverStarted(signal);
      } else if (claim.by === 'engine') {
        return neverStarted(signal);
      } else if (!isAlive(claim)) {
        const last = await readExit(dir); // It may have come between the two looks.
        return last === null ? await lose(dir, signal) : await withOutput(dir, last, false);
      } else if (signal.aborted && !isTold) {
        isTold = killProcess(claim, 'SIGTERM');
      }
      await bell.next();
    }
  } finally {
    bell.close();
  }
}

/**
 * What became of an attempt whose engine is gone. `never-started` is a promise: no supervisor can start it afterwards.
 * `lost` means that it may have run, in part or whole, and that nothing of it runs now.
 */
export async function recoverAttempt(dir: string): Promise<Recovered> {
  if (await takeIfThere(dir)) return 'never-started';
  const claim = await readAttemptClaim(dir);
  if (claim?.by === 'engine') return 'never-started';
  if ((await readExit(dir)) !== null) return 'finished';
  if (claim !== null && isAlive(claim)) return 'running';
  if ((await readExit(dir)) !== null) return 'finished'; // It may have come between the two looks.
  await endOrphans(dir);
  return 'lost';
}

/**
 * Ends an attempt of any driver. A supervisor that does not react in time is killed, and then its processes.
 * Answers the processes that still run; none where all is well.
 */
export async function endAttempt(dir: string, limitMs: number): Promise<readonly number[]> {
  if ((await recoverAttempt(dir)) === 'running') {
    const late = new AbortController();
    const ended = awaitAttempt(dir, AbortSignal.abort()).then(() => true);
    const isEnded = await Promise.race([ended, sleep(limitMs, false, { signal: late.signal })]);
    late.abort();
    const claim = isEnded ? null : await readAttemptClaim(dir);
    if (claim !== null && killProcess(claim, 'SIGKILL')) await ended;
  }
  const folder = await realpath(dir).catch(() => null);
  if (folder === null) return [];
  const tree = { child: await readChild(dir), mark: folder, group: groupOf(folder), fresh: false };
  return treeMembers(tree).map(({ pid }) => pid);
}

const SUPERVISOR = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './supervisor.ts' : './supervisor.js', import.meta.url),
);

// Nothing of ours is passed on: NODE_OPTIONS and the like are meant for this process. From source, the cache saves the
// supervisor more than half of its start.
function supervisorEnv(): Record<string, string> {
  const PATH = process.env.PATH ?? '/usr/bin:/bin';
  if (!SUPERVISOR.endsWith('.ts')) return { PATH };
  const cache = fileURLToPath(new URL('../../../node_modules/.cache/baton', import.meta.url));
  return { PATH, NODE_COMPILE_CACHE: cache };
}

/** Takes the claim so that the attempt never starts. A missing folder counts as claimed. */
async function takeIfThere(dir: string): Promise<boolean> {
  try {
    const isTaken = await takeClaim(dir, 'engine');
    if (isTaken) await rm(path.join(dir, 'packet.json'), { force: true });
    return isTaken;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true;
    throw error;
  }
}

/** Ends what still runs of an attempt whose starter is gone. */
export async function endOrphans(dir: string): Promise<void> {
  const folder = await realpath(dir);
  await endTree({ child: await readChild(dir), mark: folder, group: groupOf(folder), fresh: false }, 0);
}

async function lose(dir: string, signal: AbortSignal): Promise<AttemptEnd> {
  await endOrphans(dir);
  const error = 'the supervisor ended without a result; how far the attempt got is not known';
  return await withOutput(dir, unrun({ error, aborted: signal.aborted }), true);
}

function neverStarted(signal: AbortSignal): AttemptEnd {
  const why = signal.aborted ? { aborted: true } : { error: 'the supervisor did not start; the attempt never ran' };
  return { ...unrun(why), lost: false, stdout: '', stderr: '' };
}

function handedOver(): AttemptEnd {
  return { ...unrun({ aborted: true }), lost: true, stdout: '', stderr: '' };
}

async function withOutput(dir: string, exit: ExitRecord, lost: boolean): Promise<AttemptEnd> {
  const [stdout, stderr] = await Promise.all(['stdout', 'stderr'].map((name) => readOutput(path.join(dir, name))));
  return { ...exit, lost, stdout: stdout ?? '', stderr: stderr ?? '' };
}

async function readOutput(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return ''; // The child was never started.
    throw error;
  }
}

type Bell = { next(): Promise<void>; close(): void };

/** Rings when the folder may hold news, when the signal is given, and every now and then. */
function watchFolder(dir: string, signal: AbortSignal): Bell {
  let isRung = false;
  let wake = () => {};
  const ring = () => {
    isRung = true;
    wake();
  };
  const timer = setInterval(ring, POLL_MS);
  signal.addEventListener('abort', ring);
  const watcher = tryWatch(dir, (name) => {
    // The spools change all the time and say nothing.
    if (name !== 'stdout' && name !== 'stderr') ring();
  });
  return {
    async next() {
      if (!isRung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      isRung = false;
    },
    close() {
      clearInterval(timer);
      signal.removeEventListener('abort', ring);
      watcher?.close();
    },
  };
}

function tryWatch(dir: string, changed: (name: string | null) => void): FSWatcher | null {
  try {
    const watcher = watch(dir, (_event, name) => changed(name));
    watcher.on('error', () => {}); // The poll goes on.
    return watcher;
  } catch {
    return null; // No watches are left, or the folder is missing: the poll notices.
  }
}
