import { expect, test } from 'vitest';
import { openBook, RUN, result } from './fixtures/book.ts';
import { metricsOf } from './history.ts';

test('a run that nobody knows has no numbers, and one in which nothing happened has no rates', () => {
  const book = openBook();
  expect(metricsOf(book.ledger, RUN)).toBeNull();
  book.create('T-1');
  expect(metricsOf(book.ledger, RUN)?.objectives.map(({ value, met }) => [value, met])).toEqual([
    [1, true],
    [null, null],
    [null, null],
    [null, null],
  ]);
});

test('the numbers of a run are those of what happened in it', () => {
  const book = openBook();
  const finish = (id: string, fence: number, status = 'done') =>
    book.ask({ kind: 'task.finish', task: id, fence, result: result(id, { status }) });
  for (const id of ['T-1', 'T-2', 'T-3', 'T-4']) book.create(id);
  book.create('T-1'); // Refused: it is there.
  book.create('T-5', { lock_scope: ['work'] });
  const first = book.start('T-1');
  book.claim('T-5'); // Refused: T-1 is in its way.
  book.now = 4000;
  finish('T-1', first);
  finish('T-2', book.start('T-2'), 'failed');
  const retry = book.start('T-2');
  book.now = 10_000;
  finish('T-2', retry + 1); // Refused: not its fence.
  finish('T-2', retry);
  book.start('T-3');
  book.move('T-3', 'canceled');
  book.move('T-4', 'failed');
  book.move('T-5', 'blocked');
  expect(metricsOf(book.ledger, RUN)).toEqual({
    run: RUN,
    tasks: 5,
    byStatus: { todo: 0, in_progress: 0, blocked: 1, done: 2, failed: 1, canceled: 1 },
    dispatches: 4,
    lockConflicts: 1,
    denies: { LEDGER_INCONSISTENT: 1, LOCK_CONFLICT: 1, CONCURRENCY_CONFLICT: 1 },
    families: { contract: 0, lock: 1, state: 0, compliance: 0 },
    retriesAttempted: 1,
    retriesSucceeded: 1,
    firstPasses: 1,
    meanLatencyMs: 5000,
    objectives: [
      { name: 'packets that were valid', value: 5 / 6, target: 0.99, met: false },
      { name: 'claims that met a lock', value: 0.2, target: 0.05, met: false },
      { name: 'tasks done at the first attempt', value: 0.5, target: 0.85, met: false },
      { name: 'retries that succeeded', value: 1, target: 0.6, met: true },
    ],
  });
});
