// The second door: what must hold before a handoff that was read is accepted. The gates stand in their order; the first
// refusal counts.
import type { SealedRequest } from '../approval/request.ts';
import { taskOfTurn } from '../cast/task.ts';
import { isUnstated } from '../cast/task-words.ts';
import type { Handoff } from '../dialect.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { Artifacts } from '../knowledge/evidence.ts';
import { refusalOfAcceptance, refusalOfVerified } from '../ledger/acceptance.ts';
import { refusalOfOtherWorklog } from '../ledger/finish.ts';
import { rivalOf } from '../ledger/lock-tree.ts';
import { normalPath } from '../ledger/path.ts';
import type { Check } from '../ledger/request.ts';
import { refusalOfChanges } from '../ledger/scope.ts';
import { keyOf, type Task, tasksOf } from '../ledger/state.ts';
import { type Cast, type State, type Turn, walkOf } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import { reportsStatus, stepOf } from './status.ts';

/** What was seen of a turn from outside, whatever it says itself. */
export type Seen = {
  /** The seal of what governs the agents; null where nothing was compared. */
  readonly seal: string | null;
  /** The digest of every path that changed; null where it is gone. */
  readonly changes: Readonly<Record<string, string | null>>;
  /** By criterion. */
  readonly checks: Readonly<Record<string, Check>>;
  /** What the agent wants permission for, sealed; absent or null where it wants none or nothing could be sealed. */
  readonly approval?: SealedRequest | null;
  /** The files that its report names as evidence; absent where nobody looked. */
  readonly artifacts?: Artifacts;
};

export function refusedBeforeAccept(state: State, cast: Cast, turn: Turn, handoff: Handoff, seen: Seen): Denied | null {
  const task = taskOfTurn(state, cast, turn);
  return (
    refusalOfSeal(turn, seen.seal) ??
    (task && refusalOfScope(state, cast, turn, task, seen.changes)) ??
    stepOf(cast, turn, handoff).refusal ??
    (task && refusalOfResult(cast, turn, task, handoff, seen.checks))
  );
}

/** No turn may change what governs it. */
function refusalOfSeal(turn: Turn, seal: string | null): Denied | null {
  if (turn.seal === null || seal === turn.seal) return null;
  const reason = `${turn.socket}: files in .baton changed while it ran, and no turn may change them; if it was you, recast`;
  return deny('SCOPE_VIOLATION', reason, { socket: turn.socket, scope: '.baton' });
}

/**
 * What changed inside another task's lock is that task's, what another turn was seen to change is that turn's, and worklogs
 * and reports, which lie outside of all scopes, each belong to their own task. In a worktree of its own nobody else writes.
 */
function refusalOfScope(state: State, cast: Cast, turn: Turn, task: Task, changes: Seen['changes']): Denied | null {
  const { ledger } = state;
  const reports = new Set(tasksOf(ledger, task.run).flatMap(reportsOf));
  const isAlone = walkOf(cast, turn)?.place !== undefined;
  const own = Object.entries(changes).flatMap(([path, digest]) => {
    if (isAlone) return reports.has(path) ? [] : [path];
    if (Object.hasOwn(turn.excused, path) && turn.excused[path] === digest) return [];
    const rival = rivalOf(ledger.locks, { root: task.root, path, mode: 'write', task: keyOf(task) });
    return rival?.mode === 'write' || reports.has(path) ? [] : [path];
  });
  return refusalOfChanges(task, own, ledger.locks.foldCase);
}

function reportsOf({ worklogPath, reportPath }: Task): readonly string[] {
  return [worklogPath, reportPath ?? ''].flatMap((written) => {
    const normal = normalPath(written);
    return normal.ok ? [normal.path] : [];
  });
}

/** A task that was assigned is done when its result is about it, claims every criterion, and what was checked agrees. */
function refusalOfResult(
  cast: Cast,
  turn: Turn,
  task: Task,
  { outcome, payload }: Handoff,
  checks: Seen['checks'],
): Denied | null {
  const isResult = cast.rules.graph.sockets[turn.socket]?.contract === 'operator' && isObject(payload);
  if (reportsStatus(cast, turn.socket) && outcome === 'done') return refusalOfVerified(task, checks);
  if (!isResult || task.criteria.length === 0) return null;
  const result: JsonObject = payload;
  const isStranger = result.task_id !== task.id || result.run_id !== cast.runId;
  // A script for a task that the cast makes itself was written before the run and the task had their ids.
  if (isStranger && !task.own) {
    const reason = `The result names task ${String(result.task_id)} of run ${String(result.run_id)}; it must be about ${task.id} of run ${cast.runId}, as the assignment says.`;
    return deny('SCHEMA_INVALID', reason, { task: task.id, run: cast.runId });
  }
  const elsewhere = task.own ? null : refusalOfOtherWorklog(task, result);
  if (elsewhere) return elsewhere;
  return outcome === 'done' && !isUnstated(task) ? refusalOfAcceptance(task, result, checks) : null;
}
