import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import {
  agoText,
  costText,
  durationText,
  socketNames,
  spanText,
  tokensText,
  wholeNumber,
  withSocketNames,
} from './in-words.ts';

test.each([
  [-5, '<0.1 s'],
  [340, '0.3 s'],
  [949, '0.9 s'],
  [950, '1 s'],
  [4_200, '4 s'],
  [59_600, '1 min'],
  [78_000, '1 min 18 s'],
  [3_599_400, '59 min 59 s'],
  [3_599_600, '1 h'],
  [7_500_000, '2 h 5 min'],
  [86_399_999, '1 day'],
  [273_600_000, '3 days 4 h'],
])('%s ms are %s', (ms, says) => {
  expect(durationText(ms)).toBe(says);
});

test.each([
  [0, 'just now'],
  [4_000, '4 s ago'],
  [180_000, '3 min ago'],
  [-180_000, 'in 3 min'],
  [172_800_000, '2 days ago'],
])('%s ms later it is %s', (ms, says) => {
  expect(agoText(1e12, 1e12 + ms)).toBe(says);
});

test.each([
  [0, 'for a moment'],
  [4_000, 'for 4 s'],
  [180_000, 'for 3 min'],
])('after %s ms it has been so %s', (ms, says) => {
  expect(spanText(1e12, 1e12 + ms)).toBe(says);
});

test.each([
  [1, '1 token'],
  [950, '950 tokens'],
  [1_000, '1k tokens'],
  [11_390, '11.4k tokens'],
  [999_950, '1M tokens'],
  [1_250_000, '1.25M tokens'],
])('%s are %s', (tokens, says) => {
  expect(tokensText(tokens)).toBe(says);
});

test.each([
  [{ cost: 0 }, '$0.00'],
  [{ cost: 12.345 }, '$12.35'],
  [{ cost: 0.5 }, '$0.50'],
  [{ cost: 0.0142 }, '$0.014'],
  [{ cost: 0.009 }, '$0.009'],
  [{ cost: 0.000_32 }, '$0.00032'],
  [{ cost: 1e-9 }, '$0.00'],
  [{ cost: 0.25, estimated: true } as const, '~$0.25'],
])('a cost of %j is %s', (cost, says) => {
  expect(costText(cost)).toBe(says);
});

test('a whole number has its thousands apart', () => {
  expect([12, 1_234, 1_234_567].map(wholeNumber)).toEqual(['12', '1,234', '1,234,567']);
});

const agent = { tools: 'none', prompt: 'Do it.' };
const { rules } = play({
  config: graph(
    {
      'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Build', label: 'build the api', edges: [always('Socket-3')] },
      'Socket-3': { materia: 'Build', edges: [always('Socket-4')] },
      'Socket-4': { materia: 'Build' },
    },
    { materia: { Plan: { ...agent, label: 'Planner' }, Build: agent } },
  ),
  hold: true,
  agents: {},
}).cast;

test('a socket is called by its label, else by that of its materia, and namesakes are told apart', () => {
  expect(Object.values(socketNames(rules)).map(({ name }) => name)).toEqual([
    'Planner',
    'build the api',
    'Build (Socket-3)',
    'Build (Socket-4)',
  ]);
});

test.each([
  ['Socket-1 (Planner) asks: which?', 'Planner asks: which?'],
  ['the edge Socket-2 → Socket-1 was taken', 'the edge build the api → Planner was taken'],
  ['Socket-2 (Build): no', 'build the api: no'],
  ['Socket-1 (see below) failed', 'Planner (see below) failed'],
  ['Socket-9 and Socket-12 are not here', 'Socket-9 and Socket-12 are not here'],
  ['Socket-3 failed', 'Build (Socket-3) failed'],
  ['not satisfied: [Socket-2 Build] too long', 'not satisfied: [build the api] too long'],
])('%s', (reason, shown) => {
  expect(withSocketNames(reason, socketNames(rules))).toBe(shown);
});
