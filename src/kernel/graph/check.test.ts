import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CODES } from '../codes.ts';
import type { Json, JsonObject } from '../json.ts';
import { check, issuesOf } from './check.ts';
import type { Issue } from './config.ts';
import { flow, software } from './fixtures/software.ts';
import { resolve } from './resolve.ts';
import { contractOf } from './route.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const TIMEOUT_MS = 10_000 + RUNS * 20;

test('all issues of all loadouts and materia are found, errors first', () => {
  const config = software({
    'budget.maxTokens': -1,
    'materia.Sum.tools': 'all',
    'materia.Eval.promt': 'misspelt',
    'materia.Eval.mood': 'good',
    'loadouts.Flow.entry': 'Socket-9',
    'loadouts.Other': { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Nobody' } } },
  });
  expect(check(config).map(({ code, level, path }) => [code, level, path])).toEqual([
    ['INVALID_CONFIG', 'error', 'budget.maxTokens'],
    ['INVALID_CONFIG', 'error', 'materia.Eval.promt'],
    ['INVALID_MATERIA', 'error', 'materia.Sum.tools'],
    ['UNKNOWN_ENDPOINT', 'error', 'loadouts.Flow.entry'],
    ['UNKNOWN_MATERIA', 'error', 'loadouts.Other.sockets.Socket-1.materia'],
    ['INVALID_CONFIG', 'warning', 'materia.Eval.mood'],
  ]);
});

test('a message says what is wrong and how to mend it', () => {
  const [issue] = check(flow({ 'sockets.Socket-3.edges.0.when': 'ok' }));
  expect(issue?.message).toBe('"ok" is not a condition. Write one of always, satisfied, not_satisfied.');
});

test('under strict, warnings are errors', () => {
  const config = flow({ 'sockets.Socket-6': { materia: 'Sum' } });
  expect(check(config)).toMatchObject([{ code: 'UNREACHABLE_SOCKET', level: 'warning' }]);
  expect(check(config, { strict: true })).toMatchObject([{ code: 'UNREACHABLE_SOCKET', level: 'error' }]);
});

test('while a loadout has errors nothing is said about its flow', () => {
  const config = flow({ 'sockets.Socket-6': { materia: 'Sum' }, 'sockets.Socket-4.edges.0.to': 'Socket-9' });
  expect(check(config).map((issue) => issue.code)).toEqual(['UNKNOWN_ENDPOINT']);
});

test('faults of a materia do not hide the flow of a loadout', () => {
  const config = software({ 'materia.Sum': 3, 'loadouts.Flow.sockets.Socket-6': { materia: 'Sum' } });
  expect(check(config).map((issue) => issue.code)).toEqual(['INVALID_MATERIA', 'UNREACHABLE_SOCKET']);
});

test('a bad loadout, and a bad materia it does not use, leave a good loadout usable', () => {
  const config = software({
    'materia.Unused': {},
    'loadouts.Bad': { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Unused' } } },
    'loadouts.Flow 2': {},
  });
  const issues = check(config);
  expect(issuesOf(issues, 'Flow', config)).toEqual([]);
  expect(new Set(issuesOf(issues, 'Bad', config).map((issue) => issue.path))).toEqual(
    new Set(['materia.Unused.prompt', 'materia.Unused.tools']),
  );
});

test('issues of the configuration itself matter to every loadout', () => {
  const config = software({ 'budget.maxCost': 'much' });
  const issues = check(config);
  expect(issuesOf(issues, 'Flow', config)).toEqual(issues);
  expect(issuesOf(check(7), 'Flow', 7)).toHaveLength(1);
});

test('a name with dots takes the issues of every name it could be', () => {
  const loadouts = { A: {}, 'A.entry': {}, Ab: {} };
  const config = { ...software(), activeLoadout: 'A', loadouts };
  const paths = issuesOf(check(config), 'A', config).map((issue) => issue.path);
  expect(paths).toContain('loadouts.A.entry');
  expect(paths).toContain('loadouts.A.entry.entry');
  expect(paths.some((path) => path.startsWith('loadouts.Ab'))).toBe(false);
});

test(
  'any JSON value gets well-shaped issues',
  () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => wellShaped(check(value as Json))),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

test(
  'a damaged configuration gets well-shaped issues, and a loadout without errors can be resolved',
  () => {
    fc.assert(
      fc.property(fc.array(damage(), { minLength: 1, maxLength: 4 }), (damages) => {
        const config = damages.reduce((each, { at, value }) => replaced(each, at, value), software() as Json);
        const issues = check(config);
        wellShaped(issues);
        expect(check(JSON.parse(JSON.stringify(config)))).toEqual(issues);
        const loadouts = (config as { loadouts?: object } | null)?.loadouts;
        if (typeof loadouts !== 'object' || !Object.hasOwn(loadouts ?? {}, 'Flow')) return;
        if (issuesOf(issues, 'Flow', config).some((issue) => issue.level === 'error')) return;
        const rules = resolve(config as JsonObject, 'Flow');
        expect(JSON.parse(JSON.stringify(rules))).toEqual(rules);
        for (const id of Object.keys(rules.graph.sockets)) contractOf(rules, id);
        expect(Object.keys(rules.graph.sockets)).toContain(rules.graph.entry);
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

test.each([
  ['a long chain', (n: number) => chain(n, (id) => [`Socket-${id + 1}`])],
  ['a long chain back to its start', (n: number) => chain(n, (id) => [`Socket-${id < n ? id + 1 : 1}`])],
  ['many broken edges', (n: number) => chain(n, () => ['x', 'y', 'Socket-0'])],
])('%s is checked in little time', (_what, build) => {
  const started = performance.now();
  expect(check(build(10_000)).length).toBeGreaterThan(0);
  expect(performance.now() - started).toBeLessThan(60_000);
});

function wellShaped(issues: readonly Issue[]): void {
  for (const { code, level, path, message } of issues) {
    expect(CODES).toHaveProperty(code);
    expect(['error', 'warning']).toContain(level);
    expect(path).not.toBe('');
    expect(message).toMatch(/\.$/);
    expect(message.length).toBeLessThan(1500);
  }
}

type Damage = { readonly at: readonly number[]; readonly value: Json | undefined };

function damage(): fc.Arbitrary<Damage> {
  const words = [
    'end',
    'Socket-1',
    'Socket-4',
    'Socket-9',
    'always',
    'satisfied',
    'json',
    'text',
    'gaia',
    'Plan',
    '$',
    '$.a',
  ];
  const value = fc.oneof(
    fc.constantFrom<Json | undefined>(...words, '__proto__', undefined, null, true, 0, -1, 2.5, '', [], {}),
    fc.constant<Json>({ from: 'Socket-4', when: 'satisfied', to: 'end' }),
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
  );
  return fc.record({ at: fc.array(fc.nat(30), { minLength: 1, maxLength: 8 }), value });
}

/** Replaces the value that a walk by child numbers arrives at; now and then a field is added instead. */
function replaced(node: Json, at: readonly number[], value: Json | undefined): Json {
  const [step = 0, ...rest] = at;
  if (Array.isArray(node)) {
    if (node.length === 0 || at.length === 0) return value ?? null;
    const index = step % node.length;
    return node.map((each, i) => (i === index ? replaced(each, rest, value) : each));
  }
  if (typeof node !== 'object' || node === null || at.length === 0) return value ?? null;
  const keys = Object.keys(node);
  const key = step % 7 === 6 ? 'parse' : keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return value ?? null;
  const { [key]: old, ...others } = node as JsonObject;
  if (rest.length === 0 && value === undefined) return others;
  return { ...node, [key]: old === undefined ? (value ?? null) : replaced(old, rest, value) };
}

function chain(length: number, next: (id: number) => string[]): Json {
  const ids = Array.from({ length }, (_, index) => index + 1);
  const socket = (id: number) => ({ materia: 'Sum', edges: next(id).map((to) => ({ when: 'always', to })) });
  const sockets = Object.fromEntries(ids.map((id) => [`Socket-${id}`, socket(id)]));
  return software({ 'loadouts.Flow': { entry: 'Socket-1', sockets } as Json });
}
