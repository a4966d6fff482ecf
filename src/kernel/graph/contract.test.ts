import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { software } from './fixtures/software.ts';
import { resolve } from './resolve.ts';
import { contractOf } from './route.ts';

const JSON_EVAL = { materia: 'Eval', parse: 'json' };
const advance = { cursor: 'i', items: 'state.workItems' };
const contract = (socket: Json, materia: Json = { prompt: 'x', tools: 'none' }) => {
  const config = software({ 'materia.X': materia, 'loadouts.Flow.sockets.Socket-9': socket });
  return contractOf(resolve(config, 'Flow'), 'Socket-9');
};

test.each<[what: string, socket: Json, requires: string[]]>([
  ['nothing by itself', JSON_EVAL, []],
  ['nothing for an always edge', { ...JSON_EVAL, edges: [{ when: 'always', to: 'end' }] }, []],
  ['satisfied for a satisfied edge', { ...JSON_EVAL, edges: [{ when: 'satisfied', to: 'end' }] }, ['satisfied']],
  [
    'satisfied for a not_satisfied edge',
    { ...JSON_EVAL, edges: [{ when: 'not_satisfied', to: 'end' }] },
    ['satisfied'],
  ],
  [
    'satisfied for a guarded edge, also where an always edge stands beside it',
    {
      ...JSON_EVAL,
      edges: [
        { when: 'satisfied', to: 'end' },
        { when: 'always', to: 'Socket-2' },
      ],
    },
    ['satisfied'],
  ],
  ['satisfied for a guarded advance', { ...JSON_EVAL, advance: { ...advance, when: 'satisfied' } }, ['satisfied']],
  ['nothing for an advance that always moves', { ...JSON_EVAL, advance: { ...advance, when: 'always' } }, []],
  ['nothing for an advance without a condition', { ...JSON_EVAL, advance }, []],
  ['workItems for a generator', { materia: 'Plan' }, ['workItems']],
  ['workItems where they are assigned', { ...JSON_EVAL, assign: { workItems: '$.workItems' } }, ['workItems']],
  ['nothing for workItems from elsewhere', { ...JSON_EVAL, assign: { workItems: 'state.other' } }, []],
  ['both, in this order', { materia: 'Plan', edges: [{ when: 'satisfied', to: 'end' }] }, ['satisfied', 'workItems']],
])('it requires %s', (_what, socket, requires) => {
  expect(contract(socket).requires).toEqual(requires);
});

test('a guarded exit route alone requires nothing', () => {
  const rules = resolve(
    software({
      'loadouts.Flow.sockets.Socket-4.advance.when': undefined,
      'loadouts.Flow.loops.main.exits.0.condition': 'satisfied',
    }),
    'Flow',
  );
  expect(contractOf(rules, 'Socket-4').requires).toEqual([]);
});

test('a legacy exit requires satisfied, because it advances on it', () => {
  const config = software({
    'loadouts.Flow.sockets.Socket-4.advance': undefined,
    'loadouts.Flow.loops.main.exit': { from: 'Socket-4', when: 'satisfied', to: 'end' },
  });
  expect(contractOf(resolve(config, 'Flow'), 'Socket-4').requires).toEqual(['satisfied']);
});

test('the rest comes from the socket and its materia', () => {
  const schema = { type: 'object' };
  const utility = { utility: 'noop', generator: true, schema };
  expect(contract({ materia: 'X', assign: { a: '$.b' } }, utility)).toEqual({
    dialect: 'materia',
    generator: true,
    utility: true,
    requires: ['workItems'],
    assign: { workItems: '$.workItems', a: '$.b' },
    schema,
  });
  expect(contract({ materia: 'X', contract: 'gaia' })).toMatchObject({
    dialect: 'gaia',
    generator: false,
    utility: false,
    schema: null,
  });
});

test.each([
  [undefined, undefined],
  [1_048_576, undefined],
  [100, 100],
  [4_194_304, 4_194_304],
  [10_000_000, 8_388_608],
])('a socket with the limit %s is read up to %s bytes', (maxOutputBytes, maxBytes) => {
  const limits = maxOutputBytes === undefined ? {} : { maxOutputBytes };
  expect(contract({ materia: 'X', limits }).maxBytes).toBe(maxBytes);
});

test.each([
  [true, true],
  [false, undefined],
  [undefined, undefined],
])('a socket with strict %s asks for the object alone: %s', (written, strict) => {
  const socket = written === undefined ? {} : { strict: written };
  expect(contract({ materia: 'X', ...socket }).strict).toBe(strict);
});

test('a socket that is not there is a fault of the caller', () => {
  expect(() => contractOf(resolve(software(), 'Flow'), 'Socket-9')).toThrow();
});
