// What an accepted output leaves in the data of a cast, and in which order.
import { expect, test } from 'vitest';
import { always, crew, graph, no, plan, satisfied, workflow, yes } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { Json, JsonObject } from '../json.ts';
import { CONTEXT_CHARS_MAX } from './data.ts';

/** The data after one socket of this materia said this. */
function after(socket: JsonObject, said: Json, data: JsonObject = {}): JsonObject {
  const cast = play({ config: graph({ 'Socket-1': socket }), data, agents: { 'Socket-1': [said] } });
  expect(cast.cast.reason).toBe('completed');
  return cast.cast.data;
}

const items = plan(1).workItems as Json;
const others = plan(2, 'Other').workItems as Json;

test.each<[string, JsonObject, Json, JsonObject, JsonObject]>([
  ['plain text leaves nothing', { materia: 'Write' }, 'done', { a: 1 }, { a: 1 }],
  [
    'canonical fields are mirrored',
    { materia: 'Judge' },
    no('why'),
    {},
    { envelope: no('why'), context: '[Socket-1 Judge] why' },
  ],
  [
    'each field keeps its latest value',
    { materia: 'Judge' },
    yes,
    { envelope: no('old') },
    { envelope: { satisfied: true, context: 'old' } },
  ],
  [
    'a blank context adds no line',
    { materia: 'Judge' },
    { context: ' \n' },
    { context: 'old' },
    { envelope: { context: ' \n' }, context: 'old' },
  ],
  [
    'context lines are joined by a blank line',
    { materia: 'Judge' },
    { context: 'new' },
    { context: 'old' },
    { envelope: { context: 'new' }, context: 'old\n\n[Socket-1 Judge] new' },
  ],
  [
    'events are gone before anything is stored',
    { materia: 'Judge', assign: { all: '$' } },
    { event: [], satisfied: true },
    {},
    { envelope: yes, all: yes },
  ],
  [
    'a payload of text is not mirrored',
    { materia: 'Judge', assign: { shown: '$.text' } },
    { text: 'prose' },
    {},
    { shown: 'prose' },
  ],
])('%s', (_rule, socket, said, before, data) => {
  expect(after(socket, said, before)).toEqual(data);
});

test.each<[string, string, Json | undefined, Json]>([
  ['a socket that generates nothing leaves a list alone', 'Judge', items, items],
  ['but fills one that is missing', 'Judge', undefined, others],
  ['and one that is empty', 'Judge', [], others],
  ['a generator replaces the list', 'Plan', items, others],
])('%s', (_rule, materia, before, list) => {
  const data = after({ materia }, { workItems: others }, before === undefined ? {} : { workItems: before });
  expect(data.workItems).toEqual(list);
  expect(data.envelope).toEqual({ workItems: others });
});

test.each<[string, JsonObject, JsonObject, JsonObject]>([
  ['a patch is merged at the top', { state: { x: 1 } }, { y: 2 }, { x: 1, y: 2 }],
  ['what it names is replaced whole', { state: { n: { b: 1 } } }, { n: { a: 1 } }, { n: { b: 1 } }],
  ['a key is taken as it is, dots and all', { state: { 'a.b': 1 } }, { a: { b: 2 } }, { a: { b: 2 }, 'a.b': 1 }],
  ['control fields in it are ignored', { state: { workItems: [1], satisfied: true, x: 1 } }, {}, { x: 1 }],
  ['fields beside it are not kept by themselves', { made: 1 }, {}, {}],
])('the state of a utility: %s', (_rule, said, before, data) => {
  expect(after({ materia: 'Tool' }, said, before)).toEqual(data);
});

test('control fields in a patch neither route nor make a list', () => {
  const sockets = { 'Socket-1': { materia: 'Tool', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Write' } };
  const agents = { Tool: [{ state: { workItems: [1], satisfied: false } }], Write: ['x'] };
  const cast = play({ config: graph(sockets), agents });
  expect(cast.all('turn.accepted')[0]?.handoff.satisfied).toBeNull();
  expect(cast.cast.data).not.toHaveProperty('workItems');
});

test.each<[string, JsonObject, Json, JsonObject, JsonObject]>([
  ['the whole output', { all: '$' }, { satisfied: true, extra: [1] }, {}, { all: { satisfied: true, extra: [1] } }],
  ['a part of it by path', { first: '$.list.0.label' }, { list: [{ label: 'a' }] }, {}, { first: 'a' }],
  ['a slot of the data', { copy: 'state.old', bare: 'old' }, {}, { old: 1 }, { old: 1, copy: 1, bare: 1 }],
  ['a source that leads nowhere clears the slot', { slot: 'state.none' }, {}, { slot: 'stale' }, {}],
  ['a target makes its way', { 'deep.er': '$.v' }, { v: 1 }, { deep: 'text' }, { deep: { er: 1 } }],
  ['later assignments see earlier ones', { a: '$.v', b: 'state.a' }, { v: 1 }, {}, { a: 1, b: 1 }],
  ['the last JSON is already this one', { j: 'lastJson.v' }, { v: 1 }, {}, { j: 1 }],
  ['the last output is already this one', { o: 'lastOutput' }, {}, {}, { o: '{}' }],
])('assign: %s', (_rule, assign, said, before, expected) => {
  // Taking the whole output as well makes every field welcome, so that the rows need not name them.
  const socket = { materia: 'Judge', assign: { ...assign, whole: '$' } };
  const { envelope: _mirror, whole: _whole, ...data } = after(socket, said, before);
  expect(data).toEqual(expected);
});

test('assignments come after everything else, so they see the new context and may set it', () => {
  const seen = after({ materia: 'Judge', assign: { copy: 'state.context' } }, { context: 'new' });
  expect(seen.copy).toBe('[Socket-1 Judge] new');
  const set = after({ materia: 'Judge', assign: { context: '$.context' } }, { context: 'new' }, { context: 'old' });
  expect(set.context).toBe('new');
});

test('a text socket assigns its text', () => {
  expect(after({ materia: 'Write', assign: { note: '$', raw: 'lastOutput' } }, 'words')).toEqual({
    note: 'words',
    raw: 'words',
  });
});

test('inside a loop an assignment reads the item at hand', () => {
  const config = workflow({ 'sockets.Socket-2.assign': { lastTitle: 'item.title', place: 'workItem.context' } });
  const { data } = play({ config, agents: crew() }).cast;
  expect([data.lastTitle, data.place]).toEqual(['Item 2', 'do item 2']);
});

test('a refused output leaves no trace, and its repair is committed once', () => {
  const sockets = {
    'Socket-1': { materia: 'Judge', assign: { runs: '$.n' }, edges: [satisfied('Socket-2')] },
    'Socket-2': { materia: 'Write' },
  };
  const agents = {
    Judge: [
      { n: 1, context: 'bad' },
      { n: 2, satisfied: true, context: 'good' },
    ],
    Write: ['x'],
  };
  const cast = play({ config: graph(sockets), agents });
  expect(cast.cast.data).toEqual({
    envelope: { satisfied: true, context: 'good' },
    context: '[Socket-1 Judge] good',
    runs: 2,
  });
  expect(cast.cast.visits['Socket-1']).toBe(1);
});

test('prose around the JSON is kept as the last output, and shown to nobody who did not ask for it', () => {
  const sockets = { 'Socket-1': { materia: 'Judge', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Write' } };
  const cast = play({
    config: graph(sockets),
    agents: { Judge: ['Sure! {"satisfied": true} Bye.'], Write: ['x'] },
    hold: true,
  });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'Sure! {"satisfied": true} Bye.' });
  expect(cast.cast.lastOutput).toBe('Sure! {"satisfied": true} Bye.');
  expect(cast.briefs('Socket-2')[0]).not.toContain('Sure!');
});

test('the accumulated context keeps its newest part', () => {
  const { context } = after({ materia: 'Judge' }, { context: '…end' }, { context: 'a'.repeat(CONTEXT_CHARS_MAX) });
  expect(context).toHaveLength(CONTEXT_CHARS_MAX);
  expect(context).toMatch(/^a.*\n\n\[Socket-1 Judge\] …end$/s);
});
