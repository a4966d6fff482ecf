import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { check } from './check.ts';
import { DEFAULTS, type Graph, type Materia, type Socket } from './config.ts';
import { type Edits, flow, software } from './fixtures/software.ts';
import { resolve } from './resolve.ts';

const graph = (edits: Edits = {}): Graph => resolve(sound(flow(edits)), 'Flow').graph;
const socket = (written: Json, materia: Json = { prompt: 'x', tools: 'none' }): Socket | undefined => {
  const config = software({ 'materia.X': materia, 'loadouts.Flow.sockets.Socket-9': written });
  return resolve(sound(config), 'Flow').graph.sockets['Socket-9'];
};
const materia = (written: Json): Materia | undefined => {
  const config = software({ 'materia.X': written, 'loadouts.Flow.sockets.Socket-9': { materia: 'X' } });
  return resolve(sound(config), 'Flow').materia.X;
};

test('a plain socket gets every default', () => {
  expect(socket({ materia: 'X' })).toEqual({
    id: 'Socket-9',
    materia: 'X',
    contract: 'text',
    parse: 'text',
    assign: [],
    edges: [],
    advance: null,
    foreach: null,
    limits: { maxOutputBytes: DEFAULTS.maxOutputBytes, timeoutMs: DEFAULTS.agentTimeoutMs },
    schema: null,
    lockScope: null,
  });
});

test.each<[socket: JsonObject, materia: JsonObject, parse: string, contract: string]>([
  [{}, {}, 'text', 'text'],
  [{ parse: 'json' }, {}, 'json', 'materia'],
  [{}, { parse: 'json' }, 'json', 'materia'],
  [{ parse: 'text' }, { parse: 'json' }, 'text', 'text'],
  [{ contract: 'gaia' }, {}, 'json', 'gaia'],
  [{ contract: 'gaia' }, { parse: 'text' }, 'json', 'gaia'],
  [{ contract: 'materia' }, {}, 'json', 'materia'],
  [{ contract: 'text' }, { parse: 'json' }, 'text', 'text'],
  [{ contract: 'text' }, { contract: 'operator' }, 'text', 'text'],
  [{}, { contract: 'operator' }, 'json', 'operator'],
  [{ parse: 'json' }, { contract: 'operator' }, 'json', 'operator'],
  [{}, { generator: true }, 'json', 'materia'],
  [{ contract: 'operator' }, { generator: true }, 'json', 'operator'],
])('a socket %j of a materia %j is parsed as %s and speaks %s', (written, definition, parse, contract) => {
  const resolved = socket({ materia: 'X', ...written }, { prompt: 'x', tools: 'none', ...definition });
  expect(resolved).toMatchObject({ parse, contract });
});

test.each<[socket: JsonObject, materia: JsonObject, assign: JsonObject]>([
  [{}, {}, {}],
  [{ assign: { a: '$.b' } }, {}, { a: '$.b' }],
  [{}, { assign: { a: '$.b' } }, { a: '$.b' }],
  [{ assign: { c: '$' } }, { assign: { a: '$.b' } }, { c: '$' }],
  [{ assign: { c: 'workItems.0' } }, { generator: true }, { workItems: '$.workItems', c: 'workItems.0' }],
])('a socket %j of a materia %j assigns %j', (written, definition, assign) => {
  const resolved = socket({ materia: 'X', parse: 'json', ...written }, { prompt: 'x', tools: 'none', ...definition });
  expect(resolved?.assign).toEqual(Object.entries(assign));
});

test.each<[socket: JsonObject, materia: JsonObject, timeoutMs: number]>([
  [{}, { prompt: 'x', tools: 'none' }, DEFAULTS.agentTimeoutMs],
  [{}, { utility: 'noop' }, DEFAULTS.utilityTimeoutMs],
  [{}, { utility: 'noop', timeoutMs: 5 }, 5],
  [{ limits: { timeoutMs: 7 } }, { utility: 'noop', timeoutMs: 5 }, 7],
])('a socket %j of a materia %j has %s ms', (written, definition, timeoutMs) => {
  expect(socket({ materia: 'X', ...written }, definition)?.limits.timeoutMs).toBe(timeoutMs);
});

test('what is written on a socket is kept', () => {
  const schema = { type: 'object' };
  const edges = [
    { when: 'satisfied', to: 'end' },
    { when: 'always', to: 'Socket-9', maxTraversals: 2 },
  ];
  const advance = { cursor: 'i', items: 'state.list', when: 'satisfied', done: 'end' };
  const limits = { maxOutputBytes: 10 };
  const resolved = socket({ materia: 'X', parse: 'json', schema, edges, advance, limits });
  expect(resolved).toMatchObject({
    schema,
    edges: [
      { when: 'satisfied', to: 'end', maxTraversals: null },
      { when: 'always', to: 'Socket-9', maxTraversals: 2 },
    ],
    advance: { cursor: 'i', items: 'state.list', when: 'satisfied' },
    limits: { maxOutputBytes: 10 },
  });
});

test('a loop that consumes walks over the work items', () => {
  expect(graph().loops).toEqual([
    {
      id: 'main',
      sockets: ['Socket-2', 'Socket-3', 'Socket-4'],
      consumes: 'Socket-1',
      iterator: { items: 'state.workItems', as: 'workItem', cursor: 'workItemIndex', cursorKey: 'workItemIndex' },
      exits: [{ id: 'exit:Socket-4:satisfied', from: 'Socket-4', condition: 'satisfied', targetSocketId: 'Socket-5' }],
      maxConcurrency: 4,
    },
  ]);
});

test.each<[what: string, loop: JsonObject, iterator: JsonObject | null]>([
  ['nothing', {}, null],
  ['a list', { iterator: { items: 'state.files' } }, { items: 'state.files', as: 'item', cursor: 'filesIndex' }],
  [
    'a list with names',
    { iterator: { items: 'files', as: 'file', cursor: 'n' } },
    { items: 'files', as: 'file', cursor: 'n' },
  ],
  [
    'work items by name',
    { iterator: { items: 'state.workItems' } },
    { items: 'state.workItems', as: 'item', cursor: 'workItemIndex@other' },
  ],
])('a loop may walk over %s', (_what, loop, iterator) => {
  const other = graph({ 'loops.other': { sockets: ['Socket-5'], ...loop } }).loops[1];
  expect(other?.iterator ?? null).toEqual(
    iterator && { ...iterator, cursor: String(iterator.cursor).split('@')[0], cursorKey: iterator.cursor },
  );
});

test('`consumes` may name its item and its cursor', () => {
  const edits = { 'loops.main.consumes.as': 'task', 'loops.main.consumes.cursor': 'n' };
  const walk = { items: 'state.workItems', as: 'task', cursor: 'n', cursorKey: 'n' };
  expect(graph(edits).loops[0]?.iterator).toEqual(walk);
});

test('an iterator beside `consumes` completes itself from it', () => {
  const [loop] = graph({ 'loops.main.iterator': { items: 'state.workItems.0.parts' } }).loops;
  expect(loop).toMatchObject({ consumes: 'Socket-1', iterator: { items: 'state.workItems.0.parts', as: 'workItem' } });
});

test.each<[what: string, consumes: JsonObject, cursorKey: string]>([
  ['by default has a cursor of its own', {}, 'workItemIndex@second'],
  ['that names another cursor has that', { cursor: 'other' }, 'other'],
  ['that names the same cursor shares it', { cursor: 'workItemIndex' }, 'workItemIndex'],
])('a second loop %s', (_what, consumes, cursorKey) => {
  const back = [{ when: 'always', to: 'Socket-7' }];
  const second = graph({
    'sockets.Socket-5.edges': [{ when: 'always', to: 'Socket-6' }],
    'sockets.Socket-6': { materia: 'Plan', edges: back },
    'sockets.Socket-7': { materia: 'Sum', advance: { cursor: 'workItemIndex', items: 'state.workItems' }, edges: back },
    'loops.second': { sockets: ['Socket-7'], consumes: { from: 'Socket-6', ...consumes } },
  }).loops[1];
  expect(second?.iterator?.cursorKey).toBe(cursorKey);
});

test('a `foreach` walks like an iterator and does not take the cursor of a loop', () => {
  const walk = { items: 'state.workItems', as: 'item', cursor: 'workItemIndex', cursorKey: 'workItemIndex@Socket-5' };
  expect(graph({ 'sockets.Socket-5.foreach': { items: 'state.workItems' } }).sockets['Socket-5']?.foreach).toEqual(
    walk,
  );
});

test('the one generator that enters a loop is consumed, whatever name was left behind', () => {
  const between = { materia: 'Plan', edges: [{ when: 'always', to: 'Socket-2' }] };
  const edits = { 'sockets.Socket-1.edges.0.to': 'Socket-6', 'sockets.Socket-6': between };
  expect(graph(edits).loops[0]?.consumes).toBe('Socket-6');
});

const legacy = (to: string): Edits => ({
  'sockets.Socket-4.advance': undefined,
  'loops.main.exit': { from: 'Socket-4', when: 'satisfied', to },
  'loops.main.exits': undefined,
});
const derived = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };

test('a legacy exit becomes an advance and a route', () => {
  const { sockets, loops } = graph(legacy('Socket-5'));
  expect(sockets['Socket-4']?.advance).toEqual(derived);
  expect(loops[0]?.exits).toEqual(graph().loops[0]?.exits);
});

test('a legacy exit to the end becomes an advance only', () => {
  const { sockets, loops } = graph(legacy('end'));
  expect(sockets['Socket-4']?.advance).toEqual(derived);
  expect(loops[0]?.exits).toEqual([]);
});

test('a route that is written down stands before the legacy exit', () => {
  const edits = { ...legacy('Socket-1'), 'loops.main.exits': flowExits() };
  expect(graph(edits).loops[0]?.exits).toMatchObject([{ targetSocketId: 'Socket-5' }]);
});

test('an agent gets every default', () => {
  expect(materia({ prompt: 'Do it.', tools: 'none' })).toEqual({
    type: 'agent',
    id: 'X',
    label: 'X',
    generator: false,
    multiTurn: false,
    prompt: 'Do it.',
    tools: 'none',
    runner: 'claude',
    model: null,
    thinking: null,
    identity: null,
    onCrash: 'rerun',
    lockScope: null,
  });
});

test('what is written on an agent is kept', () => {
  const tools = { type: 'custom', tools: ['read', 'grep', 'read'] };
  const written = {
    label: 'L',
    generator: true,
    multiTurn: true,
    prompt: 'p',
    runner: 'pi',
    model: 'm',
    thinking: 'low',
  };
  const agent = materia({ ...written, tools, identity: 'me', onCrash: 'wait' });
  expect(agent).toMatchObject({
    ...written,
    tools: { type: 'custom', tools: ['read', 'grep'] },
    identity: 'me',
    onCrash: 'wait',
  });
});

test('how an agent uses its runner is kept, and a fallback is on the same runner unless it names one', () => {
  const written = {
    system: 's',
    env: ['A'],
    args: ['-x'],
    baseUrl: 'http://h',
    runner: 'codex',
    wire: 'chat',
    keyVariable: 'L',
  };
  const place = { baseUrl: 'https://h', wire: 'responses', keyVariable: 'K' };
  const fallbacks = [{ model: 'm' }, { runner: 'pi' }, { runner: 'openai', model: 'o', ...place }];
  expect(materia({ prompt: 'p', tools: 'none', ...written, fallbacks })).toMatchObject({
    ...written,
    fallbacks: [{ runner: 'codex', model: 'm' }, { runner: 'pi', model: null }, fallbacks[2]],
  });
});

test('prices are kept as they were written', () => {
  const prices = { m: { input: 1, output: 2 }, n: { input: 1, output: 2, cached: 0.5 } };
  expect(resolve(sound(software({ prices })), 'Flow').prices).toEqual(prices);
  expect(resolve(software(), 'Flow')).not.toHaveProperty('prices');
});

test('a template keeps its optional arguments together', () => {
  const command = ['a', ['-m', '{{model}}'], '{{prompt}}'];
  expect(materia({ prompt: 'p', tools: 'none', runner: 'command', command })).toMatchObject({ type: 'agent', command });
});

test('a blank model keeps the one the runner would use', () => {
  expect(materia({ prompt: 'p', tools: 'coding', model: '', thinking: ' ' })).toMatchObject({
    model: null,
    thinking: null,
  });
});

test.each<[written: Json, resolved: JsonObject]>([
  [{ utility: 'echo' }, { utility: 'echo', command: null, script: null, params: {}, once: false }],
  [
    { command: ['ls', '-l'], once: true, params: { a: 1 } },
    { utility: null, command: ['ls', '-l'], script: null, once: true, params: { a: 1 } },
  ],
  [{ script: { kind: 'shippedUtility', name: 'Detect-VCS' } }, { utility: null, command: null, script: 'Detect-VCS' }],
])('the utility %j', (written, resolved) => {
  expect(materia(written)).toMatchObject({ type: 'utility', id: 'X', label: 'X', generator: false, ...resolved });
});

test('only the materia of the loadout go along', () => {
  const config = sound(software({ 'materia.Unused': { prompt: 'x', tools: 'none' } }));
  expect(Object.keys(resolve(config, 'Flow').materia)).toEqual(['Plan', 'Build', 'Eval', 'Maintain', 'Sum']);
});

test('budget and limits have defaults', () => {
  expect(resolve(software(), 'Flow')).toMatchObject({
    budget: { maxTokens: null, maxCost: null, maxDurationMs: null, warnAtPercent: 75 },
    limits: { maxNoAdvanceCycles: 3, repairTurnsMax: 1, maxBriefBytes: 65_536 },
  });
});

test('budget and limits are taken over, zeros too', () => {
  const budget = { maxTokens: 0, maxCost: 0.5, maxDurationMs: 9, warnAtPercent: 50 };
  const limits = { maxNoAdvanceCycles: 1, repairTurnsMax: 0, maxBriefBytes: 100 };
  expect(resolve(sound(software({ budget, limits })), 'Flow')).toMatchObject({ budget, limits });
});

test.each([
  ['a prompt', { 'materia.Sum': { tools: 'none', promptFile: 'sum.md' } }],
  ['the schema of a materia', { 'materia.Sum.schema': 'sum.json', 'loadouts.Flow.sockets.Socket-5.parse': 'json' }],
  [
    'the schema of a socket',
    { 'loadouts.Flow.sockets.Socket-5.schema': 'sum.json', 'loadouts.Flow.sockets.Socket-5.parse': 'json' },
  ],
] as [string, Edits][])('%s must have been read from its file', (_what, edits) => {
  expect(() => resolve(sound(software(edits)), 'Flow')).toThrow(/names a file/);
});

// Rows that do not pass the checks would prove nothing.
function sound(config: JsonObject): JsonObject {
  expect(check(config).filter((issue) => issue.level === 'error')).toEqual([]);
  return config;
}

function flowExits(): Json {
  return JSON.parse(JSON.stringify(graph().loops[0]?.exits));
}
