import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { check } from './check.ts';
import { type Edits, flow } from './fixtures/software.ts';

const json = { materia: 'Eval', parse: 'json' };
const edge = (edits: object) => [{ when: 'satisfied', to: 'Socket-4', ...edits }];

const SEVERITY = { type: 'object', properties: { severity: { type: 'string' } } };
const ASKED = 'sockets.Socket-3.edges[0].when';

/** An evaluator that declares a severity, and whose first edge asks for something. */
const asking = (when: JsonObject): Edits => ({
  'sockets.Socket-3.schema': SEVERITY,
  'sockets.Socket-3.edges': [
    { when, to: 'Socket-2', maxTraversals: 1 },
    { when: 'always', to: 'Socket-4' },
  ],
});

// Each row: the rule, what is changed in a sound loadout, and every issue that follows.
const rows: [rule: string, edits: Edits, issues: string[]][] = [
  ['a sound loadout has no issue', {}, []],

  ['a socket id is Socket-N', { 'sockets.hello': { materia: 'Sum' } }, ['INVALID_SOCKET_ID sockets.hello']],
  [
    'a wrong id is reported once, and not where it is named',
    {
      entry: 'hello',
      'sockets.hello': { materia: 'Sum', edges: [{ when: 'always', to: 'hello' }] },
      'sockets.Socket-5.edges': [{ when: 'always', to: 'hello' }],
    },
    ['INVALID_SOCKET_ID sockets.hello'],
  ],
  ['N has no leading zero', { 'sockets.Socket-01': { materia: 'Sum' } }, ['INVALID_SOCKET_ID sockets.Socket-01']],
  ['N starts at one', { 'sockets.Socket-0': { materia: 'Sum' } }, ['INVALID_SOCKET_ID sockets.Socket-0']],
  ['`end` is no socket', { 'sockets.end': { materia: 'Sum' } }, ['INVALID_SOCKET_ID sockets.end']],
  ['a socket is an object', { 'sockets.Socket-6': 'Sum' }, ['INVALID_CONFIG sockets.Socket-6']],

  ['an edge may ask for the value of a declared field', asking({ field: 'severity', is: 'high' }), []],
  ['also with isNot', asking({ field: 'severity', isNot: 'high' }), []],
  ['also with a list', asking({ field: 'severity', in: ['high', 'critical'] }), []],
  [
    'a field that no contract declares',
    asking({ field: 'colour', is: 'red' }),
    [`INVALID_EDGE_CONDITION ${ASKED}.field`],
  ],
  [
    '`satisfied` has its own two names',
    asking({ field: 'satisfied', is: true }),
    [`INVALID_EDGE_CONDITION ${ASKED}.field`],
  ],
  ['a path is no field', asking({ field: 'severity.level', is: 1 }), [`INVALID_EDGE_CONDITION ${ASKED}.field`]],
  ['nor is an expression', asking({ field: '$.severity', is: 1 }), [`INVALID_EDGE_CONDITION ${ASKED}.field`]],
  ['a condition names a field', asking({ is: 'high' }), [`INVALID_EDGE_CONDITION ${ASKED}.field`]],
  ['a condition has a value', asking({ field: 'severity' }), [`INVALID_EDGE_CONDITION ${ASKED}`]],
  ['and one only', asking({ field: 'severity', is: 'a', isNot: 'b' }), [`INVALID_EDGE_CONDITION ${ASKED}`]],
  ['a value is plain', asking({ field: 'severity', is: ['high'] }), [`INVALID_EDGE_CONDITION ${ASKED}.is`]],
  ['a list is not empty', asking({ field: 'severity', in: [] }), [`INVALID_EDGE_CONDITION ${ASKED}.in`]],
  [
    'a condition has no other member',
    asking({ field: 'a', is: 1, above: 2 }),
    [`INVALID_EDGE_CONDITION ${ASKED}.above`],
  ],
  [
    'plain text has no fields',
    { 'sockets.Socket-5.edges': [{ when: { field: 'severity', is: 'high' }, to: 'end' }] },
    ['INVALID_EDGE_CONDITION sockets.Socket-5.edges[0].when'],
  ],
  [
    'an advance asks for no value',
    { 'sockets.Socket-4.advance.when': { field: 'severity', is: 'high' }, 'sockets.Socket-4.schema': SEVERITY },
    ['INVALID_EDGE_CONDITION sockets.Socket-4.advance.when'],
  ],
  [
    'an exit asks for no value',
    { 'loops.main.exits.0.condition': { field: 'severity', is: 'high' }, 'sockets.Socket-4.schema': SEVERITY },
    ['INVALID_EDGE_CONDITION loops.main.exits[0].condition'],
  ],

  ['there is an entry', { entry: undefined }, ['MISSING_ENDPOINT entry']],
  ['the entry is not empty', { entry: '' }, ['MISSING_ENDPOINT entry']],
  ['the entry is a socket id', { entry: 'Plan' }, ['INVALID_SOCKET_ID entry']],
  ['the entry is not `end`', { entry: 'end' }, ['INVALID_SOCKET_ID entry']],
  ['the entry exists', { entry: 'Socket-9' }, ['UNKNOWN_ENDPOINT entry']],

  [
    'an edge has a target',
    { 'sockets.Socket-1.edges': [{ when: 'always' }] },
    ['MISSING_ENDPOINT sockets.Socket-1.edges[0].to', 'INVALID_LOOP loops.main.consumes.from'],
  ],
  [
    'the target of an edge is a socket id or `end`',
    { 'sockets.Socket-3.edges.0.to': 'Build' },
    ['INVALID_SOCKET_ID sockets.Socket-3.edges[0].to'],
  ],
  ['an edge may lead to `end`', { 'sockets.Socket-5.edges': [{ when: 'always', to: 'end' }] }, []],
  [
    'the target of an edge exists',
    { 'sockets.Socket-3.edges.1.to': 'Socket-9' },
    ['UNKNOWN_ENDPOINT sockets.Socket-3.edges[1].to'],
  ],
  [
    '`advance.done` is a socket id or `end`',
    { 'sockets.Socket-4.advance.done': 'Sum' },
    ['INVALID_SOCKET_ID sockets.Socket-4.advance.done'],
  ],
  [
    '`advance.done` exists',
    { 'sockets.Socket-4.advance.done': 'Socket-9' },
    ['UNKNOWN_ENDPOINT sockets.Socket-4.advance.done'],
  ],
  ['`advance.done` may be `end`', { 'sockets.Socket-4.advance.done': 'end' }, []],
  [
    '`foreach.done` is a socket id or `end`',
    { 'sockets.Socket-5.foreach': { items: 'state.workItems', done: 'later' } },
    ['INVALID_SOCKET_ID sockets.Socket-5.foreach.done'],
  ],
  [
    '`foreach.done` exists',
    { 'sockets.Socket-5.foreach': { items: 'state.workItems', done: 'Socket-9' } },
    ['UNKNOWN_ENDPOINT sockets.Socket-5.foreach.done'],
  ],

  [
    'an edge has a condition',
    { 'sockets.Socket-2.edges': [{ to: 'Socket-3' }] },
    ['INVALID_EDGE_CONDITION sockets.Socket-2.edges[0].when'],
  ],
  [
    'a condition is of the closed set',
    { 'sockets.Socket-2.edges': [{ when: '$.ok == true', to: 'Socket-3' }] },
    ['INVALID_EDGE_CONDITION sockets.Socket-2.edges[0].when'],
  ],
  [
    '`advance.when` is of the closed set',
    { 'sockets.Socket-4.advance.when': 'exists(state.x)' },
    ['INVALID_EDGE_CONDITION sockets.Socket-4.advance.when'],
  ],
  [
    'no edge stands behind an always edge',
    { 'sockets.Socket-3.edges.0.when': 'always' },
    ['UNREACHABLE_EDGE sockets.Socket-3.edges[1]'],
  ],
  [
    'every edge behind an always edge is named',
    { 'sockets.Socket-2.edges': ['Socket-3', 'end', 'end'].map((to) => ({ when: 'always', to })) },
    ['UNREACHABLE_EDGE sockets.Socket-2.edges[1]', 'UNREACHABLE_EDGE sockets.Socket-2.edges[2]'],
  ],
  [
    'two edges may have the same guard: the first wins',
    { 'sockets.Socket-3.edges.2': { when: 'satisfied', to: 'Socket-5' } },
    [],
  ],
  ['a socket may lead to itself', { 'sockets.Socket-4.edges.0.to': 'Socket-4' }, []],

  ['a socket names a materia', { 'sockets.Socket-5': {} }, ['UNKNOWN_MATERIA sockets.Socket-5.materia']],
  ['the materia exists', { 'sockets.Socket-5.materia': 'Nobody' }, ['UNKNOWN_MATERIA sockets.Socket-5.materia']],
  [
    'what every object inherits is no materia',
    { 'sockets.Socket-5.materia': 'toString' },
    ['UNKNOWN_MATERIA sockets.Socket-5.materia'],
  ],
  ['`parse` is text or json', { 'sockets.Socket-5.parse': 'yaml' }, ['INVALID_CONFIG sockets.Socket-5.parse']],
  ...['utility', 'command', 'script', 'params', 'timeoutMs'].map((field): [string, Edits, string[]] => [
    `${field} belongs to the materia`,
    { [`sockets.Socket-5.${field}`]: 5 },
    [`INVALID_CONFIG sockets.Socket-5.${field}`],
  ]),
  [
    'a generator socket parses JSON',
    { 'sockets.Socket-1.parse': 'text' },
    ['INVALID_GENERATOR sockets.Socket-1.parse'],
  ],
  [
    'a generator socket takes workItems from its output',
    { 'sockets.Socket-1.assign': { workItems: '$.tasks' } },
    ['INVALID_GENERATOR sockets.Socket-1.assign.workItems'],
  ],
  [
    'a generator socket may spell out what it does anyway',
    { 'sockets.Socket-1.parse': 'json', 'sockets.Socket-1.assign': { workItems: '$.workItems', plan: '$' } },
    [],
  ],
  [
    'a generator does not speak gaia',
    { 'sockets.Socket-1.contract': 'gaia' },
    ['INVALID_GENERATOR sockets.Socket-1.contract'],
  ],
  ['a generator may speak operator', { 'sockets.Socket-1.contract': 'operator' }, []],
  ...['type', 'role', 'prompt', 'systemPrompt', 'multiTurn'].map((field): [string, Edits, string[]] => [
    `${field} is obsolete on a socket`,
    { [`sockets.Socket-5.${field}`]: 'x' },
    [`INVALID_CONFIG sockets.Socket-5.${field}`],
  ]),

  [
    'a guarded edge needs JSON',
    { 'sockets.Socket-5.edges': [{ when: 'satisfied', to: 'end' }] },
    ['INVALID_EDGE_CONDITION sockets.Socket-5.edges[0].when'],
  ],
  [
    'a guarded advance needs JSON',
    { 'sockets.Socket-5.advance': { cursor: 'i', items: 'state.workItems', when: 'not_satisfied' } },
    ['INVALID_EDGE_CONDITION sockets.Socket-5.advance.when'],
  ],
  [
    'an advance without a condition takes plain text',
    { 'sockets.Socket-5.advance': { cursor: 'i', items: 'state.workItems' } },
    [],
  ],
  [
    'a guarded exit route needs JSON',
    { 'sockets.Socket-4.parse': 'text', 'sockets.Socket-4.advance.when': undefined },
    ['INVALID_EDGE_CONDITION loops.main.exits[0].condition'],
  ],
  ['the contract gaia is JSON', { 'sockets.Socket-3.parse': undefined, 'sockets.Socket-3.contract': 'gaia' }, []],
  [
    'the contract text is not JSON',
    { 'sockets.Socket-3': { ...json, parse: undefined, contract: 'text', edges: edge({}) } as never },
    ['INVALID_EDGE_CONDITION sockets.Socket-3.edges[0].when'],
  ],

  ['`contract` is one of four', { 'sockets.Socket-5.contract': 'xml' }, ['INVALID_CONFIG sockets.Socket-5.contract']],
  [
    'a contract that needs JSON is not parsed as text',
    { 'sockets.Socket-5.contract': 'operator', 'sockets.Socket-5.parse': 'text' },
    ['INVALID_CONFIG sockets.Socket-5.parse'],
  ],
  [
    'the contract text is not parsed as JSON',
    { 'sockets.Socket-5.contract': 'text', 'sockets.Socket-5.parse': 'json' },
    ['INVALID_CONFIG sockets.Socket-5.parse'],
  ],
  [
    'a schema is an object or a file name',
    { 'sockets.Socket-5.schema': 7, 'sockets.Socket-5.parse': 'json' },
    ['INVALID_CONFIG sockets.Socket-5.schema'],
  ],
  ['a schema may be a file name', { 'sockets.Socket-5.schema': 'report.json', 'sockets.Socket-5.parse': 'json' }, []],
  [
    'a schema on a text socket would never be asked',
    { 'sockets.Socket-5.schema': 'report.json' },
    ['INVALID_CONFIG sockets.Socket-5.schema'],
  ],
  [
    'a lock scope is a list of paths',
    { 'sockets.Socket-5.lockScope': [''] },
    ['INVALID_CONFIG sockets.Socket-5.lockScope'],
  ],

  ['`edges` is a list', { 'sockets.Socket-5.edges': {} }, ['INVALID_CONFIG sockets.Socket-5.edges']],
  ['an edge is an object', { 'sockets.Socket-5.edges': ['end'] }, ['INVALID_CONFIG sockets.Socket-5.edges[0]']],
  ...[0, -1, 1.5, '3', null, 2 ** 53].map((budget): [string, Edits, string[]] => [
    `a retry budget is a positive whole number, not ${budget}`,
    { 'sockets.Socket-3.edges.1.maxTraversals': budget },
    ['INVALID_CONFIG sockets.Socket-3.edges[1].maxTraversals'],
  ]),

  [
    'what happens after the retry budget is one of a few words',
    { 'sockets.Socket-3.edges.1.maxTraversals': 2, 'sockets.Socket-3.edges.1.then': 'wait' },
    ['INVALID_CONFIG sockets.Socket-3.edges[1].then'],
  ],
  [
    'nothing happens after a retry budget that is not there',
    { 'sockets.Socket-3.edges.0.then': 'ask' },
    ['INVALID_CONFIG sockets.Socket-3.edges[0].then'],
  ],

  ['`advance` is an object', { 'sockets.Socket-5.advance': true }, ['INVALID_CONFIG sockets.Socket-5.advance']],
  [
    '`advance` names a cursor and a list',
    { 'sockets.Socket-5.advance': {} },
    ['INVALID_CONFIG sockets.Socket-5.advance.cursor', 'INVALID_CONFIG sockets.Socket-5.advance.items'],
  ],
  [
    'a cursor has a plain name',
    { 'sockets.Socket-5.advance': { cursor: '__proto__', items: 'state.workItems' } },
    ['INVALID_CONFIG sockets.Socket-5.advance.cursor'],
  ],
  [
    'a list that is advanced over stands in the cast data',
    { 'sockets.Socket-5.advance': { cursor: 'i', items: '$.list' } },
    ['INVALID_CONFIG sockets.Socket-5.advance.items'],
  ],
  ['`foreach` is an object', { 'sockets.Socket-5.foreach': [] }, ['INVALID_CONFIG sockets.Socket-5.foreach']],
  ['`foreach` names a list', { 'sockets.Socket-5.foreach': {} }, ['INVALID_CONFIG sockets.Socket-5.foreach.items']],
  [
    'the names of `foreach` are plain and free',
    { 'sockets.Socket-5.foreach': { items: 'state.workItems', as: 'a.b', cursor: 'state' } },
    ['INVALID_CONFIG sockets.Socket-5.foreach.as', 'INVALID_CONFIG sockets.Socket-5.foreach.cursor'],
  ],

  ['`assign` is an object', { 'sockets.Socket-5.assign': ['$'] }, ['INVALID_CONFIG sockets.Socket-5.assign']],
  ...['', ' ', 'a..b', '.a', '$.a', 'a.__proto__.b', 'prototype', 'a.constructor', 'a[0]'].map(
    (target): [string, Edits, string[]] => [
      `${JSON.stringify(target)} is no target`,
      { 'sockets.Socket-5.assign': { [target]: '$' } },
      [`INVALID_CONFIG sockets.Socket-5.assign.${target}`],
    ],
  ),
  ...[7, '', '$x', 'state..a', 'state.__proto__', 'state.list[0]'].map((source): [string, Edits, string[]] => [
    `${JSON.stringify(source)} is no source`,
    { 'sockets.Socket-5.assign': { slot: source } },
    ['INVALID_CONFIG sockets.Socket-5.assign.slot'],
  ]),
  [
    'plain text has no fields to assign',
    { 'sockets.Socket-5.assign': { all: '$', part: '$.context' } },
    ['INVALID_CONFIG sockets.Socket-5.assign.part'],
  ],

  ['a socket of JSON may be strict', { 'sockets.Socket-3.strict': true }, []],
  ['strict is a boolean', { 'sockets.Socket-3.strict': 'yes' }, ['INVALID_CONFIG sockets.Socket-3.strict']],
  ['plain text cannot be strict', { 'sockets.Socket-2.strict': true }, ['INVALID_CONFIG sockets.Socket-2.strict']],
  [
    'a report with a fenced block cannot be strict',
    { 'sockets.Socket-5': { materia: 'Sum', contract: 'gaia', strict: true } },
    ['INVALID_CONFIG sockets.Socket-5.strict'],
  ],
  ['limits are an object', { 'sockets.Socket-5.limits': 3 }, ['INVALID_CONFIG sockets.Socket-5.limits']],
  [
    'limits are positive whole numbers',
    { 'sockets.Socket-5.limits': { maxOutputBytes: 0, timeoutMs: 0.5, maxVisits: 'ignored' } },
    ['INVALID_CONFIG sockets.Socket-5.limits.maxOutputBytes', 'INVALID_CONFIG sockets.Socket-5.limits.timeoutMs'],
  ],
  [
    'an output may be so large and not larger',
    {
      'sockets.Socket-4.limits': { maxOutputBytes: 8_388_608 },
      'sockets.Socket-5.limits': { maxOutputBytes: 8_388_609 },
    },
    ['INVALID_CONFIG sockets.Socket-5.limits.maxOutputBytes'],
  ],
  [
    'unknown fields are pointed out, wherever they stand; those that look like a known one are errors',
    {
      'sockets.Socket-5.pars': 'json',
      'sockets.Socket-5.x_note': 'mine',
      'sockets.Socket-5.limits': { maxBytes: 1 },
      'sockets.Socket-3.edges.1.maxTraversal': 3,
      'sockets.Socket-4.advance.until': 'x',
      'sockets.Socket-5.foreach': { items: 'state.workItems', each: 'x' },
    },
    [
      'INVALID_CONFIG sockets.Socket-3.edges[1].maxTraversal',
      'INVALID_CONFIG sockets.Socket-5.pars',
      '(INVALID_CONFIG) sockets.Socket-4.advance.until',
      '(INVALID_CONFIG) sockets.Socket-5.limits.maxBytes',
      '(INVALID_CONFIG) sockets.Socket-5.foreach.each',
    ],
  ],
  [
    'null is the same as leaving a field out',
    { 'sockets.Socket-5.edges': null, 'sockets.Socket-5.parse': null, 'sockets.Socket-5.assign': null },
    [],
  ],
];

test.each(rows)('%s', (_rule, edits, issues) => {
  const found = check(flow(edits)).map(({ code, level, path }) => {
    const short = path.replace('loadouts.Flow.', '');
    return level === 'warning' && code === 'INVALID_CONFIG' ? `(${code}) ${short}` : `${code} ${short}`;
  });
  expect(found).toEqual(issues);
});

test.each(['parse', 'assign'])('a utility socket has %s like any other', (field) => {
  const utility = { type: 'utility', utility: 'echo' };
  const socket = {
    materia: 'Say',
    parse: 'json',
    assign: { said: '$.text' },
    edges: [{ when: 'satisfied', to: 'end' }],
  };
  const config = {
    materia: { Say: utility },
    loadouts: { One: { entry: 'Socket-1', sockets: { 'Socket-1': socket } } },
  };
  expect(check(config)).toEqual([]);
  expect(check({ ...config, materia: { Say: { ...utility, [field]: socket[field as 'parse'] } } })).toEqual([]);
});
