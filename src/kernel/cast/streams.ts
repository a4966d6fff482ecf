// Lanes that wait for one another. A parallel generator says which items follow one another: a stream. Each item of a stream is a
// task that depends on the one before it, so the scheduler of the ledger keeps the order. The sockets before the loop run once for
// each stream. A failed item lets the others finish, and then the barrier of the loop decides.
import type { Code } from '../codes.ts';
import type { ExitRoute, Graph, Loop } from '../graph/config.ts';
import { isObject, isString, type Json } from '../json.ts';
import { settle } from '../ledger/move.ts';
import { isTerminal, type Task, taskOf } from '../ledger/state.ts';
import type { Pen } from '../state.ts';
import type { DataChange } from './fact.ts';
import { dependentsOf, idAt, itemKey, taskOfTurn, tasksOfLoop } from './item.ts';
import { socketOf } from './rules.ts';
import type { Cast, Turn } from './state.ts';

type ItemStream = { readonly name: string; readonly workItemIndexes: readonly number[] };

/** The streams of a loop; none where its generator makes no schedule. */
export function streamsOf(cast: Cast, { consumes }: Loop): readonly ItemStream[] {
  const isScheduled =
    consumes !== null && socketOf(cast, consumes).assign.some(([target]) => target === 'parallelSchedule');
  const schedule = isScheduled ? cast.data.parallelSchedule : null;
  const streams = isObject(schedule) && Array.isArray(schedule.streams) ? schedule.streams : [];
  return streams.flatMap(streamIn);
}

/** The reader of the answer refused what is malformed. What was put there afterwards is not followed. */
function streamIn(value: Json): readonly ItemStream[] {
  if (!isObject(value) || !isString(value.name) || !Array.isArray(value.workItemIndexes)) return [];
  const workItemIndexes = value.workItemIndexes.filter((index) => typeof index === 'number');
  return workItemIndexes.length > 0 ? [{ name: value.name, workItemIndexes }] : [];
}

/** The index of the item that comes before another one in its stream; null where none does. */
export function itemBefore(streams: readonly ItemStream[], index: number): number | null {
  for (const { workItemIndexes } of streams) {
    const at = workItemIndexes.indexOf(index);
    if (at > 0) return workItemIndexes[at - 1] ?? null;
  }
  return null;
}

/** Where an item of a loop begins: the first one of a stream passes the sockets before the loop. */
export function beginningOf({ prelude = [] }: Loop, entry: string, { dependencies }: Task): string {
  return dependencies.length === 0 ? (prelude[0] ?? entry) : entry;
}

/** The member of a loop that is entered by way of a socket with which its streams begin; else the socket itself. */
export function enteredBy({ loops, sockets }: Graph, socket: string): string {
  const last = loops.find(({ prelude }) => prelude?.[0] === socket)?.prelude?.at(-1);
  return (last !== undefined && sockets[last]?.edges[0]?.to) || socket;
}

/** The loop whose barrier keeps the failure of a turn in its lane. */
export function barrierAround(cast: Cast, { lane }: Pick<Turn, 'lane'>): Loop | null {
  const loop = lane === null ? undefined : cast.rules.graph.loops.find(({ id }) => id === lane);
  return loop?.barrier === undefined ? null : loop;
}

/** Codes with which a lane has failed. With any other code a person is asked. */
const FAILURES: readonly Code[] = [
  'AGENT_FAILED',
  'AGENT_TIMEOUT',
  'CONTRACT_VIOLATION',
  'EDGE_BUDGET_EXHAUSTED',
  'NO_PROGRESS',
  'TASK_TIMEOUT',
  'UTILITY_FAILED',
];

/** The turns of a loop that have failed and whose items are open. */
export function failedIn(pen: Pen, cast: Cast, loop: Loop): readonly { readonly turn: Turn; readonly task: Task }[] {
  return Object.values(cast.turns).flatMap((turn) => {
    const task = turn.lane === loop.id && turn.phase === 'blocked' ? taskOfTurn(pen.state, cast, turn) : null;
    const hasFailed = task?.status === 'blocked' && FAILURES.some((code) => code === task.code);
    return task && hasFailed ? [{ turn, task }] : [];
  });
}

/** Ends the items that have failed, and those that depend on them. What they changed is not merged. */
export function settleFailed(pen: Pen, cast: Cast, loop: Loop): void {
  for (const { turn, task } of failedIn(pen, cast, loop)) {
    const others = dependentsOf(pen, cast, task.id);
    pen.write({ kind: 'lane.ended', cast: cast.id, turn: turn.id, item: turn.item?.key ?? null });
    settle(pen, task, 'failed', { code: task.code ?? 'AGENT_FAILED', reason: task.reason });
    for (const other of others) {
      if (isTerminal(other.status)) continue;
      settle(pen, other, 'canceled', { code: 'LEFT_EARLY', reason: `it depends on ${task.id}, which failed` });
    }
  }
}

/** Where a loop leads whose items are over and some of them failed: `not_satisfied`, `always`, else `satisfied` if any was done. */
export function exitOfSettled(pen: Pen, cast: Cast, loop: Loop): ExitRoute | null {
  if (loop.barrier !== 'settled') return null;
  const tasks = tasksOfLoop(pen, cast, loop);
  if (!tasks.some(({ status }) => status === 'failed')) return null;
  const by = (wanted: string) => loop.exits.find(({ condition }) => condition === wanted);
  const isAnyDone = tasks.some(({ status }) => status === 'done');
  return by('not_satisfied') ?? by('always') ?? (isAnyDone ? by('satisfied') : undefined) ?? null;
}

/** What the streams came to, for the sockets after the loop: `state.parallelFanIn`. */
export function fanIn(
  { ledger }: Pen,
  cast: Cast,
  loop: Loop | undefined,
): { readonly changes?: readonly DataChange[] } {
  const streams = loop ? streamsOf(cast, loop) : [];
  const { iterator } = loop ?? {};
  if (!loop || !iterator || streams.length === 0) return {};
  const list = cast.lists[iterator.cursorKey];
  const orderedBranches = streams.map(({ name, workItemIndexes }, streamIndex) => {
    const items = workItemIndexes.map((index) => {
      const task = taskOf(ledger, cast.id, idAt(list, index) ?? '');
      const { title = '', status = 'todo', code = null } = task ?? {};
      return { key: itemKey(iterator.items, iterator.as, index), title, status, ...(code === null ? {} : { code }) };
    });
    const isDone = items.every(({ status }) => status === 'done');
    return { name, streamIndex, workItemIndexes, status: isDone ? 'accepted' : 'failed', items };
  });
  const satisfied = orderedBranches.every(({ status }) => status === 'accepted');
  const value = { version: 1, loopId: loop.id, satisfied, orderedBranches } as unknown as Json;
  return { changes: [{ path: 'parallelFanIn', value }] };
}
