import { expect, test } from 'vitest';
import { type Book, OTHER_RUN, openBook, packet, RUN, type WantedTask } from './fixtures/book.ts';

const next = (book: Book, owner = 'ann') => book.ask({ kind: 'task.next', owner });

test('the next task is the first in rank that can start: by priority, then by age', () => {
  const book = openBook();
  book.create('T-1', { priority: 'low' });
  book.create('T-2');
  book.create('T-3', { priority: 'critical', dependencies: ['T-2'] });
  book.create('T-4', { priority: 'high' });
  book.create('T-5');
  book.news();
  const given = Array.from({ length: 4 }, () => next(book).details.task);
  expect(given).toEqual(['T-4', 'T-2', 'T-5', 'T-1']);
  expect(book.news()).toEqual(['task.claimed', 'task.claimed', 'task.claimed', 'task.claimed']);
});

test.each([
  ['nothing is there', () => {}, 'NOT_ALLOWED_NOW'],
  [
    'the workspace is held',
    (book: Book) => void book.ask({ kind: 'ledger.hold', by: 'eve', reason: 'x' }),
    'NOT_ALLOWED_NOW',
  ],
  [
    'all wait for another',
    (book: Book) => {
      book.create('T-9');
      book.create('T-1', { dependencies: ['T-9'] });
      book.move('T-9', 'blocked');
    },
    'DEPENDENCY_NOT_MET',
  ],
  [
    'one of them waits for what nobody has created',
    (book: Book) => {
      book.create('T-1', { dependencies: ['T-9'] });
      book.create('T-2');
    },
    'LEDGER_INCONSISTENT',
  ],
  [
    'all is blocked or over',
    (book: Book) => [book.create('T-1'), book.move('T-1', 'blocked')].at(-1),
    'NOT_ALLOWED_NOW',
  ],
])('no task is handed out when %s', (_, prepare, code) => {
  const book = openBook();
  prepare(book);
  book.news();
  expect(next(book)).toMatchObject({ allow: false, code });
  expect(book.news()).toEqual(['task.refused']);
  expect(book.facts.at(-1)?.fact).toMatchObject({ asked: 'next', code });
});

test('a run that does not hold together keeps no other run waiting, and is mended by hand', () => {
  const book = openBook();
  book.create('T-1', { dependencies: ['T-9'] });
  book.create('T-2', { run: OTHER_RUN });
  expect(next(book).details).toMatchObject({ run: OTHER_RUN, task: 'T-2' });
  book.create('T-3');
  expect(next(book).code).toBe('LEDGER_INCONSISTENT');
  book.move('T-1', 'canceled');
  expect(next(book).details.task).toBe('T-3');
});

test.each(['next', 'claim', 'delta'] as const)(
  'a task owed its turn keeps nobody off its paths while its run does not hold together: %s',
  (how) => {
    const book = openBook();
    book.create('T-1', { lock_scope: ['src'], timeout_seconds: 600 });
    for (let index = 2; index < 7; index++) {
      book.create(`T-${index}`, { run: OTHER_RUN, lock_scope: [`src/${index}`], priority: 'high' });
    }
    const taken = [1, 2, 3].map((step) => {
      book.now += step;
      return String(next(book).details.task);
    });
    expect(book.task('T-1').passedOver).toBe(3);
    for (const task of taken) book.ask({ kind: 'task.move', run: OTHER_RUN, task, to: 'canceled', reason: 'x' });
    const delta = { task_id: 'T-6', status: 'in_progress', owner: 'bob', reason: 'x', delta_id: 'd' };
    const ways = {
      next: () => book.ask({ kind: 'task.next', run: OTHER_RUN, owner: 'bob' }),
      claim: () => book.ask({ kind: 'task.claim', run: OTHER_RUN, task: 'T-6', owner: 'bob' }),
      delta: () => book.ask({ kind: 'deltas.apply', run: OTHER_RUN, stream: [delta] }),
    };
    expect(ways[how]().code).toBe('LOCK_CONFLICT');
    book.create('T-50', { dependencies: ['T-51'] });
    expect(ways[how]().code).toBe('OK');
  },
);

test.each<[string, WantedTask]>([
  ['wants what they want a part of', { lock_scope: ['src'] }],
  ['is serial', { lock_scope: ['docs'], type: 'serial', priority: 'low' }],
])('an older task that %s is passed over by more urgent ones three times and no more', (_, waiter) => {
  const book = openBook();
  book.create('T-1', waiter);
  for (let index = 2; index < 10; index++) {
    book.create(`T-${index}`, { lock_scope: [`src/n${index}`], priority: 'high' });
  }
  const given: unknown[] = [];
  let last: string | null = null;
  for (let round = 0; round < 5; round++) {
    book.now += 10;
    const { allow, details } = next(book);
    if (last !== null) book.move(last, 'canceled');
    if (allow) given.push(details.task);
    last = allow ? String(details.task) : null;
  }
  expect(given).toContain('T-1');
  expect(given.indexOf('T-1')).toBeLessThanOrEqual(3);
});

test('of tasks that a round hands out at the same moment one passes an older one over once', () => {
  const book = openBook();
  book.create('T-1', { lock_scope: ['src'] });
  for (let index = 2; index < 6; index++) book.create(`T-${index}`, { lock_scope: [`src/${index}`], priority: 'high' });
  for (let index = 2; index < 6; index++) next(book);
  expect(book.task('T-1').passedOver).toBe(1);
});

test('a newer task that ranks behind, or one that wants something else, was not passed over', () => {
  const book = openBook();
  book.create('T-1', { lock_scope: ['docs'] });
  book.create('T-2', { lock_scope: ['src/2'], priority: 'high' });
  book.create('T-3', { lock_scope: ['src'] });
  expect(next(book).details.task).toBe('T-2');
  expect(['T-1', 'T-3'].map((id) => book.task(id).passedOver)).toEqual([0, 0]);
});

test('a search keeps to the run that is named, and to tasks that have an assignment', () => {
  const book = openBook();
  book.create('T-1');
  const delta = { task_id: 'T-2', status: 'todo', owner: 'x', reason: 'planned', delta_id: 'd', title: 'Later' };
  book.ask({ kind: 'deltas.apply', run: RUN, stream: [delta] });
  expect(book.ask({ kind: 'task.next', run: 'elsewhere', owner: 'ann' }).code).toBe('NOT_ALLOWED_NOW');
  expect(book.ask({ kind: 'task.next', run: RUN, owner: 'ann' }).details.task).toBe('T-1');
  expect(next(book).code).toBe('NOT_ALLOWED_NOW');
});

/** T-1 is at work below `src`, T-2 wants all of it and was refused `times` times, T-3 wants another part of it. */
function queue(times: number, waiter: WantedTask = {}, third: WantedTask = {}): Book {
  const book = openBook();
  book.create('T-1', { lock_scope: ['src/a'] });
  book.create('T-2', { lock_scope: ['src'], ...waiter });
  book.create('T-3', { lock_scope: ['src/b'], ...third });
  book.start('T-1');
  for (let count = 0; count < times; count++) expect(book.claim('T-2').code).toBe('LOCK_CONFLICT');
  return book;
}

test.each<[string, number, WantedTask, WantedTask, number, string]>([
  ['was refused twice', 2, {}, {}, 0, 'OK'],
  ['was refused three times', 3, {}, {}, 0, 'LOCK_CONFLICT'],
  ['is less urgent', 3, { priority: 'low' }, {}, 0, 'LOCK_CONFLICT'],
  ['is more urgent', 3, { priority: 'high' }, {}, 0, 'LOCK_CONFLICT'],
  ['wants something else', 3, {}, { lock_scope: ['docs'] }, 0, 'OK'],
  [
    'only reads, as the claimant does',
    3,
    { lock_scope: ['x', 'src/a'], x_read_scope: ['docs'] },
    { lock_scope: ['y'], x_read_scope: ['docs'] },
    0,
    'OK',
  ],
  ['asked within its limit', 3, {}, {}, 60_000, 'LOCK_CONFLICT'],
  ['has not asked for longer than its limit', 3, {}, {}, 60_001, 'OK'],
])('a claim beside a task that %s', (_, times, waiter, third, now, code) => {
  const book = queue(times, waiter, third);
  book.now = now;
  const verdict = book.claim('T-3');
  expect(verdict.code).toBe(code);
  if (code !== 'OK') expect(verdict.details.reservedFor).toMatchObject({ run: RUN, task: 'T-2', passed_over: 3 });
});

test('the one that waited gets its turn, and the queue is over with it', () => {
  const book = queue(3);
  expect(book.claim('T-3').code).toBe('LOCK_CONFLICT');
  book.move('T-1', 'canceled');
  expect(book.claim('T-3').code).toBe('LOCK_CONFLICT');
  expect(book.claim('T-2').code).toBe('OK');
  expect(book.task('T-2')).toMatchObject({ passedOver: 0, waitingSince: null, refusedAt: null });
  book.move('T-2', 'canceled');
  expect(book.claim('T-3').code).toBe('OK');
  expect(book.ledger.waiting).toEqual({});
});

test('two that are both owed their turn do not wait for each other: the one that waits longer goes first', () => {
  const book = queue(0);
  for (const id of ['T-3', 'T-2']) {
    if (id === 'T-3') book.create('T-4', { lock_scope: ['src/b'] });
    if (id === 'T-3') book.start('T-4');
    book.now += 10;
    for (let count = 0; count < 3; count++) book.claim(id);
  }
  book.move('T-1', 'canceled');
  book.move('T-4', 'canceled');
  expect(book.claim('T-2')).toMatchObject({ code: 'LOCK_CONFLICT', details: { reservedFor: { task: 'T-3' } } });
  expect(book.claim('T-3').code).toBe('OK');
});

test('a serial task that was passed over keeps the others of its run waiting', () => {
  const book = queue(3, { type: 'serial', lock_scope: ['elsewhere'] });
  expect(book.claim('T-3')).toMatchObject({ code: 'LOCK_CONFLICT', details: { reservedFor: { task: 'T-2' } } });
});

test('a search passes over whoever lacks its locks and says so, until that one is owed its turn', () => {
  const book = queue(0, { priority: 'high' });
  for (let index = 10; index < 20; index++) book.create(`T-${index}`, { lock_scope: [`src/n${index}`] });
  book.create('T-20', { lock_scope: ['docs'] });
  book.news();
  const given = Array.from({ length: 4 }, () => next(book).details.task);
  expect(given).toEqual(['T-3', 'T-10', 'T-11', 'T-20']);
  expect(book.task('T-2').passedOver).toBe(3);
  const refused = book.news().filter((kind) => kind === 'task.refused').length;
  // Three times T-2, and in the last round also the eight that stay off its paths.
  expect(refused).toBe(3 + 8);
});

test("a task that waits for paths of another root is in nobody's way here", () => {
  const book = queue(0);
  for (const [id, scope] of [
    ['T-8', 'src/x'],
    ['T-9', 'src'],
  ] as const) {
    book.ask({ kind: 'task.create', packet: packet(id, { lock_scope: [scope] }), root: '/lane-1' });
  }
  book.start('T-8');
  for (let count = 0; count < 3; count++) book.claim('T-9');
  expect(book.claim('T-3').code).toBe('OK');
});

test('a task that changes its status no longer waits', () => {
  const book = queue(3);
  book.move('T-2', 'blocked');
  expect(book.claim('T-3').code).toBe('OK');
});
