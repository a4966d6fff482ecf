import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CODES } from '../../kernel/codes.ts';
import type { Contract } from '../../kernel/dialect.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { deny } from '../../kernel/verdict.ts';
import { materia } from '../index.ts';
import { readMateria } from './read.ts';

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 500) };
const timeout = 10_000 + 3 * runs.numRuns;

const FENCE = '```';
const ITEM = { title: 'feat: x', context: 'do x' };
const UTILITY = { utility: true };
const GENERATOR = { generator: true, assign: { workItems: '$.workItems' } };

function contract(parts: Partial<Contract> = {}): Contract {
  return { dialect: 'materia', generator: false, utility: false, requires: [], assign: {}, schema: null, ...parts };
}

function issuesOf(output: Json, parts: Partial<Contract> = {}) {
  const reading = materia.read(typeof output === 'string' ? output : JSON.stringify(output), contract(parts));
  if (reading.ok) return [];
  return reading.verdict.details.issues as { path: string; message: string; expected?: string }[];
}

test.each([
  ['prose before the object', 'Here you go:\n{"satisfied":true}', true],
  ['a fence with prose after it', `${FENCE}json\n{"satisfied":true}\n${FENCE}\nThat is my verdict.`, true],
  ['a fence inside a string', `{"satisfied":false,"context":"run ${FENCE}sh\\nls\\n${FENCE}"}`, false],
  ['a note in brackets before the object', '[note] {"satisfied":false}', false],
])('an object is read from %s', (_, raw, satisfied) => {
  expect(materia.read(raw, contract({ requires: ['satisfied'] }))).toMatchObject({ ok: true, handoff: { satisfied } });
});

test.each([
  ['', 'empty', 1, 1],
  ['oops', 'no JSON object', 1, 1],
  ['null', 'expected a JSON object at the top level', 1, 1],
  ['{"satisfied":true', 'ends before an object is closed', 1, 18],
  ['Sure:\n{"satisfied": true,}', 'comma before a closing brace', 2, 20],
  ['{"satisfied":true,"satisfied":false}', 'written twice', 1, 19],
  ['{"context":"x","__proto__":{"satisfied":true}}', 'not allowed', 1, 16],
])('%j is not JSON: %s', (raw, words, line, column) => {
  for (const parts of [{}, UTILITY]) {
    const reading = materia.read(raw, contract(parts));
    if (reading.ok) throw new Error('was accepted');
    expect(reading.verdict).toMatchObject({
      allow: false,
      code: 'NOT_JSON',
      details: { issues: [{ path: '$', line, column }] },
    });
    expect(issuesOf(raw, parts)[0]?.message).toContain(words);
    expect(reading.verdict.reason).toContain(words);
  }
});

test.each([
  ['alone', '[1,2]', 'CONTRACT_VIOLATION'],
  ['with white space around it', ' [{"satisfied":true}]\n', 'CONTRACT_VIOLATION'],
  ['in a fence', `${FENCE}json\n[1,2]\n${FENCE}`, 'CONTRACT_VIOLATION'],
  ['after prose', 'Result: [{"title":"a","context":"b"}]', 'CONTRACT_VIOLATION'],
  ['that is not JSON', '[{"satisfied":true},]', 'NOT_JSON'],
  ['that is prose in brackets', '[note] no answer today', 'NOT_JSON'],
])('a list breaks the contract where it is JSON: one %s', (_, raw, code) => {
  const reading = materia.read(raw, contract());
  expect(reading).toMatchObject({ ok: false, verdict: { code, details: { issues: [{ path: '$' }] } } });
  if (code === 'CONTRACT_VIOLATION') {
    expect(issuesOf(raw)[0]?.message).toBe('expected a JSON object at the top level');
  }
  const told = materia.repair(reading.ok ? deny('INTERNAL', '') : reading.verdict, raw, contract());
  expect(told).toContain(code === 'NOT_JSON' ? 'malformed syntax' : 'contract violation');
});

const JUDGE = { requires: ['satisfied'] };
const SCHEMA = { type: 'object', properties: { score: { type: 'integer' } } };

test.each([
  ['an example and a verdict', JUDGE, 'You asked for something like {"satisfied": true}. But: {"satisfied": false}'],
  ['the same, cut short', JUDGE, 'You asked for something like {"satisfied": true}. But: {"satisfied": false, …}'],
  ['a verdict that is taken back', JUDGE, '{"satisfied": false}\nNo, wait:\n{"satisfied": true}'],
  ['a verdict and a context', JUDGE, '{"satisfied": true} {"context": "x"}'],
  ['an invalid verdict and a good one', JUDGE, '{"satisfied": "no"} {"satisfied": true}'],
  ['two values of an assigned field', { assign: { s: '$.report.score' } }, '{"report":{"score":1}} {"report":{}}'],
  ['two values where all is assigned', { assign: { all: '$' } }, '{"x":1} {"y":1}'],
  ['two values of a field of the schema', { schema: SCHEMA }, '{"score":1} {"score":2}'],
  ['two states of a utility', UTILITY, 'log {"state":{"a":1}}\nlog {"state":{"a":2}}'],
  ['two events', {}, '{"event":[]} {"event":[{"type":"a"}]}'],
])('an answer that contradicts itself is refused as ambiguous: %s', (_, parts, raw) => {
  const reading = materia.read(raw, contract(parts));
  expect(reading).toMatchObject({
    ok: false,
    verdict: { code: 'AMBIGUOUS_OUTPUT', details: { issues: [{ path: '$', line: expect.any(Number) }] } },
  });
  const repair = materia.repair(reading.ok ? deny('INTERNAL', '') : reading.verdict, raw, contract(parts));
  expect(repair).toContain('objects that differ');
});

test.each([
  ['a verdict and an object about something else', JUDGE, 'package.json: {"name":"x"}\n{"satisfied": true}'],
  ['the same verdict twice', JUDGE, '{"satisfied": true} and again ```{ "satisfied" : true }```'],
  ['a log line of a utility and its answer', UTILITY, '{"level":"info"}\n{"satisfied":true}'],
  ['an object that the schema does not know', { schema: SCHEMA, ...JUDGE }, '{"x":1}\n{"satisfied":true}'],
])('the one answer is read: %s', (_, parts, raw) => {
  expect(materia.read(raw, contract(parts))).toMatchObject({ ok: true, handoff: { payload: { satisfied: true } } });
});

test.each([
  ['{"satisfied":true}', 'OK'],
  [' {"satisfied":true}\n', 'OK'],
  ['Yes: {"satisfied":true}', 'NOT_JSON'],
  [`${FENCE}json\n{"satisfied":true}\n${FENCE}`, 'NOT_JSON'],
  ['[1] ', 'CONTRACT_VIOLATION'],
])('on a strict socket %j is %s', (raw, code) => {
  const reading = materia.read(raw, contract({ ...JUDGE, strict: true }));
  expect(reading.ok ? 'OK' : reading.verdict.code).toBe(code);
});

test('an output over the limit is not read', () => {
  const raw = JSON.stringify({ context: 'x'.repeat(100) });
  expect(readMateria(raw, contract({ maxBytes: 100 }))).toMatchObject({ ok: false, verdict: { code: 'NOT_JSON' } });
  expect(readMateria(raw, contract({ maxBytes: 200 }))).toMatchObject({ ok: true });
});

// The handoff that each accepted payload becomes.
test.each([
  ['an empty object where nothing is asked', {}, {}, 'done', null],
  ['a rejection', { satisfied: false, context: 'x' }, {}, 'rework', false],
  ['an approval', { satisfied: true }, {}, 'done', true],
  ['no items from a generator', { workItems: [] }, GENERATOR, 'done', null],
  ['items from a generator', { workItems: [ITEM], context: 'x' }, GENERATOR, 'done', null],
  ['items from an ordinary agent', { workItems: [ITEM] }, {}, 'done', null],
  ['a blank context', { context: '  ' }, { requires: ['context'] }, 'done', null],
  [
    'any field when the whole payload is assigned',
    { summary: 'x', y: 1 },
    { assign: { lastCheck: '$' } },
    'done',
    null,
  ],
  ['a field that an assignment names', { report: { score: 0 } }, { assign: { s: '$.report.score' } }, 'done', null],
  ['an obsolete field that an assignment names', { summary: 'x' }, { assign: { s: '$.summary' } }, 'done', null],
  ['an element of an array', { list: [{ label: null }] }, { assign: { a: '$.list.0.label' } }, 'done', null],
  ['a numeric key of an object', { map: { 0: 1 } }, { assign: { a: '$.map.0' } }, 'done', null],
  ['sources outside the payload', {}, { assign: { a: 'state.x', b: 'item.title', c: 'lastOutput' } }, 'done', null],
  ['text that is assigned', { text: 'x' }, { assign: { t: '$.text' } }, 'done', null],
  ['unknown fields of a utility', { ok: 1, summary: 'x', text: 5 }, UTILITY, 'done', null],
  [
    'every field of the contract at once',
    { workItems: [ITEM], satisfied: true, context: 'x' },
    GENERATOR,
    'done',
    true,
  ],
  ['a state patch of a utility', { state: { workItems: 1, satisfied: true, x: 1 } }, UTILITY, 'done', null],
  ['free items of a utility', { workItems: [1, { id: 2 }] }, { ...UTILITY, requires: ['workItems'] }, 'done', null],
  ['a rejection by a utility', { satisfied: false }, UTILITY, 'rework', false],
  ['a free context of a utility', { context: { a: 1 } }, UTILITY, 'done', null],
] as const)('accepted: %s', (_, payload, parts, outcome, satisfied) => {
  const reading = materia.read(JSON.stringify(payload), contract(parts));
  expect(reading).toEqual({ ok: true, handoff: { outcome, satisfied, payload } });
});

// In the order of the checks; each row gives all issues of its payload.
test.each([
  ['events that are no array', { event: {} }, {}, ['$.event']],
  ['events that are null', { event: null }, {}, ['$.event']],
  ['events of a utility that are no array', { event: 'x' }, UTILITY, ['$.event']],
  ['an event that is no object', { event: ['x'] }, {}, ['$.event.0']],
  ['an event without a type', { event: [{ type: 'a' }, {}] }, {}, ['$.event.1.type']],
  ['an event with a blank type', { event: [{ type: ' ' }] }, {}, ['$.event.0.type']],
  ['an unknown severity', { event: [{ type: 'a', severity: 'fatal' }] }, {}, ['$.event.0.severity']],
  ['an event message that is no string', { event: [{ type: 'a', message: 1 }] }, {}, ['$.event.0.message']],
  ['an event payload that is no object', { event: [{ type: 'a', payload: [] }] }, {}, ['$.event.0.payload']],
  ['an event source that is no object', { event: [{ type: 'a', source: 'x' }] }, {}, ['$.event.0.source']],
  [
    'an event source with a wrong field',
    { event: [{ type: 'a', source: { socketId: 1 } }] },
    {},
    ['$.event.0.source.socketId'],
  ],
  ['no satisfied', {}, { requires: ['satisfied'] }, ['$.satisfied']],
  ['no satisfied from a utility', {}, { ...UTILITY, requires: ['satisfied'] }, ['$.satisfied']],
  ['no workItems', {}, { requires: ['workItems'] }, ['$.workItems']],
  ['no workItems from a generator', {}, { generator: true }, ['$.workItems']],
  ['no workItems from a generator that assigns them', {}, GENERATOR, ['$.workItems']],
  ['tasks in place of workItems', { tasks: [] }, GENERATOR, ['$.workItems', '$.tasks']],
  ['no workItems from a generator utility', {}, { ...UTILITY, generator: true }, ['$.workItems']],
  ['no context', {}, { requires: ['context'] }, ['$.context']],
  [
    'three fields missing',
    {},
    { requires: ['context', 'workItems', 'satisfied'] },
    ['$.satisfied', '$.workItems', '$.context'],
  ],
  ['a required field whose name objects inherit', {}, { requires: ['toString'] }, ['$.toString']],
  ['satisfied as a string', { satisfied: 'true' }, {}, ['$.satisfied']],
  ['satisfied as null', { satisfied: null }, {}, ['$.satisfied']],
  ['satisfied of a utility as a number', { satisfied: 1 }, UTILITY, ['$.satisfied']],
  ['workItems as an object', { workItems: {} }, {}, ['$.workItems']],
  ['workItems of a utility as a string', { workItems: 'x' }, UTILITY, ['$.workItems']],
  ['an item that is no object', { workItems: ['x'] }, {}, ['$.workItems.0']],
  ['an item without a title', { workItems: [ITEM, { context: 'x' }] }, GENERATOR, ['$.workItems.1.title']],
  [
    'an item with a blank context',
    { workItems: [{ title: 'x', context: '\n ' }] },
    GENERATOR,
    ['$.workItems.0.context'],
  ],
  ['an item with a nested context', { workItems: [{ title: 'x', context: {} }] }, {}, ['$.workItems.0.context']],
  ['an item with a description', { workItems: [{ ...ITEM, description: 'x' }] }, {}, ['$.workItems.0.description']],
  ['an item with acceptance criteria', { workItems: [{ ...ITEM, acceptance: [] }] }, {}, ['$.workItems.0.acceptance']],
  ['an item with an id', { workItems: [{ ...ITEM, id: 'WI-1' }] }, {}, ['$.workItems.0.id']],
  [
    'an item of a generator utility with an id',
    { workItems: [{ ...ITEM, id: 1 }] },
    { ...UTILITY, generator: true },
    ['$.workItems.0.id'],
  ],
  ['a context that is no string', { context: {} }, {}, ['$.context']],
  [
    'a context of a generator utility that is no string',
    { workItems: [], context: 1 },
    { ...UTILITY, generator: true },
    ['$.context'],
  ],
  [
    'a required context of a utility that is no string',
    { context: 1 },
    { ...UTILITY, requires: ['context'] },
    ['$.context'],
  ],
  ['a state of a utility that is no object', { state: [] }, UTILITY, ['$.state']],
  ['text that nobody assigns', { text: 'x' }, {}, ['$.text']],
  ['text where only the whole payload is assigned', { text: 'x' }, { assign: { all: '$' } }, ['$.text']],
  ['assigned text that is no string', { text: 1 }, { assign: { t: '$.text' } }, ['$.text']],
  ['an assigned field that is missing', {}, { assign: { lastFeedback: '$.context' } }, ['$.context']],
  ['an assigned field of a utility that is missing', {}, { ...UTILITY, assign: { a: '$.x' } }, ['$.x']],
  ['an element of an empty array', { list: [] }, { assign: { a: '$.list.0.label' } }, ['$.list.0.label']],
  ['the length of an array', { list: [1] }, { assign: { a: '$.list.length' } }, ['$.list.length']],
  ['an index with a leading zero', { list: [1, 2] }, { assign: { a: '$.list.01' } }, ['$.list.01']],
  ['a character of a string', { context: 'x' }, { assign: { a: '$.context.0' } }, ['$.context.0']],
  ['an inherited property', { o: {} }, { assign: { a: '$.o.toString' } }, ['$.o.toString']],
  ['an inherited property of the payload', {}, { assign: { a: '$.constructor' } }, ['$.constructor']],
  ['assigned events', { event: [] }, { assign: { e: '$.event' } }, ['$.event']],
  ['a schedule of streams', { parallelSchedule: {} }, {}, ['$.parallelSchedule']],
  [
    'a schedule of streams from a generator',
    { workItems: [], parallelSchedule: {} },
    GENERATOR,
    ['$.parallelSchedule'],
  ],
  ['a schedule of streams from a utility', { parallelSchedule: {} }, UTILITY, ['$.parallelSchedule']],
  [
    'a schedule of streams with the payload assigned',
    { parallelSchedule: {} },
    { assign: { a: '$' } },
    ['$.parallelSchedule'],
  ],
  ['an unknown field', { note: 'x' }, {}, ['$.note']],
  ['an unknown field beside a named one', { a: 1, b: 2 }, { assign: { x: '$.a' } }, ['$.b']],
  ['an unknown field beside workItems', { workItems: [], tasks: [] }, GENERATOR, ['$.tasks']],
  ['a field with a name that objects inherit', { toString: 1 }, {}, ['$.toString']],
  ['a field whose name holds a line break', { 'a\nb': 1 }, {}, ['$.a\\nb']],
] as const)('refused: %s', (_, payload, parts, paths) => {
  const reading = materia.read(JSON.stringify(payload), contract(parts));
  expect(reading).toMatchObject({ ok: false, verdict: { allow: false, code: 'CONTRACT_VIOLATION' } });
  expect(issuesOf(payload, parts).map((issue) => issue.path)).toEqual(paths);
});

test.each([
  ['tasks', 'workItems'],
  ['task', 'workItems'],
  ['work', 'workItems'],
  ['passed', 'satisfied'],
  ['summary', 'context'],
  ['guidance', 'context'],
  ['decisions', 'context'],
  ['risks', 'context'],
  ['feedback', 'context'],
  ['missing', 'context'],
  ['reason', 'context'],
  ['failure', 'context'],
  ['rework', 'context'],
  ['architecture', 'context'],
  ['architectureGuidance', 'context'],
  ['state', 'context'],
])('the obsolete field %s is refused with a hint to use %s', (field, instead) => {
  const issues = issuesOf({ [field]: 'x' });
  expect(issues).toMatchObject([{ path: `$.${field}` }]);
  expect(issues[0]?.message).toContain(`\`${instead}\``);
});

test.each([
  ['missing', { passed: true }, {}],
  ['invalid', { passed: true, satisfied: 'yes' }, {}],
  ['missing from a utility', { passed: true }, UTILITY],
])('passed never stands in for a satisfied that is %s, and the issue says so', (_, payload, parts) => {
  const [first] = issuesOf(payload, { ...parts, requires: ['satisfied'] });
  expect(first).toMatchObject({ path: '$.satisfied' });
  expect(first?.message).toContain('`passed` is never read');
});

test.each([
  [{ text: 'x', context: 'y' }, 'drop `text`'],
  [{ text: 'x', context: ' ' }, 'move the prose'],
  [{ text: 'x' }, 'move the prose'],
])('%j: the issue says to %s', (payload, words) => {
  expect(issuesOf(payload)[0]?.message).toContain(words);
});

test.each<[string, Json, Partial<Contract>, string, string]>([
  ['satisfied', { satisfied: 'true' }, {}, 'boolean', 'must be true or false, not a string'],
  ['satisfied of a utility', { satisfied: 'true' }, UTILITY, 'boolean', 'must be true or false, not a string'],
  ['workItems', { workItems: {} }, {}, 'array', 'must be an array, not an object'],
  ['context', { context: [] }, {}, 'string', 'must be a string, not an array'],
  ['text', { text: 1 }, { assign: { t: '$.text' } }, 'string', 'must be a string, not a number'],
  ['state', { state: 'x' }, UTILITY, 'object', 'must be an object, not a string'],
  ['event', { event: null }, {}, 'array', 'must be an array of events, not null'],
])('a value of the wrong type in %s is told with the type that is expected', (_field, payload, parts, type, words) => {
  expect(issuesOf(payload, parts)).toMatchObject([{ expected: type, message: expect.stringContaining(words) }]);
});

test('events are taken out of the payload and given beside the handoff', () => {
  const event = [
    {
      type: 'result.no_changes_needed',
      severity: 'info',
      message: 'm',
      payload: {},
      source: { materia: 'M' },
      extra: 1,
    },
  ];
  expect(readMateria(JSON.stringify({ satisfied: true, event }), contract({ assign: { all: '$' } }))).toEqual({
    ok: true,
    handoff: { outcome: 'done', satisfied: true, payload: { satisfied: true }, events: event },
  });
  expect(readMateria('{"event":[]}', contract())).toEqual({
    ok: true,
    handoff: { outcome: 'done', satisfied: null, payload: {} },
  });
});

test.each([
  ['too many events', Array.from({ length: 65 }, () => ({ type: 'a' })), 'has 65 events'],
  ['events that are too long', [{ type: 'a', message: 'x'.repeat(70_000) }], 'bytes; at most 65536'],
])('%s are refused', (_what, event, words) => {
  expect(issuesOf({ event })[0]).toMatchObject({ path: '$.event', message: expect.stringContaining(words) });
});

test.each(['debug', 'info', 'warning', 'error', 'critical'])('an event may be of the severity %s', (severity) => {
  const event = [{ type: 'a', severity }];
  expect(readMateria(JSON.stringify({ event }), contract())).toMatchObject({ ok: true, handoff: { events: event } });
});

test('the reason is one sentence with the first issue and their number', () => {
  const one = materia.read('{"satisfied":1}', contract());
  const two = materia.read('{"satisfied":1,"x":2}', contract());
  expect(one.ok ? '' : one.verdict.reason).toBe(
    'The output breaks its contract in one place at $.satisfied: `satisfied` must be true or false, not a number.',
  );
  expect(two.ok ? '' : two.verdict.reason).toMatch(/in 2 places, first at \$\.satisfied: /);
});

test('a flood of issues is counted in full and listed in part', () => {
  const reading = materia.read(JSON.stringify({ workItems: Array(1000).fill(1) }), contract());
  if (reading.ok) throw new Error('was accepted');
  expect(reading.verdict.details.issues).toHaveLength(200);
  expect(reading.verdict.details.omitted).toBe(800);
  expect(reading.verdict.reason).toContain('1000 places');
});

test('values never appear in issues', () => {
  const secret = 'sk-secret';
  const payload = {
    satisfied: secret,
    context: [secret],
    workItems: [secret, { title: '', context: [secret], id: secret }],
    note: secret,
  };
  expect(JSON.stringify(issuesOf(payload))).not.toContain(secret);
});

test(
  'any mutation of a payload gives a well-shaped reading, and what is accepted once is accepted again',
  () => {
    const field = fc.constantFrom(
      'workItems',
      'satisfied',
      'context',
      'text',
      'event',
      'state',
      'tasks',
      'passed',
      'list',
      'x',
    );
    const item = fc.oneof(
      fc.constant(ITEM),
      fc.record({ title: fc.string(), context: fc.string() }, { requiredKeys: [] }),
      fc.jsonValue(),
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.boolean(),
      fc.string(),
      fc.array(item, { maxLength: 3 }),
      fc.constant([{ type: 'a' }]),
    );
    const payload = fc.dictionary(field, value, { maxKeys: 5 });
    const contracts = fc.record({
      generator: fc.boolean(),
      utility: fc.boolean(),
      requires: fc.subarray(['satisfied', 'workItems', 'context']),
      assign: fc.dictionary(
        fc.string(),
        fc.constantFrom('$', '$.workItems', '$.context', '$.text', '$.list.0.x', '$.x', 'state.a'),
        { maxKeys: 3 },
      ),
    });
    const cut = fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.constantFrom('', '{', '"', '}', FENCE, '\n', 'x'));
    fc.assert(
      fc.property(payload, contracts, fc.option(cut), (given, parts, damage) => {
        let raw = JSON.stringify(given);
        if (damage) {
          const at = damage[0] % (raw.length + 1);
          raw = raw.slice(0, at) + damage[2] + raw.slice(at + damage[1]);
        }
        const reading = readMateria(raw, contract(parts));
        if (reading.ok) {
          expect(isObject(reading.handoff.payload)).toBe(true);
          expect(reading.handoff.outcome).toBe(reading.handoff.satisfied === false ? 'rework' : 'done');
          const again = readMateria(JSON.stringify(reading.handoff.payload), contract(parts));
          expect(again).toEqual({ ok: true, handoff: JSON.parse(JSON.stringify(reading.handoff)) });
        } else {
          expect(Object.hasOwn(CODES, reading.verdict.code)).toBe(true);
          expect(reading.verdict.reason).not.toBe('');
          expect(reading.verdict.details.issues).not.toHaveLength(0);
        }
      }),
      runs,
    );
  },
  timeout,
);

test(
  'any text gives a reading',
  () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.lorem()), (raw) => {
        expect(typeof materia.read(raw, contract({ requires: ['satisfied'] })).ok).toBe('boolean');
      }),
      runs,
    );
  },
  timeout,
);
