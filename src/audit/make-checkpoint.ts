// Makes a checkpoint: signs the head of the tree and keeps it inside and outside. It reads only what was appended since the last one
// and never signs a tree that does not extend the last signed one. Nobody appends while it signs, so two processes never sign at the
// same time. While a cast runs, checkpoints are made periodically in a thread of their own, one at a time: after some minutes or some
// facts, whichever comes first. Neither the timer nor the thread keeps the process alive.

import { Worker } from 'node:worker_threads';
import type { Log } from '../engine/ports.ts';
import { allow, type Denied, type Verdict } from '../kernel/verdict.ts';
import { ChainWalk } from './check-lines.ts';
import {
  type CheckpointFolders,
  type CheckpointPlace,
  checkpointFolders,
  keepFrontier,
  keepNote,
  keptFrontier,
  notesIn,
  type SignedRoot,
  signedCheckpoints,
} from './checkpoints.ts';
import { type AuditFault, tampered } from './fault.ts';
import { Frontier, leafOf } from './merkle.ts';
import { keyLine, openSigner, type PublicKey, type Signer, signedNote, trustedKeys } from './note.ts';

const LINES_AT_ONCE = 1_024;

/** Signs the log of a workspace. Without new entries, the last checkpoint is enough. */
export async function makeCheckpoint(place: CheckpointPlace, log: Log, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const signer = openSigner(env);
  if (!signer.ok) return signer.verdict;
  const keys = trustedKeys(env);
  if (!keys.ok) return keys.verdict;
  const signing = { folders: checkpointFolders(place, env), signer: signer.value, keys: keys.value };
  // Most entries are read while others may append. Only the newest are read under the lock.
  const read = await readOn(log, signing, null);
  return isDenied(read) ? read : log.alone((held) => signed(held, signing, read));
}

type Signing = { readonly folders: CheckpointFolders; readonly signer: Signer; readonly keys: readonly PublicKey[] };

/** How far the log was read, and since which checkpoint. */
type Read = {
  readonly last: SignedRoot | null;
  readonly frontier: Frontier;
  readonly chain: ChainWalk;
  readonly faults: AuditFault[];
};

async function signed(log: Log, signing: Signing, before: Read): Promise<Verdict> {
  const { folders, signer } = signing;
  const read = await readOn(log, signing, before);
  if (isDenied(read)) return read;
  const { frontier, last } = read;
  read.chain.end(() => false);
  if (read.faults.length > 0) return tampered(read.faults);
  if (frontier.size === (last?.size ?? 0))
    return allow('nothing was appended since the last checkpoint', { size: frontier.size });
  const root = frontier.root();
  const note = signedNote({ origin: folders.origin, size: frontier.size, root }, signer);
  keepNote(folders.inside, note, signer.publicKey);
  keepNote(folders.outside, note, signer.publicKey);
  keepFrontier(folders.inside, { size: frontier.size, peaks: frontier.peaks });
  const details = { size: frontier.size, root, origin: folders.origin, key: keyLine(signer.publicKey), note };
  const reason = `signed ${frontier.size} facts; a copy is in ${folders.outside}`;
  return allow(reason, { ...details, outside: folders.outside });
}

/** Reads to the end of the log. It continues an earlier reading if there was no signature since. */
async function readOn(log: Log, { folders, signer, keys }: Signing, before: Read | null): Promise<Read | Denied> {
  const found: AuditFault[] = [];
  const all = [
    { where: 'inside', notes: notesIn(folders.inside) },
    { where: 'outside', notes: notesIn(folders.outside) },
  ] as const;
  const last = signedCheckpoints(all, [signer.publicKey, ...keys], (fault) => found.push(fault)).at(-1) ?? null;
  if (found.length > 0) return tampered(found);
  const { seq: head } = await log.head();
  if (last && last.size > head) return tampered([cutOff(last, head)]);
  const read = before && before.last?.size === last?.size ? before : await start(log, folders, last);
  for await (const { seq, line } of linesAfter(log, read.frontier.size)) {
    read.frontier.add(read.chain.take(seq, line).leaf);
    if (read.faults.length > 0) break;
    if (read.frontier.size === last?.size && read.frontier.root() !== last.root) return tampered([forked(last)]);
  }
  return read;
}

/** Starts at the last checkpoint if its kept frontier leads to the signed root, else at the beginning. */
async function start(log: Log, { inside }: CheckpointFolders, last: SignedRoot | null): Promise<Read> {
  const faults: AuditFault[] = [];
  const from = (frontier: Frontier, leaf: string | null): Read => {
    const chain = new ChainWalk((fault) => faults.push(fault), frontier.size, leaf);
    return { last, frontier, chain, faults };
  };
  const kept = last && keptFrontier(inside);
  if (!last || !kept || kept.size !== last.size) return from(new Frontier(), null);
  try {
    const frontier = new Frontier(kept.size, kept.peaks);
    const [row] = await log.lines(last.size - 1, 1);
    if (frontier.root() === last.root && row?.seq === last.size) return from(frontier, leafOf(row.line));
  } catch {
    // A wrong number of peaks: Baton did not write it.
  }
  return from(new Frontier(), null);
}

async function* linesAfter(log: Log, after: number): AsyncGenerator<{ seq: number; line: string }> {
  for (let last = after; ; ) {
    const lines = await log.lines(last, LINES_AT_ONCE);
    yield* lines;
    const end = lines.at(-1);
    if (!end || lines.length < LINES_AT_ONCE) return;
    last = end.seq;
  }
}

function isDenied(value: Read | Denied): value is Denied {
  return 'allow' in value;
}

function cutOff({ size, where }: SignedRoot, head: number): AuditFault {
  const reason = `the log ends here; a checkpoint of ${size} entries was signed (${where})`;
  return { kind: 'TRUNCATED', seq: head + 1, reason };
}

function forked({ size, where }: SignedRoot): AuditFault {
  return { kind: 'FORKED', seq: 1, reason: `the first ${size} entries differ from the signed ones (${where})` };
}

export type CheckpointInterval = { readonly minutes: number; readonly facts: number };

/** The default interval. */
export const EVERY_DEFAULT: CheckpointInterval = { minutes: 10, facts: 10_000 };

/** The longest timer in Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class PeriodicCheckpoint {
  readonly #every: CheckpointInterval;
  readonly #sign: () => Promise<unknown>;
  readonly #timer: NodeJS.Timeout;
  /** The newest fact, and the newest fact at the last signature. */
  #seen = 0;
  #signed: number | null = null;
  #running: Promise<unknown> | null = null;

  /** `sign` makes the checkpoint and reports its own failures. */
  constructor(every: CheckpointInterval, sign: () => Promise<unknown>) {
    this.#every = every;
    this.#sign = sign;
    this.#timer = setInterval(() => this.#makeOne(), Math.min(every.minutes * 60_000, TIMER_MS_MAX));
    this.#timer.unref();
  }

  /** Notes that the log has reached this fact. */
  saw(seq: number): void {
    this.#signed ??= seq - 1;
    this.#seen = Math.max(this.#seen, seq);
    if (this.#seen - this.#signed >= this.#every.facts) this.#makeOne();
  }

  /** Resolves when no signature is in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #makeOne(): void {
    if (this.#running || this.#seen === (this.#signed ?? this.#seen)) return;
    this.#signed = this.#seen;
    this.#running = this.#sign().finally(() => {
      this.#running = null;
    });
  }
}

export type CheckpointJob = {
  readonly place: CheckpointPlace;
  readonly logFile: string;
  readonly env: Readonly<Record<string, string>>;
};

/** Makes a checkpoint in its own thread. Rejects if the thread fails. */
export function checkpointInThread(place: CheckpointPlace, logFile: string, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const variables = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const order: CheckpointJob = {
    place: { dir: place.dir, stateDir: place.stateDir },
    logFile,
    env: Object.fromEntries(variables),
  };
  const name = import.meta.url.endsWith('.ts') ? './checkpoint-worker.ts' : './checkpoint-worker.js';
  const worker = new Worker(new URL(name, import.meta.url), { workerData: order });
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once('message', (verdict: Verdict) => resolve(verdict));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread ended without an answer')));
  });
}
