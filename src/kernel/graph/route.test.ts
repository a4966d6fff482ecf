import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import type { Condition, ExitRoute, FieldCondition, Graph, Loop } from './config.ts';
import { flow } from './fixtures/software.ts';
import { resolve } from './resolve.ts';
import { conditionWords, emptyEntryTarget, exitTarget, firstEdge, loopOf, matches } from './route.ts';

test.each<[Condition, boolean | null, boolean]>([
  ['always', true, true],
  ['always', false, true],
  ['always', null, true],
  ['satisfied', true, true],
  ['satisfied', false, false],
  ['satisfied', null, false],
  ['not_satisfied', true, false],
  ['not_satisfied', false, true],
  ['not_satisfied', null, false],
])('%s on %s: %s', (condition, satisfied, matched) => {
  expect(matches(condition, { satisfied })).toBe(matched);
});

test.each<[FieldCondition, payload: Json, boolean, words: string]>([
  [{ field: 'severity', is: 'high' }, { severity: 'high' }, true, 'severity is high'],
  [{ field: 'severity', is: 'high' }, { severity: 'low' }, false, 'severity is high'],
  [{ field: 'severity', is: 'high' }, { severity: ['high'] }, false, 'severity is high'],
  [{ field: 'severity', is: 'high' }, 'severity high', false, 'severity is high'],
  [{ field: 'severity', isNot: 'high' }, { severity: 'low' }, true, 'severity is not high'],
  [{ field: 'severity', isNot: 'high' }, { severity: 'high' }, false, 'severity is not high'],
  [{ field: 'severity', isNot: 'high' }, {}, false, 'severity is not high'],
  [{ field: 'severity', isNot: 'high' }, { severity: null }, false, 'severity is not high'],
  [{ field: 'count', is: 3 }, { count: '3' }, false, 'count is 3'],
  [{ field: 'count', is: '3' }, { count: '3' }, true, 'count is "3"'],
  [{ field: 'open', is: false }, { open: false }, true, 'open is false'],
  [{ field: 'kind', in: ['git', 'jj'] }, { kind: 'jj' }, true, 'kind is git or jj'],
  [{ field: 'kind', in: ['git', 'jj'] }, { kind: 'none' }, false, 'kind is git or jj'],
  [{ field: 'kind', in: ['git', 'jj'] }, {}, false, 'kind is git or jj'],
  [{ field: 'a.b', is: 1 }, { a: { b: 1 } }, false, 'a.b is 1'],
  [{ field: 'toString', isNot: 'x' }, {}, false, 'toString is not x'],
  [{ field: 'plan', section: 'status', is: 'DONE' }, { status: { plan: 'DONE' } }, true, 'plan is DONE'],
  [{ field: 'plan', section: 'status', is: 'DONE' }, { plan: 'DONE' }, false, 'plan is DONE'],
])('%j on %j: %s', (condition, payload, matched, words) => {
  expect([matches(condition, { satisfied: true, payload }), conditionWords(condition)]).toEqual([matched, words]);
});

test.each<[edges: [Condition, string][], satisfied: boolean | null, taken: number | null]>([
  [[], true, null],
  [
    [
      ['satisfied', 'Socket-2'],
      ['always', 'Socket-3'],
    ],
    true,
    0,
  ],
  [
    [
      ['satisfied', 'Socket-2'],
      ['always', 'Socket-3'],
    ],
    false,
    1,
  ],
  [
    [
      ['satisfied', 'Socket-2'],
      ['always', 'Socket-3'],
    ],
    null,
    1,
  ],
  [
    [
      ['satisfied', 'Socket-2'],
      ['satisfied', 'Socket-3'],
    ],
    true,
    0,
  ],
  [[['not_satisfied', 'Socket-2']], true, null],
])('of the edges %j an output with %s takes %s', (edges, satisfied, taken) => {
  const [socket] = Object.values(graph([]).sockets);
  if (!socket) throw new Error('the fixture has sockets');
  const found = firstEdge(
    { ...socket, edges: edges.map(([when, to]) => ({ when, to, maxTraversals: null })) },
    { satisfied },
  );
  expect(found?.index ?? null).toBe(taken);
  expect(found?.edge.to).toBe(taken === null ? undefined : edges[taken]?.[1]);
});

const exits = (...routes: [from: string, condition: Condition, target: string][]): ExitRoute[] => {
  return routes.map(([from, condition, targetSocketId]) => ({
    id: `${from}:${condition}`,
    from,
    condition,
    targetSocketId,
  }));
};
const loop = (id: string, sockets: string[], routes: ExitRoute[], walks = true): Loop => {
  const iterator = { items: 'state.workItems', as: 'workItem', cursor: 'i', cursorKey: 'i' };
  return { id, sockets, consumes: null, iterator: walks ? iterator : null, exits: routes, maxConcurrency: 1 };
};
const all = exits(['Socket-4', 'always', 'A'], ['Socket-4', 'not_satisfied', 'N'], ['Socket-4', 'satisfied', 'S']);

test.each<[what: string, loops: Loop[], satisfied: boolean | null, target: string | null]>([
  ['satisfied goes first when it holds', [loop('x', ['Socket-4'], all)], true, 'S'],
  ['not_satisfied goes first when it holds', [loop('x', ['Socket-4'], all)], false, 'N'],
  ['without a boolean only always is left', [loop('x', ['Socket-4'], all)], null, 'A'],
  ['always stands in for a missing guard', [loop('x', ['Socket-4'], all.slice(0, 2))], true, 'A'],
  ['without a match there is no route', [loop('x', ['Socket-4'], all.slice(1))], null, null],
  [
    'routes of other sockets do not count',
    [loop('x', ['Socket-3', 'Socket-4'], exits(['Socket-3', 'always', 'A']))],
    true,
    null,
  ],
  [
    'the first loop with a route wins',
    [loop('x', ['Socket-4'], []), loop('y', ['Socket-4'], all.slice(0, 1)), loop('z', ['Socket-4'], all)],
    true,
    'A',
  ],
])('%s', (_what, loops, satisfied, target) => {
  expect(exitTarget(graph(loops), 'Socket-4', { satisfied })?.route.targetSocketId ?? null).toBe(target);
});

test.each<[what: string, routes: ExitRoute[], target: string | null]>([
  ['an empty loop leaves by an always route', all, 'A'],
  [
    'whichever of its sockets that starts from',
    exits(['Socket-2', 'satisfied', 'S'], ['Socket-3', 'always', 'A']),
    'A',
  ],
  ['and never by a guarded one', all.slice(1), null],
])('%s', (_what, routes, target) => {
  const empty = loop('x', ['Socket-2', 'Socket-3', 'Socket-4'], routes);
  expect(emptyEntryTarget(graph([empty]), empty)?.targetSocketId ?? null).toBe(target);
});

test.each<[loops: Loop[], found: string | null]>([
  [[], null],
  [[loop('x', ['Socket-3'], [])], null],
  [[loop('plain', ['Socket-4'], [], false)], null],
  [[loop('plain', ['Socket-4'], [], false), loop('x', ['Socket-4'], []), loop('y', ['Socket-4'], [])], 'x'],
])('a socket works on the items of the first loop that walks over something', (loops, found) => {
  expect(loopOf(graph(loops), 'Socket-4')?.id ?? null).toBe(found);
});

function graph(loops: Loop[]): Graph {
  return { ...resolve(flow({}), 'Flow').graph, loops };
}
