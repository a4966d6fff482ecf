import { expect, test } from 'vitest';
import { always, crew, graph, no, notSatisfied, plan, satisfied, workflow, yes } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import { countItems, foldItem, type ItemCounts, itemFates, itemsText, noItems } from './summary.ts';

const NONE: ItemCounts = { total: 0, done: 0, skipped: 0, leftEarly: 0, leftOut: 0, parked: 0, open: 0 };
const recordOf = ({ cast, facts }: Play) => {
  const record = noItems();
  for (const fact of facts) foldItem(record, fact, cast.rules);
  return record;
};
const textOf = (cast: Play) => {
  const counts = countItems(recordOf(cast));
  return counts && itemsText(counts);
};

/** A judge looks at each item first: what it rejects is skipped. */
const TRIAGE = {
  'sockets.Socket-2': {
    materia: 'Eval',
    parse: 'json',
    advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'not_satisfied' },
    edges: [satisfied('Socket-3'), always('Socket-2')],
  },
  'sockets.Socket-3': { materia: 'Build', edges: [always('Socket-4')] },
  'loops.main.exits': [
    { id: 'a', from: 'Socket-2', condition: 'always', targetSocketId: 'Socket-5' },
    { id: 'b', from: 'Socket-4', condition: 'always', targetSocketId: 'Socket-5' },
  ],
};

test.each<[what: string, cast: Play, says: string | null]>([
  ['no list', play({ config: graph({ 'Socket-1': { materia: 'Write' } }), agents: { Write: ['x'] } }), null],
  ['all done', play({ config: workflow(), agents: crew({ Plan: [plan(3)] }) }), '3 of 3 items done'],
  ['one item', play({ config: workflow(), agents: crew({ Plan: [plan(1)] }) }), '1 of 1 item done'],
  [
    'skipped ones',
    play({ config: workflow(TRIAGE), agents: crew({ Plan: [plan(3)], Eval: [no(), yes, no()] }) }),
    '1 of 3 items done, 2 skipped',
  ],
  [
    'an edge out of the loop',
    play({
      config: workflow({ 'sockets.Socket-3.edges': [satisfied('Socket-4'), notSatisfied('Socket-5')] }),
      agents: crew({ Plan: [plan(3)], Eval: [yes, no()] }),
    }),
    '1 of 3 items done, 2 left early',
  ],
  [
    'a failure',
    play({ config: workflow(), agents: crew({ Plan: [plan(3)], Eval: [yes] }) }),
    '1 of 3 items done, 2 open',
  ],
  [
    'a new plan: what it replaced is not counted, what was done is',
    play({
      config: workflow({ 'sockets.Socket-3.edges.1': notSatisfied('Socket-1', 2) }),
      agents: crew({ Plan: [plan(3), plan(2)], Eval: [yes, no('again'), yes, '$repeat'] }),
    }),
    '3 of 3 items done',
  ],
  [
    'items side by side, in any order',
    play({
      config: TEAM,
      agents: {
        Lead: [envelope({ id: 'T-1', dependencies: ['T-2'] }, { id: 'T-2' })],
        Worker: [result('T-2'), result('T-1', { status: 'blocked', acceptance_check: [] })],
      },
    }),
    '1 of 2 items done, 1 open',
  ],
])('items are counted: %s', (_what, cast, says) => expect(textOf(cast)).toBe(says));

test('an item that a person takes out is left out, and neither done nor skipped', () => {
  const cast = play({ config: workflow(), agents: crew({ Eval: ['x', 'x', yes, '$repeat'] }) });
  cast.tell({ kind: 'task.move', run: 'c', task: 'T-1', to: 'canceled', reason: 'not needed' });
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect([cast.cast.status, textOf(cast)]).toEqual(['completed', '1 of 2 items done, 1 left out']);
});

test('what became of each item is known by its task', () => {
  const cast = play({ config: workflow(TRIAGE), agents: crew({ Plan: [plan(3)], Eval: [no(), yes, no()] }) });
  const fates = { 'T-1': 'skipped', 'T-2': 'done', 'T-3': 'skipped' };
  expect(Object.fromEntries(itemFates(recordOf(cast)))).toEqual(fates);
});

test('a skipped item leaves no rework note', () => {
  const edges = [satisfied('Socket-3'), notSatisfied('Socket-2')];
  const config = workflow({ ...TRIAGE, 'sockets.Socket-2.edges': edges });
  const cast = play({ config, agents: crew({ Plan: [plan(3)], Eval: [no('no'), yes, no('no')] }) });
  expect([cast.cast.status, cast.all('rework.noted')]).toEqual(['completed', []]);
});

test('only what is there is said', () => {
  expect(itemsText({ ...NONE, total: 5, done: 1, leftOut: 1, open: 3 })).toBe('1 of 5 items done, 1 left out, 3 open');
});
