import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { mergeContracts } from './merge.ts';

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
