// Whether a claim allows a write right now: its token must be the present one, and the path must lie where the task may
// write. Who asks before each write finds out that it has lost its claim before it does harm.
import { allow, deny, type Verdict } from '../verdict.ts';
import { fenceKey } from './run-index.ts';
import { refusalOfChanges } from './scope.ts';
import type { Ledger, Task } from './state.ts';

export function mayWrite(ledger: Ledger, fence: number, paths: readonly string[]): Verdict {
  const task = holderOf(ledger, fence);
  if (!task) {
    const reason = `No task is in progress under fence ${fence}; it ended or was claimed again. Stop writing.`;
    return deny('CONCURRENCY_CONFLICT', reason, { fence });
  }
  const { run, id, owner } = task;
  return (
    refusalOfChanges(task, paths, ledger.locks, 'would change') ??
    allow(`${id} may write there`, { run, task: id, owner, fence, paths })
  );
}

/** The task in progress under this token. */
export function holderOf(ledger: Ledger, fence: number): Task | undefined {
  return ledger.tasks[ledger.fences[fenceKey(fence)] ?? ''];
}
