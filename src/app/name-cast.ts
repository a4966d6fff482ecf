// Casts by name and as a list, and which process drives one.
import { setTimeout as sleep } from 'node:timers/promises';
import { processState } from '../agents/process/process-identity.ts';
import { type CastLease, type Driving, LEASE_MS, sightOf } from '../engine/lease.ts';
import type { CastQuery } from '../engine/ports.ts';
import type { Store } from '../engine/store.ts';
import { reasonNow } from '../kernel/cast/asked.ts';
import type { CastStatus } from '../kernel/cast/state.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import { nearestName } from '../kernel/text.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { UsageError } from '../workspace/locate.ts';
import { Refused } from './refused.ts';
import type { Workspace } from './workspace.ts';

/** `word` is an id, a beginning that only one cast has, or `latest`. */
export async function nameCast(
  store: Pick<Store, 'view'>,
  word: string | undefined,
  program = 'baton',
): Promise<CastSummary> {
  const [newest] = await store.view('casts', { limit: 1 });
  if (!newest) throw new UsageError(`there is no cast yet; start one with \`${program} cast\``, 'UNKNOWN_CAST');
  if (word === undefined || word === 'latest') return newest;
  const [exact] = await store.view('casts', { cast: word });
  if (exact) return exact;
  const matching = word === '' ? [] : await store.view('casts', { prefix: word });
  if (matching.length === 1 && matching[0]) return matching[0];
  if (matching.length > 1)
    throw new UsageError(`${word} fits ${matching.length} casts: ${matching.map(({ cast }) => cast).join(', ')}`);
  const guess = nearestName(word, ['latest', newest.cast]);
  const meant = guess === null ? '' : ` (did you mean ${guess}?)`;
  throw new UsageError(`there is no cast ${word}${meant}; \`${program} casts\` lists them`, 'UNKNOWN_CAST');
}

/** The cast that a word names, with the store that has it. */
export async function castNamed(workspace: Workspace, word: string | undefined) {
  const store = workspace.castStore();
  const summary = await nameCast(store, word, workspace.program);
  return { store, cast: summary.cast, summary };
}

export type Listed = Omit<CastSummary, 'clock'> & {
  /** How long it has been running by now; what it waited or was paused does not count. */
  readonly elapsedMs: number;
};

/** Oldest first. */
export async function listCasts(store: Pick<Store, 'view'>, now: number, query: CastQuery): Promise<readonly Listed[]> {
  return (await store.view('casts', query)).map(({ clock: { elapsedMs, since }, ...summary }) => {
    const running = since === null ? 0 : Math.max(0, now - since);
    const named = reasonNow(summary.cast, summary, now);
    return { ...summary, ...named, reason: reasonOf({ ...summary, ...named }), elapsedMs: elapsedMs + running };
  });
}

/** A cast that runs has nothing to say for itself, and one that is done says just that. */
function reasonOf({ status, reason }: { readonly status: CastStatus; readonly reason: string }): string {
  if (status === 'running') return '';
  return status === 'completed' ? status : reason;
}

const LOOK_EVERY_MS = 250;

export function drivenBy(cast: string, lease: CastLease, baton: string): Denied {
  const { pid, host } = lease;
  const reason = `cast ${cast} is driven by process ${pid} on ${host}; ${wayOn(cast, lease, baton)}`;
  return deny('NOT_ALLOWED_NOW', reason, { pid, host });
}

function wayOn(cast: string, lease: CastLease, baton: string): string {
  const takeOver = `\`${baton} resume ${cast} --take-over\``;
  if (sightOf(lease) === 'unknown')
    return `it cannot be seen from here (another container or machine). If you know that it has ended, take over: ${takeOver}`;
  if (isStopped(lease.pid)) return `it is stopped. Continue it: \`kill -CONT ${lease.pid}\`, or take over: ${takeOver}`;
  return `\`${baton} watch ${cast}\` follows it`;
}

function isStopped(pid: number): boolean {
  return /^[Tt]$/.test(processState(pid)?.letter ?? '');
}

type Waiting = {
  readonly program: string;
  readonly note: (line: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Waits until the lease of a driver that cannot be looked at ends. A driver that runs, or renews its lease, is a refusal.
 * Answers the fence that may be taken over.
 */
export async function outlast(
  store: Pick<Store, 'view'>,
  cast: string,
  driving: Driving,
  { program, note, signal }: Waiting,
): Promise<number> {
  const { pid, host, fence, until, sight } = driving;
  if (sight === 'runs' || until === null) throw new Refused(drivenBy(cast, driving, program));
  const leftMs = Math.min(LEASE_MS, Math.max(0, until - Date.now()));
  note(
    `Process ${pid} on ${host} drove cast ${cast} and cannot be seen from here. Waiting up to ${Math.ceil(leftMs / 1000)} s for its lease to end.`,
  );
  // By the time that passes, and not by the clock: a clock that was set back makes a lease look endless.
  for (const deadline = performance.now() + leftMs; performance.now() < deadline; ) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
    const now = await store.view('driver', cast);
    if (now === null) return fence;
    if (now.fence !== fence || now.until !== until) throw new Refused(drivenBy(cast, now, program));
  }
  return fence;
}
