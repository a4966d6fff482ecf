import { expect, test } from 'vitest';
import { cyclesIn } from './route.ts';

test.each<[what: string, edges: Record<string, string[]>, cycles: string[][]]>([
  ['no edge', { a: [] }, []],
  ['a line', { a: ['b'], b: ['c'], c: [] }, []],
  ['a node that leads to itself', { a: ['a', 'b'], b: [] }, [['a']]],
  ['two that lead to each other', { a: ['b'], b: ['a'] }, [['a', 'b']]],
  [
    'two cycles in a row',
    { a: ['b'], b: ['a', 'c'], c: ['d'], d: ['c'] },
    [
      ['c', 'd'],
      ['a', 'b'],
    ],
  ],
  ['a cycle behind a line', { a: ['b'], b: ['c'], c: ['b'] }, [['b', 'c']]],
  ['two rings that share a node', { a: ['b', 'c'], b: ['a'], c: ['a'] }, [['a', 'b', 'c']]],
  ['edges that leave the graph', { a: ['x'], b: ['a'] }, []],
  ['a diamond', { a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }, []],
])('%s', (_what, edges, cycles) => {
  const found = cyclesIn(Object.keys(edges), (node) => edges[node] ?? []);
  expect(found.map((cycle) => cycle.toSorted())).toEqual(cycles);
});
