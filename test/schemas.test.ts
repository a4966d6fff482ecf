// The published schemas are what the sources say, and each is a schema.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PUBLISHED_SCHEMAS, schemaText } from '../src/contracts/published-schemas.ts';
import { validateGaia, validateMerge, validateTransition } from '../src/dialects/gaia/validate.ts';
import { instantOf as readOperatorInstant } from '../src/dialects/operator/findings.ts';
import { validateOperator } from '../src/dialects/operator/read.ts';
import { check } from '../src/kernel/graph/check.ts';
import type { Json, JsonObject } from '../src/kernel/json.ts';
import { buildInput } from '../src/kernel/report/envelope.ts';
import { readInstant as readGovernedInstant } from '../src/trust/lineage.ts';

const folder = fileURLToPath(new URL('../schemas/', import.meta.url));
const names = Object.keys(PUBLISHED_SCHEMAS);

test('no schema is missing, stale or left over; `npm run schemas` writes them', () => {
  expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.schema.json`).sort());
});

test.each(names)('%s is published as it is, and compiles', (name) => {
  expect(readFileSync(`${folder}${name}.schema.json`, 'utf8')).toBe(schemaText(name));
  expect(() => new Ajv2020({ strict: false }).compile(PUBLISHED_SCHEMAS[name] ?? {})).not.toThrow();
});

const validate = new Ajv2020({ strict: false }).compile(PUBLISHED_SCHEMAS.config ?? {});
const example = JSON.parse(readFileSync(new URL('../examples/graph-semantics-loadout.json', import.meta.url), 'utf8'));
const socket = example.loadouts['Software-Workflow'].sockets['Socket-5'];

test.each([
  ['as it is', (config: typeof example) => config],
  [
    'an unknown condition',
    (config: typeof example) => set(config, { ...socket, edges: [{ when: 'sometimes', to: 'end' }] }),
  ],
  [
    'a malformed target',
    (config: typeof example) => set(config, { ...socket, edges: [{ when: 'always', to: 'Build' }] }),
  ],
  [
    'maxTraversals 0',
    (config: typeof example) => set(config, { ...socket, edges: [{ when: 'always', to: 'end', maxTraversals: 0 }] }),
  ],
  ['a bad parse', (config: typeof example) => set(config, { ...socket, parse: 'yaml' })],
  [
    'an unknown tool scope',
    (config: typeof example) => ({ ...config, materia: { ...config.materia, Build: { prompt: 'x', tools: 'all' } } }),
  ],
])('the schema of the configuration and `baton check` agree: %s', (_name, change) => {
  const config = change(structuredClone(example));
  const hasErrors = check(config).some(({ level }) => level === 'error');
  expect(validate(config)).toBe(!hasErrors);
});

function set(config: typeof example, value: unknown) {
  config.loadouts['Software-Workflow'].sockets['Socket-5'] = value;
  return config;
}

const fits = (name: string) => {
  const judge = new Ajv2020({ strict: false }).compile(PUBLISHED_SCHEMAS[name] ?? {});
  return (value: unknown) => judge(value);
};
const runs = Number(process.env.FUZZ_RUNS ?? 500);

const time = fc
  .tuple(
    fc.constantFrom('0000', '1900', '2000', '2023', '2024', '2100', '24'),
    fc.integer({ min: 0, max: 13 }),
    fc.integer({ min: 0, max: 32 }),
    fc.constantFrom('T', 't', ' ', 'x'),
    fc.constantFrom(
      '00:00',
      '23:59',
      '24:00',
      '12:60',
      '12:30:59',
      '12:30:60',
      '12:30:59.123',
      '12:30:59,5',
      '9:30:00',
    ),
    fc.constantFrom('', 'Z', 'z', '+00:00', '-00:00', '+0000', '+02:00', '-23:59', '+24:00', '+02:60', '+2'),
  )
  .map(([year, month, day, t, clock, zone]) => `${year}-${two(month)}-${two(day)}${t}${clock}${zone}`);

function two(value: number): string {
  return String(value).padStart(2, '0');
}

test('the schemas and the validators read the same times', { timeout: 60_000 }, () => {
  const pattern = (name: string, path: readonly string[]) => {
    const schema = path.reduce<Json>(
      (at, key) => (at as JsonObject)[key] as Json,
      PUBLISHED_SCHEMAS[name] as JsonObject,
    );
    return new RegExp((schema as { pattern: string }).pattern, 'u');
  };
  const utc = pattern('operator-worklog', ['properties', 'timestamp']);
  const any = pattern('operator-watchdog', ['properties', 'now']);
  const governed = pattern('governed-handoff', ['properties', 'timestamp']);
  fc.assert(
    fc.property(time, (text) => {
      const isTime = readOperatorInstant(text) !== null;
      expect([text, any.test(text)]).toEqual([text, isTime]);
      expect([text, utc.test(text)]).toEqual([text, isTime && !/[+-](?!00:?00$)\d{2}:?\d{2}$/.test(text)]);
      expect([text, governed.test(text)]).toEqual([text, readGovernedInstant(text) !== null]);
    }),
    { numRuns: Math.max(runs, 5000) },
  );
});

const entry = {
  timestamp: '2026-01-31T09:30:00Z',
  run_id: '3f2b8c1e-5a4d-4e6f-8a9b-0c1d2e3f4a5b',
  task_id: 'T-1',
  actor: 'builder',
  action: 'edited',
  files_touched: ['src/a.ts'],
  decision: 'as planned',
  result: 'done',
  next_step: 'none',
};
const silent = {
  task_id: 'T-1',
  status: 'in_progress',
  timeout_seconds: 60,
  last_heartbeat_at: '2026-01-31T09:30:00Z',
};

test.each([
  ['worklog', entry, true],
  ['worklog', { ...entry, timestamp: '2026-02-30T09:30:00Z' }, false],
  ['worklog', { ...entry, timestamp: '2026-01-31T09:30:00+02:00' }, false],
  ['worklog', { ...entry, timestamp: 'now' }, false],
  ['watchdog', { now: '2026-01-31T09:30:30+00:00', tasks: [silent] }, true],
  ['watchdog', { now: 'soon', tasks: [silent] }, false],
  ['watchdog', { now: '2026-01-31T09:30:30Z', tasks: [{ ...silent, last_heartbeat_at: 'once' }] }, false],
  ['watchdog', { now: '2026-01-31T09:30:30Z', tasks: [{ ...silent, status: 'done', last_heartbeat_at: 1 }] }, true],
])('operator/%s: schema and validator agree on %j: %s', (kind, payload, accepted) => {
  expect(fits(`operator-${kind}`)(payload)).toBe(accepted);
  expect(validateOperator(kind, payload).allow).toBe(accepted);
});

const anything = fc.oneof(
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.array(
    fc.oneof(fc.constantFrom<Json>('services', 'IN_PROGRESS', 'COMPLETE'), fc.jsonValue() as fc.Arbitrary<Json>),
  ),
  fc.dictionary(fc.constantFrom('services', 'apps'), fc.jsonValue() as fc.Arbitrary<Json>),
);
const someOf = (names: readonly string[]) =>
  fc.oneof(
    fc.record(Object.fromEntries(names.map((name) => [name, anything])), { requiredKeys: [] }),
    anything,
  ) as fc.Arbitrary<Json>;

test.each([
  ['gaia-merge', ['base', 'entries', 'writable_sections'], validateMerge],
  ['gaia-transition', ['reports'], validateTransition],
] as const)('%s: what fits the schema is judged, and nothing else is', (name, members, judge) => {
  const judged = fits(name);
  fc.assert(
    fc.property(someOf(members), (input) => {
      fc.pre(typeof input !== 'string'); // A string is the text of a request.
      const text = JSON.stringify(input);
      fc.pre(!text.includes('__proto__')); // Refused whatever the shape around it.
      const plain = JSON.parse(text) as Json;
      const { code } = judge(plain);
      expect(judged(plain)).toBe(code !== 'CONTRACT_VIOLATION' && code !== 'NOT_JSON');
    }),
    { numRuns: runs },
  );
});

const surface = (agent: string) => ({ agent, neighbours: ['web'], checks: ['look'], sections: ['services'] });
const built = (activeSurfaces: readonly string[], agent = 'backend') =>
  buildInput({
    agent,
    goal: 'mend the login',
    acceptanceCriteria: ['sessions last an hour'],
    scope: ['src/auth'],
    surfaces: { api: surface('backend'), web: surface('frontend'), planning_specs: surface('planner') },
    activeSurfaces,
    reconnaissanceAgent: 'scout',
    store: { services: { login: {} }, apps: 'unreadable' },
    readableSections: ['apps', 'services'],
    writableSections: ['services', 'clusters'],
    permissionSource: 'config',
    metadata: { session_id: 's-1' },
  });

test.each([
  [[], 'guest'],
  [['api'], 'backend'],
  [['web', 'api'], 'backend'],
  [['api', 'planning_specs'], 'guest'],
])('an INPUT envelope for %j and %s fits its schema and is taken as one', (active, agent) => {
  const envelope = JSON.parse(JSON.stringify(built(active, agent)));
  expect(fits('gaia-input')(envelope)).toBe(true);
  expect(validateGaia('', { injected_context: envelope }).code).toBe('NO_BLOCK');
});

test.each(Object.keys(built([])))('an INPUT envelope without %s does not fit', (section) => {
  const { [section]: _dropped, ...rest } = built(['api']) as unknown as JsonObject;
  expect(fits('gaia-input')(rest)).toBe(false);
});
