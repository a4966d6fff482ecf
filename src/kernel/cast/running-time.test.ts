// Running time is what drivers measure. The clock may be set while a cast runs.
import { expect, test } from 'vitest';
import { always, costing, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { dialects } from '../../dialects/index.ts';
import { apply } from '../apply.ts';
import { decide } from '../decide.ts';
import type { Request } from '../input.ts';
import { emptyState } from '../state.ts';
import { deadlineOf } from './budget.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A cast of three turns that may run for an hour; nothing is answered by itself. */
function hour() {
  const sockets = {
    'Socket-1': { materia: 'Write', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Write', edges: [always('Socket-3')] },
    'Socket-3': { materia: 'Write' },
  };
  const config = graph(sockets, { budget: { maxDurationMs: HOUR } });
  const cast = play({ config, agents: { Write: [costing(1, 'x'), '$repeat'] }, hold: true });
  const start = Date.parse(cast.entries[0]?.at ?? '');
  const by = (request: object, at: number, ranMs?: number) =>
    cast.tell({ ...request, ...(ranMs === undefined ? {} : { ranMs }) } as unknown as Request, start + at);
  const output = { kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'a' };
  return { cast, start, by, output };
}

const rang = { kind: 'clock.rang', cast: 'c' };
const pause = { kind: 'cast.pause', cast: 'c', reason: 'lunch' };

test.each([
  ['a day forward', DAY],
  ['a day back', -DAY],
])('the clock is set %s: only what the driver measured counts', (_, jump) => {
  const { cast, by, output, start } = hour();
  expect(by(output, jump + 60_000, 60_000).code).toBe('OK');
  expect(cast.cast.clock.elapsedMs).toBe(60_000);
  expect(deadlineOf(cast.cast)).toBe(start + jump + HOUR);
  expect(by(rang, jump + 2 * DAY, HOUR - 60_001).code).toBe('OK');
  expect(by(rang, jump - 2 * DAY, HOUR - 60_000).code).toBe('BUDGET_EXHAUSTED');
  expect(cast.all('cast.failed')).toMatchObject([{ elapsedMs: HOUR }]);
  expect([cast.cast.status, cast.cast.clock.elapsedMs]).toEqual(['failed', HOUR]);
});

test('an input that records nothing counts nothing: its time comes with the next one', () => {
  const { cast, by } = hour();
  const before = cast.entries.length;
  by(rang, 5, 5_000);
  expect([cast.entries.length, cast.cast.clock.elapsedMs]).toEqual([before, 0]);
  by(pause, 7, 7_000);
  expect(cast.all('cast.paused')).toMatchObject([{ elapsedMs: 7_000 }]);
});

test('of the entries of one input the first counts its time, once', () => {
  const { cast, by, output } = hour();
  const before = cast.entries.length;
  by(output, 10, 4_000);
  const counted = cast.entries.slice(before).flatMap(({ ranMs }) => ranMs ?? []);
  expect([counted, cast.cast.clock.elapsedMs]).toEqual([[4_000], 4_000]);
});

test('the time in which a cast did not run counts for nothing, also when it goes on', () => {
  const { cast, by } = hour();
  by(pause, DAY, 1_000);
  by({ kind: 'cast.resume', cast: 'c', reason: 'back' }, 2 * DAY, 9_000);
  expect(cast.cast.clock.elapsedMs).toBe(1_000);
  by(pause, 3 * DAY, 500);
  expect(cast.cast.clock.elapsedMs).toBe(1_500);
});

test('entries without a measured time count as before, beside others that have one', () => {
  const { cast, by, output } = hour();
  by(output, 10_000, 4_000);
  by(pause, 13_000);
  expect(cast.cast.clock.elapsedMs).toBe(7_000);
  expect(cast.all('cast.paused')[0]).not.toHaveProperty('elapsedMs');
});

test('who does not drive the cast goes by what its driver measured last', () => {
  const { cast, start } = hour();
  const at = start + DAY;
  const input = { kind: 'cast.abort', cast: 'c', reason: 'enough', at, by: 'user:ann' } as const;
  const { facts, ranMs } = decide(dialects, structuredClone(cast.state), input, () => 42_000);
  expect(facts[0]).toMatchObject({ kind: 'cast.aborted', elapsedMs: 42_000 });
  expect(ranMs.size).toBe(0);
});

test('reading the entries back gives the same time', () => {
  const { cast, by, output } = hour();
  by(output, DAY, 4_000);
  by(pause, -DAY, 1_000);
  const again = emptyState();
  for (const entry of cast.entries) apply(again, entry);
  expect(again.casts.c?.clock).toEqual(cast.cast.clock);
});

test('a turn that was put off is tried again when its time has passed, also on a clock that was set back', () => {
  const { cast, by, start } = hour();
  const failed = { kind: 'attempt.failed', cast: 'c', turn: 1, attempt: 1, fault: 'transport', reason: 'busy' };
  by({ ...failed, code: 'RATE_LIMITED', retryAfterMs: 30_000 }, 1_000);
  const until = start + 31_000;
  expect(cast.owed).toContainEqual({ kind: 'timer', cast: 'c', at: until });
  by(rang, -DAY);
  expect(cast.turn.phase).toBe('held');
  by({ ...rang, due: until }, -DAY);
  expect(cast.turn.phase).not.toBe('held');
});

const late = { kind: 'attempt.failed', cast: 'c', turn: 1, attempt: 1, fault: 'timeout', reason: 'late' };

test('an attempt that used up what the budget left spent it, also while nobody measured it', () => {
  const { cast, by } = hour();
  by({ kind: 'budget.change', cast: 'c', maxDurationMs: 10_000 }, 1, 1);
  expect(by(late, 5, 4).code).toBe('BUDGET_EXHAUSTED');
  expect(cast.all('cast.failed')).toMatchObject([{ code: 'BUDGET_EXHAUSTED', elapsedMs: 10_000 }]);
});

test('an attempt that used up the time of its socket did not spend the budget', () => {
  const { cast, by } = hour();
  by({ kind: 'budget.change', cast: 'c', maxDurationMs: 100 * HOUR }, 1, 1);
  expect(by(late, 5, HOUR).code).not.toBe('BUDGET_EXHAUSTED');
  expect(cast.cast.clock.elapsedMs).toBe(HOUR + 1);
});
