// Runs one attempt to its end: `node supervisor.ts DIR`. It is independent: the engine that started it may die, and
// the child still gets its input, its limits and an exit record. At its start it imports nothing but this folder and Node
// itself, because it is started for every turn.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ExitRecord,
  isErrno,
  KEY_VARIABLE,
  makeKey,
  parsePacket,
  type SupervisorPacket,
  takeClaim,
  unrun,
  writeDurably,
} from './attempt-folder.ts';
import { identityOfChild, type ProcessIdentity } from './process-identity.ts';
import { ATTEMPT_MARK, endGroup, endTree, makeGroup, startWithin } from './process-tree.ts';
import { keepVigil } from './vigil.ts';

type Why = 'exited' | 'timedOut' | 'silent' | 'aborted' | 'flooded';

/** A timer set for longer than this would fire at once. */
const TIMER_MAX_MS = 2_147_483_647;
/** How long the pipes may stay open after the last known process has ended. */
const DRAIN_MS = 1_000;

// Handlers are set before the claim: a process that sees a claim may signal its holder.
let isAborted = false;
const abort = new Promise<Why>((resolve) => {
  process.on('SIGTERM', () => {
    isAborted = true;
    resolve('aborted');
  });
});
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});

const dir = process.argv[2];
if (dir === undefined || !existsSync(dir)) {
  process.stderr.write('usage: node supervisor.ts DIR, where DIR is a prepared attempt\n');
  process.exitCode = 2;
} else if (await takeClaim(dir, 'supervisor')) {
  await writeDurably(dir, 'exit.json', JSON.stringify(await supervise(realpathSync(dir))));
  // Not by running out of work: an unknown process may still hold one of the pipes.
  process.exit(0);
}

async function supervise(folder: string): Promise<ExitRecord> {
  const packet = parsePacket(await readFile(path.join(folder, 'packet.json'), 'utf8').catch(() => ''));
  await rm(path.join(folder, 'packet.json'), { force: true });
  if (packet === null) return unrun({ error: 'the packet is missing or malformed' });
  if (isAborted) return unrun({ aborted: true });
  const run = await start(folder, packet);
  if (typeof run === 'string') return unrun({ error: run });

  const startedAt = Date.now();
  const timer = new AbortController();
  const timeout = sleep<Why>(Math.min(packet.timeoutMs, TIMER_MAX_MS), 'timedOut', { signal: timer.signal });
  const tree = { child: run.identity, mark: folder, group: run.group, fresh: true };
  const vigil = keepVigil(tree, () => run.stdout.bytes() + run.stderr.bytes(), packet.silentMs ?? null);
  const exited = run.exited.then((): Why => 'exited');
  const flooded = run.stdout.full.then((): Why => 'flooded');
  const ends = [exited, abort, timeout, vigil.silent, ...(packet.endsWhenFull ? [flooded] : [])];
  const why = await Promise.race(ends);
  const isLate = why === 'timedOut' || why === 'silent';
  const signs = isLate ? vigil.told() : null;
  timer.abort();
  vigil.stop();

  const isEnded = await endTree(tree, packet.graceMs);
  const { code, signal } = await run.exited;
  await cleanSubmitted(folder, packet.hides ?? []);
  await Promise.race([Promise.all([run.stdout.closed, run.stderr.closed]), sleep(DRAIN_MS)]);
  const stdout = run.stdout.finish();
  const stderr = run.stderr.finish();
  const error = stdout.error ?? stderr.error ?? (isEnded ? null : 'a process of the attempt could not be ended');
  return {
    code,
    signal,
    timedOut: isLate,
    ...(why === 'silent' ? { silent: true } : {}),
    ...(signs === null ? {} : { signs }),
    aborted: why === 'aborted',
    stdoutBytes: stdout.bytes,
    stderrBytes: stderr.bytes,
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
    startedAt,
    endedAt: Date.now(),
    ...(error === null ? {} : { error }),
  };
}

/** What was handed in by tool call is in the folder of the attempt, which all runs of the attempt share. */
async function cleanSubmitted(folder: string, hides: readonly string[]): Promise<void> {
  if (hides.length === 0) return;
  const { cleanHandoff, dropHandoff } = await import('../handoff-file.ts');
  const shared = folder.replace(/\.again-[^/]*$/, '');
  // What cannot be cleaned is not kept; the last words of the program count then.
  await cleanHandoff(shared, hides).catch(() => dropHandoff(shared));
}

type Exit = { readonly code: number | null; readonly signal: string | null };
type Run = {
  readonly identity: ProcessIdentity;
  readonly group: string | null;
  readonly exited: Promise<Exit>;
  readonly stdout: Spool;
  readonly stderr: Spool;
};

/** Starts the child, or says why it cannot be. */
async function start(
  folder: string,
  { argv, cwd, env, hides = [], ...limits }: SupervisorPacket,
): Promise<Run | string> {
  const [program = '', ...args] = argv;
  if (!existsSync(cwd)) return `the working directory ${cwd} does not exist`;
  const stdout = openSpool(path.join(folder, 'stdout'), limits.maxStdoutBytes, await filterFor(hides));
  const stderr = openSpool(path.join(folder, 'stderr'), limits.maxStderrBytes, await filterFor(hides));
  const stdin = openSync(path.join(folder, 'stdin'), 'r');
  try {
    // Leading a session of its own, the child and all it starts can be ended together.
    const options = {
      cwd,
      env: { ...env, [ATTEMPT_MARK]: folder, [KEY_VARIABLE]: makeKey(folder, env.BATON_FENCE) },
      detached: true,
      shell: false,
    } as const;
    const group = makeGroup(folder);
    const child = startWithin(group, () => spawn(program, args, { ...options, stdio: [stdin, 'pipe', 'pipe'] }));
    if (child.pid === undefined) {
      if (group !== null) await endGroup(folder, group);
      throw (await once(child, 'error'))[0];
    }
    const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    stdout.fill(child.stdout);
    stderr.fill(child.stderr);
    const identity = identityOfChild(child.pid);
    record(path.join(folder, 'child.json'), identity);
    return { identity, group, exited, stdout, stderr };
  } catch (error) {
    return whyNotStarted(program, error);
  } finally {
    closeSync(stdin);
  }
}

// At once and without a sync: after a power cut there is no child that it could name.
function record(file: string, identity: ProcessIdentity): void {
  try {
    writeFileSync(`${file}.draft`, JSON.stringify(identity), { mode: 0o600 });
    renameSync(`${file}.draft`, file);
  } catch {
    // The child runs already, and the mark in its environment finds it as well.
  }
}

function whyNotStarted(program: string, error: unknown): string {
  if (isErrno(error, 'ENOENT')) return `${program} was not found; install it or correct the command`;
  if (isErrno(error, 'EACCES')) return `${program} may not be run; make it executable or correct the command`;
  return `${program} could not be started: ${error instanceof Error ? error.message : String(error)}`;
}

type Spool = {
  readonly closed: Promise<void>;
  /** Resolves when something had to be thrown away. */
  readonly full: Promise<void>;
  /** What came so far, including what was thrown away. */
  bytes(): number;
  fill(stream: Readable | null): void;
  finish(): { readonly bytes: number; readonly truncated: boolean; readonly error: string | null };
};

/** What of a stream may be kept; at its end, what was held back. */
type Filter = { take(chunk: Buffer): Buffer; end(): Buffer };

/** Only what has secrets to hide loads the code for it. */
async function filterFor(hides: readonly string[]): Promise<Filter> {
  if (hides.length === 0) return { take: (chunk) => chunk, end: () => Buffer.alloc(0) };
  const { ValueFilter } = await import('../../kernel/credential.ts');
  // One character for each byte, so that a character that is cut in two stays whole.
  const filter = new ValueFilter(hides.map((value) => Buffer.from(value).toString('latin1')));
  return {
    take: (chunk) => Buffer.from(filter.take(chunk.toString('latin1')), 'latin1'),
    end: () => Buffer.from(filter.end(), 'latin1'),
  };
}

/** Keeps the first `maxBytes` of a stream and reads the rest away, so that the child never waits for us. */
function openSpool(file: string, maxBytes: number, filter: Filter): Spool {
  const target = openSync(file, 'w', 0o600);
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const { promise: full, resolve: overflow } = Promise.withResolvers<void>();
  let bytes = 0;
  let passed = 0;
  let error: string | null = null;
  const keep = (chunk: Buffer) => {
    bytes += chunk.length;
    write(filter.take(chunk));
  };
  const write = (chunk: Buffer) => {
    const kept = error === null ? chunk.subarray(0, Math.max(0, maxBytes - passed)) : chunk.subarray(0, 0);
    passed += chunk.length;
    if (passed > maxBytes) overflow();
    try {
      for (let at = 0; at < kept.length; ) at += writeSync(target, kept, at);
    } catch (cause) {
      error = `the output could not be kept: ${cause instanceof Error ? cause.message : String(cause)}`;
    }
  };
  let source: Readable | null = null;
  const fill = (stream: Readable | null) => {
    source = stream;
    if (stream === null) return close();
    stream.on('data', keep);
    stream.on('error', () => {}); // It closes all the same.
    stream.once('close', close);
  };
  const finish = () => {
    // An unknown process may still write; its bytes must not meet a descriptor that is used again.
    source?.off('data', keep);
    source?.destroy();
    write(filter.end());
    fsyncSync(target);
    closeSync(target);
    return { bytes, truncated: passed > maxBytes, error };
  };
  return { closed, full, bytes: () => bytes, fill, finish };
}
