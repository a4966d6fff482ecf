import { expect, test } from 'vitest';
import type { LedgerRequest } from './fact.ts';
import { type Book, openBook, START } from './fixtures/book.ts';
import { TASK_STATUSES, type TaskStatus } from './state.ts';

type Move = Extract<LedgerRequest, { kind: 'task.move' }>;
const move = (to: TaskStatus, over: Partial<Move> = {}): Move => {
  return { kind: 'task.move', task: 'T-1', to, reason: 'because', ...over };
};

/** A ledger in which T-1 has come to a status, in as few steps as it takes. */
function standing(status: TaskStatus): Book {
  const book = openBook();
  book.create('T-1');
  if (status === 'in_progress' || status === 'done') book.start('T-1');
  if (status !== 'todo' && status !== 'in_progress') book.move('T-1', status);
  book.news();
  return book;
}

/** Each row breaks its own rule and all the rules below it that it can. */
test.each<[string, string, TaskStatus, Move]>([
  ['no such task', 'LEDGER_INCONSISTENT', 'todo', move('done', { task: 'T-9', reason: '' })],
  ['no reason', 'MISSING_REQUIRED_INPUT', 'todo', move('done', { reason: ' ', expectedVersion: 7 })],
  ['an old version', 'CONCURRENCY_CONFLICT', 'todo', move('done', { expectedVersion: 7, fence: 5 })],
  ['an old fence', 'CONCURRENCY_CONFLICT', 'in_progress', move('in_progress', { fence: 5 })],
  ['a fence of a task that nobody has', 'CONCURRENCY_CONFLICT', 'todo', move('done', { fence: 5 })],
  ['no such move', 'INVALID_TRANSITION', 'todo', move('done', { actor: 'agent' })],
  ['blocked to done', 'INVALID_TRANSITION', 'blocked', move('done')],
  ['an end to another', 'INVALID_TRANSITION', 'done', move('failed')],
  ['an agent that speaks as a person', 'APPROVER_IS_AGENT', 'in_progress', move('done', { actor: 'agent' })],
  ['an agent that says it is done', 'ACCEPTANCE_FAILED', 'in_progress', move('done', { fence: 1 })],
  ['an agent that ends it', 'NON_COMPLIANT', 'in_progress', move('canceled', { fence: 1 })],
  ['an agent that fails it', 'NON_COMPLIANT', 'in_progress', move('failed', { fence: 1 })],
  ['a start without an owner', 'MISSING_REQUIRED_INPUT', 'todo', move('in_progress')],
])('%s: %s', (_, code, status, request) => {
  const book = standing(status);
  const before = JSON.stringify([book.ledger.tasks, book.ledger.locks]);
  expect(book.ask(request)).toMatchObject({ allow: false, code });
  expect(book.news()).toEqual(['task.refused']);
  expect(JSON.stringify([book.ledger.tasks, book.ledger.locks])).toBe(before);
});

// Columns: todo, in_progress, blocked, done, failed, canceled.
test.each<[TaskStatus, string]>([
  ['todo', '-mm-mm'],
  ['in_progress', '--mmmm'],
  ['blocked', 'mm--mm'],
  ['done', '---r--'],
  ['failed', '----r-'],
  ['canceled', '-----r'],
])('a person moves a task that is %s', (from, cells) => {
  const outcome = TASK_STATUSES.map((to) => {
    const book = standing(from);
    const version = book.task('T-1').version;
    const { allow } = book.ask(move(to, { owner: 'ann' }));
    const task = book.task('T-1');
    expect([task.status, task.version - version]).toEqual(allow ? [to, from === to ? 0 : 1] : [from, 0]);
    if (task.status !== 'in_progress') expect([task.fence, book.ledger.locks.held]).toEqual([null, {}]);
    return allow ? (from === to ? 'r' : 'm') : '-';
  });
  expect(outcome.join('')).toBe(cells);
});

test.each<TaskStatus>(['done', 'failed', 'canceled'])(
  'saying %s again is written down; it takes no lock and changes neither owner nor version',
  (status) => {
    const book = standing(status);
    book.create('T-2');
    book.start('T-2', 'bob');
    book.news();
    const before = JSON.stringify(book.ledger);
    const again = book.ask(move(status, { owner: 'eve', reason: 'seen twice', by: 'user:eve' }));
    expect(again).toMatchObject({ allow: true, details: { replay: true } });
    expect([book.news(), JSON.stringify(book.ledger)]).toEqual([['task.moved'], before]);
    expect(book.facts.at(-1)?.fact).toMatchObject({ replay: true, releases: false });
    expect(JSON.stringify(book.facts.at(-1)?.fact)).toContain('seen twice');
  },
);

test('a move to blocked has a code and counts; a move back to todo has neither owner nor code', () => {
  const book = standing('in_progress');
  book.ask(move('blocked', { code: 'UNTRUSTED_CONTEXT_BLOCK' }));
  expect(book.task('T-1')).toMatchObject({
    code: 'UNTRUSTED_CONTEXT_BLOCK',
    reason: 'because',
    owner: 'ann',
    retries: 1,
  });
  book.ask(move('todo'));
  expect(book.task('T-1')).toMatchObject({ code: null, owner: 'unassigned', retries: 1, version: 3 });
  book.ask(move('blocked'));
  expect(book.task('T-1')).toMatchObject({ code: 'ABORTED', retries: 2 });
});

test('a person who says that a task is done takes the evidence upon himself, and fact and row say who it was', () => {
  const book = standing('in_progress');
  expect(book.ask(move('done', { reason: 'seen', by: 'user:eve' })).code).toBe('OK');
  const reason = 'moved to done by user:eve, no evidence checked: seen';
  expect(book.task('T-1')).toMatchObject({ status: 'done', reason });
  expect(book.facts.at(-1)?.fact).toMatchObject({
    reason,
    evidence: { checked: false, by: 'user:eve', reason: 'seen' },
  });
});

test('an agent may give its task up with its fence, and the engine may end one with it', () => {
  expect(standing('in_progress').ask(move('blocked', { fence: 1 })).code).toBe('OK');
  expect(standing('in_progress').ask(move('done', { fence: 1, actor: 'engine' })).code).toBe('OK');
});

test('a move to in_progress is a claim, with all its rules', () => {
  const book = standing('todo');
  expect(book.ask(move('in_progress', { owner: 'ann' })).details.fence).toBe(1);
  book.create('T-2', { lock_scope: ['work'] });
  expect(book.ask(move('in_progress', { task: 'T-2', owner: 'bob' })).code).toBe('LOCK_CONFLICT');
});

const expire = (lastHeartbeatAt: number | null, why: 'silent' | 'gone' = 'silent'): LedgerRequest => {
  return { kind: 'task.expire', task: 'T-1', lastHeartbeatAt, why };
};

test('a silent task is blocked, gives its locks back and is handed out again while its retries last', () => {
  const book = standing('in_progress');
  book.now = 61_000;
  expect(book.ask(expire(null))).toMatchObject({
    allow: true,
    details: { status: 'todo', retries: 1, escalates: false },
  });
  expect(book.facts.slice(-2).map(({ fact }) => fact)).toMatchObject([
    {
      from: 'in_progress',
      to: 'blocked',
      code: 'TASK_TIMEOUT',
      releases: true,
      evidence: { lastHeartbeatAt: START, timeoutS: 60, silentS: 61, why: 'silent' },
    },
    { from: 'blocked', to: 'todo', code: null, releases: false },
  ]);
  expect(book.task('T-1')).toMatchObject({ status: 'todo', version: 3, retries: 1, owner: 'unassigned' });
  expect(book.ledger.locks.held).toEqual({});
  book.start('T-1');
  book.now = 122_000;
  expect(book.ask(expire(null)).details).toMatchObject({ status: 'blocked', retries: 2, escalates: true });
  expect(book.task('T-1')).toMatchObject({ code: 'TASK_TIMEOUT', version: 5 });
  expect(book.task('T-1').reason).toContain('its 1 retries are used up');
});

test.each<[string, TaskStatus, number, LedgerRequest, string]>([
  [
    'no such task',
    'todo',
    0,
    { kind: 'task.expire', task: 'T-9', lastHeartbeatAt: null, why: 'gone' },
    'LEDGER_INCONSISTENT',
  ],
  ['a task that waits', 'todo', 999_000, expire(0), 'INVALID_TRANSITION'],
  ['a task that is blocked', 'blocked', 999_000, expire(0), 'INVALID_TRANSITION'],
  ['a heartbeat exactly as old as the limit', 'in_progress', 100_000, expire(START + 40_000), 'NOT_ALLOWED_NOW'],
  ['a heartbeat one second older', 'in_progress', 100_000, expire(START + 39_000), 'OK'],
  ['a heartbeat of an earlier claim', 'in_progress', 30_000, expire(START - 999_000), 'NOT_ALLOWED_NOW'],
  ['an owner known to be gone', 'in_progress', 1, expire(START, 'gone'), 'OK'],
])('the silence of %s', (_, status, now, request, code) => {
  const book = standing(status);
  book.now = now;
  expect(book.ask(request).code).toBe(code);
  if (code !== 'OK') expect(book.facts.at(-1)?.fact).toMatchObject({ kind: 'task.refused', asked: 'expire', code });
});

test('a held workspace hands nothing out, and lets what is at work finish', () => {
  const book = standing('in_progress');
  const hold: LedgerRequest = { kind: 'ledger.hold', by: 'eve', reason: 'release day' };
  expect(book.ask({ ...hold, reason: '' }).code).toBe('MISSING_REQUIRED_INPUT');
  expect(book.ask(hold).code).toBe('OK');
  expect(book.ask(hold)).toMatchObject({ code: 'NOT_ALLOWED_NOW', details: { hold: { by: 'eve' } } });
  book.create('T-2');
  expect(book.claim('T-2')).toMatchObject({ code: 'NOT_ALLOWED_NOW', details: { hold: { reason: 'release day' } } });
  expect(book.ask(move('blocked', { fence: 1 })).code).toBe('OK');
  const unhold: LedgerRequest = { kind: 'ledger.unhold', by: 'eve', reason: '' };
  expect([book.ask(unhold).code, book.ask(unhold).code]).toEqual(['OK', 'NOT_ALLOWED_NOW']);
  expect(book.claim('T-2').code).toBe('OK');
});

test.each([
  ['of another task', { task_id: 'T-2' }, 'SCHEMA_INVALID'],
  ['of another run', { run_id: 'x' }, 'SCHEMA_INVALID'],
  ['of the task', {}, 'OK'],
])('a worklog entry %s', (_, over, code) => {
  const book = standing('in_progress');
  const entry = { run_id: book.task('T-1').run, task_id: 'T-1', result: 'ok', ...over };
  expect(book.ask({ kind: 'worklog.add', task: 'T-1', by: 'ann', entry }).code).toBe(code);
  expect(book.news()).toEqual([code === 'OK' ? 'worklog.added' : 'task.refused']);
  expect(book.task('T-1').worklog.entries).toBe(code === 'OK' ? 1 : 0);
});

test('a worklog entry for a task that is not there is refused', () => {
  const book = openBook();
  expect(book.ask({ kind: 'worklog.add', task: 'T-1', by: 'ann', entry: {} }).code).toBe('LEDGER_INCONSISTENT');
});
