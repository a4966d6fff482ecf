// Counters and notes of items: how they are called, and when they are forgotten.
import { expect, test } from 'vitest';
import { crew, workflow } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { edgeKey, forgetItem, forgetItems, remembersItems } from './bookkeeping.ts';
import { noteKey } from './notes.ts';
import type { Cast, ReworkNote } from './state.ts';

const note: ReworkNote = {
  ...{ from: 'Socket-3', label: 'Eval', target: 'Socket-2', when: 'not_satisfied' },
  ...{ item: 'WI-1', itemLabel: 'Item 1', reason: 'why' },
};

/** A cast of the workflow, whose loop has the members Socket-2 to Socket-4, with these counters and notes. */
function remembering(edges: readonly string[], notes: readonly string[]): Cast {
  const { cast } = play({ config: workflow(), agents: crew(), hold: true });
  cast.traversals = Object.fromEntries(edges.map((key) => [key, 1]));
  cast.rework = Object.fromEntries(notes.map((key) => [key, [note]]));
  return cast;
}

const left = ({ traversals, rework }: Cast) => [...Object.keys(traversals), ...Object.keys(rework)];

test('keys say whose they are', () => {
  expect([edgeKey('A', 'B', 'WI-1'), edgeKey('A', 'B', null), noteKey('B', 'WI-1'), noteKey('B', null)]).toEqual([
    ...['A->B@WI-1', 'A->B@', 'B@WI-1', 'B@'],
  ]);
});

test('a finished item is forgotten whole, and no other with it', () => {
  const cast = remembering(['A->B@WI-1', 'A->B@WI-11', 'A->B@'], ['B@WI-1', 'B@WI-2', 'B@']);
  forgetItem(cast, 'WI-1');
  expect(left(cast)).toEqual(['A->B@WI-11', 'A->B@', 'B@WI-2', 'B@']);
});

test.each<[string, string, boolean]>([
  ['an edge inside the loop, for an item', 'Socket-3->Socket-2@WI-2', true],
  ['an edge out of it', 'Socket-3->Socket-1@WI-2', false],
  ['an edge into it', 'Socket-1->Socket-2@WI-2', false],
  ['an edge that counts for the whole cast', 'Socket-3->Socket-2@', false],
])('a new list makes the cast forget %s (%s): %s', (_what, key, forgotten) => {
  const cast = remembering([key], []);
  const [loop] = cast.rules.graph.loops;
  if (!loop) throw new Error('the workflow has a loop');
  expect(remembersItems(cast, loop)).toBe(forgotten);
  forgetItems(cast, loop);
  expect(left(cast)).toEqual(forgotten ? [] : [key]);
});

test.each<[string, string, boolean]>([
  ['a note for a member about an item', 'Socket-2@WI-2', true],
  ['a note for a member about all', 'Socket-2@', false],
  ['a note for somebody else', 'Socket-1@WI-2', false],
])('and %s (%s): %s', (_what, key, forgotten) => {
  const cast = remembering([], [key]);
  for (const loop of cast.rules.graph.loops) forgetItems(cast, loop);
  expect(left(cast)).toEqual(forgotten ? [] : [key]);
});
