// Sockets that wait: for a time, a command, or another cast; what ends a wait and what follows.
import { describe, expect, test } from 'vitest';
import { always, graph, notSatisfied, satisfied } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { dialects } from '../../dialects/index.ts';
import { decide } from '../decide.ts';
import { check } from '../graph/check.ts';
import type { JsonObject } from '../json.ts';
import { elapsedOf } from './budget.ts';

const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;

function waiting(wait: JsonObject, more: JsonObject = {}, edges: readonly JsonObject[] = [always('Socket-2')]): Play {
  const config = graph(
    { 'Socket-1': { materia: 'Wait', edges: [...edges] }, 'Socket-2': { materia: 'Write' } },
    {
      materia: { Wait: { wait, ...more }, Write: { tools: 'none', prompt: 'x' } },
      budget: { maxDurationMs: 2 * HOUR },
    },
  );
  return play({ config, agents: { Write: ['done', '$repeat'] }, data: { when: '2026-01-02T00:00:00Z', other: 'c2' } });
}

const COMMAND = { command: ['ci', 'status'] };
const probed = (met: boolean | null, reason = 'ci: exit code 0') =>
  ({ kind: 'wait.probed', cast: 'c', turn: 1, attempt: 1, met, reason }) as const;
const decided = (choice: 'rerun' | 'accept' | 'fail', reason = 'seen') =>
  ({ kind: 'turn.decide', cast: 'c', turn: 1, choice, reason }) as const;

test.each([
  ['for a time', { forMs: HOUR }, BEGIN + 1 + HOUR],
  ['until a moment', { until: '2026-01-01T05:00:00Z' }, BEGIN + 5 * HOUR],
  ['until a moment in the data', { until: '{{state.when}}' }, BEGIN + 24 * HOUR],
])('a socket that waits %s goes on then and not before', (_what, wait, until) => {
  const cast = waiting(wait);
  expect([cast.turn.phase, cast.turn.awaits?.until, cast.owed]).toEqual([
    'awaiting',
    until,
    [{ kind: 'timer', cast: 'c', at: until }],
  ]);
  cast.say({ kind: 'clock.rang', cast: 'c' }, until - 1);
  expect(cast.cast.status).toBe('running');
  cast.say({ kind: 'clock.rang', cast: 'c' }, until);
  expect([cast.cast.status, cast.path]).toEqual(['completed', ['Socket-1', 'Socket-2']]);
});

test.each(['soon', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01', '2026-01-01T25:00:00Z'])(
  '%s is no moment to wait for: the check says so, and a slot that holds it fails the cast',
  (moment) => {
    const sockets = { 'Socket-1': { materia: 'Wait' } };
    const issues = check(graph(sockets, { materia: { Wait: { wait: { until: moment } } } }));
    expect(issues.map(({ code, path }) => `${code} ${path}`)).toEqual(['INVALID_MATERIA materia.Wait.wait.until']);
    const cast = waiting({ until: `{{state.none}}${moment}` });
    expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'UTILITY_FAILED']);
  },
);

test('a clock that was set back ends a wait whose time has passed all the same', () => {
  const cast = waiting({ forMs: HOUR });
  cast.say({ kind: 'clock.rang', cast: 'c', due: BEGIN + 1 + HOUR }, BEGIN + 10);
  expect(cast.cast.status).toBe('completed');
});

test('waiting uses none of the time of the cast', () => {
  const cast = waiting({ forMs: 10 * HOUR });
  expect(cast.cast.clock.runningSince).toBe(null);
  cast.tell({ kind: 'clock.rang', cast: 'c' }, BEGIN + 11 * HOUR);
  expect(elapsedOf(cast.cast, BEGIN + 11 * HOUR)).toBeLessThan(1_000);
  expect(cast.cast.clock.runningSince).toBe(BEGIN + 11 * HOUR);
  expect(replayed(cast.entries).casts.c).toEqual(cast.cast);
});

test('a driver that waited counts none of it', () => {
  const cast = waiting({ forMs: HOUR });
  const input = { kind: 'clock.rang', cast: 'c', by: 'engine', ranMs: 2 * HOUR, at: BEGIN + 2 * HOUR } as const;
  const { facts, ranMs } = decide(dialects, cast.state, input);
  expect([facts.map(({ kind }) => kind).slice(0, 2), ranMs.size]).toEqual([['wait.ended', 'turn.accepted'], 0]);
  expect(elapsedOf(cast.cast, BEGIN + 2 * HOUR)).toBeLessThan(1_000);
});

describe('a wait for a command', () => {
  test('is looked at until it is met, and what is seen is noted once', () => {
    const cast = waiting(COMMAND);
    expect(cast.owed.map(({ kind }) => kind)).toEqual(['probe', 'timer']);
    for (const reason of ['2 checks are pending', '2 checks are pending', '1 check is pending'])
      cast.tell(probed(null, reason));
    expect(cast.all('wait.seen').map(({ found }) => found)).toEqual(['2 checks are pending', '1 check is pending']);
    cast.say(probed(true));
    expect([cast.cast.status, cast.all('turn.accepted')[0]?.output]).toEqual([
      'completed',
      '{"satisfied":true,"context":"ci: exit code 0"}',
    ]);
  });

  test.each<[string, readonly JsonObject[], string, string | null]>([
    ['fails the cast where nothing leads on', [always('Socket-2')], 'failed', 'WAIT_NOT_MET'],
    ['takes the edge for that', [satisfied('end'), notSatisfied('Socket-2')], 'completed', null],
  ])('that is over its time %s', (_what, edges, status, code) => {
    const cast = waiting(COMMAND, { timeoutMs: HOUR }, edges);
    cast.tell(probed(null, 'two checks are pending'));
    cast.say({ kind: 'clock.rang', cast: 'c' }, BEGIN + 1 + HOUR);
    expect([cast.cast.status, cast.cast.code]).toEqual([status, code]);
    expect(cast.all('wait.ended')).toMatchObject([
      { met: false, by: 'clock', reason: expect.stringContaining('two checks are pending') },
    ]);
  });

  test('that cannot be met any more ends at once', () => {
    const cast = waiting(COMMAND);
    cast.say(probed(false, 'ci: exit code 1'));
    expect([cast.cast.status, cast.cast.code, cast.cast.reason]).toEqual([
      'failed',
      'WAIT_NOT_MET',
      'Socket-1: ci: exit code 1',
    ]);
    cast.tell({ kind: 'cast.recast', cast: 'c' });
    expect([cast.turn.phase, cast.turn.attempt]).toEqual(['awaiting', 2]);
  });

  test('a late look changes nothing', () => {
    const cast = waiting(COMMAND);
    cast.tell(decided('rerun'));
    expect([cast.turn.attempt, cast.tell(probed(true)).code]).toEqual([2, 'STALE_ATTEMPT']);
  });
});

test.each<['accept' | 'fail', string]>([
  ['accept', 'completed'],
  ['fail', 'failed'],
])('a person ends a wait by %s: the cast is %s', (choice, status) => {
  const cast = waiting({ forMs: HOUR });
  expect(cast.say(decided(choice)).code).toBe('OK');
  expect([cast.cast.status, cast.all('wait.ended')[0]?.reason]).toEqual([status, 'a person ended the wait: seen']);
});

test('a paused cast keeps its wait and the moment of it', () => {
  const cast = waiting({ forMs: HOUR });
  cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'lunch' });
  expect([cast.turn.phase, cast.owed]).toEqual(['awaiting', []]);
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'back' });
  expect(cast.owed).toEqual([{ kind: 'timer', cast: 'c', at: BEGIN + 1 + HOUR }]);
});

test.each([
  ['another cast', { cast: '{{state.other}}' }, 'c2'],
  ['a cast by its id', { cast: '20260101-000000-abcdef' }, '20260101-000000-abcdef'],
])('a wait for %s looks for its end', (_what, wait, other) => {
  const cast = waiting(wait);
  expect([cast.turn.awaits?.other, cast.owed.map(({ kind }) => kind)]).toEqual([other, ['probe', 'timer']]);
});

test.each([
  ['itself', { cast: 'c' }],
  ['a name that is no id', { cast: '../x' }],
  ['nothing', { cast: '{{state.missing}}' }],
  ['no moment', { until: '{{state.none}}tomorrow' }],
  ['a moment that is too far away', { until: '3026-01-01T00:00:00Z' }],
])('a wait for %s fails at once and says why', (_what, wait) => {
  const cast = waiting(wait);
  expect([cast.cast.status, cast.cast.code, cast.all('wait.begun')]).toEqual(['failed', 'UTILITY_FAILED', []]);
});

test.each<[string, JsonObject, string]>([
  ['two things', { wait: { forMs: 1, until: 'x' } }, 'materia.Wait.wait'],
  ['nothing', { wait: {} }, 'materia.Wait.wait'],
  ['a time with exit codes', { wait: { forMs: 1, pending: [8] } }, 'materia.Wait.wait.pending'],
  ['a command that runs as well', { wait: { forMs: 1 }, command: ['x'] }, 'materia.Wait.wait'],
  ['a prompt', { wait: { forMs: 1 }, type: 'utility', prompt: 'x' }, 'materia.Wait.prompt'],
  ['work items', { wait: { forMs: 1 }, generator: true }, 'materia.Wait.generator'],
  ['text', { wait: { forMs: 1 }, parse: 'text' }, 'materia.Wait.parse'],
  ['a rest that is too short', { wait: { command: ['x'], everyMs: 5 } }, 'materia.Wait.wait.everyMs'],
])('check refuses a wait with %s', (_what, materia, path) => {
  const config = graph({ 'Socket-1': { materia: 'Wait' } }, { materia: { Wait: materia } });
  expect(
    check(config)
      .filter(({ level }) => level === 'error')
      .map((issue) => issue.path),
  ).toContain(path);
});
