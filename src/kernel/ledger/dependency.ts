// Tasks that wait for other tasks of their run: whether the others are done, and whether the waiting could ever end.
import type { Json } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import { type Ledger, nameKey, runOf, type Task, taskOf } from './state.ts';
import { isTerminal } from './transition.ts';

/** Whether everything the task depends on is done. A dependency that can never be done is named as such. */
export function refusalOfDependencies(ledger: Ledger, { run, id, dependencies }: Task): Denied | null {
  const unmet = dependencies
    .map((other) => ({ depends_on: other, status: taskOf(ledger, run, other)?.status ?? null }))
    .filter(({ status }) => status !== 'done');
  if (unmet.length === 0) return null;
  const dead = unmet.filter(({ status }) => status === 'failed' || status === 'canceled');
  const list = (rows: typeof unmet) =>
    rows
      .slice(0, 5)
      .map(({ depends_on, status }) => `${depends_on} (${status ?? 'not in the ledger'})`)
      .join(', ');
  const reason =
    dead.length > 0
      ? `${id} depends on ${list(dead)}, which will never be done; plan it again without it.`
      : `${id} waits for ${list(unmet)}.`;
  const details: Record<string, Json> = { unmet: unmet.slice(0, 100) };
  if (dead.length > 0) details.dead = dead.slice(0, 100).map(({ depends_on }) => depends_on);
  return deny('DEPENDENCY_NOT_MET', reason, details);
}

/** Whether every task of a run that is still to be done waits only for tasks that there are. All that do not are named. */
export function refusalOfUnknownDependencies(ledger: Ledger, run: string): Denied | null {
  const unknown = unknownDependencies(ledger, run);
  const [first] = unknown;
  if (!first) return null;
  const more = unknown.length > 1 ? ` (and ${unknown.length - 1} more)` : '';
  const reason = `${first.task} depends on ${first.depends_on}, which is not in the ledger${more}; assign it too, or drop the dependency.`;
  return deny('LEDGER_INCONSISTENT', reason, { unknown: unknown.slice(0, 100) });
}

/** What tasks that are not over wait for and nobody has created. */
export function unknownDependencies(
  ledger: Ledger,
  run: string,
): readonly { readonly task: string; readonly depends_on: string }[] {
  const { missing = {}, dependents = {} } = runOf(ledger, run)?.index ?? {};
  const waiting = Object.keys(missing).flatMap((key) => Object.values(dependents[key] ?? {}));
  return [...new Set(waiting)]
    .flatMap((id) => taskOf(ledger, run, id) ?? [])
    .filter(({ status }) => !isTerminal(status))
    .sort((a, b) => a.order - b.order)
    .flatMap(({ id, dependencies }) =>
      dependencies.filter((other) => !taskOf(ledger, run, other)).map((other) => ({ task: id, depends_on: other })),
    );
}

/** Whether a new task would come to wait for itself. Tasks that do not exist yet end the search. */
export function refusalOfCycle(
  ledger: Ledger,
  run: string,
  id: string,
  dependencies: readonly string[],
): Denied | null {
  // A round comes back through a task that waits for this one.
  const waiting = Object.values(runOf(ledger, run)?.index.dependents[nameKey(id)] ?? {});
  if (waiting.length === 0 && !dependencies.includes(id)) return null;
  const cameFrom = new Map<string, string>();
  const queue = [...dependencies];
  for (const other of dependencies) cameFrom.set(other, id);
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    if (at === id) return cycleRefused(cycleBack(cameFrom, id));
    for (const other of taskOf(ledger, run, at)?.dependencies ?? []) {
      if (cameFrom.has(other)) continue;
      cameFrom.set(other, at);
      queue.push(other);
    }
  }
  return null;
}

/** The round from the task back to itself, each waiting for the next. */
function cycleBack(cameFrom: ReadonlyMap<string, string>, id: string): string[] {
  const cycle = [id];
  for (let at = cameFrom.get(id); at !== undefined && at !== id; at = cameFrom.get(at)) cycle.push(at);
  return [id, ...cycle.slice(1).reverse()];
}

function cycleRefused(cycle: string[]): Denied {
  const shown = [...cycle.slice(0, 10), ...(cycle.length > 10 ? ['…'] : []), cycle[0] ?? ''].join(' → ');
  const reason = `These tasks would wait for each other: ${shown}; drop one of the dependencies.`;
  return deny('LEDGER_INCONSISTENT', reason, { cycle: cycle.slice(0, 1000) });
}
