// Where the function of each operation is. The type holds every function to the fields of its entry.
import type { Run } from '../operation.ts';
import type { FieldsOf, OperationName } from './table.ts';

export const LOAD: { readonly [N in OperationName]: () => Promise<{ readonly run: Run<FieldsOf<N>> }> } = {
  'cast.list': () => import('./cast-list.ts'),
  'cast.show': () => import('./cast-show.ts'),
  'cast.why': () => import('./cast-why.ts'),
  'cast.watch': () => import('./cast-watch.ts'),
  'cast.wait': () => import('./cast-wait.ts'),
  status: () => import('./status.ts'),
  'task.create': () => import('./task-create.ts'),
  'task.claim': () => import('./task-claim.ts'),
  'task.next': () => import('./task-next.ts'),
  'task.finish': () => import('./task-finish.ts'),
  'task.move': () => import('./task-move.ts'),
  'task.list': () => import('./task-list.ts'),
  'task.apply': () => import('./task-apply.ts'),
  heartbeat: () => import('./heartbeat.ts'),
  'lock.list': () => import('./lock-list.ts'),
  'lock.check': () => import('./lock-check.ts'),
  'lock.request': () => import('./lock-request.ts'),
  'worklog.add': () => import('./worklog-add.ts'),
  'worklog.show': () => import('./worklog-show.ts'),
  reconcile: () => import('./reconcile.ts'),
  bundle: () => import('./bundle.ts'),
  watchdog: () => import('./watchdog.ts'),
  gate: () => import('./gate.ts'),
  hold: () => import('./hold.ts'),
  unhold: () => import('./unhold.ts'),
  check: () => import('./check.ts'),
  validate: () => import('./validate.ts'),
  explain: () => import('./explain.ts'),
};
