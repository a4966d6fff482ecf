import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { socketNames, withSocketNames } from './socket-names.ts';

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
