// What follows an attempt without an answer. Each row tells a fault and what the next attempt is; the stories tell where it ends.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import type { Code } from '../codes.ts';
import type { AgentMateria } from '../graph/config.ts';
import type { JsonObject } from '../json.ts';
import type { Fault } from './fact.ts';
import { packetOf } from './packet.ts';
import { chosenMateria } from './rules.ts';
import type { AgentNote } from './state.ts';

const NOW = Date.parse('2026-01-01T10:00:00.000Z');

/** A cast at its first attempt, which nobody plays. */
function asking(materia: JsonObject = {}, more: object = {}): Play {
  const Ask = { tools: 'none', prompt: 'Ask about it. '.repeat(300), parse: 'json', ...materia };
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Ask' } }, { materia: { Ask }, ...more }) });
  prepare(cast, NOW);
  return cast;
}

function prepare(cast: Play, at = NOW): void {
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: cast.turn.attempt + 1 }, at);
}

function fails(cast: Play, code: Code | null, fault: Fault = 'refused', more: object = {}) {
  const { attempt } = cast.turn;
  const cause = code === null ? {} : { code };
  cast.tell({ kind: 'attempt.failed', cast: 'c', turn: 1, attempt, fault, reason: 'why', ...cause, ...more }, NOW);
  return cast.all('attempt.failed').at(-1);
}

const FALLBACKS = { fallbacks: [{ model: 'b' }, { runner: 'codex' }] };

test.each<[string, JsonObject, Code | null, Fault, JsonObject, object]>([
  ['another model of its runner', { model: 'a', ...FALLBACKS }, 'MODEL_UNAVAILABLE', 'refused', {}, { choice: 1 }],
  ['another model of its runner', { model: 'a', ...FALLBACKS }, 'RATE_LIMITED', 'transport', {}, { choice: 1 }],
  ['another runner', { model: 'a', ...FALLBACKS }, 'AUTH_REQUIRED', 'refused', {}, { choice: 2 }],
  ['another runner', { model: 'a', ...FALLBACKS }, 'AGENT_UNAVAILABLE', 'refused', {}, { choice: 2 }],
  ["the program's own model", { model: 'a' }, 'MODEL_UNAVAILABLE', 'refused', {}, { choice: 1 }],
  ['a shorter brief', {}, 'CONTEXT_OVERFLOW', 'refused', {}, { briefBytesMax: expect.any(Number) }],
  ['patience of a minute', {}, 'RATE_LIMITED', 'transport', {}, { until: NOW + 60_000 }],
  ['patience as asked', {}, 'RATE_LIMITED', 'transport', { retryAfterMs: 5_000 }, { until: NOW + 5_000 }],
  ['once more', { model: 'a', ...FALLBACKS }, 'PROVIDER_ERROR', 'transport', {}, {}],
  ['once more', { model: 'a', ...FALLBACKS }, 'PROVIDER_UNREACHABLE', 'transport', {}, {}],
  ['once more', {}, 'AGENT_CRASHED', 'crash', {}, {}],
  ['once more', {}, 'NO_OUTPUT', 'crash', {}, {}],
  ['once more', {}, null, 'crash', {}, {}],
])('the next attempt is %s', (_what, materia, code, fault, more, next) => {
  const cast = asking(materia);
  const failed = fails(cast, code, fault, more);
  expect(failed).toMatchObject({ again: true, ...(code === null ? {} : { cause: code }), ...next });
  expect(Object.keys(failed ?? {}).filter((key) => ['choice', 'until', 'briefBytesMax'].includes(key))).toEqual(
    Object.keys(next),
  );
  expect(cast.cast.status).toBe('running');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test.each<[string, JsonObject, Code | null, Fault, object]>([
  ['a key is refused', { model: 'a' }, 'AUTH_REQUIRED', 'refused', {}],
  ['a program is missing', {}, 'AGENT_UNAVAILABLE', 'refused', {}],
  ['the request itself is wrong', {}, 'REQUEST_REFUSED', 'refused', {}],
  ['the output never ended', {}, 'OUTPUT_FLOOD', 'refused', {}],
  ['the wait would be longer than an hour', {}, 'RATE_LIMITED', 'transport', { retryAfterMs: 3_600_001 }],
  ['a model has no own one to fall back on', { runner: 'openai', model: 'a' }, 'MODEL_UNAVAILABLE', 'refused', {}],
  [
    'nothing can be left out of a short brief',
    { runner: 'openai', model: 'a', prompt: 'x' },
    'CONTEXT_OVERFLOW',
    'refused',
    {},
  ],
])('nothing is tried again where %s, and the finer code is in the details', (_what, materia, code, fault, more) => {
  const cast = asking(materia);
  expect(fails(cast, code, fault, more)).toMatchObject({ again: false });
  expect(cast.facts.at(-1)).toMatchObject({ kind: 'cast.failed', code: 'AGENT_FAILED', details: { cause: code } });
});

test('patience has an end', () => {
  const cast = asking();
  for (let wait = 1; wait <= 3; wait += 1) {
    fails(cast, 'RATE_LIMITED', 'transport', { retryAfterMs: 1_000 });
    expect(cast.turn).toMatchObject({ phase: 'held', waits: wait, held: { code: 'RATE_LIMITED', until: NOW + 1_000 } });
    expect(cast.owed).toEqual([{ kind: 'timer', cast: 'c', at: NOW + 1_000 }]);
    cast.tell({ kind: 'clock.rang', cast: 'c' }, NOW + 999);
    expect(cast.turn.phase).toBe('held');
    cast.tell({ kind: 'clock.rang', cast: 'c' }, NOW + 1_000);
    expect(cast.turn.phase).toBe('owed');
    prepare(cast);
  }
  expect(fails(cast, 'RATE_LIMITED', 'transport')).toMatchObject({ again: false });
  expect(cast.cast.code).toBe('AGENT_FAILED');
});

test.each<[string, Fault, Code, readonly number[], number]>([
  ['a program that used all of it by itself', 'transport', 'PROVIDER_ERROR', [5], 5],
  ['an adapter that left one', 'transport', 'PROVIDER_ERROR', [4, 1], 5],
  ['nothing but attempts', 'transport', 'PROVIDER_UNREACHABLE', [1, 1], 2],
  ['a crash after a few', 'crash', 'AGENT_CRASHED', [3, 2], 5],
  ['a key that is refused', 'refused', 'AUTH_REQUIRED', [1], 1],
])('a turn has one budget of retries: %s', (_what, fault, code, attempts, requests) => {
  const cast = asking({ model: 'a' });
  let asked = 0;
  for (const [index, tries] of attempts.entries()) {
    expect(packetOf(cast.cast, cast.turn).retriesMax).toBe(Math.max(0, 4 - asked));
    const failed = fails(cast, code, fault, { tries });
    expect(failed).toMatchObject({ again: index + 1 < attempts.length, ...(tries > 1 ? { tries } : {}) });
    asked += tries;
    if (index + 1 < attempts.length) prepare(cast);
  }
  expect(asked).toBe(requests);
  expect(cast.cast.code).toBe('AGENT_FAILED');
  const told = /asked (\d+) times in all/.exec(cast.cast.reason ?? '')?.[1];
  expect(told).toBe(requests > 1 ? `${requests}` : undefined);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a fallback has what is left of the budget, and a recast the whole of it', () => {
  const cast = asking({ model: 'a', fallbacks: [{ runner: 'codex' }] });
  fails(cast, 'PROVIDER_ERROR', 'transport', { tries: 5 });
  prepare(cast);
  expect(packetOf(cast.cast, cast.turn)).toMatchObject({ retriesMax: 0, materia: { runner: 'codex' } });
  expect(fails(cast, 'PROVIDER_ERROR', 'transport')).toMatchObject({ again: false });
  cast.tell({ kind: 'cast.recast', cast: 'c' }, NOW);
  prepare(cast);
  expect(packetOf(cast.cast, cast.turn).retriesMax).toBe(4);
});

test('every choice is tried once, and the packet names the one that has the turn', () => {
  const cast = asking({ model: 'a', ...FALLBACKS });
  fails(cast, 'MODEL_UNAVAILABLE');
  prepare(cast);
  fails(cast, 'RATE_LIMITED', 'transport');
  prepare(cast);
  fails(cast, 'MODEL_UNAVAILABLE');
  prepare(cast);
  expect(fails(cast, 'MODEL_UNAVAILABLE')).toMatchObject({ again: false });
  expect(cast.all('attempt.failed').map(({ choice }) => choice)).toEqual([1, 2, 3, undefined]);
});

test.each<Code>(['PROVIDER_ERROR', 'PROVIDER_UNREACHABLE'])(
  '%s that lasts is somebody else’s turn, each in order, and then the end',
  (code) => {
    const cast = asking({ model: 'a', ...FALLBACKS });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      fails(cast, code, 'transport');
      prepare(cast);
    }
    expect(fails(cast, code, 'transport')).toMatchObject({ again: false });
    expect(cast.all('attempt.failed').map(({ choice }) => choice)).toEqual([undefined, 1, 2, undefined]);
    expect(replayed(cast.entries)).toEqual(cast.state);
  },
);

test('a key goes to the address it was written for, and to no other', () => {
  const place = { baseUrl: 'http://a/v1', wire: 'responses', keyVariable: 'KEY_A' };
  const fallbacks = [{ model: 'b' }, { model: 'c', baseUrl: 'http://c/v1' }, { runner: 'anthropic', model: 'd' }];
  const cast = asking({ runner: 'openai', model: 'a', ...place, fallbacks });
  const used: object[] = [];
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const { baseUrl, wire, keyVariable } = chosenMateria(cast.cast, cast.turn) as AgentMateria;
    used.push({ baseUrl, wire, keyVariable });
    fails(cast, 'MODEL_UNAVAILABLE');
    if (attempt < 4) prepare(cast);
  }
  const none = { baseUrl: undefined, wire: undefined, keyVariable: undefined };
  expect(used).toEqual([place, place, { ...none, baseUrl: 'http://c/v1' }, none]);
});

test('a brief is halved once', () => {
  const cast = asking();
  fails(cast, 'CONTEXT_OVERFLOW');
  prepare(cast);
  const [first = '', second = ''] = cast.briefs('Socket-1');
  expect(second.length).toBeLessThanOrEqual(first.length / 2);
  expect(fails(cast, 'CONTEXT_OVERFLOW')).toMatchObject({ again: false });
});

test.each<[string, JsonObject, JsonObject | null, object, string?]>([
  [
    'without what came before, where anything did',
    { runner: 'openai', model: 'a', prompt: 'Go on.' },
    { satisfied: true, context: 'What was found out. '.repeat(20) },
    {
      again: true,
      reason: expect.stringMatching(/^why; tried once more with a brief of at most \d+ bytes instead of/),
    },
    'it had been shortened already',
  ],
  [
    'in a new conversation, where its program fills one',
    { runner: 'codex', prompt: 'Go on.' },
    null,
    { again: true, reason: expect.stringMatching(/nothing can be left out, so it is tried once more in a new conv/) },
    'it had a new conversation already',
  ],
  [
    'not at all, where nothing is left to leave out, and it says so',
    { runner: 'openai', model: 'a', prompt: 'Go on.' },
    null,
    { again: false, reason: expect.stringMatching(/nothing can be left out, so it is not tried again$/) },
  ],
])('a short brief that was too long is tried once more %s', (_what, materia, before, failed, had = '') => {
  const Ask = { tools: 'none', parse: 'json', ...materia };
  const First = { tools: 'none', prompt: 'Begin.', parse: 'json' };
  const sockets = before
    ? { 'Socket-1': { materia: 'First', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Ask' } }
    : { 'Socket-1': { materia: 'Ask' } };
  const cast = play({ config: graph(sockets, { materia: { First, Ask } }) });
  const socket = before ? 'Socket-2' : 'Socket-1';
  prepare(cast);
  if (before) {
    cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(before) }, NOW);
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 2, attempt: 1 }, NOW);
  }
  const turn = before ? 2 : 1;
  const overflow = { kind: 'attempt.failed', cast: 'c', turn, fault: 'refused', reason: 'why' } as const;
  cast.tell({ ...overflow, attempt: 1, code: 'CONTEXT_OVERFLOW' }, NOW);
  expect(cast.all('attempt.failed').at(-1)).toMatchObject({ cause: 'CONTEXT_OVERFLOW', ...failed });
  if (!('again' in failed && failed.again)) {
    expect(cast.facts.at(-1)).toMatchObject({ kind: 'cast.failed', details: { cause: 'CONTEXT_OVERFLOW' } });
    return;
  }
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn, attempt: 2 }, NOW);
  const [first = '', second = ''] = cast.briefs(socket);
  expect(second.includes('What was found out.')).toBe(false);
  expect(first.includes('What was found out.')).toBe(before !== null);
  expect(second.startsWith('Go on.') && second.endsWith(first.slice(first.indexOf('## Your answer')))).toBe(true);
  cast.tell({ ...overflow, attempt: 2, code: 'CONTEXT_OVERFLOW' }, NOW);
  expect(cast.all('attempt.failed').at(-1)).toMatchObject({ again: false, reason: expect.stringContaining(had) });
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('of a person who stands in it is not said which model they are', () => {
  const failed = fails(asking({ fallbacks: [{ runner: 'person' }] }), 'AGENT_UNAVAILABLE');
  expect(failed?.reason).toBe('why; a person is asked instead');
});

const SESSION = { runner: 'claude', id: 'abc', usage: { input: 5, output: 1, cost: 0 } };

/** The first answer is refused, and the agent named its conversation. */
function refused(agent: AgentNote, materia: JsonObject = {}): Play {
  const cast = asking(materia);
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'oops', agent }, NOW);
  prepare(cast);
  return cast;
}

test('a repair continues the conversation: it is told what is wrong, and not everything again', () => {
  const cast = refused({ runner: 'claude', session: SESSION });
  expect(cast.turn.session).toEqual(SESSION);
  const [first = '', second = ''] = cast.briefs('Socket-1');
  expect(first).toContain('Ask about it.');
  expect(second).not.toContain('Ask about it.');
  expect(second).toContain('was invalid');
});

test.each<[string, AgentNote, JsonObject]>([
  ['none was named', { runner: 'claude' }, {}],
  ['it belongs to another runner', { runner: 'pi', session: { ...SESSION, runner: 'pi' } }, {}],
  ['its name could be taken for an option', { session: { ...SESSION, id: '--yolo' } }, {}],
])('a repair is told everything where no conversation can be continued: %s', (_what, agent, materia) => {
  expect(refused(agent, materia).briefs('Socket-1')[1]).toContain('Ask about it.');
});

test('a conversation that is lost is begun anew with the whole brief, once', () => {
  const cast = refused({ runner: 'claude', session: SESSION });
  expect(fails(cast, 'SESSION_LOST', 'crash')).toMatchObject({ again: true, forgetsSession: true });
  prepare(cast);
  const brief = cast.briefs('Socket-1')[2] ?? '';
  expect(brief).toContain('Ask about it.');
  expect(brief).toContain('was invalid');
  // Without a conversation to lose it is an ordinary crash, and those are tried once more.
  expect(fails(cast, 'SESSION_LOST', 'crash')).toMatchObject({ again: true });
  prepare(cast);
  expect(fails(cast, 'SESSION_LOST', 'crash')).toMatchObject({ again: false });
});

test('a conversation that grew too long is left behind before anything is cut', () => {
  const cast = refused({ runner: 'claude', session: SESSION });
  expect(fails(cast, 'CONTEXT_OVERFLOW')).toMatchObject({ again: true, forgetsSession: true });
  prepare(cast);
  expect(cast.briefs('Socket-1')[2]).toContain('Ask about it.');
  expect(fails(cast, 'CONTEXT_OVERFLOW')).toMatchObject({
    again: false,
    reason: 'why; it had a new conversation already, and is not tried again',
  });
});
