import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { check } from './check.ts';
import { type Edits, flow, software } from './fixtures/software.ts';

const MAIN = 'loops.main';
const route = (from: string, condition: string, targetSocketId: string, id = `exit:${from}:${condition}`): Json => {
  return { id, from, condition, targetSocketId };
};
const exit = (edits: Record<string, Json> = {}): Edits => ({
  [`${MAIN}.exit`]: { from: 'Socket-4', when: 'satisfied', to: 'Socket-5', ...edits },
});

const rows: [rule: string, edits: Edits, issues: string[]][] = [
  ['`loops` is an object', { loops: [] }, ['INVALID_LOOP loops']],
  ['a loop is an object', { 'loops.other': 3 }, ['INVALID_LOOP loops.other']],
  ['a label is obsolete', { [`${MAIN}.label`]: 'x' }, [`INVALID_CONFIG ${MAIN}.label`]],
  ['unknown fields of a loop are pointed out', { [`${MAIN}.exists`]: [] }, [`INVALID_CONFIG ${MAIN}.exists`]],

  ['a loop has members', { [`${MAIN}.sockets`]: [] }, [`INVALID_LOOP ${MAIN}.sockets`]],
  [
    'nothing else is said about a loop without members',
    { 'loops.other': { exits: 3 } },
    ['INVALID_LOOP loops.other.sockets'],
  ],

  ['a member is named', { [`${MAIN}.sockets.3`]: '' }, [`MISSING_ENDPOINT ${MAIN}.sockets[3]`]],
  ['a member is a socket id', { [`${MAIN}.sockets.3`]: 'Build' }, [`INVALID_SOCKET_ID ${MAIN}.sockets[3]`]],
  ['`end` is no member', { [`${MAIN}.sockets.3`]: 'end' }, [`INVALID_SOCKET_ID ${MAIN}.sockets[3]`]],
  ['a member exists', { [`${MAIN}.sockets.3`]: 'Socket-9' }, [`UNKNOWN_ENDPOINT ${MAIN}.sockets[3]`]],
  ['`consumes.from` is named', { [`${MAIN}.consumes`]: {} }, [`MISSING_ENDPOINT ${MAIN}.consumes.from`]],
  [
    '`consumes.from` is a socket id, not the name of a materia',
    { [`${MAIN}.consumes.from`]: 'Plan' },
    [`INVALID_SOCKET_ID ${MAIN}.consumes.from`],
  ],
  ['`consumes.from` is not `end`', { [`${MAIN}.consumes.from`]: 'end' }, [`INVALID_SOCKET_ID ${MAIN}.consumes.from`]],
  ['`consumes.from` exists', { [`${MAIN}.consumes.from`]: 'Socket-9' }, [`UNKNOWN_ENDPOINT ${MAIN}.consumes.from`]],
  ['`consumes.done` exists', { [`${MAIN}.consumes.done`]: 'Socket-9' }, [`UNKNOWN_ENDPOINT ${MAIN}.consumes.done`]],
  ['`consumes.done` is an endpoint', { [`${MAIN}.consumes.done`]: 'x' }, [`INVALID_SOCKET_ID ${MAIN}.consumes.done`]],
  [
    '`iterator.done` is an endpoint',
    { [`${MAIN}.iterator`]: { items: 'state.workItems', done: 'x' } },
    [`INVALID_SOCKET_ID ${MAIN}.iterator.done`],
  ],
  [
    '`iterator.done` exists',
    { [`${MAIN}.iterator`]: { items: 'state.workItems', done: 'Socket-9' } },
    [`UNKNOWN_ENDPOINT ${MAIN}.iterator.done`],
  ],

  ['`exit.from` is named', exit({ from: '' }), [`MISSING_ENDPOINT ${MAIN}.exit.from`]],
  ['`exit.from` is a socket id', exit({ from: 'end' }), [`INVALID_SOCKET_ID ${MAIN}.exit.from`]],
  ['`exit.from` exists', exit({ from: 'Socket-9' }), [`UNKNOWN_ENDPOINT ${MAIN}.exit.from`]],
  ['`exit.to` is named', exit({ to: '' }), [`MISSING_ENDPOINT ${MAIN}.exit.to`]],
  ['`exit.to` is a socket id or `end`', exit({ to: 'Sum' }), [`INVALID_SOCKET_ID ${MAIN}.exit.to`]],
  ['`exit.to` exists', exit({ to: 'Socket-9' }), [`UNKNOWN_ENDPOINT ${MAIN}.exit.to`]],
  ['`exit.to` may be `end`', exit({ to: 'end' }), []],
  [
    'the route of an exit starts at a socket',
    { [`${MAIN}.exits.0.from`]: '' },
    [`MISSING_ENDPOINT ${MAIN}.exits[0].from`],
  ],
  ['a route does not start at `end`', { [`${MAIN}.exits.0.from`]: 'end' }, [`INVALID_SOCKET_ID ${MAIN}.exits[0].from`]],
  [
    'a route starts where a socket is',
    { [`${MAIN}.exits.0.from`]: 'Socket-9' },
    [`UNKNOWN_ENDPOINT ${MAIN}.exits[0].from`],
  ],

  ['`exit.from` is a member', exit({ from: 'Socket-5', when: 'always' }), [`INVALID_LOOP ${MAIN}.exit.from`]],
  [
    'a route starts at a member',
    { [`${MAIN}.exits.0`]: route('Socket-5', 'always', 'Socket-5') },
    [`INVALID_LOOP ${MAIN}.exits[0].from`],
  ],
  ['`exit.when` is of the closed set', exit({ when: 'done' }), [`INVALID_EDGE_CONDITION ${MAIN}.exit.when`]],
  [
    'the condition of a route is of the closed set',
    { [`${MAIN}.exits.0.condition`]: 'done' },
    [`INVALID_EDGE_CONDITION ${MAIN}.exits[0].condition`],
  ],

  ['`exits` is a list', { [`${MAIN}.exits`]: {} }, [`INVALID_LOOP ${MAIN}.exits`]],
  ['a route is an object', { [`${MAIN}.exits.1`]: 'Socket-5' }, [`INVALID_LOOP ${MAIN}.exits[1]`]],
  ['a route has an id', { [`${MAIN}.exits.0.id`]: ' ' }, [`INVALID_LOOP ${MAIN}.exits[0].id`]],
  [
    'the id of a route is unique in its loop',
    { [`${MAIN}.exits.1`]: route('Socket-4', 'always', 'Socket-5', 'exit:Socket-4:satisfied') },
    [`INVALID_LOOP ${MAIN}.exits[1].id`],
  ],
  [
    'an id that is left out is made from source and condition, and is as unique as any other',
    {
      [`${MAIN}.exits.0.id`]: 'exit:Socket-4:always',
      [`${MAIN}.exits.1`]: { from: 'Socket-4', condition: 'always', targetSocketId: 'Socket-5' },
    },
    [`INVALID_LOOP ${MAIN}.exits[1].id`],
  ],
  [
    'a source has one route per condition',
    { [`${MAIN}.exits.1`]: route('Socket-4', 'satisfied', 'Socket-5', 'again') },
    [`INVALID_LOOP ${MAIN}.exits[1]`],
  ],
  [
    'also for the condition that always holds',
    { [`${MAIN}.exits`]: ['one', 'two'].map((id) => route('Socket-4', 'always', 'Socket-5', id)) },
    [`INVALID_LOOP ${MAIN}.exits[1]`],
  ],
  [
    'a route has a target',
    { [`${MAIN}.exits.0.targetSocketId`]: undefined },
    [`MISSING_ENDPOINT ${MAIN}.exits[0].targetSocketId`],
  ],
  [
    'the target is a socket id',
    { [`${MAIN}.exits.0.targetSocketId`]: 'Sum' },
    [`INVALID_SOCKET_ID ${MAIN}.exits[0].targetSocketId`],
  ],
  [
    'the target is not `end`',
    { [`${MAIN}.exits.0.targetSocketId`]: 'end' },
    [`INVALID_SOCKET_ID ${MAIN}.exits[0].targetSocketId`],
  ],
  [
    'the target exists',
    { [`${MAIN}.exits.0.targetSocketId`]: 'Socket-9' },
    [`UNKNOWN_ENDPOINT ${MAIN}.exits[0].targetSocketId`],
  ],

  [
    'the members of a loop that consumes form a cycle',
    { 'sockets.Socket-4.edges': [{ when: 'always', to: 'Socket-5' }], 'sockets.Socket-3.edges.1.to': 'Socket-5' },
    [`INVALID_LOOP ${MAIN}.sockets`],
  ],
  [
    'a single member that leads to itself is a cycle',
    {
      [`${MAIN}.sockets`]: ['Socket-4'],
      'sockets.Socket-1.edges.0.to': 'Socket-4',
      'sockets.Socket-4.edges.0.to': 'Socket-4',
      'sockets.Socket-2': undefined,
      'sockets.Socket-3': undefined,
    },
    // Its prompt still reads what only the removed evaluator assigned.
    ['UNASSIGNED_SLOT sockets.Socket-4.materia'],
  ],
  ['a loop that consumes nothing needs no cycle', { 'loops.other': { sockets: ['Socket-5'] } }, []],

  [
    'a generator enters the loop',
    {
      'sockets.Socket-1.edges': [{ when: 'always', to: 'Socket-6' }],
      'sockets.Socket-6': { materia: 'Sum', edges: [{ when: 'always', to: 'Socket-2' }] },
    },
    [`INVALID_LOOP ${MAIN}.consumes.from`],
  ],
  [
    'only one edge enters the loop from generators',
    {
      'sockets.Socket-1.edges': [
        { when: 'satisfied', to: 'Socket-2' },
        { when: 'always', to: 'Socket-2' },
      ],
    },
    [`INVALID_LOOP ${MAIN}.consumes.from`],
  ],
  [
    'only one generator enters the loop',
    { 'sockets.Socket-6': { materia: 'Plan', edges: [{ when: 'always', to: 'Socket-2' }] } },
    [`INVALID_LOOP ${MAIN}.consumes.from`],
  ],
  [
    'a generator put between the named one and the loop takes its place',
    {
      'sockets.Socket-1.edges.0.to': 'Socket-6',
      'sockets.Socket-6': { materia: 'Plan', edges: [{ when: 'always', to: 'Socket-2' }] },
    },
    [],
  ],

  [
    'a guarded legacy exit needs JSON',
    { ...exit(), [`${MAIN}.exits`]: [], 'sockets.Socket-4.parse': 'text', 'sockets.Socket-4.advance': undefined },
    [`INVALID_LOOP ${MAIN}.exit.when`],
  ],
  ['a legacy exit that agrees with advance is fine', exit(), []],
  [
    'its cursor agrees',
    { ...exit(), 'sockets.Socket-4.advance.cursor': 'i' },
    ['INVALID_LOOP sockets.Socket-4.advance.cursor'],
  ],
  [
    'its list agrees',
    { ...exit(), 'sockets.Socket-4.advance.items': 'state.x' },
    ['INVALID_LOOP sockets.Socket-4.advance.items'],
  ],
  [
    'its condition agrees',
    { ...exit(), 'sockets.Socket-4.advance.when': 'always' },
    ['INVALID_LOOP sockets.Socket-4.advance.when'],
  ],
  [
    'no condition is the same as always',
    { ...exit({ when: 'always' }), 'sockets.Socket-4.advance.when': undefined },
    [],
  ],
  [
    'the source of a legacy exit leads back into the loop',
    { ...exit(), 'sockets.Socket-4.edges': [{ when: 'always', to: 'Socket-5' }] },
    ['INVALID_LOOP sockets.Socket-4.edges'],
  ],
  [
    'it leads back when the condition of the exit does not hold',
    { ...exit(), 'sockets.Socket-4.edges': [{ when: 'satisfied', to: 'Socket-2' }] },
    ['INVALID_LOOP sockets.Socket-4.edges'],
  ],
  [
    'the opposite condition is enough',
    { ...exit(), 'sockets.Socket-4.edges': [{ when: 'not_satisfied', to: 'Socket-2' }] },
    ['ITEMS_LEFT sockets.Socket-4.edges'],
  ],
  ['a legacy exit is an object', { [`${MAIN}.exit`]: 'end' }, [`INVALID_LOOP ${MAIN}.exit`]],

  [
    'generators produce workItems only',
    { [`${MAIN}.consumes.output`]: 'tasks' },
    [`INVALID_LOOP ${MAIN}.consumes.output`],
  ],
  ['`consumes.from` is a generator', { [`${MAIN}.consumes.from`]: 'Socket-2' }, [`INVALID_LOOP ${MAIN}.consumes.from`]],
  ['`consumes` is an object', { [`${MAIN}.consumes`]: 'Socket-1' }, [`INVALID_LOOP ${MAIN}.consumes`]],
  [
    'the names of a loop are plain and free',
    { [`${MAIN}.consumes.as`]: 'a b', [`${MAIN}.consumes.cursor`]: 'cursor' },
    [`INVALID_LOOP ${MAIN}.consumes.as`, `INVALID_LOOP ${MAIN}.consumes.cursor`],
  ],
  ['`iterator` is an object', { [`${MAIN}.iterator`]: 'state.x' }, [`INVALID_LOOP ${MAIN}.iterator`]],
  ['`iterator` names a list', { [`${MAIN}.iterator`]: {} }, [`INVALID_LOOP ${MAIN}.iterator.items`]],
  [
    'the list stands in the cast data',
    { [`${MAIN}.iterator`]: { items: '$' } },
    [`INVALID_LOOP ${MAIN}.iterator.items`],
  ],
  [
    'an iterator needs no generator',
    { 'loops.other': { sockets: ['Socket-5'], iterator: { items: 'state.workItems' } } },
    ['ITEMS_LEFT sockets.Socket-5.edges'],
  ],

  ['`parallel` of a loop is an object', { [`${MAIN}.parallel`]: true }, [`INVALID_LOOP ${MAIN}.parallel`]],
  [
    '`parallel.maxConcurrency` is a positive whole number',
    { [`${MAIN}.parallel`]: { maxConcurrency: 0 } },
    [`INVALID_LOOP ${MAIN}.parallel.maxConcurrency`],
  ],
  ['loops may overlap', { 'loops.other': { sockets: ['Socket-2', 'Socket-5'] } }, []],
];

test.each(rows)('%s', (_rule, edits, issues) => {
  const found = check(flow(edits)).map(({ code, path }) => `${code} ${path.replace('loadouts.Flow.', '')}`);
  expect(found).toEqual(issues);
});

const BETWEEN = { 'sockets.Socket-1.edges.0.to': 'Socket-6' };
test.each<[what: string, edits: Edits, found: string]>([
  [
    'a utility stands between the generator and the loop',
    { ...BETWEEN, 'sockets.Socket-6': { materia: 'Tool', edges: [{ when: 'always', to: 'Socket-2' }] } },
    'found none',
  ],
  [
    'two edges of one generator lead into it',
    {
      'sockets.Socket-1.edges': [
        { when: 'satisfied', to: 'Socket-2' },
        { when: 'not_satisfied', to: 'Socket-3' },
      ],
    },
    'found 2: Socket-1, Socket-1',
  ],
  [
    'two generators lead into it',
    { 'sockets.Socket-6': { materia: 'Plan', edges: [{ when: 'always', to: 'Socket-2' }] } },
    'found 2: Socket-1, Socket-6',
  ],
])('a loop that consumes is told how many edges enter it from generators: %s', (_what, edits, found) => {
  const loadout = Object.fromEntries(Object.entries(edits).map(([path, value]) => [`loadouts.Flow.${path}`, value]));
  const issues = check(software({ 'materia.Tool': { utility: 'noop' }, ...loadout }));
  expect(issues).toMatchObject([{ code: 'INVALID_LOOP', path: `loadouts.Flow.${MAIN}.consumes.from` }]);
  expect(issues[0]?.message).toContain(found);
});

const LANES = {
  'materia.Plan.parallel': true,
  'materia.Ready': { prompt: 'Get ready.', tools: 'none', parallelSafe: true },
  'loadouts.Flow.sockets.Socket-1.edges.0.to': 'Socket-6',
  'loadouts.Flow.sockets.Socket-6': { materia: 'Ready', edges: [{ when: 'always', to: 'Socket-2' }] },
};

test.each<[string, Edits, string | null]>([
  ['may pass through other sockets on their way to the loop', {}, null],
  [
    'pass through nothing that may not run next to itself',
    { 'materia.Ready.parallelSafe': false },
    'parallelSafe: true on Ready',
  ],
  ['pass through no conversation', { 'materia.Ready.multiTurn': true }, 'Ready talks with a person'],
  ['work in no conversation', { 'materia.Build.multiTurn': true }, 'Build talks with a person'],
  ['pass through no generator', { 'materia.Ready.generator': true }, 'it is no generator and in no loop'],
  ['have one way', { 'loadouts.Flow.sockets.Socket-6.edges.1': { when: 'always', to: 'Socket-2' } }, 'one always edge'],
  ['do not end before the loop', { 'loadouts.Flow.sockets.Socket-6.edges': [] }, 'one always edge'],
  ['do not go round before the loop', { 'loadouts.Flow.sockets.Socket-6.edges.0.to': 'Socket-6' }, 'one always edge'],
  ['wait for all or for what is settled', { [`loadouts.Flow.${MAIN}.parallel`]: { barrier: 'any' } }, 'barrier'],
  ['may wait for what is settled', { [`loadouts.Flow.${MAIN}.parallel`]: { barrier: 'settled' } }, null],
  [
    'meet at one socket',
    {
      [`loadouts.Flow.${MAIN}.exits`]: [
        route('Socket-4', 'satisfied', 'Socket-5'),
        route('Socket-4', 'always', 'Socket-1'),
      ],
    },
    'The streams meet at one socket',
  ],
])('the lanes of a parallel generator %s', (_what, edits, words) => {
  const issues = check(software({ ...LANES, ...edits })).filter(({ level }) => level === 'error');
  if (words === null) expect(issues).toEqual([]);
  else expect(issues.map(({ message }) => message).join('\n')).toContain(words);
});

test('two loops do not share the streams of a generator', () => {
  const two = software({
    ...LANES,
    'loadouts.Flow.loops.other': { sockets: ['Socket-2'], consumes: { from: 'Socket-1' } },
  });
  expect(check(two).map(({ message }) => message)).toContainEqual(expect.stringContaining('2 loops consume'));
});
