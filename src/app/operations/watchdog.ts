// Tasks whose owners are silent for too long, or known to be gone, are blocked with TASK_TIMEOUT and
// handed out again while their retries last.
import { findSilent, type SilenceReport, type SilentOwner, waitUntilNext } from '../../engine/heartbeat.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Beat, SKEW_MS_MAX } from '../../kernel/ledger/move.ts';
import { type Ledger, runOf, taskOf } from '../../kernel/ledger/state.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { dropClaim } from '../../workspace/claim-record.ts';
import { type LedgerSession, ledgerSession, writeWorklog } from '../ledger-session.ts';
import type { Context } from '../operation.ts';
import type { Operation } from './table.ts';

export const runWatchdog: Operation<'watchdog'> = async (workspace, { follow = false }, context) => {
  if (follow) return watch(ledgerSession(workspace, context, { begins: true }), context);
  if (!workspace.hasLog()) return verdictOf([], []);
  return (await round(ledgerSession(workspace, context))).verdict;
};

/** Looks again each time an owner may have been silent for too long, until the signal ends it. */
async function watch(session: LedgerSession, { signal, onEvent }: Context): Promise<Verdict> {
  const jumped = clockJumps();
  let since = 0;
  let lateMs = 0;
  while (!signal.aborted) {
    // Some systems count the time in which the machine slept as passed: then the wait was longer than it should have been.
    const jumpMs = jumped();
    const goneMs = lateMs > SKEW_MS_MAX ? lateMs : jumpMs;
    if (Math.abs(goneMs) > SKEW_MS_MAX) {
      since = goneMs > 0 ? Date.now() : 0;
      session.note(`the clock went ${goneMs > 0 ? 'forward' : 'back'} by ${Math.round(Math.abs(goneMs) / 1000)} s`);
    }
    const { verdict, look } = await round(session, since);
    if (!verdict.allow) onEvent({ kind: 'value', value: { ...verdict } });
    const wait = waitUntilNext(look, Date.now());
    session.note(`next look in ${Math.ceil(wait / 1000)} s`);
    const began = performance.now();
    await pause(wait, signal);
    lateMs = performance.now() - began - wait;
  }
  return allow('the watchdog stopped');
}

/**
 * By how much the clock went on since it was asked last, beyond the time that has passed: it was set, or the machine slept.
 * No owner was silent then, so every owner that was seen before has its whole time again.
 */
function clockJumps(): () => number {
  let offset = Date.now() - performance.now();
  return () => {
    const before = offset;
    offset = Date.now() - performance.now();
    return offset - before;
  };
}

function heardSince(beats: ReadonlyMap<number, Beat>, since: number): ReadonlyMap<number, Beat> {
  const raised = ({ latest, ...beat }: Beat): Beat => ({
    ...beat,
    at: Math.max(beat.at, since),
    ...(latest === undefined ? {} : { latest: Math.max(latest, since) }),
  });
  return new Map([...beats].map(([fence, beat]) => [fence, raised(beat)]));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
    if (signal.aborted) resolve();
  });
}

async function round(session: LedgerSession, since = 0): Promise<{ verdict: Verdict; look: SilenceReport }> {
  const ledger = await session.store.view('ledger');
  const beats = heardSince(await session.store.view('beats'), since);
  const look = findSilent(ledger, beats, Date.now(), await abandonedCasts(session, ledger));
  const rows: JsonObject[] = [];
  for (const silent of look.silent) {
    const row = await expire(session, silent);
    if (row) rows.push(row);
    const task = taskOf(ledger, silent.run, silent.task);
    if (row && task) await writeWorklog(session, task, runOf(ledger, task.run)?.runId);
  }
  const skewed = look.skewed.map((row) => ({ ...rowOf(row), rule: 'R-WD-002' }));
  return { verdict: verdictOf(rows, skewed), look };
}

/** Casts with tasks in progress that run by the log and have no driver. */
async function abandonedCasts({ store }: LedgerSession, { runs }: Ledger): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { id, cast, running } of Object.values(runs)) {
    if (!cast || running === 0 || (await store.view('driver', id)) !== null) continue;
    if ((await store.view('cast', id))?.status === 'running') found.add(id);
  }
  return found;
}

/** Null when the owner sent a heartbeat in the meantime. */
async function expire({ store, workspace }: LedgerSession, silent: SilentOwner): Promise<JsonObject | null> {
  const { run, task, fence, why, lastHeartbeatAt, observed } = silent;
  const seen = observed === null ? {} : { observed };
  const verdict = await store.submit(
    { kind: 'task.expire', run, task, fence, lastHeartbeatAt, why, ...seen },
    { name: 'watchdog' },
  );
  if (!verdict.allow) return null;
  dropClaim(workspace.stateDir, fence);
  return { ...rowOf(silent), why, observed, reason: verdict.reason, ...verdict.details };
}

function rowOf({ run, task, owner, fence, lastHeartbeatAt, timeoutS, ageS }: Omit<SilentOwner, 'why' | 'observed'>) {
  return {
    run,
    task_id: task,
    owner,
    fence,
    last_heartbeat_at: new Date(lastHeartbeatAt).toISOString(),
    timeout_seconds: timeoutS,
    age_seconds: ageS,
  };
}

function verdictOf(expired: readonly JsonObject[], skewed: readonly JsonObject[]): Verdict {
  const [first] = expired;
  const [ahead] = skewed;
  const details = { timed_out: expired, skewed, timed_out_count: expired.length };
  if (first) {
    const more = expired.length === 1 ? '' : ` (and ${expired.length - 1} more)`;
    return deny('R-WD-001', `${String(first.reason)}${more}.`, { contract_code: 'TASK_TIMEOUT', ...details });
  }
  if (ahead) {
    const reason = `The last heartbeat of ${String(ahead.task_id)} lies in the future; set the clock of the machine that sent it, or of this one.`;
    return deny('R-WD-002', reason, { contract_code: 'SCHEMA_INVALID', ...details });
  }
  return allow('no task is silent for too long', details);
}
