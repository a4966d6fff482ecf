// Scripted agents: which turn is played by whom, and that a repeated dispatch plays the same one.
import { expect, test } from 'vitest';
import { always, failing, graph, no, notSatisfied, satisfied, yes } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { Json } from '../json.ts';
import { isScripted, nextScripted, scriptedTurn, scriptKey } from './rules.ts';

const write = { materia: 'Write' };
const pair = graph({ 'Socket-1': { ...write, edges: [always('Socket-2')] }, 'Socket-2': write });

function held(agents: Readonly<Record<string, readonly Json[]>>) {
  return play({ config: pair, agents, hold: true }).cast;
}

test.each<[string, Readonly<Record<string, readonly Json[]>>, string | null]>([
  ['the socket’s own list goes first', { 'Socket-1': [], Write: [] }, 'Socket-1'],
  ['then its materia’s', { Write: [], 'Socket-2': [] }, 'Write'],
  ['else there is none', { Other: [] }, null],
])('%s', (_rule, agents, key) => {
  expect(scriptKey(held(agents), 'Socket-1')).toBe(key);
});

test.each<[readonly Json[], number, Json | undefined]>([
  [['a', 'b'], 0, 'a'],
  [['a', 'b'], 1, 'b'],
  [['a', 'b'], 2, undefined],
  [['a', 'b', '$repeat'], 0, 'a'],
  [['a', 'b', '$repeat'], 1, 'b'],
  [['a', 'b', '$repeat'], 2, 'b'],
  [['a', 'b', '$repeat'], 99, 'b'],
  [['$repeat', 'a'], 0, '$repeat'],
  [['$repeat'], 0, undefined],
  [[], 0, undefined],
])('of %j turn %i is %j', (turns, index, said) => {
  expect(scriptedTurn(held({ Write: turns }), { key: 'Write', index })).toEqual(said);
});

test('the sockets of a materia share its list', () => {
  const cast = play({ config: pair, agents: { Write: ['first', 'second'] } });
  expect(cast.all('turn.accepted').map(({ output }) => output)).toEqual(['first', 'second']);
});

test('a JSON value is said as its text', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Judge' } }), agents: { Judge: [{ satisfied: true }] } });
  expect(cast.all('turn.accepted')[0]?.output).toBe('{"satisfied":true}');
});

test.each<[string, Readonly<Record<string, readonly Json[]>>]>([
  ['runs out', { Write: ['only one'] }],
  ['does not name the agent', { 'Socket-1': ['only one'] }],
])('a script that %s fails the turn', (_what, agents) => {
  const { cast, path } = play({ config: pair, agents });
  expect([cast.status, cast.code, path]).toEqual(['failed', 'AGENT_FAILED', ['Socket-1', 'Socket-2']]);
});

test('every outcome uses up a turn: a repair, a fault and a good answer alike', () => {
  const sockets = { 'Socket-1': { materia: 'Judge', edges: [satisfied('end'), notSatisfied('Socket-1', 1)] } };
  const cast = play({ config: graph(sockets), agents: { Judge: ['oops', no(), failing('crash'), yes] } });
  expect(cast.cast.status).toBe('completed');
  expect(cast.all('attempt.started').map(({ script }) => script?.index)).toEqual([0, 1, 2, 3]);
  expect(cast.cast.scripted).toEqual({ Judge: 4 });
});

test('a dispatch that left no outcome is repeated with the same turn', () => {
  const cast = play({ config: pair, agents: { Write: ['first', 'second'] }, hold: true });
  cast.tell({ kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 1, mayHaveRun: true, reason: 'killed' });
  cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'lunch' });
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'back' });
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'no' });
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(cast.all('attempt.started').map(({ attempt, script }) => [attempt, script?.index])).toEqual([
    [1, 0],
    [2, 0],
    [3, 0],
    [4, 0],
    [1, 1],
  ]);
  expect(cast.all('turn.accepted').map(({ output }) => output)).toEqual(['first', 'second']);
});

test('a utility is played by a script that names it, and runs itself under one that does not', () => {
  const config = graph({ 'Socket-1': { materia: 'Tool' } });
  const named = play({ config, agents: { Tool: [{}] }, hold: true });
  expect([isScripted(named.cast, 'Socket-1'), nextScripted(named.cast, named.turn)]).toEqual([
    true,
    { key: 'Tool', index: 0 },
  ]);
  const other = play({ config, agents: { Write: [] }, hold: true });
  expect([isScripted(other.cast, 'Socket-1'), nextScripted(other.cast, other.turn)]).toEqual([false, null]);
  expect(other.owed).toEqual([{ kind: 'prepare', cast: 'c', turn: 1, attempt: 1 }]);
});

test('without a script nothing is scripted', () => {
  const { cast } = play({ config: pair });
  expect([scriptKey(cast, 'Socket-1'), isScripted(cast, 'Socket-1')]).toEqual([null, false]);
});
