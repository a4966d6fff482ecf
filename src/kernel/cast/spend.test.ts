// What an attempt used that never came to an outcome: each row says how it was cut off, and that its use counts once.
import { expect, test } from 'vitest';
import { graph } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import type { Request } from '../input.ts';
import type { JsonObject } from '../json.ts';

const NOW = Date.parse('2026-01-01T00:00:00.500Z');
const SEAL = 'sha256:0';
const USAGE = { input: 90, output: 10, cost: 0.5 };
const AT = { cast: 'c', turn: 1, attempt: 1 } as const;

/** A cast whose first attempt is under way. */
function working(more: JsonObject = {}): Play {
  const Ask = { tools: 'coding', prompt: 'Ask about it.', parse: 'json' };
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Ask' } }, { materia: { Ask }, ...more }) });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1, seal: SEAL }, NOW);
  return cast;
}

const spent: Request = { kind: 'attempt.spent', ...AT, usage: USAGE, agent: { runner: 'claude', unpriced: true } };
const pause: Request = { kind: 'cast.pause', cast: 'c', reason: 'lunch' };
const abort: Request = { kind: 'cast.abort', cast: 'c', reason: 'no' };
const answer: Request = { kind: 'attempt.output', ...AT, output: '{"satisfied":true}', usage: USAGE };
const lost = { kind: 'attempt.lost', ...AT, mayHaveRun: true, reason: 'gone', usage: USAGE } as const;
const late = { kind: 'attempt.failed', ...AT, fault: 'timeout', reason: 'late', usage: USAGE } as const;

test.each<[string, readonly Request[], JsonObject]>([
  ['its cast is paused', [pause, spent], {}],
  ['its cast is aborted', [abort, spent], {}],
  ['the process that ran it is gone', [lost], {}],
  ['its cast is aborted while its answer is verified', [answer, abort], {}],
  ['the time of its cast is over', [late], { budget: { maxDurationMs: 1_000 } }],
])('what it used counts when %s', (_what, requests, more) => {
  const cast = working(more);
  for (const request of requests) cast.tell(request, NOW + 5_000);
  expect(cast.all('attempt.spent')).toMatchObject([{ ...AT, usage: USAGE }]);
  expect(cast.cast.usage).toEqual(USAGE);
  expect(cast.state.day.tokens).toBe(100);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('what has no price is said to have none', () => {
  const cast = working();
  cast.tell(pause, NOW);
  cast.tell(spent, NOW);
  expect(cast.cast.unpriced).toBe(100);
});

test('a cast that has used it up does not begin again, and is warned of it', () => {
  const cast = working({ budget: { maxTokens: 100, warnAtPercent: 80 } });
  cast.tell(lost, NOW);
  expect(cast.all('budget.warned')).toHaveLength(1);
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2, seal: SEAL }, NOW);
  expect(cast.cast).toMatchObject({ status: 'failed', code: 'BUDGET_EXHAUSTED' });
});

test('an attempt that goes on tells it with its outcome, and not beside it', () => {
  const cast = working();
  const isRefused = () => expect(cast.tell(spent, NOW)).toMatchObject({ allow: false, code: 'NOT_ALLOWED_NOW' });
  isRefused();
  expect(cast.tell({ ...spent, attempt: 2 }, NOW)).toMatchObject({ allow: false });
  cast.tell(answer, NOW);
  isRefused();
  cast.tell({ kind: 'turn.verified', ...AT, seal: SEAL }, NOW);
  expect(cast.cast).toMatchObject({ status: 'completed', usage: USAGE });
  expect(cast.all('attempt.spent')).toEqual([]);
});

test('an attempt that used nothing has nothing to tell', () => {
  const cast = working();
  cast.tell({ ...lost, usage: { input: 0, output: 0, cost: 0 } }, NOW);
  expect(cast.all('attempt.spent')).toEqual([]);
});

test('what several find that a driver left behind counts once', () => {
  for (const [first, ...then] of [
    [abort, spent, spent],
    [pause, spent, abort, spent],
    [lost, spent],
  ] as const) {
    const cast = working();
    cast.tell(first, NOW);
    const [last] = then.map((request) => cast.tell(request, NOW)).slice(-1);
    expect(last).toMatchObject({ allow: false, code: 'NOT_ALLOWED_NOW', reason: expect.stringContaining('already') });
    expect(cast.all('attempt.spent')).toHaveLength(1);
    expect([cast.cast.usage, cast.state.day.tokens]).toEqual([USAGE, 100]);
    expect(replayed(cast.entries)).toEqual(cast.state);
  }
});

test('a turn that is gone, or at another attempt, is no reason to forget what it used', () => {
  const cast = working();
  cast.tell({ ...lost, usage: { input: 0, output: 0, cost: 0 } }, NOW);
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2, seal: SEAL }, NOW);
  cast.tell(spent, NOW);
  cast.tell({ ...spent, turn: 9 }, NOW);
  expect(cast.cast.usage.input).toBe(180);
  expect(cast.turn).toMatchObject({ phase: 'running', attempt: 2 });
});
