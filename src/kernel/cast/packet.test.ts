// What a runner is given for one dispatch.
import { expect, test } from 'vitest';
import { always, exit, graph, no, notSatisfied, plan, satisfied } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import { packetOf } from './packet.ts';

const packet = ({ cast, turn }: Play) => packetOf(cast, turn);

test('an agent gets its brief and its limits', () => {
  const socket = { materia: 'Write', limits: { timeoutMs: 5000, maxOutputBytes: 99 } };
  const cast = play({ config: graph({ 'Socket-1': socket }), agents: { Write: ['x'] }, hold: true });
  expect(packet(cast)).toMatchObject({
    ...{ cast: 'c', turn: 1, attempt: 1, socket: 'Socket-1', timeoutMs: 5000, maxOutputBytes: 99, utility: null },
    materia: { id: 'Write', type: 'agent' },
    brief: cast.briefs('Socket-1')[0],
    scripted: { turn: 'x' },
  });
});

test('a script that says nothing more is told apart from no script', () => {
  const config = graph({ 'Socket-1': { materia: 'Write' } });
  expect(packet(play({ config, agents: { Write: [] }, hold: true })).scripted).toEqual({});
  expect(packet(play({ config })).scripted).toBeNull();
});

test('a utility gets the data, the item under its names, its cursor by the name people gave it, and the notes', () => {
  const advance = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };
  const sockets = {
    'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Write', advance: { ...advance, when: 'always' }, edges: [always('Socket-2')] },
    'Socket-3': { materia: 'Plan', edges: [always('Socket-4')] },
    'Socket-4': { materia: 'Tool', advance, edges: [satisfied('Socket-4'), notSatisfied('Socket-4', 1)] },
  };
  const loops = {
    first: { sockets: ['Socket-2'], consumes: { from: 'Socket-1' }, exits: [exit('Socket-2', 'always', 'Socket-3')] },
    second: { sockets: ['Socket-4'], consumes: { from: 'Socket-3' } },
  };
  const agents = { Plan: [plan(2), plan(1, 'Late')], Write: ['x', '$repeat'], Tool: [no('again'), no()] };
  const cast = play({ config: graph(sockets, { loops }), request: 'please', agents });
  const item = { title: 'Late 1', context: 'do late 1' };
  expect(packet(cast).utility).toEqual({
    ...{ request: 'please', item, itemKey: 'WI-1', itemLabel: 'Late 1' },
    state: { ...cast.cast.data, item, workItem: item, currentWorkItem: item },
    cursor: { name: 'workItemIndex', index: 0 },
    cursors: { workItemIndex: 0 },
    rework: expect.arrayContaining([{ from: 'Socket-4', reason: 'again' }]),
  });
});

test('outside a loop it gets no item', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Tool' } }), agents: { Tool: [{}] }, hold: true });
  const nothing = { item: null, itemKey: null, itemLabel: null, cursor: null, cursors: {}, rework: [] };
  expect(packet(cast).utility).toEqual({ request: 'do it', state: {}, ...nothing });
});
