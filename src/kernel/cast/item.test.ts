// Which item a socket works on, what it is called, and who can see it.
import { expect, test } from 'vitest';
import { always, crew, graph, plan, workflow } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { Json } from '../json.ts';
import { cursorName, itemsAt, scopeOf } from './data.ts';
import { itemKey } from './item.ts';

test.each([
  ['state.workItems', 'item', 0, 'WI-1'],
  ['state.batch.workItems', 'item', 9, 'WI-10'],
  ['state.files', 'workItem', 1, 'WI-2'],
  ['state.files', 'file', 1, '1'],
  ['state.workItemsDone', 'item', 0, '0'],
  ['state.files', null, 0, '0'],
])('the item of %s as %s at %i is called %s', (items, as, index, key) => {
  expect(itemKey(items, as, index)).toBe(key);
});

test.each<[Json, string]>([
  [{ title: 'Title', name: 'Name' }, 'Title'],
  [{ title: ' ', name: 'Name' }, 'Name'],
  [{ title: 7 }, '0'],
  ['a file', '0'],
  [null, '0'],
])('the item %j is labelled %s', (item, label) => {
  const sockets = { 'Socket-1': { materia: 'Write', foreach: { items: 'state.list' } } };
  const cast = play({ config: graph(sockets), data: { list: [item] }, agents: { Write: ['x'] }, hold: true });
  expect(cast.turn.item).toMatchObject({ key: '0', label, index: 0, total: 1 });
});

test.each<[string, Json]>([
  ['a list', ['x']],
  ['a missing value', null],
  ['an object', { length: 1 }],
  ['a text', 'x'],
])('%s is walked as a list, or as an empty one', (_what, list) => {
  const cast = play({
    config: graph({ 'Socket-1': { materia: 'Write' } }),
    data: { list },
    agents: { Write: [] },
    hold: true,
  });
  expect(itemsAt(cast.cast, 'state.list')).toEqual(Array.isArray(list) ? list : []);
});

test('the item is seen under its names beside the data, and never stored in it', () => {
  const cast = play({ config: workflow(), agents: crew({ Plan: [plan(1)] }), hold: true });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan(1)) });
  const item = { title: 'Item 1', context: 'do item 1' };
  const scope = scopeOf(cast.cast, cast.turn.item);
  expect(scope.itemVars).toEqual({ item, currentWorkItem: item, workItem: item });
  expect([scope.item, scope.cursors]).toEqual([item, { workItemIndex: 0 }]);
  expect(Object.keys(cast.cast.data)).toEqual(['envelope', 'workItems']);
});

test('an alias names the item of a list of one’s own', () => {
  const sockets = { 'Socket-1': { materia: 'Each', foreach: { items: 'state.files', as: 'file' } } };
  const materia = { Each: { tools: 'none', prompt: 'Mend {{file}} ({{cursor.filesIndex}}) and {{workItem}}.' } };
  const cast = play({ config: graph(sockets, { materia }), data: { files: ['a.ts'] }, agents: { Each: ['x'] } });
  expect(cast.briefs('Socket-1')[0]).toContain('Mend a.ts (0) and .');
});

test('a socket’s own list goes before that of its loop', () => {
  const sockets = {
    'Socket-1': { materia: 'Write', foreach: { items: 'state.mine' }, edges: [always('Socket-1', 1)] },
  };
  const loops = { each: { sockets: ['Socket-1'], iterator: { items: 'state.theirs' } } };
  const data = { mine: [{ name: 'mine' }], theirs: [] };
  const cast = play({ config: graph(sockets, { loops }), data, agents: { Write: ['x'] }, hold: true });
  expect(cast.turn.item?.label).toBe('mine');
});

test.each([
  ['i', 'i'],
  ['workItemIndex@second', 'workItemIndex'],
])('people know the cursor %s as %s', (key, name) => {
  expect(cursorName(key)).toBe(name);
});
