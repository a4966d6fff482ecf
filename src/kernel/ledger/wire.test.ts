import { expect, test } from 'vitest';
import { validateAssignment, validateBundle } from '../../dialects/operator/assignment.ts';
import { validateLocks } from '../../dialects/operator/locks.ts';
import { validateReconcile, validateWatchdog } from '../../dialects/operator/reconcile.ts';
import type { JsonObject } from '../json.ts';
import { planTasks } from './apply.ts';
import { type Book, OTHER_RUN, openBook, packet, RUN, result, START } from './fixtures/book.ts';
import { bareSpec } from './plan.ts';
import { assignmentOf, bundleOf, contractCode, heldLocks, ledgerRows, lockRows } from './wire.ts';

/** One task of each kind: done, at work, blocked, waiting for another, announced; and others in another run and root. */
function busy(): Book {
  const book = openBook();
  book.create('T-1');
  book.ask({ kind: 'task.finish', task: 'T-1', fence: book.start('T-1'), result: result('T-1') });
  book.create('T-2', { lock_scope: ['src', 'test'], x_read_scope: ['docs'], report_path: 'reports/T-2.md' });
  book.start('T-2', 'bob');
  book.create('T-3');
  book.move('T-3', 'blocked');
  book.create('T-4', { dependencies: ['T-1', 'T-3'], priority: 'critical', x_checkers: { 'It works': 'tests' } });
  const delta = { task_id: 'T-5', status: 'todo', owner: '', reason: '', delta_id: 'd', title: 'x'.repeat(900) };
  book.ask({ kind: 'deltas.apply', run: RUN, stream: [delta, { ...delta, delta_id: 'e', status: 'blocked' }] });
  book.create('T-6', { x_read_scope: ['docs'] });
  book.start('T-6');
  book.ask({ kind: 'task.create', packet: packet('T-7', { lock_scope: ['src'] }), root: '/lane-1' });
  book.start('T-7');
  book.create('T-2', { run: OTHER_RUN, lock_scope: ['other'] });
  book.ask({ kind: 'task.claim', run: OTHER_RUN, task: 'T-2', owner: 'eve' });
  return book;
}

test('the bundle of a run keeps its contract, in strict mode too', () => {
  const { ledger } = busy();
  const bundle = bundleOf(ledger, RUN, 'Go on', {
    at: START,
    constraints: { budget: 5 },
    heartbeats: { 'T-2': START + 5 },
  });
  expect(validateBundle(bundle, { strict: true })).toMatchObject({ allow: true, details: { task_count: 7 } });
  expect(bundle).toMatchObject({
    objective: 'Go on',
    active_locks: [
      { task_id: 'T-2', resource: 'src', active: true },
      { task_id: 'T-2', resource: 'test', active: true },
      { task_id: 'T-6', resource: 'work/T-6', active: true },
      { task_id: 'T-7', resource: 'src', active: true, x_root: '/lane-1' },
    ],
    dependencies: [
      { task_id: 'T-4', depends_on_task_id: 'T-1' },
      { task_id: 'T-4', depends_on_task_id: 'T-3' },
    ],
    open_blockers: [
      { task_id: 'T-3', code: 'MISSING_REQUIRED_INPUT', x_code: 'ABORTED', reason: 'because' },
      { task_id: 'T-5', code: 'MISSING_REQUIRED_INPUT', reason: 'no reason was given' },
    ],
  });
  expect((bundle.ledger as { last_heartbeat_at: unknown }[]).map((row) => row.last_heartbeat_at).slice(0, 2)).toEqual([
    null,
    new Date(START + 5).toISOString(),
  ]);
});

test('a bundle without an objective takes that of the tasks, and one of an unknown run is empty and valid', () => {
  expect(bundleOf(busy().ledger, RUN).objective).toBe('Ship it');
  expect(validateBundle(bundleOf(busy().ledger, 'f'.repeat(36))).allow).toBe(true);
});

test('a row that an older program named after its turn is shown, and breaks no bundle', () => {
  const { ledger } = busy();
  planTasks(ledger, RUN, ['turn-1'], bareSpec('Spec'), []);
  expect(ledgerRows(ledger, RUN).at(-1)).toMatchObject({ task_id: 'turn-1', title: 'Spec' });
  expect(validateBundle(bundleOf(ledger, RUN), { strict: true })).toMatchObject({
    allow: true,
    details: { task_count: 7 },
  });
});

test('rows and locks pass reconciliation, the lock table and the watchdog', () => {
  const { ledger } = busy();
  const rows = ledgerRows(ledger, RUN);
  for (const root of ['main', '/lane-1']) {
    expect(validateReconcile({ ledger: rows, active_locks: lockRows(ledger, { run: RUN, root }) }).code).toBe('OK');
    expect(validateLocks({ locks: lockRows(ledger, { root }) }).code).toBe('OK');
  }
  expect(lockRows(ledger)).toHaveLength(5);
  expect(validateLocks({ locks: lockRows(ledger) }).code).toBe('OK');
  expect(validateReconcile({ ledger: rows, active_locks: lockRows(ledger, { run: RUN }) }).code).toBe('OK');
  const at = (ms: number) => new Date(START + ms).toISOString();
  expect(validateWatchdog({ now: at(60_000), tasks: rows }).code).toBe('OK');
  const late = validateWatchdog({ now: at(61_000), tasks: ledgerRows(ledger, RUN, { 'T-2': START + 30_000 }) });
  expect(late.details).toMatchObject({ timed_out: [{ task_id: 'T-6' }, { task_id: 'T-7' }] });
});

test('a row that was tampered with does not pass', () => {
  const { ledger } = busy();
  const rows = ledgerRows(ledger, RUN).map((row) => (row.task_id === 'T-2' ? { ...row, status: 'done' } : row));
  expect(validateReconcile({ ledger: rows, active_locks: lockRows(ledger, { run: RUN }) }).code).toBe(
    'LEDGER_INCONSISTENT',
  );
});

test('the list of locks names readers and roots as well', () => {
  const { ledger } = busy();
  expect(heldLocks(ledger, RUN).map(({ task, root, path, mode }) => `${task} ${mode} ${root}:${path}`)).toEqual([
    'T-2 write main:src',
    'T-2 write main:test',
    'T-2 read main:docs',
    'T-6 write main:work/T-6',
    'T-6 read main:docs',
    'T-7 write /lane-1:src',
  ]);
  expect(heldLocks(ledger)).toHaveLength(7);
});

test('the assignment of a task can be read back, with the locks of the others', () => {
  const book = busy();
  for (const id of ['T-2', 'T-4']) {
    expect(validateAssignment(assignmentOf(book.ledger, book.task(id)), { strict: true }).code).toBe('OK');
  }
  expect(assignmentOf(book.ledger, book.task('T-4'))).toMatchObject({
    task: { priority: 'critical', dependencies: ['T-1', 'T-3'], x_checkers: { 'It works': 'tests' } },
    active_locks: [{ task_id: 'T-2' }, { task_id: 'T-2' }, { task_id: 'T-6' }],
  });
});

test('from the rows of a bundle, its dependencies and its targets a packet can be built again', () => {
  const book = openBook();
  const wish = {
    forbidden_scope: ['docs'],
    x_checkers: { 'It works': 'tests' },
    type: 'serial',
    dependencies: ['T-2'],
  };
  book.create('T-1', wish);
  const [row] = bundleOf(book.ledger, RUN).ledger as JsonObject[];
  const { task, ...packet } = assignmentOf(book.ledger, book.task('T-1'));
  expect(row).toMatchObject({
    x_type: 'serial',
    x_forbidden_scope: ['docs'],
    x_worklog_path: (task as JsonObject).worklog_path,
    x_context_package: packet.context_package,
    x_objective: packet.global_objective,
    x_checkers: { 'It works': 'tests' },
  });
});

test('the constraints that packets state stand in the bundle', () => {
  const book = openBook();
  const given = packet('T-1');
  const context_package = [{ kind: 'constraint', value: 'no new dependency' }];
  book.ask({ kind: 'task.create', packet: { ...given, context_package } });
  expect(bundleOf(book.ledger, RUN).constraints).toEqual({ stated: ['no new dependency'] });
});

test('the packet of whoever claims everything keeps its contract, though the rules stay forbidden', () => {
  const book = openBook();
  book.ask({ kind: 'task.create', packet: packet('T-1', { lock_scope: ['.'] }), forbidden: ['.baton'] });
  expect(assignmentOf(book.ledger, book.task('T-1'))).toMatchObject({ task: { forbidden_scope: [] } });
  expect(validateAssignment(assignmentOf(book.ledger, book.task('T-1'))).code).toBe('OK');
  expect(book.task('T-1').forbidden).toEqual(['.baton']);
});

test('a row tells the same code as the worklog: one of the contract, and the exact one beside it', () => {
  const book = openBook();
  for (const id of ['T-1', 'T-2', 'T-3']) book.create(id);
  book.start('T-1');
  book.ask({ kind: 'task.move', task: 'T-1', to: 'blocked', actor: 'engine', reason: 'x', code: 'AGENT_FAILED' });
  book.start('T-2');
  book.ask({ kind: 'task.move', task: 'T-2', to: 'blocked', actor: 'engine', reason: 'x', code: 'LOCK_CONFLICT' });
  const rows = ledgerRows(book.ledger, RUN).map(({ code, x_code }) => [code, x_code]);
  expect(rows).toEqual([Object.values(contractCode('AGENT_FAILED')), ['LOCK_CONFLICT', undefined], [null, undefined]]);
});
