import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dialects } from '../../dialects/index.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../json.ts';
import { newPen } from '../pen.ts';
import { emptyState, type Pen } from '../state.ts';
import { utf8Length } from '../text.ts';
import { SECTION_BYTES_MAX, SECTIONS_MAX, sectionOf } from './state.ts';
import { revertSection, setSection, type Writer, writeSections } from './write.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const patient = { timeout: 20_000 + runs * 10 };
const AT = Date.parse('2026-03-01T12:00:00.000Z');
const pen = () => newPen(emptyState(), AT, dialects);
const who = (writable: readonly string[] = ['services', 'infra']): Writer => ({
  agent: 'backend',
  agentId: 'a00c0ffee',
  writable,
  cast: 'c1',
  turn: 3,
  attempt: 2,
  artifacts: {},
});
const entry = (contract: Json, payload: Json) => ({ contract, payload });
const valueIn = ({ state }: Pen, section: string) => sectionOf(state.knowledge, section)?.value ?? null;
const by = { at: AT, by: 'user:ada', isAgent: false } as const;
const set = (one: Pen, section: string, payload: JsonObject, replace = false) =>
  setSection(one, { kind: 'context.write', section, payload, replace, ...by });

const full = { text: 'x'.repeat(SECTION_BYTES_MAX) };

const ROWS: [string, Json | undefined, string[], [string, string][], string[]][] = [
  ['nothing', undefined, [], [], []],
  ['no list', { a: 1 }, [], [], ['UPDATE_CONTRACTS_SKIPPED:update_contracts']],
  ['an entry of another shape', [null], [], [], ['UPDATE_CONTRACTS_SKIPPED:update_contracts[0]']],
  ['a section off the list', [entry('secrets', { a: 1 })], [], [['secrets', 'WRITE_NOT_PERMITTED']], []],
  ['a payload that is no object', [entry('services', ['web'])], [], [['services', 'PAYLOAD_NOT_OBJECT']], []],
  ['live state', [entry('services', { web: { pod_count: 3 } })], [], [['services', 'LIVE_STATE']], []],
  ['a name that no section can have', [entry('memory', { a: 1 })], [], [['memory', 'SECTION_NAME_INVALID']], []],
  ['more than a section holds', [entry('services', full)], [], [['services', 'SECTION_TOO_LARGE']], []],
  ['what is there already', [entry('infra', { region: 'eu' })], [], [], ['CONTEXT_UNCHANGED:infra']],
  ['a new section', [entry('services', { web: { port: 80 } })], ['services'], [], []],
  [
    'a value of another type',
    [entry('infra', { region: ['eu'] })],
    ['infra'],
    [],
    ['TYPE_CHANGED:infra.region:string->array'],
  ],
  [
    'good and bad together',
    [
      entry('nope', {}),
      entry('services', { ip: '10.1.1.1' }),
      entry('services', { web: {} }),
      entry('infra', { b: 1 }),
    ],
    ['services', 'infra'],
    [
      ['nope', 'WRITE_NOT_PERMITTED'],
      ['services', 'LIVE_STATE'],
    ],
    [],
  ],
];

test.each(ROWS)('a report that writes %s', (_name, entries, written, rejected, warnings) => {
  const one = pen();
  set(one, 'infra', { region: 'eu' });
  const before = one.facts.length;
  const answer = writeSections(one, entries, who(['services', 'infra', 'memory']));
  expect(answer.written).toEqual(written);
  expect(answer.rejected.map(({ section, code }) => [section, code])).toEqual(rejected);
  expect(answer.warnings.map(({ code }) => code)).toEqual(warnings);
  const facts = one.facts.slice(before);
  const count = (kind: string) => facts.filter((fact) => fact.kind === kind).length;
  expect(count('context.rejected')).toBe(rejected.length);
  expect(new Set(facts.flatMap((fact) => (fact.kind === 'context.written' ? [fact.section] : [])))).toEqual(
    new Set(written),
  );
  for (const fact of facts) expect(fact).toMatchObject({ cast: 'c1', turn: 3, agent: 'backend', agentId: 'a00c0ffee' });
});

test('a written section tells what came, what it is now, and what changed', () => {
  const one = pen();
  writeSections(one, [entry('services', { web: { port: 80 }, list: ['b'] })], who());
  writeSections(one, [entry('services', { web: { port: 81 }, list: ['a', 'b'] })], who());
  expect(one.facts.at(-1)).toEqual({
    kind: 'context.written',
    section: 'services',
    payload: { list: ['a', 'b'], web: { port: 81 } },
    value: { list: ['b', 'a'], web: { port: 81 } },
    version: 2,
    diff: [
      { path: 'list[]', before: null, after: 'a' },
      { path: 'web.port', before: '80', after: '81' },
    ],
    author: 'backend',
    agent: 'backend',
    agentId: 'a00c0ffee',
    cast: 'c1',
    turn: 3,
  });
  expect(sectionOf(one.state.knowledge, 'services')).toMatchObject({ version: 2, at: AT, by: 'backend' });
});

test('two entries for one section apply in order, each with a version of its own', () => {
  const one = pen();
  writeSections(one, [entry('services', { a: 1, l: [1] }), entry('services', { a: 2, l: [2] })], who());
  expect(valueIn(one, 'services')).toEqual({ a: 2, l: [1, 2] });
  expect(sectionOf(one.state.knowledge, 'services')?.version).toBe(2);
});

test('the reason of refused live state names the places', () => {
  const payload = { web: { pod_count: 3 }, hosts: Array.from({ length: 9 }, (_, n) => `10.1.1.${n + 1}`) };
  const { rejected } = writeSections(pen(), [entry('services', payload)], who());
  expect(rejected[0]?.reason).toContain('services.web.pod_count: a count of what runs');
  expect(rejected[0]?.reason).toContain('and 5 more places');
});

test('references are stored in their canonical spelling, and no credential is stored at all', () => {
  const one = pen();
  const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  const payload = {
    uses: 'https://me:hunter2@github.com/Acme/IaC.git:tf_modules/network',
    remote: 'https://me:hunter2@github.com/acme/iac',
    short: ['see https://u:p@github.com/acme/iac.git', 'ssh://git@github.com/acme/iac'],
    token,
  };
  const { warnings } = writeSections(one, [entry('services', payload)], who());
  expect(warnings.map(({ code }) => code)).toEqual([
    'REFERENCE_NORMALISED:services.uses',
    'CREDENTIALS_REMOVED:services.remote',
    'CREDENTIALS_REMOVED:services.short[0]',
  ]);
  expect(valueIn(one, 'services')).toMatchObject({
    uses: 'github.com/acme/iac:tf_modules/network',
    short: ['see https://github.com/acme/iac.git', 'ssh://git@github.com/acme/iac'],
  });
  expect(JSON.stringify(one.facts)).not.toMatch(/hunter2|ghp_abc/);
});

test('one report writes a bounded number of entries', () => {
  const one = pen();
  const many = Array.from({ length: 200 }, (_, n) => entry('services', { [`k${n}`]: n }));
  const { rejected } = writeSections(one, many, who());
  expect(rejected).toHaveLength(136);
  expect(rejected.every(({ code }) => code === 'CONTEXT_LIMIT')).toBe(true);
  expect(one.facts).toHaveLength(128);
});

test('there is a bounded number of sections', () => {
  const one = pen();
  for (let n = 0; n < SECTIONS_MAX; n += 1) expect(set(one, `s${n}`, {}).code).toBe('OK');
  expect(set(one, 'more', {}).code).toBe('CONTEXT_LIMIT');
  expect(set(one, 's0', { a: 1 }).code).toBe('OK');
});

test('a person merges or replaces, and is told of live state instead of refused', () => {
  const one = pen();
  expect(set(one, 'infra', { a: 1, l: [1] })).toMatchObject({ allow: true, details: { version: 1, changed: true } });
  expect(set(one, 'infra', { b: 2, l: [2] }).details).toMatchObject({ version: 2 });
  expect(valueIn(one, 'infra')).toEqual({ a: 1, b: 2, l: [1, 2] });
  expect(set(one, 'infra', { b: 2 }).details).toMatchObject({ version: 2, changed: false });
  expect(set(one, 'infra', { ip: '10.1.1.1' }, true).details).toMatchObject({
    version: 3,
    warnings: ['LIVE_STATE:infra.ip'],
    why: [expect.stringContaining('an IP address')],
  });
  expect(valueIn(one, 'infra')).toEqual({ ip: '10.1.1.1' });
  expect(one.facts.at(-1)).toMatchObject({ kind: 'context.written', replaces: true, author: 'user:ada' });
});

const revert = (one: Pen, section: string, to: number, seen: number, value: JsonObject = {}) =>
  revertSection(one, { kind: 'context.revert', section, to, value, seen, reason: 'wrong', ...by });

test.each([
  ['a section that is not there', 'nope', 1, 2, 'UNKNOWN_SECTION'],
  ['a member that every object has', 'constructor', 1, 2, 'UNKNOWN_SECTION'],
  ['a version before the first', 'infra', -1, 2, 'UNKNOWN_VERSION'],
  ['the present version', 'infra', 2, 2, 'UNKNOWN_VERSION'],
  ['a version to come', 'infra', 7, 2, 'UNKNOWN_VERSION'],
  ['a section that was written since', 'infra', 1, 1, 'NOT_ALLOWED_NOW'],
  ['an earlier version', 'infra', 1, 2, 'OK'],
  ['nothing at all', 'infra', 0, 2, 'OK'],
])('putting back %s', (_name, section, to, seen, code) => {
  const one = pen();
  set(one, 'infra', { a: 1 });
  set(one, 'infra', { a: 2 });
  const value: JsonObject = to === 1 ? { a: 1 } : {};
  expect(revert(one, section, to, seen, value).code).toBe(code);
  expect(valueIn(one, 'infra')).toEqual(code === 'OK' ? value : { a: 2 });
  expect(sectionOf(one.state.knowledge, 'infra')?.version).toBe(code === 'OK' ? 3 : 2);
});

test('putting back what is there already makes no version', () => {
  const one = pen();
  for (const a of [1, 2]) set(one, 'infra', { a });
  expect(revert(one, 'infra', 1, 2, { a: 1 }).details).toMatchObject({ version: 3, changed: true });
  const written = one.facts.length;
  expect(revert(one, 'infra', 1, 3, { a: 1 })).toMatchObject({
    reason: 'infra is as it was at version 1 already, and stays at version 3',
    details: { version: 3, changed: false },
  });
  expect([one.facts.length, sectionOf(one.state.knowledge, 'infra')?.version]).toEqual([written, 3]);
});

const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const anyName = fc.oneof(fc.constantFrom('services', 'infra', 'memory', '__proto__', 'constructor', ''), fc.string());
const anyEntry = fc.oneof(anyJson, fc.record({ contract: anyName, payload: anyJson }));

test('whatever a report brings, every section stays an object within its bounds', {
  timeout: 20_000 + runs * 10,
}, () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.array(anyEntry, { maxLength: 6 }), anyJson), { maxLength: 4 }), (reports) => {
      const one = pen();
      const writable = ['services', 'infra', 'memory', '__proto__', 'constructor', ''];
      for (const report of reports as Json[]) {
        const { written, rejected, warnings } = writeSections(one, report, who(writable));
        expect(written.every((text) => typeof text === 'string')).toBe(true);
        expect(warnings.every(({ kind, message }) => kind === 'warning' && message !== '')).toBe(true);
        expect(rejected.every(({ section, reason }) => typeof section === 'string' && reason !== '')).toBe(true);
      }
      for (const [name, { value, version }] of Object.entries(one.state.knowledge.sections)) {
        expect(writable).toContain(name);
        expect(isObject(value) && version > 0).toBe(true);
        expect(utf8Length(canonicalJson(value))).toBeLessThanOrEqual(SECTION_BYTES_MAX);
      }
    }),
    { numRuns: Math.ceil(runs / 4) },
  );
});

test('the same report written again changes nothing', patient, () => {
  const payload = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), anyJson, { noNullPrototype: true, maxKeys: 4 });
  fc.assert(
    fc.property(payload as fc.Arbitrary<JsonObject>, (value) => {
      const one = pen();
      writeSections(one, [entry('services', value)], who());
      const facts = one.facts.filter(({ kind }) => kind === 'context.written').length;
      writeSections(one, [entry('services', value)], who());
      expect(one.facts.filter(({ kind }) => kind === 'context.written')).toHaveLength(facts);
    }),
    { numRuns: Math.ceil(runs / 4) },
  );
});
