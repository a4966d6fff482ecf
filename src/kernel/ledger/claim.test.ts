import { expect, test } from 'vitest';
import type { LedgerRequest } from './fact.ts';
import { type Book, OTHER_RUN, openBook, packet, RUN, START } from './fixtures/book.ts';
import { locksOf } from './lock-tree.ts';

const claim = (over: Partial<Extract<LedgerRequest, { kind: 'task.claim' }>> = {}): LedgerRequest => {
  return { kind: 'task.claim', run: RUN, task: 'T-1', owner: 'ann', ...over };
};

test('a claim takes the task and all its locks, and answers with a fence', () => {
  const book = openBook();
  book.create('T-1', { lock_scope: ['src', 'test'], x_read_scope: ['docs'] });
  book.news();
  const locks = [
    { root: 'main', path: 'src', mode: 'write' },
    { root: 'main', path: 'test', mode: 'write' },
    { root: 'main', path: 'docs', mode: 'read' },
  ];
  expect(book.ask(claim())).toMatchObject({ allow: true, details: { fence: 1, version: 1, owner: 'ann', locks } });
  expect(book.task('T-1')).toMatchObject({
    status: 'in_progress',
    owner: 'ann',
    fence: 1,
    claimedAt: START,
    version: 1,
  });
  expect([locksOf(book.ledger.locks, `${RUN}/T-1`), book.news()]).toEqual([locks, ['task.claimed']]);
});

/** Each row breaks its own rule and all the rules below it. */
const breaks: readonly (readonly [string, string, (book: Book) => void, LedgerRequest])[] = [
  ['no such task', 'LEDGER_INCONSISTENT', () => {}, claim({ task: 'T-99' })],
  ['no owner', 'MISSING_REQUIRED_INPUT', () => {}, claim({ owner: ' ' })],
  ['nobody as the owner', 'MISSING_REQUIRED_INPUT', () => {}, claim({ owner: 'unassigned' })],
  [
    'the workspace is held',
    'NOT_ALLOWED_NOW',
    (book) => book.ask({ kind: 'ledger.hold', by: 'eve', reason: 'x' }),
    claim(),
  ],
  ['an old version', 'CONCURRENCY_CONFLICT', () => {}, claim({ expectedVersion: 7 })],
  ['in progress already', 'INVALID_TRANSITION', () => {}, claim({ task: 'T-5' })],
  ['over already', 'INVALID_TRANSITION', (book) => void cancel(book), claim()],
  ['blocked for good', 'NOT_ALLOWED_NOW', (book) => void block(book, 'SCOPE_VIOLATION'), claim()],
  ['too early', 'NOT_ALLOWED_NOW', (book) => delay(book, 'T-1'), claim()],
  ['dependencies', 'DEPENDENCY_NOT_MET', () => {}, claim()],
  ['a serial task', 'LOCK_CONFLICT', () => {}, claim({ task: 'T-4' })],
  ['a lock', 'LOCK_CONFLICT', () => {}, claim({ run: OTHER_RUN, task: 'T-1' })],
];

test.each(breaks)('%s: %s', (_, code, prepare, request) => {
  const book = openBook();
  book.create('T-2');
  book.create('T-5', { type: 'serial', lock_scope: ['src'] });
  book.create('T-1', { dependencies: ['T-2'], lock_scope: ['src/a'] });
  book.create('T-4', { lock_scope: ['src/a'] });
  book.create('T-1', { run: OTHER_RUN, lock_scope: ['free', 'src/a'] });
  book.ask(claim({ task: 'T-5' }));
  prepare(book);
  const locks = JSON.stringify(book.ledger.locks);
  expect(book.ask(request)).toMatchObject({ allow: false, code });
  expect(JSON.stringify(book.ledger.locks)).toBe(locks);
  expect(book.facts.at(-1)?.fact).toMatchObject({ kind: 'task.refused', asked: 'claim', code });
});

function block(book: Book, code: 'SCOPE_VIOLATION' | 'TASK_TIMEOUT') {
  return book.ask({ kind: 'task.move', run: RUN, task: 'T-1', to: 'blocked', reason: 'because', code });
}

function cancel(book: Book) {
  return book.ask({ kind: 'task.move', run: RUN, task: 'T-1', to: 'canceled', reason: 'because' });
}

function delay(book: Book, id: string): void {
  const delta = {
    task_id: id,
    status: 'todo',
    owner: 'unassigned',
    reason: 'later',
    delta_id: 'd',
    retry_after_ms: 500,
  };
  book.ask({ kind: 'deltas.apply', run: RUN, stream: [delta] });
}

test('the refusal of a lock names the holder, what it holds and what was wanted', () => {
  const book = openBook();
  book.create('T-1', { lock_scope: ['web'] });
  book.create('T-2', { lock_scope: ['docs', 'web/src'] });
  book.start('T-1', 'bob');
  expect(book.claim('T-2')).toMatchObject({
    code: 'LOCK_CONFLICT',
    reason: 'T-2 wants "web/src", and T-1 (bob) holds "web"; wait until it is over.',
    details: { wanted: 'web/src', holder: { run: RUN, task: 'T-1', owner: 'bob', path: 'web' } },
  });
  expect(book.ledger.locks.held[`${RUN}/T-2`]).toBeUndefined();
});

test.each([
  ['web', 'web/src', 'LOCK_CONFLICT'],
  ['web', 'website', 'OK'],
  ['.\\web\\', 'web//src/', 'LOCK_CONFLICT'],
  ['Web', 'web/src', 'OK'],
  ['web/*', 'web/a.ts', 'OK'],
  ['web/*', 'web', 'LOCK_CONFLICT'],
  ['api/../web', 'web', 'LOCK_CONFLICT'],
  ['.', 'web', 'LOCK_CONFLICT'],
])('%s is claimed, then %s: %s', (first, second, code) => {
  const book = openBook();
  book.create('T-1', { lock_scope: [first] });
  book.create('T-2', { lock_scope: [second] });
  book.start('T-1');
  expect(book.claim('T-2').code).toBe(code);
});

test('of eight that race for one task, and of eight tasks for one path, one wins', () => {
  const book = openBook();
  const owners = Array.from({ length: 8 }, (_, index) => `agent-${index}`);
  book.create('T-0', { lock_scope: ['docs'] });
  for (const [index] of owners.entries()) book.create(`T-${index + 1}`, { lock_scope: ['src'] });
  const winners = (ids: (index: number) => string) =>
    owners.filter((owner, index) => book.claim(ids(index), owner).allow).length;
  expect([winners(() => 'T-0'), winners((index) => `T-${index + 1}`)]).toEqual([1, 1]);
});

test('of two that start with the same version one wins', () => {
  const book = openBook();
  book.create('T-1');
  const [first, second] = ['ann', 'bob'].map((owner) => book.ask(claim({ owner, expectedVersion: 0 })));
  expect([first?.code, second?.code, book.task('T-1').owner]).toEqual(['OK', 'CONCURRENCY_CONFLICT', 'ann']);
});

test('a claim of a task that somebody has is refused, of the same owner too, and says who has it', () => {
  const book = openBook();
  book.create('T-1');
  book.start('T-1', 'ann');
  expect(book.claim('T-1', 'ann')).toMatchObject({ code: 'INVALID_TRANSITION', details: { owner: 'ann', version: 1 } });
});

test('a task that failed on its dependency is told so for good', () => {
  const book = openBook();
  for (const id of ['T-1', 'T-2', 'T-3']) book.create(id);
  book.create('T-4', { dependencies: ['T-1', 'T-2', 'T-3', 'T-9'] });
  book.move('T-1', 'canceled');
  book.move('T-2', 'failed');
  expect(book.claim('T-4')).toMatchObject({
    code: 'DEPENDENCY_NOT_MET',
    details: {
      dead: ['T-1', 'T-2'],
      unmet: [
        { depends_on: 'T-1', status: 'canceled' },
        { depends_on: 'T-2', status: 'failed' },
        { depends_on: 'T-3', status: 'todo' },
        { depends_on: 'T-9', status: null },
      ],
    },
  });
});

test('a delayed task can be claimed when its time has come', () => {
  const book = openBook();
  book.create('T-1');
  delay(book, 'T-1');
  expect(book.claim('T-1')).toMatchObject({ code: 'NOT_ALLOWED_NOW', details: { notBefore: START + 500 } });
  book.now = 500;
  expect(book.claim('T-1').code).toBe('OK');
});

test('a serial task is alone in its run, and only there', () => {
  const book = openBook();
  book.create('T-1', { type: 'serial' });
  for (const id of ['T-2', 'T-3']) book.create(id);
  book.create('T-4', { run: OTHER_RUN });
  book.start('T-2');
  book.start('T-4');
  expect(book.claim('T-1')).toMatchObject({
    code: 'LOCK_CONFLICT',
    details: { holder: { run: RUN, task: 'T-2', owner: 'ann' } },
  });
  book.move('T-2', 'canceled');
  book.start('T-1', 'bob');
  expect(book.claim('T-3')).toMatchObject({
    code: 'LOCK_CONFLICT',
    details: { holder: { task: 'T-1', owner: 'bob' } },
  });
  book.move('T-1', 'canceled');
  expect(book.claim('T-3').code).toBe('OK');
  book.create('T-5');
  expect(book.claim('T-5').code).toBe('OK');
});

test('a blocked task may be claimed again while its retries last', () => {
  const book = openBook();
  book.create('T-1');
  for (const code of ['OK', 'NOT_ALLOWED_NOW']) {
    block(book, 'TASK_TIMEOUT');
    expect(book.claim('T-1').code).toBe(code);
  }
  expect(book.task('T-1')).toMatchObject({ status: 'blocked', retries: 2 });
  book.move('T-1', 'todo');
  expect(book.claim('T-1').code).toBe('OK');
});

test('fences grow over all tasks and runs', () => {
  const book = openBook();
  book.create('T-1');
  book.create('T-2', { run: OTHER_RUN });
  const fences = [book.start('T-1'), book.start('T-2')];
  book.move('T-1', 'blocked');
  expect([...fences, book.start('T-1')]).toEqual([1, 2, 3]);
});

test('without a run an id means the one task that is open, and has to be told apart from another', () => {
  const book = openBook();
  book.create('T-1');
  book.move('T-1', 'canceled');
  book.create('T-1', { run: OTHER_RUN, lock_scope: ['a'] });
  expect(book.claim('T-1').details.run).toBe(OTHER_RUN);
  book.create('T-2');
  book.create('T-2', { run: OTHER_RUN });
  expect(book.claim('T-2')).toMatchObject({ code: 'LEDGER_INCONSISTENT', details: { runs: [RUN, OTHER_RUN] } });
});

test('readers share what they read, and keep writers out', () => {
  const book = openBook();
  book.create('T-1', { x_read_scope: ['src'] });
  book.create('T-2', { x_read_scope: ['src/api'] });
  book.create('T-3', { lock_scope: ['src/api/x'] });
  expect(['T-1', 'T-2', 'T-3'].map((id) => book.claim(id).code)).toEqual(['OK', 'OK', 'LOCK_CONFLICT']);
});

const WORKTREE = '/home/worktrees/project-0a1b2c3d/cast';

test.each([
  ['main', 'lane', 'LOCK_CONFLICT'],
  ['lane', 'main', 'LOCK_CONFLICT'],
  ['lane', 'lane/deep', 'LOCK_CONFLICT'],
  ['lane', 'other', 'OK'],
  ['main', '/lane', 'OK'],
  ['/lane', '/lane/deep', 'LOCK_CONFLICT'],
  ['main', WORKTREE, 'OK'],
  ['main', '.baton/state/worktrees/cast', 'OK'],
  [`${WORKTREE}.lane-1`, `${WORKTREE}.lane-2`, 'OK'],
  [WORKTREE, `${WORKTREE}.lane-1`, 'OK'],
  [WORKTREE, `${WORKTREE}/package`, 'LOCK_CONFLICT'],
])('all of the folder %s is held, all of %s is claimed: %s', (held, wanted, code) => {
  const book = openBook();
  book.ask({ kind: 'task.create', packet: packet('T-1', { lock_scope: ['.'] }), root: held });
  book.ask({ kind: 'task.create', packet: packet('T-2', { lock_scope: ['.'] }), root: wanted });
  book.start('T-1');
  expect(book.claim('T-2').code).toBe(code);
});
