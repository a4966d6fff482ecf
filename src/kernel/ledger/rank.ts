// Which task is handed out next. A task that was refused its locks several times goes first: while it keeps asking, others stay
// off its paths. Ranks are a total order, so two tasks never wait for each other.
import type { Soundness } from './fact.ts';
import { fileKeyIn, siteOf } from './lock-tree.ts';
import { overlaps } from './path.ts';
import {
  type Ledger,
  locksToTake,
  type OrderTree,
  PRIORITIES,
  type Priority,
  type Run,
  type RunIndex,
  type Task,
  taskOf,
} from './state.ts';

export const PASSED_OVER_MAX = 3;

/** Whether it was passed over too often; one that has not asked for as long as its own time limit has given up. */
export function isOwed(task: Task, at: number): boolean {
  return task.passedOver >= PASSED_OVER_MAX && task.refusedAt !== null && at <= owedUntil(task);
}

/** Until when others stay off the paths of a task that was passed over, if it asks no more. */
export function owedUntil({ refusedAt, timeoutS }: Pick<Task, 'refusedAt' | 'timeoutS'>): number {
  return (refusedAt ?? 0) + timeoutS * 1000;
}

/**
 * Negative when `a` goes first. Tasks that waited too long come before all others, longest first, whatever their priority.
 * Then priority counts, then age.
 */
export function compareRank(a: Task, b: Task, at: number): number {
  const [aIsOwed, bIsOwed] = [isOwed(a, at), isOwed(b, at)];
  if (aIsOwed !== bIsOwed) return aIsOwed ? -1 : 1;
  const byWait = aIsOwed ? (a.waitingSince ?? at) - (b.waitingSince ?? at) : 0;
  const byPriority = PRIORITIES.indexOf(b.priority) - PRIORITIES.indexOf(a.priority);
  return byWait || byPriority || a.order - b.order;
}

/**
 * The first waiting task that goes before the claimant and wants a path of it. A task of an inconsistent run does not count
 * until a person repairs the run.
 */
export function owedBefore(ledger: Ledger, claimant: Task, at: number, isSound: Soundness): Task | null {
  let first: Task | null = null;
  const isInTheWay = inTheWayOf(ledger, claimant);
  for (const key of Object.keys(ledger.waiting)) {
    const waiter = ledger.tasks[key];
    if (!waiter || waiter === claimant || !isOwed(waiter, at)) continue;
    if (compareRank(waiter, claimant, at) > 0 || (first && compareRank(waiter, first, at) > 0)) continue;
    if (isInTheWay(waiter) && isSound(waiter.run)) first = waiter;
  }
  return first;
}

/** Whether another task could not be in progress together with this one. */
export function inTheWayOf({ locks }: Ledger, task: Task): (other: Task) => boolean {
  const { tree } = siteOf(task.root);
  const key = fileKeyIn(locks, task.root);
  const own = locksToTake(task).map(({ path, mode }) => ({ mode, key: key(path) }));
  return (other) => {
    if (other.run === task.run && (other.type === 'serial' || task.type === 'serial')) return true;
    if (siteOf(other.root).tree !== tree) return false;
    const otherKey = other.root === task.root ? key : fileKeyIn(locks, other.root);
    return locksToTake(other).some(({ path, mode }) => {
      const its = otherKey(path);
      return own.some((lock) => (mode === 'write' || lock.mode === 'write') && overlaps(its, lock.key));
    });
  };
}

/** Finds the best task in todo while looking at few of the others. */
type Among = { readonly runs: readonly Run[]; has(task: Task): boolean };
type Rank = 'startable' | 'unmet';

const MOST_URGENT_FIRST = PRIORITIES.toReversed();

/** Whether a run has an assigned task in todo. */
export function hasRanked({ startable, unmet }: RunIndex): boolean {
  return [startable, unmet].some((tree) => PRIORITIES.some((priority) => !inOrder(tree[priority]).next().done));
}

/** As `compareRank` has it: those that are owed their turn, then by priority, then by age. */
export function* ranked(ledger: Ledger, among: Among, at: number, ranks: readonly Rank[]): Generator<Task> {
  yield* owedIn(ledger, among, at);
  for (const priority of MOST_URGENT_FIRST) yield* unowed(ledger, among, at, treesOf(among, priority, ranks));
}

/**
 * Older tasks that rank after one that was taken. Of tasks that are not owed their turn only less urgent ones are older and
 * rank after it.
 */
export function* overtakenBy(ledger: Ledger, taken: Task, wasOwed: boolean, among: Among, at: number): Generator<Task> {
  const urgency = PRIORITIES.indexOf(taken.priority);
  const priorities = wasOwed ? PRIORITIES : PRIORITIES.slice(0, urgency);
  if (wasOwed) for (const task of owedIn(ledger, among, at)) if (task.order < taken.order) yield task;
  for (const priority of priorities.toReversed())
    yield* unowed(ledger, among, at, treesOf(among, priority, ['startable']), taken.order);
}

function owedIn({ tasks, waiting }: Ledger, among: Among, at: number): readonly Task[] {
  const runs = new Set(among.runs.map(({ id }) => id));
  return Object.keys(waiting)
    .flatMap((key) => tasks[key] ?? [])
    .filter((task) => isOwed(task, at) && task.status === 'todo' && task.assigned && runs.has(task.run))
    .filter((task) => among.has(task))
    .sort((a, b) => compareRank(a, b, at));
}

type Source = { readonly run: string; readonly tree: OrderTree };

function treesOf({ runs }: Among, priority: Priority, ranks: readonly Rank[]): readonly Source[] {
  return runs.flatMap(({ id, index }) => ranks.map((rank) => ({ run: id, tree: index[rank][priority] })));
}

function* unowed(
  ledger: Ledger,
  among: Among,
  at: number,
  sources: readonly Source[],
  before?: number,
): Generator<Task> {
  for (const { run, id } of merged(sources, before)) {
    const task = taskOf(ledger, run, id);
    if (task && !isOwed(task, at) && among.has(task)) yield task;
  }
}

/** The members of several trees in one order. */
function* merged(
  sources: readonly Source[],
  before?: number,
): Generator<{ readonly run: string; readonly id: string }> {
  const heads = sources.flatMap(({ run, tree }) => {
    const members = inOrder(tree, before);
    const { value } = members.next();
    return value ? [{ run, members, value }] : [];
  });
  while (heads.length > 0) {
    const head = heads.reduce((first, each) => (each.value.order < first.value.order ? each : first));
    yield { run: head.run, id: head.value.id };
    const { value } = head.members.next();
    if (value) head.value = value;
    else heads.splice(heads.indexOf(head), 1);
  }
}

/**
 * Tasks in the order of their creation, as a tree over the digits of their number: the first ones are found without reading
 * the rest.
 */
const BITS = 6;
const DEPTH = 5;
const MASK = (1 << BITS) - 1;

/** Makes the task a member of the tree, or takes it out. */
export function place(tree: OrderTree, order: number, id: string, isMember: boolean): void {
  if (isMember) add(tree, order, id);
  else remove(tree, order);
}

/** The members in their order, from the oldest on. `before` ends the walk at that number. */
export function* inOrder(
  tree: OrderTree,
  before = Number.POSITIVE_INFINITY,
): Generator<{ readonly order: number; readonly id: string }> {
  yield* below(tree, 0, DEPTH - 1, before);
}

export function oldest(tree: OrderTree): string | null {
  for (const { id } of inOrder(tree)) return id;
  return null;
}

function* below(tree: OrderTree, from: number, level: number, before: number): ReturnType<typeof inOrder> {
  for (const digit of Object.keys(tree)) {
    const member = tree[Number(digit)];
    const order = from + Number(digit) * 2 ** (BITS * level);
    if (order >= before) return;
    if (typeof member === 'string') yield { order, id: member };
    else if (member !== undefined) yield* below(member, order, level - 1, before);
  }
}

function add(tree: OrderTree, order: number, id: string): void {
  let node = tree;
  for (let level = DEPTH - 1; level > 0; level--) {
    const digit = digitOf(order, level);
    const next = node[digit] ?? {};
    if (typeof next === 'string') return;
    node[digit] = next;
    node = next;
  }
  node[digitOf(order, 0)] = id;
}

function remove(tree: OrderTree, order: number): void {
  removeBelow(tree, order, DEPTH - 1);
}

/** Answers whether the node is empty: then it is no longer there. */
function removeBelow(node: OrderTree, order: number, level: number): boolean {
  const digit = digitOf(order, level);
  const next = node[digit];
  if (next === undefined || (typeof next === 'object' && !removeBelow(next, order, level - 1))) return false;
  delete node[digit];
  for (const _ in node) return false;
  return true;
}

function digitOf(order: number, level: number): number {
  return Math.floor(order / 2 ** (BITS * level)) & MASK;
}
