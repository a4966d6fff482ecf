// When a cast goes round without getting on, and what counts as getting on.
import { expect, test } from 'vitest';
import { always, crew, exit, graph, no, notSatisfied, plan, satisfied, workflow, yes } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { NO_ROUNDS, tracked } from './bookkeeping.ts';
import type { Guard } from './state.ts';

const guard = (key: string, count: number, ...path: string[]): Guard => ({ key, count, path });

test.each<[string, Guard, [key: string, socket: string, budgeted: boolean], Guard]>([
  ['the first start outside a loop', NO_ROUNDS, ['', 'A', false], guard('', 0, 'A')],
  ['the first item counts from nothing', guard('', 2, 'A', 'B'), ['WI-1', 'C', false], guard('WI-1', 0, 'C')],
  ['a socket that was not visited', guard('WI-1', 1, 'A'), ['WI-1', 'B', false], guard('WI-1', 1, 'A', 'B')],
  ['a socket again closes a round', guard('WI-1', 1, 'A', 'B'), ['WI-1', 'A', false], guard('WI-1', 2, 'A')],
  ['over a budgeted edge it does not count', guard('WI-1', 1, 'A', 'B'), ['WI-1', 'A', true], guard('WI-1', 1, 'A')],
  ['outside loops rounds count too', guard('', 0, 'A', 'B'), ['', 'B', false], guard('', 1, 'B')],
  ['a detour outside the loop', guard('WI-1', 1, 'A'), ['', 'B', false], guard('WI-1', 1, 'A', 'B')],
  ['back from the detour', guard('WI-1', 1, 'A', 'B'), ['WI-1', 'A', false], guard('WI-1', 2, 'A')],
  ['an item of another list', guard('WI-1', 1, 'A'), ['0', 'B', false], guard('WI-1', 1, 'A', 'B')],
])('%s', (_rule, before, [key, socket, budgeted], after) => {
  expect(tracked(before, key, socket, budgeted)).toEqual(after);
});

const LIMIT_1 = { maxNoAdvanceCycles: 1 };

test('an unbudgeted retry of an item: with a limit of 1 the third start fails, two ran', () => {
  const config = { ...workflow(), limits: LIMIT_1 };
  const { cast, path, facts } = play({ config, agents: crew({ Eval: [no('worse'), '$repeat'] }) });
  expect([cast.status, cast.code]).toEqual(['failed', 'NO_PROGRESS']);
  expect(path.filter((step) => step === 'Socket-2 WI-1')).toHaveLength(2);
  expect(facts.findLast(({ kind }) => kind === 'cast.failed')).toMatchObject({
    details: { item: 'WI-1', cycle: ['Socket-2', 'Socket-3', 'Socket-2'], count: 2, limit: 1 },
    stand: { at: 'start', socket: 'Socket-2' },
  });
  expect(cast.reason).toContain('WI-1 (Item 1) went round Socket-2 → Socket-3 → Socket-2');
});

test('a retry edge with a budget of its own is not the guard’s business', () => {
  const config = { ...workflow({ 'sockets.Socket-3.edges.1.maxTraversals': 5 }), limits: LIMIT_1 };
  const { cast } = play({ config, agents: crew({ Eval: [no(), no(), no(), yes, '$repeat'] }) });
  expect(cast.status).toBe('completed');
});

test('a finished item clears the count, so thirty items pass however tight the limit; old visit limits do not count', () => {
  const edits = { 'sockets.Socket-2.limits': { maxVisits: 1, maxEdgeTraversals: 1 } };
  const config = { ...workflow(edits), limits: LIMIT_1 };
  const { cast } = play({ config, agents: crew({ Plan: [plan(30)], Eval: [yes, '$repeat'] }) });
  expect([cast.status, cast.visits['Socket-2']]).toEqual(['completed', 30]);
});

test('rounds of the planner do not count against the first item', () => {
  const sockets = {
    'Socket-1': { materia: 'Plan', edges: [satisfied('Socket-2'), notSatisfied('Socket-1')] },
    'Socket-2': {
      materia: 'Judge',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [always('Socket-2')],
    },
  };
  const loops = { each: { sockets: ['Socket-2'], consumes: { from: 'Socket-1' } } };
  const config = graph(sockets, { loops, limits: LIMIT_1 });
  const draft = { ...plan(1), satisfied: false };
  const agents = { Plan: [draft, { ...draft, satisfied: true }], Judge: [no(), yes] };
  expect(play({ config, agents }).cast.status).toBe('completed');
});

test('two sockets that lead to each other for ever are stopped, though no item is at stake', () => {
  const sockets = {
    'Socket-1': { materia: 'Tool', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Tool', edges: [always('Socket-1')] },
  };
  const { cast, path } = play({ config: graph(sockets), agents: { Tool: [{}, '$repeat'] } });
  expect([cast.code, path.length]).toEqual(['NO_PROGRESS', 8]);
});

test('a cycle that leaves the loop and comes back for the same item is a cycle', () => {
  const config = {
    ...workflow({ 'sockets.Socket-3.edges.1.to': 'Socket-5', 'sockets.Socket-5.edges': [always('Socket-2')] }),
    limits: LIMIT_1,
  };
  const { cast, path } = play({ config, agents: crew({ Eval: [no(), '$repeat'] }) });
  expect(cast.code).toBe('NO_PROGRESS');
  expect(path.filter((step) => step === 'Socket-2 WI-1')).toHaveLength(2);
});

test('planning again and again without finishing an item is a cycle', () => {
  const config = workflow({ 'sockets.Socket-3.edges.1': notSatisfied('Socket-1') });
  const { cast, path } = play({ config, agents: crew({ Plan: [plan(1), '$repeat'], Eval: [no(), '$repeat'] }) });
  expect(cast.code).toBe('NO_PROGRESS');
  expect(path.filter((step) => step === 'Socket-2 WI-1')).toHaveLength(4);
});

test('an advance that finishes nothing, because there is nothing, is no progress', () => {
  const advance = { cursor: 'i', items: 'state.nowhere' };
  const sockets = {
    'Socket-1': { materia: 'Tool', advance, edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Tool', edges: [always('Socket-1')] },
  };
  const loops = { round: { sockets: ['Socket-1'], exits: [exit('Socket-1', 'always', 'Socket-2')] } };
  const { cast } = play({ config: graph(sockets, { loops }), agents: { Tool: [{}, '$repeat'] } });
  expect(cast.code).toBe('NO_PROGRESS');
});

test('a socket outside the loop that advances its cursor finishes items all the same', () => {
  const sockets = {
    'Socket-1': { materia: 'Write', foreach: { items: 'state.files', cursor: 'i' }, edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Write', advance: { cursor: 'i', items: 'state.files' }, edges: [always('Socket-1')] },
  };
  const files = Array.from({ length: 12 }, (_, index) => `file ${index}`);
  const cast = play({
    config: graph(sockets, { limits: LIMIT_1 }),
    data: { files },
    agents: { Write: ['x', '$repeat'] },
  });
  expect(cast.cast.status).toBe('completed');
  expect(cast.all('cursor.advanced').map(({ item }) => item)).toEqual(files.map((_, index) => String(index)));
});

test('a recast goes on from the socket that was not let start, with a fresh count', () => {
  const config = { ...workflow(), limits: LIMIT_1 };
  const cast = play({ config, agents: crew({ Eval: [no(), no(), yes, '$repeat'] }) });
  expect(cast.cast.code).toBe('NO_PROGRESS');
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(cast.cast.status).toBe('completed');
});
