// A person's word for a turn that was cut off and must not run twice.
import { expect, test } from 'vitest';
import { always, graph, no, notSatisfied, satisfied, yes } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import type { JsonObject } from '../json.ts';

/** A cast that waits because nobody knows whether its first socket did its work. */
function waiting(materia: string, socket: JsonObject = {}): Play {
  const sockets = {
    'Socket-1': { materia, edges: [always('Socket-2')], ...socket },
    'Socket-2': { materia: 'Write' },
  };
  const extra = {
    Careful: { tools: 'coding', prompt: 'Send it.', parse: 'json', onCrash: 'wait' },
    Prose: { tools: 'coding', prompt: 'Send it.', onCrash: 'wait' },
    Once: { type: 'utility', command: ['list'], generator: true, once: true },
  };
  const config = graph(sockets, { materia: extra });
  const cast = play({ config, agents: { [materia]: [yes, '$repeat'], Write: ['done'] }, hold: true });
  cast.tell({ kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 1, mayHaveRun: true, reason: 'killed' });
  expect(cast.cast.status).toBe('waiting');
  return cast;
}

const decide = (choice: 'rerun' | 'accept' | 'fail', more: { output?: string; reason?: string } = {}) => {
  return { kind: 'turn.decide', cast: 'c', turn: 1, choice, ...more } as const;
};

test('it waits only where it may have run', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Publish' } }), agents: { Publish: [yes] }, hold: true });
  cast.say({ kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 1, mayHaveRun: false, reason: 'never started' });
  expect(cast.cast.status).toBe('completed');
});

test('what was never dispatched needs no decision', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Publish' } }) });
  cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'lunch' });
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'back' });
  expect([cast.cast.status, cast.owed]).toEqual(['running', [{ kind: 'prepare', cast: 'c', turn: 1, attempt: 1 }]]);
});

test('rerun is good for one attempt: cut off again, it waits again', () => {
  const cast = waiting('Publish');
  cast.tell(decide('rerun'));
  expect(cast.turn).toMatchObject({ phase: 'running', attempt: 2 });
  cast.tell({ kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 2, mayHaveRun: true, reason: 'killed' });
  expect(cast.cast.status).toBe('waiting');
});

test('accept with the output it gave takes that output as if it had come in time', () => {
  const cast = waiting('Publish', { assign: { url: '$.url' } });
  cast.say(decide('accept', { output: '{"url":"x"}' }));
  expect([cast.cast.status, cast.cast.data.url]).toEqual(['completed', 'x']);
});

test.each<[string, string, JsonObject, string | null]>([
  ['prose', 'Prose', {}, ''],
  ['nothing in particular', 'Publish', {}, '{}'],
  ['the boolean', 'Careful', { edges: [satisfied('Socket-2'), notSatisfied('end')] }, '{"satisfied":true}'],
  ['a part of the output', 'Publish', { assign: { url: '$.url' } }, null],
  ['work items', 'Once', {}, null],
])('accept without an output, where %s is asked for', (_what, materia, socket, taken) => {
  const cast = waiting(materia, socket);
  const verdict = cast.say(decide('accept'));
  if (taken === null) {
    expect([verdict.code, verdict.reason.includes('--output'), cast.cast.status]).toEqual([
      'NOT_ALLOWED_NOW',
      true,
      'waiting',
    ]);
  } else expect([cast.all('turn.accepted')[0]?.output, cast.cast.status]).toEqual([taken, 'completed']);
});

test('an accepted output that breaks the contract fails the cast like any other', () => {
  const cast = waiting('Publish');
  cast.say(decide('accept', { output: 'oops' }));
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'CONTRACT_VIOLATION']);
});

test.each([
  ['Publish', 'UTILITY_FAILED'],
  ['Careful', 'AGENT_FAILED'],
])('fail fails the cast: %s with %s', (materia, code) => {
  const cast = waiting(materia);
  cast.say(decide('fail', { reason: 'no trace of it' }));
  expect([cast.cast.code, cast.cast.reason]).toEqual([
    code,
    'Socket-1: a person decided that it failed: no trace of it',
  ]);
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(cast.cast.status).toBe('completed');
});

test('a turn whose end is known needs no decision', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Publish' } }), agents: { Publish: [no()] }, hold: true });
  expect(cast.tell(decide('rerun')).code).toBe('NOT_ALLOWED_NOW');
});

test('a cast that is over is carried on first, then decided', () => {
  const cast = waiting('Publish');
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect([cast.tell(decide('accept')).code, cast.cast.status]).toEqual(['NOT_ALLOWED_NOW', 'aborted']);
  cast.tell({ kind: 'cast.recast', cast: 'c' });
  expect(cast.cast.status).toBe('waiting');
  cast.say(decide('accept'));
  expect(cast.cast.status).toBe('completed');
});

test.each([
  ['a utility that ran out of time', 'Publish', 'timeout', 'OUTCOME_UNKNOWN'],
  ['a utility that was ended by a signal', 'Publish', 'crash', 'OUTCOME_UNKNOWN'],
  ['a utility that said itself that it failed', 'Publish', 'utility', 'UTILITY_FAILED'],
  ['a careful agent that crashed', 'Careful', 'crash', 'OUTCOME_UNKNOWN'],
  ['a careful agent whose connection broke', 'Careful', 'transport', 'OUTCOME_UNKNOWN'],
] as const)('%s', (_what, materia, fault, code) => {
  const Careful = { tools: 'none', prompt: 'Send it.', parse: 'json', onCrash: 'wait' };
  const config = graph({ 'Socket-1': { materia, edges: [always('end')] } }, { materia: { Careful } });
  const cast = play({ config, agents: { [materia]: [yes, yes] }, hold: true });
  cast.tell({ kind: 'attempt.failed', cast: 'c', turn: 1, attempt: 1, fault, reason: 'gone' });
  expect(cast.cast.code).toBe(code);
  expect(cast.cast.status).toBe(code === 'OUTCOME_UNKNOWN' ? 'waiting' : 'failed');
  if (code !== 'OUTCOME_UNKNOWN') return;
  cast.say(decide('rerun'));
  expect(cast.cast.status).toBe('completed');
});
