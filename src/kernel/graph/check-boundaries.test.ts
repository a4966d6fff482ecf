import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { type Boundaries, check, issuesOf } from './check.ts';
import type { Issue } from './config.ts';

/** A line of agents may hand to its right neighbour; `plan` denies `judge`, also through `build`; `old` is retired. */
const boundaries: Boundaries = {
  knows: (id) => ['plan', 'build', 'judge', 'old'].includes(id),
  unfit: (id) => (id === 'old' ? 'old is retired' : null),
  refusal: (from, to) =>
    ['plan>build', 'build>judge'].includes(`${from}>${to}`) ? null : `${from} does not reach ${to}`,
  mediated: (...way) => (way.join('>') === 'plan>build>judge' ? 'plan denies handing to judge' : null),
};
const agent = (identity: string | null, prompt = 'Do it.') => ({ prompt, ...(identity === null ? {} : { identity }) });
const utility = { type: 'utility', command: ['true'] };
const config = (
  materia: JsonObject,
  edges: Readonly<Record<string, readonly string[]>>,
  loops: JsonObject = {},
): JsonObject => ({
  materia,
  loadouts: {
    Main: {
      entry: 'Socket-1',
      sockets: Object.fromEntries(
        Object.keys(materia).map((id, index) => [
          `Socket-${index + 1}`,
          { materia: id, edges: (edges[`Socket-${index + 1}`] ?? []).map((to) => ({ when: 'always', to })) },
        ]),
      ),
      loops,
    },
  },
});
const found = (value: JsonObject, options = {}) =>
  check(value, { boundaries, ...options })
    .filter(({ code, path }) => code === 'BOUNDARY_REFUSED' || path.endsWith('.prompt'))
    .map(({ level, code, path }) => `${level} ${code} ${path}`);

test.each([
  ['nobody comes with the product', () => false, ['REGISTRY_UNUSABLE', 'REGISTRY_UNUSABLE']],
  ['one does not', (identity: string | null) => identity === 'plan', ['REGISTRY_UNUSABLE', 'REGISTRY_UNUSABLE']],
  ['all of them do', () => true, []],
])('without a registry, %s', (_, isBundled, codes) => {
  const absent = { knows: () => false, unfit: () => null, refusal: () => null, mediated: () => null, isBundled };
  const config = {
    materia: { A: agent('plan'), B: agent('build'), C: { runner: 'person', prompt: 'Say.' } },
    loadouts: {
      L: {
        entry: 'Socket-1',
        sockets: Object.fromEntries(
          ['A', 'B', 'C'].map((materia, at) => [`Socket-${at + 1}`, { materia, parse: 'text', edges: [] }]),
        ),
      },
    },
  };
  const issues = check(config, { boundaries: absent }).filter(({ code }) => code === 'REGISTRY_UNUSABLE');
  expect(issues.map(({ code }) => code)).toEqual(codes);
  for (const { level, path } of issues)
    expect([level, path]).toEqual(['error', expect.stringMatching(/^loadouts\.L\.sockets\.Socket-[12]\.materia$/)]);
});

test.each<[string, JsonObject, string[]]>([
  ['neighbours', config({ A: agent('plan'), B: agent('build') }, { 'Socket-1': ['Socket-2'] }), []],
  [
    'the wrong way round',
    config({ A: agent('build'), B: agent('plan') }, { 'Socket-1': ['Socket-2'] }),
    ['warning BOUNDARY_REFUSED loadouts.Main.sockets.Socket-1.edges[0]'],
  ],
  [
    'through a utility',
    config({ A: agent('plan'), U: utility, B: agent('judge') }, { 'Socket-1': ['Socket-2'], 'Socket-2': ['Socket-3'] }),
    ['warning BOUNDARY_REFUSED loadouts.Main.sockets.Socket-1.edges[0]'],
  ],
  [
    'a circle of utilities ends',
    config(
      { A: agent('plan'), U: utility, V: utility },
      { 'Socket-1': ['Socket-2'], 'Socket-2': ['Socket-3'], 'Socket-3': ['Socket-2'] },
    ),
    [],
  ],
  ['an agent that can never start', config({ A: agent('old') }, {}), ['warning BOUNDARY_REFUSED materia.A.identity']],
  [
    'what the first one denies, through the second',
    config(
      { A: agent('plan'), B: agent('build'), C: agent('judge') },
      { 'Socket-1': ['Socket-2'], 'Socket-2': ['Socket-3'] },
    ),
    ['warning BOUNDARY_REFUSED loadouts.Main.sockets.Socket-2.edges[0]'],
  ],
  [
    'the same way without the first one',
    config({ B: agent('build'), C: agent('judge') }, { 'Socket-1': ['Socket-2'] }),
    [],
  ],
  ['an agent to itself', config({ A: agent('plan') }, { 'Socket-1': ['Socket-1'] }), []],
  ['one without identity', config({ A: agent('plan'), B: agent(null) }, { 'Socket-1': ['Socket-2'] }), []],
  ['an unknown identity', config({ A: agent('nobody') }, {}), ['warning BOUNDARY_REFUSED materia.A.identity']],
  [
    'an exit of a loop',
    config(
      { A: agent('build'), B: agent('plan') },
      {},
      {
        L: {
          sockets: ['Socket-1'],
          exits: [{ id: 'x', from: 'Socket-1', condition: 'always', targetSocketId: 'Socket-2' }],
        },
      },
    ),
    ['warning BOUNDARY_REFUSED loadouts.Main.loops.L.exits[0]'],
  ],
  [
    'a pinned prompt with a slot',
    config({ A: agent('plan', 'Do {{request}}') }, {}),
    ['error INVALID_MATERIA materia.A.prompt'],
  ],
  ['a slot where nothing is pinned', config({ A: agent(null, 'Do {{request}}') }, {}), []],
])('%s', (_, value, expected) => {
  expect(found(value)).toEqual(expected);
});

test('beside the registry of the workspace an agent needs an identity, and a person does not', () => {
  const value = config({ A: agent(null), B: { ...agent(null), runner: 'person' }, U: utility }, {});
  const inForce = { boundaries: { ...boundaries, isInForce: true } };
  expect(found(value, inForce)).toEqual(['warning BOUNDARY_REFUSED materia.A']);
  expect(found(value)).toEqual([]);
});

test('a boundary that is not understood is an error, and of no concern to a loadout without that agent', () => {
  const value = config({ A: agent('plan'), B: agent('build') }, { 'Socket-1': ['Socket-2'] });
  const malformed = ['plan', 'judge'].map((id) => ({ agent: id, message: 'deny is not understood' }));
  const issues = check(value, { boundaries: { ...boundaries, malformed } });
  const told = ({ level, code, path }: Issue) => `${level} ${code} ${path}`;
  expect(issues.filter(({ code }) => code === 'BOUNDARY_MALFORMED').map(told)).toEqual([
    'error BOUNDARY_MALFORMED materia.A.identity',
    'error BOUNDARY_MALFORMED registry.judge',
  ]);
  const mine = issuesOf(issues, 'Main', value).filter(({ code }) => code === 'BOUNDARY_MALFORMED');
  expect(mine.map(told)).toEqual(['error BOUNDARY_MALFORMED materia.A.identity']);
});

test('under strict checking a boundary is an error, and without a registry nobody asks', () => {
  const wrong = config({ A: agent('build'), B: agent('plan') }, { 'Socket-1': ['Socket-2'] });
  expect(found(wrong, { strict: true })).toEqual(['error BOUNDARY_REFUSED loadouts.Main.sockets.Socket-1.edges[0]']);
  expect(check(wrong).some(({ code }) => code === 'BOUNDARY_REFUSED')).toBe(false);
});

test.each([
  null,
  [],
  { loadouts: { Main: { sockets: { a: null, b: { edges: [{ to: 4 }] } }, loops: { l: { exits: [null] } } } } },
])('whatever the configuration is, nothing is thrown: %j', (value) => {
  expect(() => check(value, { boundaries })).not.toThrow();
});

test('a socket that must say yes or no is asked for a decision, any other one for a task or an analysis', () => {
  const asked: string[] = [];
  const listening: Boundaries = {
    ...boundaries,
    refusal: (from, to, types = []) => {
      asked.push(`${from}>${to}: ${types.join()}`);
      return null;
    },
  };
  const line = config({ A: agent('plan'), B: agent('build') }, { 'Socket-1': ['Socket-2'] });
  check(line, { boundaries: listening });
  const { sockets } = (line.loadouts as { Main: { sockets: Record<string, JsonObject> } }).Main;
  Object.assign(sockets['Socket-2'] ?? {}, { parse: 'json', edges: [{ when: 'satisfied', to: 'end' }] });
  check(line, { boundaries: listening });
  expect(asked).toEqual(['plan>build: task,analysis', 'plan>build: decision']);
});
