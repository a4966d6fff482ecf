// What comes back from an attempt: accepted, given back once for repair, or refused for good.
import { expect, test } from 'vitest';
import { always, failing, graph, no, notSatisfied, plan, satisfied, yes } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { Json, JsonObject } from '../json.ts';

/** A socket of this kind that leads on to a writer when it is satisfied. */
function gate(materia: string, turns: readonly Json[], socket: JsonObject = {}, limits: JsonObject = {}) {
  const edges = [satisfied('Socket-2'), notSatisfied('end')];
  const sockets = { 'Socket-1': { materia, edges, ...socket }, 'Socket-2': { materia: 'Write' } };
  return play({ config: graph(sockets, { limits }), agents: { 'Socket-1': turns, Write: ['done', '$repeat'] } });
}

const kinds = (cast: ReturnType<typeof gate>) => cast.facts.map(({ kind }) => kind);

test('a first bad output goes back with its issues; the second, good one carries the cast on', () => {
  const cast = gate('Judge', ['oops', yes]);
  expect(cast.cast.status).toBe('completed');
  expect(cast.path).toEqual(['Socket-1', 'Socket-2']);
  expect(cast.all('attempt.refused')).toMatchObject([
    { turn: 1, attempt: 1, output: 'oops', repair: true, verdict: { code: 'NOT_JSON' } },
  ]);
  expect(cast.all('turn.accepted')[0]).toMatchObject({ turn: 1, attempt: 2 });
});

test('after the second bad output the cast fails, and nothing of either was used', () => {
  const cast = gate('Judge', ['oops', { passed: true }]);
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'CONTRACT_VIOLATION']);
  expect(cast.cast.reason).toContain('Socket-1 did not keep its contract after 1 of 1 repair turns');
  expect(cast.facts.at(-1)).toMatchObject({ details: { refused: 'CONTRACT_VIOLATION', socket: 'Socket-1' }, turn: 1 });
  expect([cast.cast.data, cast.all('edge.taken'), cast.path]).toEqual([{}, [], ['Socket-1']]);
});

test('a later visit has its repair turns for itself', () => {
  const sockets = { 'Socket-1': { materia: 'Judge', edges: [satisfied('end'), notSatisfied('Socket-1', 3)] } };
  const cast = play({ config: graph(sockets), agents: { Judge: ['oops', no(), 'oops', yes] } });
  expect([cast.cast.status, cast.path.length]).toEqual(['completed', 2]);
});

test.each([
  [0, 1],
  [1, 2],
  [3, 4],
])('with repairTurnsMax %i there are %i attempts', (repairTurnsMax, attempts) => {
  const cast = gate('Judge', ['oops', '$repeat'], {}, { repairTurnsMax });
  expect([cast.cast.code, cast.all('attempt.started').length]).toEqual(['CONTRACT_VIOLATION', attempts]);
});

test.each<[string, Json]>([
  ['text that is no JSON', 'oops'],
  ['nothing', ''],
  ['null', 'null'],
  ['a list', [1, 2]],
  ['a missing boolean', {}],
  ['a boolean in quotes', { satisfied: 'true' }],
  ['an old name of it', { passed: true }],
  ['a field nobody named', { satisfied: true, summary: 'x' }],
  ['a side channel that is no list', { satisfied: true, event: {} }],
])('an agent gets one repair turn for %s; a utility fails at once', (what, said) => {
  const agent = gate('Judge', [said, yes]);
  expect([agent.cast.status, agent.all('attempt.refused').length]).toEqual(['completed', 1]);
  const utility = gate('Tool', [said, yes]);
  // A utility may return fields of its own.
  const isWelcome = what === 'a field nobody named';
  expect(utility.cast.status).toBe(isWelcome ? 'completed' : 'failed');
  expect(utility.all('attempt.started')).toHaveLength(isWelcome ? 2 : 1);
  if (!isWelcome) expect(utility.cast.code).toBe('CONTRACT_VIOLATION');
});

test.each<[string, JsonObject, Json]>([
  ['a missing path', { first: '$.list.0' }, { ...yes, list: [] }],
  ['a path into the side channel', { e: '$.event' }, { ...yes, event: [] }],
  ['a list that is asked for', { workItems: '$.workItems' }, yes],
])('what a socket hands on must be there: %s', (_what, assign, said) => {
  const cast = gate('Judge', [said, '$repeat'], { assign });
  expect([cast.cast.code, cast.all('turn.accepted')]).toEqual(['CONTRACT_VIOLATION', []]);
});

test('an empty list from a generator is a valid plan', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Plan' } }), agents: { Plan: [plan(0)] } });
  expect(cast.cast.status).toBe('completed');
});

test('an output over the limit of its socket is refused', () => {
  const limits = { limits: { maxOutputBytes: 20 } };
  expect(gate('Judge', [{ satisfied: true, context: 'äöü' }, yes], limits).all('attempt.refused')).toMatchObject([
    {
      verdict: {
        code: 'CONTRACT_VIOLATION',
        reason: expect.stringMatching(/longer than the 20 bytes that are allowed; .*raise limits.maxOutputBytes/),
      },
    },
  ]);
});

test.each([
  ['the half of an object of an agent', 'Judge', 'json', 20, '{"satisfied": true, ', 'attempt.refused'],
  ['what could be a whole object of an agent', 'Judge', 'json', 20, '{"satisfied": true}x', 'attempt.refused'],
  ['text of an agent', 'Write', 'text', 20, 'x'.repeat(20), 'attempt.refused'],
  ['text of an agent at the usual limit', 'Write', 'text', undefined, 'x'.repeat(20), 'attempt.refused'],
  ['what could be a whole object of a utility', 'Tool', 'json', 20, '{"satisfied": true}x', 'attempt.refused'],
  ['the same at the usual limit', 'Tool', 'json', undefined, '{"satisfied": true}x', 'attempt.refused'],
  ['text of a utility', 'Tool', 'text', 20, 'x'.repeat(20), 'attempt.refused'],
  ['text of a utility at a limit that was raised', 'Tool', 'text', 2_097_152, 'x'.repeat(20), 'attempt.refused'],
  ['text of a utility at the usual limit', 'Tool', 'text', undefined, 'x'.repeat(20), 'turn.accepted'],
] as const)('what was cut off is not taken for the whole: %s', (_what, materia, parse, maxOutputBytes, output, end) => {
  const limits = maxOutputBytes === undefined ? {} : { limits: { maxOutputBytes } };
  const cast = play({ config: graph({ 'Socket-1': { materia, parse, ...limits } }) });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output, truncated: true });
  const [fact] = [...cast.all('attempt.refused'), ...cast.all('turn.accepted')];
  expect(fact?.kind).toBe(end);
  if (fact?.kind !== 'attempt.refused') return expect(fact).toMatchObject({ output, truncated: true });
  const told = `larger than the ${maxOutputBytes ?? 1_048_576} bytes that are allowed and was cut there; write less, or raise limits.maxOutputBytes`;
  expect(fact.verdict.reason).toContain(told);
  expect(fact.verdict.details).toMatchObject({ issues: { 0: { path: '$', message: expect.stringContaining(told) } } });
  expect(cast.cast.status).toBe(materia === 'Tool' ? 'failed' : 'running');
});

test.each([
  ['text', 'this text ends in the midd'],
  ['json', '{"satisfied":true}'],
  ['json', '{"satisf'],
])(
  'a %s answer that its provider cut short is refused whatever it reads like, and repaired once: %s',
  (parse, output) => {
    const cast = play({ config: graph({ 'Socket-1': { materia: 'Judge', parse } }) });
    for (const attempt of [1, 2]) {
      cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt });
      cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt, output, cutShort: true });
    }
    const refused = cast.all('attempt.refused');
    expect(refused.map(({ repair }) => repair)).toEqual([true, false]);
    expect(refused[0]?.verdict.reason).toContain('cut off before its end');
    expect(cast.briefs('Socket-1')[1]).toContain('cut off before its end');
    expect(cast.cast).toMatchObject({ status: 'failed', code: 'CONTRACT_VIOLATION' });
  },
);

test('a socket that may say more than the usual mebibyte is read to its limit', () => {
  const context = 'x'.repeat(1_500_000);
  const limits = { limits: { maxOutputBytes: 2_097_152 } };
  expect(gate('Judge', [{ satisfied: true, context }], limits).path).toEqual(['Socket-1', 'Socket-2']);
  expect(gate('Judge', [{ satisfied: true, context }, '$repeat']).cast.code).toBe('CONTRACT_VIOLATION');
});

test.each<['crash' | 'transport' | 'timeout', string, string, string]>([
  ['crash', 'Judge', 'completed', 'AGENT_FAILED'],
  ['transport', 'Judge', 'completed', 'AGENT_FAILED'],
  ['timeout', 'Judge', 'failed', 'AGENT_TIMEOUT'],
  ['crash', 'Tool', 'completed', 'UTILITY_FAILED'],
  ['transport', 'Tool', 'completed', 'UTILITY_FAILED'],
  ['timeout', 'Tool', 'failed', 'UTILITY_FAILED'],
])('a %s of a %s once: %s; for good: %s', (fault, materia, once, code) => {
  const first = gate(materia, [failing(fault), yes]);
  expect(first.cast.status).toBe(once);
  if (once === 'completed') expect(kinds(first)).not.toContain('cast.failed');
  const always = gate(materia, [failing(fault), '$repeat']);
  expect([always.cast.code, always.all('attempt.started').length]).toEqual([code, once === 'completed' ? 2 : 1]);
});

test.each(['crash', 'transport', 'timeout'] as const)(
  'a %s of a utility that runs itself is not tried again',
  (fault) => {
    const cast = play({ config: graph({ 'Socket-1': { materia: 'Tool' } }) });
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
    cast.tell({ kind: 'attempt.failed', cast: 'c', turn: 1, attempt: 1, fault, reason: 'gone' });
    expect([cast.cast.status, cast.cast.code, cast.all('attempt.started').length]).toEqual([
      'failed',
      'UTILITY_FAILED',
      1,
    ]);
  },
);

test('a script that has run out fails the turn, whoever it stands in for', () => {
  for (const materia of ['Judge', 'Tool']) expect(gate(materia, []).cast.code).toBe('AGENT_FAILED');
});

test('a utility that is not satisfied is routed; one that says its work broke fails the cast and keeps what it said', () => {
  const routed = gate('Tool', [no('red')], { edges: [notSatisfied('Socket-2')] });
  expect(routed.path).toEqual(['Socket-1', 'Socket-2']);
  const broken = { ...no('red'), state: { vcs: { ok: false, error: 'no git' } } };
  const cast = gate('Tool', [broken], { assign: { lastFeedback: '$.context' }, edges: [notSatisfied('Socket-2')] });
  expect([cast.cast.code, cast.cast.reason]).toEqual(['UTILITY_FAILED', 'Tool: no git']);
  expect(cast.cast.data).toEqual({ vcs: { ok: false, error: 'no git' }, envelope: no('red') });
  expect([cast.path, cast.all('rework.noted')]).toEqual([['Socket-1'], []]);
});

test('of two answers to one attempt the first counts', () => {
  const sockets = { 'Socket-1': { materia: 'Judge', edges: [always('Socket-1', 5)] } };
  const cast = play({ config: graph(sockets), agents: { Judge: [yes] }, hold: true });
  const answer = { kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: '{"satisfied":true}' } as const;
  expect(cast.tell(answer).code).toBe('OK');
  expect(cast.tell(answer).code).toBe('UNKNOWN_TURN');
  expect(cast.tell({ ...answer, turn: 2, attempt: 0 }).code).toBe('STALE_ATTEMPT');
  expect(cast.all('edge.taken')).toHaveLength(1);
});

test('half a character, which no log can hold, is replaced wherever an agent wrote it', () => {
  const cast = gate('Judge', ['{"satisfied":true,"context":"\\ud83d!","\\udc00":1}'], { assign: { all: '$' } });
  expect(cast.cast.data.all).toEqual({ satisfied: true, context: '\ufffd!', '\ufffd': 1 });
  expect(cast.all('turn.accepted')[0]?.handoff.payload).toEqual(cast.cast.data.all);
  expect(gate('Judge', ['oops \ud83d', yes]).all('attempt.refused')[0]?.output).toBe('oops \ufffd');
});
