// Whether the ledger of a run holds together: asked before every round of assignments, so that nothing is handed out on top
// of a mistake. All that is wrong is listed, not only the first.
import type { JsonObject } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import { unknownDependencies } from './dependency.ts';
import { locksOf, rivalOf } from './lock-tree.ts';
import { spokenPath } from './spoken-path.ts';
import { keyOf, type Ledger, runOf, type Task, taskOf, tasksOf, wantedLocks } from './state.ts';

const LISTED_MAX = 100;

/** A run of which nothing is suspect is not walked through. */
export function refusalOfInconsistency(ledger: Ledger, run: string): Denied | null {
  const { suspects = {}, missing = {} } = runOf(ledger, run)?.index ?? {};
  if (isEmpty(suspects) && isEmpty(missing)) return null;
  const issues = inconsistencies(ledger, run);
  const [first] = issues;
  if (!first) return null;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const reason = `The ledger does not hold together: ${String(first.message)}${more}; nothing is assigned until it does.`;
  return deny('LEDGER_INCONSISTENT', reason, { issues: issues.slice(0, LISTED_MAX), count: issues.length });
}

/** Everything that is wrong with the rows and locks of a run. */
export function inconsistencies(ledger: Ledger, run: string): readonly JsonObject[] {
  const tasks = tasksOf(ledger, run);
  const running = tasks.filter(({ status }) => status === 'in_progress').length;
  const counted = runOf(ledger, run)?.running ?? 0;
  return [
    ...tasks.flatMap((task) => wrongWith(ledger, task).map((message) => ({ task: task.id, message }))),
    ...(running === counted
      ? []
      : [{ task: null, message: `${running} tasks are in progress, and ${counted} were counted` }]),
    ...unknownDependencies(ledger, run).map(({ task, depends_on }) => {
      const message = `${task} depends on ${depends_on}, which is not in the ledger; create it, or cancel ${task}`;
      return { task, depends_on, message };
    }),
  ];
}

/** What does not fit the status of a task, its claim and its locks. */
export function wrongWith(ledger: Ledger, task: Task): readonly string[] {
  const { id, run, status, fence, owner } = task;
  const held = locksOf(ledger.locks, keyOf(task));
  if (status !== 'in_progress') {
    const found = held.slice(0, 1).map(({ path }) => `${id} is ${status} and still holds ${spokenPath(path)}`);
    return fence === null ? found : [...found, `${id} is ${status} and still has a claim`];
  }
  const found: string[] = [];
  if (fence === null) found.push(`${id} is in progress without a claim`);
  if (owner === '') found.push(`${id} is in progress and belongs to nobody`);
  if (held.length < wantedLocks(task).length) found.push(`${id} is in progress and lacks locks of its scope`);
  for (const lock of held) {
    const rival = rivalOf(ledger.locks, { ...lock, task: keyOf(task) });
    const other = rival && ledger.tasks[rival.task];
    if (other && !(task.sequential && other.run === run))
      found.push(`${id} and ${other.id} both hold ${spokenPath(lock.path)}`);
  }
  for (const dependency of task.dependencies) {
    const other = taskOf(ledger, run, dependency)?.status ?? 'not in the ledger';
    if (other !== 'done') found.push(`${id} is in progress, and ${dependency}, which it depends on, is ${other}`);
  }
  return found;
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}
