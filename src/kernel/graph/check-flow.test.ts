import { expect, test } from 'vitest';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import type { Json, JsonObject } from '../json.ts';
import { check } from './check.ts';
import { type Edits, flow, software } from './fixtures/software.ts';

const to = (target: string, when = 'always', maxTraversals?: number): Json => {
  return { when, to: target, ...(maxTraversals === undefined ? {} : { maxTraversals }) };
};
const text = (...edges: Json[]): Json => ({ materia: 'Sum', edges });
const json = (...edges: Json[]): Json => ({ materia: 'Eval', parse: 'json', edges });

/** A loadout of plain sockets, the first of which is the entry. */
function issuesOfSockets(sockets: Record<string, Json>, edits: Edits = {}): string[] {
  const config = software({ 'loadouts.Flow': { entry: 'Socket-1', sockets }, ...edits });
  return check(config).map(({ code, path }) => `${code} ${path.replace('loadouts.Flow.', '')}`);
}

const SEVERITY = { severity: { enum: ['low', 'high'] } };
const sorted = (schema: object, ...edges: Json[]): Json => ({ ...(json(...edges) as object), schema }) as Json;
const is = (value: Json, target: string): Json => ({ when: { field: 'severity', is: value }, to: target });

test.each<[rule: string, socket: Json, issues: string[]]>([
  [
    'every value has its edge',
    sorted({ required: ['severity'], properties: SEVERITY }, is('high', 'end'), is('low', 'end')),
    [],
  ],
  [
    'the field may be missing',
    sorted({ properties: SEVERITY }, is('high', 'end'), is('low', 'end')),
    ['NO_EDGE_MATCHES sockets.Socket-1.edges: no severity'],
  ],
  [
    'a value has no edge',
    sorted({ required: ['severity'], properties: SEVERITY }, is('high', 'end')),
    ['NO_EDGE_MATCHES sockets.Socket-1.edges: severity "low"'],
  ],
  ['whatever is left over is always taken', sorted({ properties: SEVERITY }, is('high', 'end'), to('end')), []],
  [
    'another value than is asked for',
    sorted({ required: ['severity'], properties: { severity: {} } }, is('high', 'end')),
    ['NO_EDGE_MATCHES sockets.Socket-1.edges: another severity'],
  ],
  [
    'a value that the schema refuses',
    sorted({ properties: SEVERITY }, is('hihg', 'end'), to('end')),
    ['UNREACHABLE_EDGE sockets.Socket-1.edges[0]: severity is hihg'],
  ],
  [
    'a value of another type',
    sorted({ properties: { severity: { type: 'integer' } } }, is('3', 'end'), to('end')),
    ['UNREACHABLE_EDGE sockets.Socket-1.edges[0]: severity is "3"'],
  ],
  [
    'an edge before it takes the value',
    sorted(
      { properties: SEVERITY },
      { when: { field: 'severity', in: ['high', 'low'] }, to: 'end' },
      is('low', 'end'),
      to('end'),
    ),
    ['UNREACHABLE_EDGE sockets.Socket-1.edges[1]: severity is low'],
  ],
  [
    'is and isNot take all of a required field',
    sorted({ required: ['severity'], properties: { severity: {} } }, is('high', 'end'), {
      when: { field: 'severity', isNot: 'high' },
      to: 'end',
    }),
    [],
  ],
  [
    'a cycle from which one value leads out',
    sorted({ required: ['severity'], properties: SEVERITY }, is('high', 'Socket-1'), is('low', 'end')),
    [],
  ],
  [
    'a cycle that no value leaves',
    sorted({ required: ['severity'], properties: SEVERITY }, is('high', 'Socket-1'), is('low', 'Socket-1')),
    ['ENDLESS_CYCLE sockets.Socket-1: Socket-1'],
  ],
])('edges that ask for a value: %s', (_rule, socket, expected) => {
  const config = software({ 'loadouts.Flow': { entry: 'Socket-1', sockets: { 'Socket-1': socket } } });
  const found = check(config);
  const lines = found.map(({ code, path }) => `${code} ${path.replace('loadouts.Flow.', '')}`);
  expect(lines).toEqual(expected.map((line) => line.split(': ')[0]));
  for (const [index, line] of expected.entries()) expect(found[index]?.message).toContain(line.split(': ')[1]);
});

test.each<[what: string, materia: Json, field: string, value: Json, issues: string[]]>([
  [
    'a fixed output',
    { type: 'utility', utility: 'echo', parse: 'json', params: { output: { kind: 'a' } } },
    'kind',
    'a',
    [],
  ],
  [
    'no member of a fixed output',
    { type: 'utility', utility: 'echo', parse: 'json', params: { output: { kind: 'a' } } },
    'name',
    'a',
    ['INVALID_EDGE_CONDITION'],
  ],
  ['a utility that is known', { type: 'utility', utility: 'vcs.detect', parse: 'json' }, 'kind', 'git', []],
  [
    'a value that it never has',
    { type: 'utility', utility: 'vcs.detect', parse: 'json' },
    'kind',
    'svn',
    ['UNREACHABLE_EDGE'],
  ],
  [
    'a program of the user',
    { type: 'utility', command: ['x'], parse: 'json' },
    'kind',
    'git',
    ['INVALID_EDGE_CONDITION'],
  ],
  [
    'a program with a schema',
    { type: 'utility', command: ['x'], parse: 'json', schema: { properties: { kind: {} } } },
    'kind',
    'git',
    [],
  ],
  ['gaia', { tools: 'none', prompt: 'x', contract: 'gaia' }, 'ownership_assessment', 'not_my_surface', []],
  [
    'no field of gaia',
    { tools: 'none', prompt: 'x', contract: 'gaia' },
    'severity',
    'high',
    ['INVALID_EDGE_CONDITION'],
  ],
  ['operator', { tools: 'none', prompt: 'x', contract: 'operator' }, 'status', 'done', []],
  ['no status of operator', { tools: 'none', prompt: 'x', contract: 'operator' }, 'status', 'ok', ['UNREACHABLE_EDGE']],
])('the fields that a contract declares: %s', (_what, materia, field, value, codes) => {
  const edges = [{ when: { field, is: value }, to: 'end' }, to('end')];
  const config = software({
    'materia.Asked': materia,
    'loadouts.Flow': { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Asked', edges } } },
  });
  expect(check(config, { utilities: UTILITY_NAMES }).map(({ code }) => code)).toEqual(codes);
});

const flows: [rule: string, sockets: Record<string, Json>, issues: string[]][] = [
  ['everything leads to the end', { 'Socket-1': text(to('Socket-2')), 'Socket-2': text() }, []],
  [
    'a socket nothing leads to',
    { 'Socket-1': text(), 'Socket-2': text(to('Socket-3')), 'Socket-3': text() },
    ['UNREACHABLE_SOCKET sockets.Socket-2', 'UNREACHABLE_SOCKET sockets.Socket-3'],
  ],
  [
    'two sockets that only lead to each other',
    { 'Socket-1': text(to('Socket-2')), 'Socket-2': text(to('Socket-1')) },
    ['ENDLESS_CYCLE sockets.Socket-1'],
  ],
  [
    'a socket that only leads to itself',
    { 'Socket-1': text(to('Socket-2')), 'Socket-2': text(to('Socket-2')) },
    ['ENDLESS_CYCLE sockets.Socket-2'],
  ],
  [
    'both outcomes lead back',
    { 'Socket-1': json(to('Socket-1', 'satisfied'), to('Socket-1', 'not_satisfied')) },
    ['ENDLESS_CYCLE sockets.Socket-1'],
  ],
  ['an outcome without an edge ends the cast', { 'Socket-1': json(to('Socket-1', 'not_satisfied')) }, []],
  ['an edge to `end` leads out', { 'Socket-1': json(to('end', 'satisfied'), to('Socket-1')) }, []],
  ['a retry budget ends a cycle', { 'Socket-1': text(to('Socket-1', 'always', 3)) }, []],
  [
    'a retry budget beside the cycle does not end it',
    { 'Socket-1': json(to('Socket-1', 'satisfied'), to('Socket-1', 'not_satisfied', 3)) },
    ['ENDLESS_CYCLE sockets.Socket-1'],
  ],
  [
    'leaving one cycle for another that never ends',
    { 'Socket-1': json(to('Socket-2', 'satisfied'), to('Socket-1')), 'Socket-2': text(to('Socket-2')) },
    ['ENDLESS_CYCLE sockets.Socket-2'],
  ],
  [
    'a cycle nothing leads to is not entered',
    { 'Socket-1': text(), 'Socket-2': text(to('Socket-2')) },
    ['UNREACHABLE_SOCKET sockets.Socket-2'],
  ],
  [
    'an advance that uses up its list leads out',
    { 'Socket-1': { materia: 'Sum', edges: [to('Socket-1')], advance: { cursor: 'i', items: 'state.context' } } },
    [],
  ],
  [
    'a generator nobody listens to',
    { 'Socket-1': { materia: 'Plan', edges: [to('Socket-2')] }, 'Socket-2': text() },
    ['UNCONSUMED_GENERATOR sockets.Socket-1'],
  ],
  [
    'a generator that leads to a generator, which nobody listens to',
    { 'Socket-1': { materia: 'Plan', edges: [to('Socket-2')] }, 'Socket-2': { materia: 'Plan' } },
    ['UNCONSUMED_GENERATOR sockets.Socket-2'],
  ],
  [
    'a generator whose items are walked one by one',
    {
      'Socket-1': { materia: 'Plan', edges: [to('Socket-2')] },
      'Socket-2': { materia: 'Sum', foreach: { items: 'workItems' } },
    },
    [],
  ],
];

test.each(flows)('%s', (_rule, sockets, issues) => expect(issuesOfSockets(sockets)).toEqual(issues));

const loops: [rule: string, edits: Edits, issues: string[]][] = [
  ['what an exit leads to can be reached', {}, []],
  [
    'a loop that never advances is endless, and its exit is never taken',
    { 'sockets.Socket-4.advance': undefined },
    ['ENDLESS_CYCLE sockets.Socket-2'],
  ],
  [
    'an exit that leads back to the planner without another way out',
    { 'loops.main.exits.0.targetSocketId': 'Socket-1' },
    ['UNREACHABLE_SOCKET sockets.Socket-5', 'ENDLESS_CYCLE sockets.Socket-1'],
  ],
  [
    'an empty loop is left by its always exit, though the socket it starts from is never reached',
    {
      'sockets.Socket-3.edges': [to('Socket-2', 'not_satisfied', 2)],
      'loops.main.exits.0': { id: 'x', from: 'Socket-4', condition: 'always', targetSocketId: 'Socket-5' },
    },
    ['UNREACHABLE_SOCKET sockets.Socket-4', 'ITEMS_LEFT sockets.Socket-3.edges'],
  ],
  [
    'a member without an edge for one of its outcomes',
    { 'sockets.Socket-3.edges': [to('Socket-4', 'satisfied')] },
    ['ITEMS_LEFT sockets.Socket-3.edges'],
  ],
  [
    'a member that leads to the end',
    { 'sockets.Socket-3.edges': [to('Socket-4', 'satisfied'), to('end')] },
    ['ITEMS_LEFT sockets.Socket-3.edges[1]'],
  ],
  [
    'the member that advances, without an edge back',
    { 'sockets.Socket-4.edges': [], 'sockets.Socket-3.edges.1': to('Socket-2', 'not_satisfied', 2) },
    ['ITEMS_LEFT sockets.Socket-4.edges'],
  ],
  [
    'an item is parked where its loop goes on',
    { 'sockets.Socket-3.edges.1': { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2, then: 'park' } },
    [],
  ],
  [
    'nothing is parked by an edge that leads out of the loop',
    { 'sockets.Socket-3.edges.1': { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 2, then: 'park' } },
    ['INVALID_CONFIG sockets.Socket-3.edges[1].then'],
  ],
  [
    'nothing is parked outside of loops',
    { 'sockets.Socket-5.edges': [{ when: 'always', to: 'Socket-5', maxTraversals: 2, then: 'park' }] },
    ['INVALID_CONFIG sockets.Socket-5.edges[0].then'],
  ],
  [
    'nothing is parked that is finished there',
    { 'sockets.Socket-4.edges': [{ when: 'always', to: 'Socket-2', maxTraversals: 2, then: 'park' }] },
    ['INVALID_CONFIG sockets.Socket-4.edges[0].then'],
  ],
  [
    'an edge to a socket outside the loop',
    { 'sockets.Socket-3.edges': [to('Socket-4', 'satisfied'), to('Socket-5', 'not_satisfied')] },
    ['LEFT_EARLY sockets.Socket-3.edges[1]'],
  ],
  [
    'an edge back to the planner is no way out: it plans the rest anew',
    { 'sockets.Socket-3.edges': [to('Socket-4', 'satisfied'), to('Socket-1', 'not_satisfied', 2)] },
    [],
  ],
  [
    'a detour that comes back is no way out',
    {
      'sockets.Socket-3.edges': [to('Socket-4', 'satisfied'), to('Socket-6', 'not_satisfied')],
      'sockets.Socket-6': text(to('Socket-2', 'always', 2)),
    },
    [],
  ],
  [
    'a detour that may end is one',
    {
      'sockets.Socket-3.edges': [to('Socket-4', 'satisfied'), to('Socket-6', 'not_satisfied')],
      'sockets.Socket-6': json(to('Socket-2', 'satisfied')),
    },
    ['LEFT_EARLY sockets.Socket-3.edges[1]'],
  ],
  [
    'an agent that reports with a status is blocked where it is not satisfied, so it needs no edge for that',
    { 'sockets.Socket-3.contract': 'gaia', 'sockets.Socket-3.edges': [to('Socket-4', 'satisfied')] },
    [],
  ],
];

test.each(loops)('%s', (_rule, edits, issues) => {
  const found = check(flow(edits)).map(({ code, path }) => `${code} ${path.replace('loadouts.Flow.', '')}`);
  expect(found).toEqual(issues);
});

const slots: [prompt: string, unassigned: boolean][] = [
  ['{{request}} {{stateJson}} {{itemJson}} {{lastOutput}} {{lastJson}} {{lastJson.x}}', false],
  ['{{item}} {{item.title}} {{cursor.workItemIndex}} {{state}}', false],
  ['{{workItem.title}} {{currentWorkItem}} {{state.workItems}} {{workItems.0.title}}', false],
  ['{{context}} {{envelope.satisfied}} {{state.lastCheck}} {{ lastCheck.deep }}', false],
  ['{{missing}}', true],
  ['{{state.missing.part}}', true],
  ['{{lastcheck}}', true],
  ['{"sample": {"json": {{"braces"}}}', false],
];

test.each(slots)('a prompt that reads %s: unassigned %s', (prompt, unassigned) => {
  const issues = check(software({ 'materia.Build.prompt': prompt }));
  const path = 'loadouts.Flow.sockets.Socket-2.materia';
  expect(issues).toMatchObject(unassigned ? [{ code: 'UNASSIGNED_SLOT', level: 'warning', path }] : []);
});

test.each([
  ['an assignment', { 'sockets.Socket-3.assign': { copy: 'state.missing' } }, 'sockets.Socket-3.assign.copy'],
  ['an advance', { 'sockets.Socket-5.advance': { cursor: 'i', items: 'missing' } }, 'sockets.Socket-5.advance.items'],
  ['a foreach', { 'sockets.Socket-5.foreach': { items: 'state.missing' } }, 'sockets.Socket-5.foreach.items'],
  ['a loop', { 'loops.x': { sockets: ['Socket-5'], iterator: { items: 'state.missing' } } }, 'loops.x.iterator.items'],
  ['a lock scope', { 'sockets.Socket-5.lockScope': ['src/{{missing}}'] }, 'sockets.Socket-5.lockScope'],
] as [string, Edits, string][])('%s that reads a slot nothing assigns', (_what, edits, path) => {
  const found = check(flow({ ...edits, 'sockets.Socket-1.assign': { lastCheck: '$' } }));
  expect(found).toContainEqual(expect.objectContaining({ code: 'UNASSIGNED_SLOT', path: `loadouts.Flow.${path}` }));
});

test('outside loops there is no work item to read', () => {
  const config = { 'materia.Sum.prompt': '{{workItem.title}}' };
  expect(issuesOfSockets({ 'Socket-1': text() }, config)).toEqual(['UNASSIGNED_SLOT sockets.Socket-1.materia']);
});

const utility = (...edges: Json[]): Json => ({ materia: 'Tool', edges });
const patches: [rule: string, sockets: Record<string, Json>, issues: string[]][] = [
  ['a utility before it may set any slot', { 'Socket-1': utility(to('Socket-2')), 'Socket-2': text() }, []],
  [
    'one that runs only afterwards sets nothing in time',
    { 'Socket-1': text(to('Socket-2')), 'Socket-2': utility() },
    ['UNASSIGNED_SLOT sockets.Socket-1.materia'],
  ],
  [
    'one on another way does not either',
    {
      'Socket-1': json(to('Socket-2', 'satisfied'), to('Socket-3', 'not_satisfied')),
      'Socket-2': utility(),
      'Socket-3': text(),
    },
    ['UNASSIGNED_SLOT sockets.Socket-3.materia'],
  ],
  [
    'one that leads back to it comes before its second visit',
    {
      'Socket-1': text(to('Socket-2')),
      'Socket-2': { materia: 'Tool', edges: [to('Socket-1', 'not_satisfied', 2), to('end')] },
    },
    [],
  ],
  [
    'one that answers in text sets nothing',
    { 'Socket-1': { materia: 'Tool', parse: 'text', edges: [to('Socket-2')] }, 'Socket-2': text() },
    ['UNASSIGNED_SLOT sockets.Socket-2.materia'],
  ],
  [
    'what one assigns is there, whatever it answers in',
    {
      'Socket-1': { materia: 'Tool', parse: 'text', assign: { missing: '$' }, edges: [to('Socket-2')] },
      'Socket-2': text(),
    },
    [],
  ],
  [
    'its own assignments see what it has just set',
    { 'Socket-1': { materia: 'Tool', assign: { copy: 'state.missing' } } },
    [],
  ],
  [
    'its own lock scope is needed before it runs',
    { 'Socket-1': { materia: 'Tool', lockScope: 'src/{{missing}}' } },
    ['UNASSIGNED_SLOT sockets.Socket-1.lockScope'],
  ],
];

test.each(patches)('a slot that nothing assigns, and a utility: %s', (_rule, sockets, issues) => {
  const edits = { 'materia.Tool': { command: ['x'], parse: 'json' }, 'materia.Sum.prompt': '{{missing}}' };
  expect(issuesOfSockets(sockets, edits)).toEqual(issues);
});

const NAMES = { aliases: ['echo', 'noop'], scripts: ['Detect'], slots: { noop: [], Detect: ['missing'] } };
test.each<[rule: string, tool: JsonObject, read: boolean]>([
  ['a program of one’s own may set any', { command: ['x'] }, true],
  ['a program counts before a fixed output', { command: ['x'], params: { output: {} } }, true],
  [
    'what ships with the product sets what is known of it',
    { script: { kind: 'shippedUtility', name: 'Detect' } },
    true,
  ],
  ['and nothing else', { utility: 'noop' }, false],
  ['one that nobody knows may set any', { utility: 'other' }, true],
  ['a fixed output is all there is', { utility: 'noop', params: { output: { state: { missing: 1 } } } }, true],
  ['without the slot it sets none', { utility: 'noop', params: { output: { missing: 1 } } }, false],
  ['an echo of an object is a fixed output too', { utility: 'echo', params: { message: { state: {} } } }, false],
  ['what a text holds is seen when it is read', { utility: 'echo', params: { text: '{"state":{"missing":1}}' } }, true],
])('a slot that nothing assigns, and the slots of a utility: %s', (_rule, tool, isSet) => {
  const sockets = { 'Socket-1': utility(to('Socket-2')), 'Socket-2': text() };
  const edits = { 'materia.Tool': { parse: 'json', ...tool }, 'materia.Sum.prompt': '{{missing}}' };
  const config = software({ 'loadouts.Flow': { entry: 'Socket-1', sockets }, ...edits });
  const issues = check(config, { utilities: NAMES }).filter(({ code }) => code === 'UNASSIGNED_SLOT');
  expect(issues).toHaveLength(isSet ? 0 : 1);
});

const OTHER_CURSOR = 'warning INVALID_LOOP loadouts.Flow.sockets.Socket-4.advance.cursor';
test.each<[rule: string, edits: Edits, issues: string[]]>([
  ['the cursor of its loop', {}, []],
  ['another one', { 'sockets.Socket-4.advance.cursor': 'other' }, [OTHER_CURSOR]],
  [
    'the one that its loop was given',
    { 'sockets.Socket-4.advance.cursor': 'other', 'loops.main.consumes.cursor': 'other' },
    [],
  ],
  [
    'the one of its own walk',
    {
      'sockets.Socket-4.advance': { cursor: 'own', items: 'state.workItems', when: 'satisfied' },
      'sockets.Socket-4.foreach': { items: 'state.workItems', cursor: 'own' },
    },
    [],
  ],
  ['along a list of its own', { 'sockets.Socket-4.advance': { cursor: 'own', items: 'state.parts' } }, []],
  ['any, where nothing is walked over', { 'loops.main.consumes': undefined }, []],
])('a socket of a loop that advances %s', (_rule, edits, issues) => {
  const found = check(flow(edits)).filter(({ path }) => path.endsWith('.advance.cursor'));
  expect(found.map(({ level, code, path }) => `${level} ${code} ${path}`)).toEqual(issues);
});

test('a loop walks over what a utility before it has set, and not over what one after it sets', () => {
  const walk = { sockets: ['Socket-2'], iterator: { items: 'state.missing' }, exits: [] };
  const materia = { 'materia.Tool': { command: ['x'], parse: 'json' }, 'loadouts.Flow.loops': { walk } };
  const member = (...edges: Json[]) => ({
    materia: 'Eval',
    advance: { cursor: 'missingIndex', items: 'context' },
    edges,
  });
  const before = { 'Socket-1': utility(to('Socket-2')), 'Socket-2': member(to('Socket-2')) };
  expect(issuesOfSockets(before, materia)).toEqual([]);
  const after = { 'Socket-1': text(to('Socket-2')), 'Socket-2': member(to('Socket-3')), 'Socket-3': utility() };
  expect(issuesOfSockets(after, materia)).toEqual([
    'LEFT_EARLY sockets.Socket-2.edges[0]',
    'UNASSIGNED_SLOT loops.walk.iterator.items',
  ]);
});
