// The tasks in todo in the order of their rank, one after the other: who looks for the best one looks at few of them.
import { inOrder, type OrderTree } from './order-tree.ts';
import { type Ledger, PRIORITIES, type Priority, type Run, type RunIndex, type Task, taskOf } from './state.ts';
import { compareRank, isOwed } from './waiting.ts';

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
