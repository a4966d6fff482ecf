// Tokens, cost and time: when a cast is stopped, when it is warned, and how it goes on with more.
import { expect, test } from 'vitest';
import { always, costing, crew, graph, plan, workflow, yes } from '../../../test/loadouts.ts';
import { answerFor, play, replayed } from '../../../test/play.ts';
import type { Json, JsonObject } from '../json.ts';
import { deadlineOf, exhausted, mayDispatch, refilled, reservationFor } from './budget.ts';
import { packetOf } from './packet.ts';

const START = Date.parse('2026-01-01T00:00:00.001Z');

/** Three writers in a row, under a budget. */
function row(budget: JsonObject, turns: readonly Json[], hold = false) {
  const sockets = {
    'Socket-1': { materia: 'Write', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Write', edges: [always('Socket-3')] },
    'Socket-3': { materia: 'Write' },
  };
  return play({ config: graph(sockets, { budget }), agents: { Write: turns }, hold });
}

const CRASH = { $turn: { fail: 'crash', usage: { input: 2 } } };
const three = (tokens: number) => [costing(tokens, 'x'), '$repeat'];

test.each<[string, JsonObject, readonly Json[], string, number]>([
  ['no limit', {}, three(1_000_000), 'completed', 3],
  ['a limit that is not reached', { maxTokens: 31 }, three(10), 'completed', 3],
  ['a limit that is reached exactly', { maxTokens: 20 }, three(10), 'failed', 2],
  ['a limit that is passed', { maxTokens: 15 }, three(10), 'failed', 2],
  ['reached by the last socket', { maxTokens: 30 }, three(10), 'failed', 3],
  ['nothing allowed at all', { maxTokens: 0 }, three(10), 'failed', 0],
  ['a limit of money', { maxCost: 0.5 }, [costing(0, 'x', 0.25), '$repeat'], 'failed', 2],
  ['what failed attempts used counts too', { maxTokens: 2 }, [CRASH, 'x'], 'failed', 1],
])('%s: %j', (_rule, budget, turns, status, ran) => {
  const cast = row(budget, turns);
  expect([cast.cast.status, cast.path.length]).toEqual([status, ran]);
  if (status === 'failed') expect(cast.cast.code).toBe('BUDGET_EXHAUSTED');
});

test('input and output both count, also those of refused outputs', () => {
  const sockets = { 'Socket-1': { materia: 'Judge', edges: [{ when: 'satisfied', to: 'end' }] } };
  const bad = { $turn: { output: 'oops', usage: { input: 3, output: 4, cost: 0.5 } } };
  const { usage } = play({ config: graph(sockets), agents: { Judge: [bad, yes] } }).cast;
  expect(usage).toEqual({ input: 3, output: 4, cost: 0.5 });
});

test('a person is warned once, at the percentage that was set', () => {
  const cast = row({ maxTokens: 100, warnAtPercent: 40 }, three(25));
  expect(cast.all('budget.warned')).toEqual([
    { kind: 'budget.warned', cast: 'c', usage: { input: 50, output: 0, cost: 0 }, percent: 50 },
  ]);
});

test('without a percentage it is 75', () => {
  expect(row({ maxTokens: 1000 }, three(200)).all('budget.warned')).toEqual([]);
  expect(row({ maxTokens: 100 }, [costing(75, 'x'), 'x', 'x']).all('budget.warned')).toHaveLength(1);
});

test('the cast stops before the cursor moves: with more budget the finished turn goes on, and no item is lost', () => {
  const config = { ...workflow(), budget: { maxTokens: 10 } };
  const cast = play({ config, agents: crew({ Maintain: [costing(10, yes), yes] }) });
  expect([cast.cast.code, cast.cast.stand, cast.cast.cursors]).toEqual([
    'BUDGET_EXHAUSTED',
    { at: 'route', turn: 4 },
    {},
  ]);
  cast.tell({ kind: 'budget.change', cast: 'c', maxTokens: 100 });
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(cast.cast.status).toBe('completed');
  expect(cast.path.filter((step) => step.startsWith('Socket-4'))).toEqual(['Socket-4 WI-1', 'Socket-4 WI-2']);
});

test('a repair turn that the budget does not allow is not sent', () => {
  const sockets = { 'Socket-1': { materia: 'Judge', edges: [{ when: 'satisfied', to: 'end' }] } };
  const cast = play({
    config: graph(sockets, { budget: { maxTokens: 5 } }),
    agents: { Judge: [costing(5, 'oops'), yes] },
  });
  expect([cast.cast.code, cast.all('attempt.started').length]).toEqual(['BUDGET_EXHAUSTED', 1]);
  cast.tell({ kind: 'budget.change', cast: 'c', maxTokens: 6 });
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(cast.cast.status).toBe('completed');
});

test.each<[string, JsonObject, string]>([
  ['below what is used', { maxTokens: 9 }, 'NOT_ALLOWED_NOW'],
  ['exactly what is used', { maxTokens: 10 }, 'OK'],
  ['more', { maxTokens: 11 }, 'OK'],
  ['a part of a token', { maxTokens: 10.5 }, 'NOT_ALLOWED_NOW'],
  ['no number', { maxTokens: Number.NaN }, 'NOT_ALLOWED_NOW'],
  ['less money than was spent', { maxCost: 0.1 }, 'NOT_ALLOWED_NOW'],
  ['a part of the money', { maxCost: 0.75 }, 'OK'],
  ['less time than has passed', { maxDurationMs: 1 }, 'NOT_ALLOWED_NOW'],
  ['enough time', { maxDurationMs: 60_000 }, 'OK'],
])('the budget of a cast that used 10 tokens can be changed to %s: %j', (_what, limits, code) => {
  const cast = row({}, [costing(10, 'x', 0.25), 'x', 'x']);
  expect(cast.tell({ kind: 'budget.change', cast: 'c', ...limits }).code).toBe(code);
});

test('a change of one limit leaves the others as they are, spent or not', () => {
  const cast = row({ maxTokens: 5, maxCost: 9 }, three(10));
  expect(cast.tell({ kind: 'budget.change', cast: 'c', maxCost: 10 }).code).toBe('OK');
  expect(cast.cast.budget).toMatchObject({ maxTokens: 5, maxCost: 10, maxDurationMs: null });
});

test('time runs while the cast runs; the clock stops it, and a pause does not count', () => {
  const cast = row({ maxDurationMs: 1000 }, three(1), true);
  expect(cast.owed).toContainEqual({ kind: 'timer', cast: 'c', at: START + 1000 });
  cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'lunch' }, START + 600);
  expect([cast.cast.clock.elapsedMs, deadlineOf(cast.cast), cast.owed]).toEqual([600, null, []]);
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'back' }, START + 9000);
  expect(deadlineOf(cast.cast)).toBe(START + 9400);
  expect(cast.tell({ kind: 'clock.rang', cast: 'c' }, START + 9399).code).toBe('OK');
  expect(cast.tell({ kind: 'clock.rang', cast: 'c' }, START + 9400).code).toBe('BUDGET_EXHAUSTED');
  expect([cast.cast.status, cast.cast.code, cast.owed]).toEqual(['failed', 'BUDGET_EXHAUSTED', []]);
});

test('a dispatch reserves the most its socket ever used, so that turns in flight cannot overdraw together', () => {
  const sockets = {
    'Socket-1': { materia: 'Judge', edges: [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: 3 }] },
  };
  const agents = { Judge: [costing(7, { satisfied: false }), costing(3, { satisfied: false }), yes] };
  const cast = play({ config: graph(sockets, { budget: { maxTokens: 20 } }), agents });
  expect(cast.all('attempt.started').map(({ reserved }) => reserved)).toEqual([0, 7, 7]);
  expect(reservationFor(cast.cast, 'Socket-1')).toBe(7);
  const flying = play({ config: graph(sockets, { budget: { maxTokens: 20 } }), agents, hold: true }).cast;
  const [turn] = Object.values(flying.turns);
  if (turn) turn.reserved = 20;
  expect(mayDispatch(flying, START)?.code).toBe('BUDGET_EXHAUSTED');
});

test('a turn in flight reserves the most that one of its socket ever cost; its own dispatch does not count it', () => {
  const edges = [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: 3 }];
  const config = graph({ 'Socket-1': { materia: 'Judge', edges } }, { budget: { maxCost: 10 } });
  const turns = [costing(0, { satisfied: false }, 4), costing(0, { satisfied: false }, 1), yes];
  const cast = play({ config, agents: { Judge: turns }, hold: true });
  const { cast: flying } = cast;
  const answer = () => cast.tell({ ...answerFor(flying, cast.turn.id, 1) });
  expect(mayDispatch(flying, START)).toBeNull();
  answer();
  // 4 are spent, and the second turn may cost 4 again.
  expect(mayDispatch(flying, START)).toBeNull();
  answer();
  // 5 are spent and the third turn may cost 4: another one beside it fits below 10, and not below 9.
  expect([flying.usage.cost, cast.turn.phase]).toEqual([5, 'running']);
  expect(mayDispatch(flying, START)).toBeNull();
  cast.tell({ kind: 'budget.change', cast: 'c', maxCost: 9 });
  expect(mayDispatch(flying, START)).toMatchObject({
    code: 'BUDGET_EXHAUSTED',
    reason: 'the budget of the cast is exhausted: 5 of 9 is spent, and turns in flight may need 4',
    details: { cost: 5, reserved: 4, maxCost: 9 },
  });
  expect(exhausted(flying, START)).toBeNull();
});

test.each([
  ['no budget of time', {}, 0, 5_000],
  ['more time left than the socket may take', { maxDurationMs: 9_000 }, 1_000, 5_000],
  ['less time left', { maxDurationMs: 9_000 }, 6_000, 3_000],
  ['no time left to speak of', { maxDurationMs: 9_000 }, 8_999, 1],
])('an attempt never outlives the budget: %s', (_what, budget, elapsedMs, timeoutMs) => {
  const sockets = { 'Socket-1': { materia: 'Tool', limits: { timeoutMs: 5_000 } } };
  const cast = play({ config: graph(sockets, { budget }) });
  const started = START + elapsedMs;
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 }, started);
  expect(packetOf(cast.cast, cast.turn).timeoutMs).toBe(timeoutMs);
  // Asked again later, after a crash, it is the same.
  cast.tell({ kind: 'clock.rang', cast: 'c' }, started);
  expect(packetOf(cast.cast, cast.turn).timeoutMs).toBe(timeoutMs);
});

test('an attempt that ran out of the budget’s time has spent the budget, and is revivable', () => {
  const sockets = { 'Socket-1': { materia: 'Tool', limits: { timeoutMs: 5_000 } } };
  const late = { kind: 'attempt.failed', cast: 'c', turn: 1, attempt: 1, fault: 'timeout', reason: 'late' } as const;
  const ended = (maxDurationMs: number, at: number) => {
    const cast = play({ config: graph(sockets, { budget: { maxDurationMs } }) });
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 }, START);
    cast.tell(late, START + at);
    return cast.cast.code;
  };
  expect([ended(3_000, 3_000), ended(9_000, 5_000)]).toEqual(['BUDGET_EXHAUSTED', 'UTILITY_FAILED']);
});

test('a revival leaves room for as much again as the cast had at first, in what is used up only', () => {
  const cast = row({ maxTokens: 15, maxCost: 9 }, three(10));
  expect(refilled(cast.cast, START)).toEqual({ maxTokens: 35, maxCost: 9, maxDurationMs: null });
});

test('an empty plan costs nothing more than the plan', () => {
  const config = { ...workflow(), budget: { maxTokens: 10 } };
  expect(play({ config, agents: crew({ Plan: [costing(9, plan(0))] }) }).cast.status).toBe('completed');
});

const DAY = 86_400_000;
const MIDNIGHT = Math.floor(START / DAY) * DAY + DAY;

test.each<[string, JsonObject, number, boolean]>([
  ['tokens are left', { maxTokensPerDay: 11 }, START, true],
  ['its tokens are used', { maxTokensPerDay: 10 }, START, false],
  ['its money is spent', { maxCostPerDay: 0.5 }, START, false],
  ['another day has begun', { maxTokensPerDay: 10 }, MIDNIGHT, true],
])('a dispatch of a workspace of whose day %s', (_what, budget, at, starts) => {
  const cast = play({
    config: graph(
      { 'Socket-1': { materia: 'Write', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Judge' } },
      { budget },
    ),
  });
  const usage = { input: 6, output: 4, cost: 0.5 };
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 }, START);
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'x', usage }, START);
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 2, attempt: 1 }, at);
  expect(cast.turn.phase).toBe(starts ? 'running' : 'held');
  if (starts) return;
  expect(cast.turn.held).toMatchObject({ code: 'DAILY_CAP_REACHED', until: MIDNIGHT });
  cast.tell({ kind: 'clock.rang', cast: 'c' }, MIDNIGHT);
  expect(cast.turn.phase).toBe('owed');
  expect(replayed(cast.entries)).toEqual(cast.state);
});
