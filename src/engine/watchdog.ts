// Finds the tasks whose owners have fallen silent, and says whether the owner is dead or only slow. Looking changes
// nothing; what it finds is then asked of the ledger, which decides on the newest heartbeat.
import { processState, stateInWords } from '../agents/process/process-identity.ts';
import { type Beat, type BeatProcess, heardAt, isAhead, lastHeard } from '../kernel/ledger/move.ts';
import { type Ledger, runOf } from '../kernel/ledger/state.ts';
import { sightOf } from './driver.ts';

/** No claim has a shorter limit: what is claimed after a look cannot be silent for too long before this is over. */
const LIMIT_MS_MIN = 30_000;

export type Silent = {
  readonly run: string;
  readonly task: string;
  readonly owner: string;
  readonly fence: number;
  readonly lastHeartbeatAt: number;
  readonly timeoutS: number;
  readonly ageS: number;
  readonly why: 'silent' | 'gone';
  /** What was seen of the process of the owner; null where no process is known. */
  readonly observed: string | null;
};

export type Look = {
  readonly silent: readonly Silent[];
  /** Those whose last heartbeat lies further ahead than clocks may differ: nothing can be said about them. */
  readonly skewed: readonly Omit<Silent, 'why' | 'observed'>[];
  /** When the next of the others will have been silent for too long, if it is not heard of before. */
  readonly next: number | null;
};

type Observed = { readonly isGone: boolean; readonly told: string };

/**
 * Looks at every task that is in progress. A cast watches over its own as long as somebody drives it; one that is abandoned
 * is given the time of its tasks, because it is mostly carried on, and then gives their paths back.
 */
export function lookAround(
  ledger: Ledger,
  heard: ReadonlyMap<number, Beat>,
  now: number,
  abandoned: ReadonlySet<string> = new Set(),
  observe: (worker: BeatProcess) => Observed = observeProcess,
): Look {
  const silent: Silent[] = [];
  const skewed: Omit<Silent, 'why' | 'observed'>[] = [];
  let next: number | null = null;
  for (const task of Object.values(ledger.tasks)) {
    const { run, id, owner, fence, claimedAt, timeoutS } = task;
    const isOfCast = runOf(ledger, run)?.cast === true;
    if (fence === null || (isOfCast && !abandoned.has(run))) continue;
    const known = heard.get(fence);
    const lastHeartbeatAt = lastHeard(known ? heardAt(known, now) : null, claimedAt, now);
    const ageS = Math.floor(now / 1000) - Math.floor(lastHeartbeatAt / 1000);
    const row = { run, task: id, owner, fence, lastHeartbeatAt, timeoutS, ageS };
    const observed = known?.worker ? observe(known.worker) : null;
    if (observed?.isGone && !isOfCast) silent.push({ ...row, why: 'gone', observed: observed.told });
    else if (isAhead(lastHeartbeatAt, now)) skewed.push(row);
    else if (ageS > timeoutS) silent.push({ ...row, why: 'silent', observed: observed?.told ?? null });
    else {
      const due = (Math.floor(lastHeartbeatAt / 1000) + timeoutS + 1) * 1000;
      next = next === null ? due : Math.min(next, due);
    }
  }
  return { silent, skewed, next };
}

/** How long to wait before the next look: until somebody can have been silent for too long, and not a moment sooner. */
export function waitUntilNext({ next }: Look, now: number): number {
  const earliest = now + LIMIT_MS_MIN + 1000;
  return Math.max(100, Math.min(next ?? earliest, earliest) - now);
}

/** Whether a process is there, and what it does. A process of another machine or namespace cannot be looked at. */
export function observeProcess(worker: BeatProcess): Observed {
  const { pid, host } = worker;
  const sight = sightOf(worker);
  if (sight === 'unseen') return { isGone: false, told: `process ${pid} runs on ${host} and cannot be seen from here` };
  if (sight === 'gone') return { isGone: true, told: `process ${pid} is gone` };
  const seen = processState(pid);
  if (seen === null) return { isGone: false, told: `process ${pid} was not seen to end` };
  const state = stateInWords(seen.letter);
  return { isGone: false, told: `process ${pid} is ${state} and has used ${seen.cpuS.toFixed(1)} s of CPU time: slow` };
}
