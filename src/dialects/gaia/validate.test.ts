import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CODES } from '../../kernel/codes.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { exampleReport } from './brief.ts';
import { mergeContracts, validateGaia, validateMerge, validateTransition } from './validate.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const patient = { timeout: 20_000 + runs * 10 };
const REPORT = exampleReport({});
const RAW = `\`\`\`agent_contract_handoff\n${JSON.stringify(REPORT)}\n\`\`\``;
const deep = (levels: number): Json => {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
};
const poisoned: Json = JSON.parse('{"__proto__": {"a": 1}}');

const GAIA_ROWS: [string, Json, Json, string][] = [
  ['options that are no object', RAW, 'x', 'BAD_USAGE'],
  ['a context that is no object', RAW, { injected_context: [] }, 'BAD_USAGE'],
  ['an agent id that is no text', RAW, { task_agent_id: 7 }, 'BAD_USAGE'],
  ['null options', RAW, null, 'OK'],
  ['a reply', RAW, { injected_context: null, task_agent_id: null }, 'OK'],
  ['a reply for the issued id', RAW, { task_agent_id: 'a0c0ffee' }, 'OK'],
  ['a reply for another id', RAW, { task_agent_id: 'a0f0f0f' }, 'CONTRACT_VIOLATION'],
  [
    'a reply to a context',
    RAW,
    { injected_context: { surface_routing: { multi_surface: true } } },
    'CONTRACT_VIOLATION',
  ],
  ['the JSON without its fence', JSON.stringify(REPORT), {}, 'NO_BLOCK'],
  ['a parsed report', REPORT, {}, 'OK'],
  ['null', null, {}, 'NO_BLOCK'],
  ['a list', [REPORT], {}, 'NO_BLOCK'],
  ['a number', 7, {}, 'NO_BLOCK'],
  ['deep nesting', { agent_status: deep(100_000) }, {}, 'NOT_JSON'],
  ['an infinite number', { a: Number.POSITIVE_INFINITY }, {}, 'NOT_JSON'],
  ['a poisoned key', poisoned, {}, 'NOT_JSON'],
];

test.each(GAIA_ROWS)('gaia: %s', (_name, input, options, code) => {
  expect(validateGaia(input, options).code).toBe(code);
});

const MERGE_ROWS: [string, Json, string, JsonObject][] = [
  ['not JSON', '{', 'NOT_JSON', {}],
  ['deep nesting', { base: { a: deep(100_000) } }, 'NOT_JSON', {}],
  ['a list', [], 'CONTRACT_VIOLATION', {}],
  ['null', null, 'CONTRACT_VIOLATION', {}],
  ['a base that is no object', { base: [] }, 'CONTRACT_VIOLATION', {}],
  ['entries that are no list', { base: { a: {} }, entries: {} }, 'CONTRACT_VIOLATION', { a: {} }],
  ['a section name that is no text', { base: { a: {} }, writable_sections: [1] }, 'CONTRACT_VIOLATION', { a: {} }],
  ['nothing', {}, 'OK', {}],
  ['null for a list', { base: { a: {} }, entries: null, writable_sections: null }, 'OK', { a: {} }],
  ['no list of sections', { entries: [{ contract: 'a', payload: {} }] }, 'WRITE_NOT_PERMITTED', {}],
  [
    'a write',
    { base: {}, entries: [{ contract: 'a', payload: { b: 1 } }], writable_sections: ['a'] },
    'OK',
    { a: { b: 1 } },
  ],
  [
    'a write as text',
    '{"entries":[{"contract":"a","payload":{"b":1}}],"writable_sections":["a"]}',
    'OK',
    { a: { b: 1 } },
  ],
];

test.each(MERGE_ROWS)('gaia/merge: %s', (_name, input, code, result) => {
  const verdict = validateMerge(input);
  expect([verdict.code, verdict.details.result]).toEqual([code, result]);
});

test.each(MERGE_ROWS.filter(([, , code]) => code !== 'WRITE_NOT_PERMITTED'))(
  'gaia/merge: %s rejects no section and warns of nothing',
  (_name, input) => {
    expect(validateMerge(input).details).toMatchObject({ rejected: [], warnings: [] });
  },
);

test('gaia/merge: text is read beyond one mebibyte, up to sixteen', () => {
  const textOf = (bytes: number) => JSON.stringify({ base: { a: { b: 'x'.repeat(bytes) } } });
  expect(validateMerge(textOf(1_048_576)).code).toBe('OK');
  expect(validateMerge(textOf(16 * 1_048_576)).code).toBe('NOT_JSON');
});

const TRANSITION_ROWS: [string, Json, string][] = [
  ['not JSON', 'IN_PROGRESS', 'NOT_JSON'],
  ['deep nesting', { reports: [deep(100_000)] }, 'NOT_JSON'],
  ['a list', ['IN_PROGRESS'], 'CONTRACT_VIOLATION'],
  ['reports that are no list', { reports: 'IN_PROGRESS' }, 'CONTRACT_VIOLATION'],
  ['no reports', { reports: [] }, 'CONTRACT_VIOLATION'],
  ['an illegal report', { reports: ['COMPLETE', 'COMPLETE'] }, 'ILLEGAL_TRANSITION'],
  ['a legal report', { reports: ['IN_PROGRESS', 'COMPLETE'] }, 'OK'],
  ['a legal report as text', '{"reports": ["IN_PROGRESS"]}', 'OK'],
];

test.each(TRANSITION_ROWS)('gaia/transition: %s', (_name, input, code) => {
  expect(validateTransition(input).code).toBe(code);
});

test.each(TRANSITION_ROWS.slice(0, 4))('gaia/transition: %s counts no report', (_name, input) => {
  expect(validateTransition(input).details).toMatchObject({ in_progress_count: 0, warning: null });
});

test('whatever comes in, a verdict comes out', patient, () => {
  const json = fc.jsonValue() as fc.Arbitrary<Json>;
  const request = fc.record(
    { base: json, entries: json, writable_sections: json, reports: json },
    { requiredKeys: [] },
  );
  const context = fc.record({ injected_context: json, task_agent_id: json }, { requiredKeys: [] });
  const input = fc.oneof(json, fc.string(), request as fc.Arbitrary<Json>);
  const options = fc.oneof(json, context as fc.Arbitrary<Json>);
  fc.assert(
    fc.property(input, options, (drawn, chosen) => {
      // What comes in comes from JSON, which knows no negative zero.
      const given = JSON.parse(JSON.stringify(drawn)) as Json;
      for (const validate of [validateGaia, validateMerge, validateTransition]) {
        const verdict = validate(given, chosen);
        expect(verdict.code === 'OK' ? verdict.allow : verdict.code in CODES && !verdict.allow).toBe(true);
        expect(verdict.reason).toBeTypeOf('string');
        expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict);
      }
    }),
    { numRuns: runs },
  );
});

const entry = (contract: Json, payload: Json) => ({ contract, payload });
const EVIDENCE = { brief_id: 1, ac_id: 'AC-1', type: 'file', artifact_path: 'shots/a.png' };
const DOOR_ROWS: [string, Json[], JsonObject, string[], string[]][] = [
  ['every section is writable', [entry('a', { y: 2 })], { a: { x: 1, y: 2 }, list: [1] }, [], []],
  ['a new section is written', [entry('b', { y: 2 })], { a: { x: 1 }, list: [1], b: { y: 2 } }, [], []],
  [
    'a section off the list is rejected and the others apply',
    [entry('c', { y: 1 }), entry('a', { y: 2 }), entry('c', { z: 1 })],
    { a: { x: 1, y: 2 }, list: [1] },
    ['c'],
    ['UPDATE_CONTRACTS_REJECTED:c', 'UPDATE_CONTRACTS_REJECTED:c'],
  ],
  [
    'names are compared exactly',
    [entry('A', {}), entry('a ', {})],
    { a: { x: 1 }, list: [1] },
    ['A', 'a '],
    ['UPDATE_CONTRACTS_REJECTED:A', 'UPDATE_CONTRACTS_REJECTED:a '],
  ],
  [
    'a payload that is no object is rejected',
    [entry('a', [1])],
    { a: { x: 1 }, list: [1] },
    ['a'],
    ['UPDATE_CONTRACTS_REJECTED:a'],
  ],
  [
    'a stored section that is no object is kept',
    [entry('list', { y: 1 })],
    { a: { x: 1 }, list: [1] },
    ['list'],
    ['UPDATE_CONTRACTS_REJECTED:list'],
  ],
  [
    'evidence needs no permission and is no section',
    [entry('evidence', EVIDENCE), entry('a', { y: 2 })],
    { a: { x: 1, y: 2 }, list: [1] },
    [],
    [],
  ],
  [
    'bad evidence is rejected with all other evidence, and sections still apply',
    [entry('evidence', EVIDENCE), entry('evidence', { ...EVIDENCE, type: 'x' }), entry('a', { y: 2 })],
    { a: { x: 1, y: 2 }, list: [1] },
    ['evidence'],
    ['UPDATE_CONTRACTS_REJECTED:evidence', 'UPDATE_CONTRACTS_REJECTED:evidence'],
  ],
  [
    'entries of another shape are skipped',
    [null, 'a', {}, { contract: 'a' }, { payload: {} }, entry(7, {}), entry('a', { y: 2 })],
    { a: { x: 1, y: 2 }, list: [1] },
    [],
    [0, 1, 2, 3, 4, 5].map((index) => `UPDATE_CONTRACTS_SKIPPED:entries[${index}]`),
  ],
];

test.each(DOOR_ROWS)('%s', (_name, entries, result, rejected, warnings) => {
  const base = { a: { x: 1 }, list: [1] };
  const verdict = mergeContracts({ base, entries, writable_sections: ['a', 'b', 'list'] });
  expect(verdict.code).toBe(rejected.length > 0 ? 'WRITE_NOT_PERMITTED' : 'OK');
  expect(verdict.details).toMatchObject({ result, rejected, warnings });
});

test('evidence that would be taken is told, and what is wrong with it by its place', () => {
  const merged = (payload: Json) =>
    mergeContracts({ base: {}, entries: [entry('evidence', payload)], writable_sections: [] }).details;
  expect(merged(EVIDENCE).evidence).toEqual([EVIDENCE]);
  expect(merged({ ...EVIDENCE, artifact_path: '../a' })).toMatchObject({
    rejected: ['evidence'],
    issues: [{ path: 'entries[0].payload.artifact_path', message: expect.stringContaining('EVIDENCE_OUTSIDE') }],
  });
});

test('live state is written with a warning, references in their canonical spelling', () => {
  const payload = { vpc_id: 'vpc-12345678', uses: ['git@github.com:Acme/IaC.git:tf_modules/network'] };
  const verdict = mergeContracts({ base: {}, entries: [entry('s', payload)], writable_sections: ['s'] });
  expect(verdict.allow).toBe(true);
  expect(verdict.details.warnings).toEqual(['REFERENCE_NORMALISED:s.uses[0]', 'LIVE_STATE:s.vpc_id']);
  expect(verdict.details.result).toEqual({
    s: { vpc_id: 'vpc-12345678', uses: ['github.com/acme/iac:tf_modules/network'] },
  });
});

const MANY = 20_000;
const FLOODS: [string, Json[]][] = [
  ['entries of one section', Array.from({ length: MANY }, (_, n) => entry('s', { [`k${n}`]: n }))],
  ['entries of one nested key', Array.from({ length: MANY }, (_, n) => entry('s', { a: { [`k${n}`]: n } }))],
  ['entries of one list', Array.from({ length: MANY }, (_, n) => entry('s', { a: [n] }))],
  ['elements of one name', [entry('s', { l: Array.from({ length: MANY }, (_, n) => ({ name: 'x', [`k${n}`]: n })) })]],
  ['references', [entry('s', { l: Array.from({ length: MANY * 4 }, (_, n) => `https://h.io/o/r:t/${n}`) })]],
  ['long paths', [entry('s', { ['k'.repeat(500_000)]: Array.from({ length: MANY }, () => '10.1.1.1') })]],
];

test.each(FLOODS)('a flood of %s is merged in time that grows with its size', (_name, entries) => {
  const before = performance.now();
  const verdict = mergeContracts({ base: { s: { l: [{ name: 'x' }] } }, entries, writable_sections: ['s'] });
  expect(verdict.allow).toBe(true);
  expect((verdict.details.warnings as string[]).length).toBeLessThanOrEqual(100);
  expect(performance.now() - before).toBeLessThan(60_000);
});
