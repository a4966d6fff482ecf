import { expect, test } from 'vitest';
import { OTHER_RUN, openBook, RUN, type WantedTask } from './fixtures/book.ts';
import { PATH_CHARS_MAX, PATH_SEGMENTS_MAX } from './plan.ts';
import { assignmentOf } from './wire.ts';

test('a new task waits in todo, at version 0, and holds nothing', () => {
  const book = openBook();
  const wish = { lock_scope: ['./src//a/', 'src/b', 'src\\a'], x_read_scope: ['docs/'], priority: 'high' };
  expect(book.create('T-1', wish)).toMatchObject({ allow: true, details: { run: RUN, task: 'T-1', version: 0 } });
  expect(book.task('T-1')).toMatchObject({
    status: 'todo',
    version: 0,
    owner: 'unassigned',
    lockScope: ['src/a', 'src/b'],
    readScope: ['docs'],
    priority: 'high',
    retries: 0,
    retriesMax: 1,
    fence: null,
    objective: 'Ship it',
  });
  expect([book.ledger.fence, book.ledger.locks.held, book.news()]).toEqual([0, {}, ['task.created']]);
});

test.each<[WantedTask, string]>([
  [{}, 'normal'],
  [{ priority: 'low' }, 'low'],
  [{ priority: 'critical' }, 'critical'],
])('a packet with %j has the priority %s', (wish, priority) => {
  const book = openBook();
  book.create('T-1', wish);
  expect(book.task('T-1').priority).toBe(priority);
  expect(assignmentOf(book.ledger, book.task('T-1')).task).toMatchObject({ priority });
});

const deep = Array.from({ length: PATH_SEGMENTS_MAX + 1 }, () => 'd').join('/');
test.each<[string, WantedTask, string, object]>([
  ['an id that is taken', {}, 'LEDGER_INCONSISTENT', { task: 'T-1', status: 'todo' }],
  ['a scope that is no list', { lock_scope: 'src' }, 'SCHEMA_INVALID', { path: 'task.lock_scope' }],
  ['a path that leads out', { lock_scope: ['a', '../b'] }, 'SCHEMA_INVALID', { path: 'task.lock_scope[1]' }],
  ['a path too deep', { lock_scope: [deep] }, 'SCHEMA_INVALID', { path: 'task.lock_scope[0]' }],
  ['a path too long', { lock_scope: ['x'.repeat(PATH_CHARS_MAX + 1)] }, 'SCHEMA_INVALID', {}],
  ['a read scope of numbers', { x_read_scope: [1] }, 'SCHEMA_INVALID', { path: 'x_read_scope[0]' }],
  ['nothing forbidden, said wrongly', { forbidden_scope: null }, 'SCHEMA_INVALID', { path: 'task.forbidden_scope' }],
  ['the folder that governs', { lock_scope: ['src', '.baton'] }, 'SCOPE_VIOLATION', { resource: '.baton' }],
  ['a file that governs', { lock_scope: ['./.baton/config.json'] }, 'SCOPE_VIOLATION', {}],
  ['a task that waits for itself', { dependencies: ['T-2'] }, 'LEDGER_INCONSISTENT', { cycle: ['T-2'] }],
])('%s is refused', (what, wish, code, details) => {
  const book = openBook();
  book.create('T-1');
  const before = JSON.stringify(book.ledger.tasks);
  expect(book.create(what === 'an id that is taken' ? 'T-1' : 'T-2', wish)).toMatchObject({
    allow: false,
    code,
    details,
  });
  expect(JSON.stringify(book.ledger.tasks)).toBe(before);
  expect(book.facts.at(-1)?.fact).toMatchObject({ kind: 'task.refused', asked: 'create', code });
});

test('a task may depend on one that is still to come, and the one that closes the circle is refused with the circle', () => {
  const book = openBook();
  expect(book.create('T-1', { dependencies: ['T-2', 'T-9'] }).code).toBe('OK');
  expect(book.create('T-2', { dependencies: ['T-8', 'T-3'] }).code).toBe('OK');
  expect(book.create('T-3', { dependencies: ['T-1'] })).toMatchObject({
    code: 'LEDGER_INCONSISTENT',
    reason: 'These tasks would wait for each other: T-3 → T-1 → T-2 → T-3; drop one of the dependencies.',
    details: { cycle: ['T-3', 'T-1', 'T-2'] },
  });
});

test('the same id in another run is another task', () => {
  const book = openBook();
  book.create('T-1');
  expect(book.create('T-1', { run: OTHER_RUN, dependencies: [] }).code).toBe('OK');
  expect(book.task('T-1', OTHER_RUN).order).toBe(2);
});

test('an assignment fills in a row that a delta announced, and keeps its place, its status and its version', () => {
  const book = openBook();
  const delta = {
    task_id: 'T-1',
    status: 'todo',
    owner: 'unassigned',
    reason: 'planned',
    delta_id: 'd1',
    x_create: true,
  };
  book.ask({ kind: 'deltas.apply', run: RUN, stream: [delta, { ...delta, delta_id: 'd2', reason: 'again' }] });
  book.create('T-2');
  expect(book.create('T-1', { lock_scope: ['src'] }).code).toBe('OK');
  expect(book.task('T-1')).toMatchObject({ lockScope: ['src'], order: 1, version: 1, assigned: true });
  expect(book.create('T-1').code).toBe('LEDGER_INCONSISTENT');
});

test('names that every object has are names like any other', () => {
  const book = openBook();
  for (const run of ['__proto__', 'constructor']) {
    expect(book.create('__proto__', { run }).code).toBe('OK');
    expect(book.ask({ kind: 'task.claim', run, task: 'toString', owner: 'ann' }).code).toBe('LEDGER_INCONSISTENT');
  }
  expect(Object.keys(book.ledger.runs)).toEqual(['__proto__/', 'constructor/']);
});
