// Bookkeeping: every kind of fact can be applied to any state, and in the end says the same as the decision did.
import { expect, test } from 'vitest';
import { costing, crew, graph, no, notSatisfied, satisfied, workflow, yes } from '../../test/loadouts.ts';
import { play, replayed } from '../../test/play.ts';
import { apply } from './apply.ts';
import { committed } from './cast/data.ts';
import type { DataChange } from './cast/fact.ts';
import type { Fact } from './fact.ts';
import type { JsonObject } from './json.ts';
import { emptyState } from './state.ts';

const at = '2026-01-01T00:00:00.000Z';

test.each<Fact>([
  { kind: 'workspace.opened', origin: 'here' },
  { kind: 'snapshot.taken', through: 1, digest: 'x' },
  { kind: 'blob.erased', digest: 'sha256:x', from: [1], reason: '' },
  { kind: 'cast.completed', cast: 'nobody' },
  { kind: 'turn.reopened', cast: 'nobody', turn: 1 },
])('$kind changes nothing where there is no cast', (fact) => {
  expect(apply(emptyState(), { at, fact })).toEqual(emptyState());
});

test.each<Fact>([
  { kind: 'attempt.started', cast: 'c', turn: 9, attempt: 1, brief: '', script: null, reserved: 0 },
  { kind: 'attempt.lost', cast: 'c', turn: 9, attempt: 1, reason: '' },
  { kind: 'turn.unknown', cast: 'c', turn: 9, attempt: 1, reason: '' },
  { kind: 'turn.reopened', cast: 'c', turn: 9 },
  { kind: 'turn.dropped', cast: 'c', turn: 9 },
])('$kind of a turn that is not open changes nothing', (fact) => {
  const { state, cast } = play({ config: graph({ 'Socket-1': { materia: 'Write' } }), agents: { Write: ['x'] } });
  const before = structuredClone(cast);
  expect(apply(state, { at, fact }).casts.c).toEqual(before);
});

test.each<[string, JsonObject, readonly DataChange[], string | null, JsonObject]>([
  ['nothing', { a: 1 }, [], null, { a: 1 }],
  ['a key is taken whole', {}, [{ key: 'a.b', value: 1 }], null, { 'a.b': 1 }],
  ['a path leads inside', {}, [{ path: 'a.b', value: 1 }], null, { a: { b: 1 } }],
  ['a path without a value clears', { a: { b: 1, c: 2 } }, [{ path: 'a.b' }], null, { a: { c: 2 } }],
  ['the first line', {}, [], 'one', { context: 'one' }],
  ['a further line', { context: 'one' }, [], 'two', { context: 'one\n\ntwo' }],
  ['a line where something else stood', { context: { x: 1 } }, [], 'one', { context: 'one' }],
  [
    'a patch of the context comes before the line',
    { context: 'old' },
    [{ key: 'context', value: 'new' }],
    'one',
    { context: 'new\n\none' },
  ],
  [
    'an assignment to it comes after',
    { context: 'old' },
    [{ path: 'context', value: 'new' }],
    'one',
    { context: 'new' },
  ],
])('committed: %s', (_rule, data, changes, line, expected) => {
  expect(committed(data, changes, line)).toEqual(expected);
});

test('data that is shared with a fact is never changed in place', () => {
  const data = { list: [{ n: 1 }] };
  const frozen = JSON.stringify(data);
  committed(
    data,
    [
      { path: 'list.0.n', value: 2 },
      { key: 'x', value: 1 },
    ],
    'line',
  );
  expect(JSON.stringify(data)).toBe(frozen);
});

test('a cast that was stopped, repaired, revived and decided replays to what it was', () => {
  const sockets = {
    'Socket-1': { materia: 'Judge', edges: [notSatisfied('Socket-1', 1), satisfied('Socket-2')] },
    'Socket-2': { materia: 'Publish', edges: [satisfied('Socket-3'), notSatisfied('end')] },
    'Socket-3': { materia: 'Write' },
  };
  const agents = { Judge: ['oops', costing(40, no('one')), no('two'), yes], Publish: [yes], Write: ['done'] };
  const cast = play({ config: graph(sockets, { budget: { maxTokens: 50 } }), agents });
  expect(cast.cast.code).toBe('EDGE_BUDGET_EXHAUSTED');
  cast.tell({ kind: 'cast.revive', cast: 'c' });
  cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'lunch' });
  cast.tell({ kind: 'budget.change', cast: 'c', maxTokens: 90 });
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'back' });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 3, attempt: 2, output: '{"satisfied":true}' });
  cast.tell({ kind: 'attempt.lost', cast: 'c', turn: 4, attempt: 1, mayHaveRun: true, reason: 'killed' });
  cast.say({ kind: 'turn.decide', cast: 'c', turn: 4, choice: 'accept' });
  expect(cast.cast.status).toBe('completed');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('what a cast remembers does not grow with the number of its items', () => {
  const size = (count: number) => {
    const workItems = Array.from({ length: count }, (_, index) => ({ title: `Item ${index}`, context: 'x' }));
    const evals = [no('mend it'), { satisfied: true, context: 'good' }];
    const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': 1 });
    const agents = crew({ Plan: [{ workItems }], Eval: Array.from({ length: count }, () => evals).flat() });
    const { cast } = play({ config, agents });
    expect(cast.status).toBe('completed');
    const { data: _data, rules: _rules, script: _script, ...kept } = cast;
    return JSON.stringify(kept).length;
  };
  expect(size(400) - size(200)).toBeLessThan(500);
});
