// Signs of life, and the tasks whose owners have been silent too long. A heartbeat changes one record outside the chain, so it costs
// the same in a log of a million facts as in an empty one. The watchdog only reads: the ledger decides on the newest heartbeat.

import { processState, stateInWords } from '../agents/process/process-identity.ts';
import {
  BEATS,
  type Beat,
  type BeatProcess,
  beatAgain,
  beatName,
  beatOf,
  beatText,
  isAhead,
  lastSign,
  lastSignAt,
} from '../kernel/ledger/move.ts';
import { type Ledger, runOf } from '../kernel/ledger/state.ts';
import { sightOf } from './lease.ts';
import type { Log } from './ports.ts';

export type Sign = {
  readonly run?: string;
  readonly task: string;
  readonly owner: string;
  readonly fence: number;
  readonly at: number;
  /** The process that works on the task, if it is known. */
  readonly worker?: BeatProcess;
};

/** Records a sign of life. Null if no claim has this fence, task and owner. */
export async function beat(log: Pick<Log, 'lease'>, { fence, worker, ...sign }: Sign): Promise<Beat | null> {
  let recorded: Beat | null = null;
  await log.lease(beatName(fence), (value) => {
    const again = beatAgain(beatOf(value), sign);
    recorded = again && { ...again, ...(worker === undefined ? {} : { worker }) };
    return recorded ? beatText(recorded) : value;
  });
  return recorded;
}

/** The last signs of life, by the fence of the claim. */
export async function beats(log: Pick<Log, 'leases'>): Promise<ReadonlyMap<number, Beat>> {
  const found = new Map<number, Beat>();
  for (const { name, value } of await log.leases(BEATS)) {
    const known = beatOf(value);
    if (known) found.set(Number(name.slice(BEATS.length)), known);
  }
  return found;
}

/** The shortest limit of a claim: a task claimed after a look cannot be silent too long before this. */
const LIMIT_MS_MIN = 30_000;

export type SilentOwner = {
  readonly run: string;
  readonly task: string;
  readonly owner: string;
  readonly fence: number;
  readonly lastHeartbeatAt: number;
  readonly timeoutS: number;
  readonly ageS: number;
  readonly why: 'silent' | 'gone';
  /** What was observed of the owner's process. Null if no process is known. */
  readonly observed: string | null;
};

export type SilenceReport = {
  readonly silent: readonly SilentOwner[];
  /** Claims whose last heartbeat is further ahead than clocks may differ. They cannot be judged. */
  readonly skewed: readonly Omit<SilentOwner, 'why' | 'observed'>[];
  /** When the next of the other claims will have been silent too long, without a new sign of life. */
  readonly next: number | null;
};

type Observed = { readonly isGone: boolean; readonly text: string };

/**
 * Checks every task in progress. A driven cast watches its own tasks. An abandoned one keeps them for their full time, because it is
 * mostly continued, and then releases their paths.
 */
export function findSilent(
  ledger: Ledger,
  beats: ReadonlyMap<number, Beat>,
  now: number,
  abandoned: ReadonlySet<string> = new Set(),
  observe: (worker: BeatProcess) => Observed = observeProcess,
): SilenceReport {
  const silent: SilentOwner[] = [];
  const skewed: Omit<SilentOwner, 'why' | 'observed'>[] = [];
  let next: number | null = null;
  for (const task of Object.values(ledger.tasks)) {
    const { run, id, owner, fence, claimedAt, timeoutS } = task;
    const isOfCast = runOf(ledger, run)?.cast === true;
    if (fence === null || (isOfCast && !abandoned.has(run))) continue;
    const known = beats.get(fence);
    const lastHeartbeatAt = lastSign(known ? lastSignAt(known, now) : null, claimedAt, now);
    const ageS = Math.floor(now / 1000) - Math.floor(lastHeartbeatAt / 1000);
    const row = { run, task: id, owner, fence, lastHeartbeatAt, timeoutS, ageS };
    const observed = known?.worker ? observe(known.worker) : null;
    if (observed?.isGone && !isOfCast) silent.push({ ...row, why: 'gone', observed: observed.text });
    else if (isAhead(lastHeartbeatAt, now)) skewed.push(row);
    else if (ageS > timeoutS) silent.push({ ...row, why: 'silent', observed: observed?.text ?? null });
    else {
      const due = (Math.floor(lastHeartbeatAt / 1000) + timeoutS + 1) * 1000;
      next = next === null ? due : Math.min(next, due);
    }
  }
  return { silent, skewed, next };
}

/** How long to wait before the next look: until an owner can have been silent too long. */
export function waitUntilNext({ next }: SilenceReport, now: number): number {
  const earliest = now + LIMIT_MS_MIN + 1000;
  return Math.max(100, Math.min(next ?? earliest, earliest) - now);
}

/** Whether a process exists, and its state. A process of another machine or namespace cannot be observed. */
export function observeProcess(worker: BeatProcess): Observed {
  const { pid, host } = worker;
  const sight = sightOf(worker);
  if (sight === 'unknown')
    return { isGone: false, text: `process ${pid} runs on ${host} and cannot be seen from here` };
  if (sight === 'gone') return { isGone: true, text: `process ${pid} is gone` };
  const seen = processState(pid);
  if (seen === null) return { isGone: false, text: `process ${pid} was not seen to end` };
  const state = stateInWords(seen.letter);
  return { isGone: false, text: `process ${pid} is ${state} and has used ${seen.cpuS.toFixed(1)} s of CPU time: slow` };
}
