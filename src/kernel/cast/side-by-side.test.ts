// Plain items of a loop with `parallel`: as many as it says are in progress together, each in a worktree of its own. In the
// directory itself those with overlapping paths take turns.
import { expect, test } from 'vitest';
import { crew, no, plan, workflow, yes } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import type { Json } from '../json.ts';

type Edits = Readonly<Record<string, Json | undefined>>;
type Agents = Readonly<Record<string, readonly Json[]>>;

const ROOT = '.baton/state/worktrees/c';
const TWO: Edits = { 'loops.main.parallel': { maxConcurrency: 2 } };

const stage = (agents: Agents = {}, edits: Edits = TWO, more: Partial<Parameters<typeof play>[0]> = { root: ROOT }) =>
  play({ config: workflow(edits), agents: crew({ Plan: [plan(3)], ...agents }), ...more });

/** Stands after the plan: nothing that is owed has been answered. */
function planned(...[edits, more]: [Edits?, object?]): Play {
  const cast = stage({}, edits, { root: ROOT, ...more, hold: true });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan(3)) });
  return cast;
}

const atWork = ({ cast }: Play) => Object.values(cast.turns).map(({ socket, item }) => `${socket} ${item?.key ?? ''}`);
const tasks = ({ state }: Play) =>
  Object.values(state.ledger.tasks)
    .filter(({ title }) => title.startsWith('Item'))
    .map(({ id, status, code }) => `${id} ${status}${code === null ? '' : ` ${code}`}`);
const ends = ({ cast }: Play) => [cast.status, cast.code];

test('as many items are in progress as the loop says, each with a place of its own', () => {
  const cast = planned();
  expect(atWork(cast)).toEqual(['Socket-2 WI-1', 'Socket-2 WI-2']);
  expect(tasks(cast)).toEqual(['T-1 in_progress', 'T-2 in_progress', 'T-3 todo']);
  expect(cast.all('turn.started').flatMap(({ place }) => place ?? [])).toEqual([1, 2]);
});

test('when one is done the next one starts, and the loop is left once, by the last', () => {
  const cast = stage();
  expect([...ends(cast), tasks(cast)]).toEqual(['completed', null, ['T-1 done', 'T-2 done', 'T-3 done']]);
  expect(cast.path.filter((visit) => visit.startsWith('Socket-4'))).toHaveLength(3);
  expect(cast.path.at(-1)).toBe('Socket-5');
  expect(cast.all('exit.taken').filter(({ loop }) => loop === 'main')).toHaveLength(1);
  expect(cast.all('turn.merged')).toHaveLength(3);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test.each<[string, Edits, object, string[]]>([
  ['at most one', { 'loops.main.parallel': { maxConcurrency: 1 } }, {}, ['Socket-2 WI-1']],
  ['a limit for all loops alone', {}, {}, ['Socket-2 WI-1']],
  ['in the directory itself, where all may change everything', TWO, { root: undefined }, ['Socket-2 WI-1']],
  [
    'in the directory itself, with paths that do not meet',
    { ...TWO, 'sockets.Socket-2.lockScope': ['{{workItem.title}}'], 'sockets.Socket-4.lockScope': [] },
    { root: undefined },
    ['Socket-2 WI-1', 'Socket-2 WI-2'],
  ],
])('%s: which items are in progress', (_what, edits, more, found) => {
  expect(atWork(planned(edits, more))).toEqual(found);
});

test('in the directory itself items that may change everything are all done, one after the other', () => {
  const cast = stage({}, TWO, {});
  expect([...ends(cast), tasks(cast)]).toEqual(['completed', null, ['T-1 done', 'T-2 done', 'T-3 done']]);
  expect(cast.path.slice(1, 7)).toEqual(
    ['Socket-2', 'Socket-3', 'Socket-4']
      .flatMap((socket) => [`${socket} WI-1`])
      .concat(['Socket-2 WI-2', 'Socket-3 WI-2', 'Socket-4 WI-2']),
  );
});

test('an item that is rejected is worked on again beside the others, and is told its own reason', () => {
  const cast = stage({ Eval: [yes, no('too short'), yes, yes] });
  expect([...ends(cast), tasks(cast)]).toEqual(['completed', null, ['T-1 done', 'T-2 done', 'T-3 done']]);
  expect(cast.briefs('Socket-2').filter((brief) => brief.includes('too short'))).toHaveLength(1);
});

test('an item that skips the rest of the loop is done as skipped, and the others go on', () => {
  const skips = {
    ...TWO,
    'sockets.Socket-3.advance': { cursor: 'workItemIndex', items: 'state.workItems', when: 'not_satisfied' },
    'sockets.Socket-3.edges': [
      { when: 'satisfied', to: 'Socket-4' },
      { when: 'always', to: 'Socket-2' },
    ],
  };
  const cast = stage({ Eval: [no(), yes, no()] }, skips);
  expect([...ends(cast), tasks(cast)]).toEqual(['completed', null, ['T-1 done', 'T-2 done', 'T-3 done']]);
  expect(cast.all('task.moved').filter(({ reason }) => reason === 'its item was skipped')).toHaveLength(2);
  expect(cast.path.filter((visit) => visit.startsWith('Socket-4'))).toHaveLength(1);
});

test('an item that is parked leaves its place to the next one, and the cast waits with it when all are over', () => {
  const parks = { ...TWO, 'sockets.Socket-3.edges.1.maxTraversals': 1, 'sockets.Socket-3.edges.1.then': 'park' };
  const cast = stage({ Eval: [no('a'), yes, no('b'), yes, yes] }, parks);
  expect([...ends(cast), tasks(cast)]).toEqual([
    ...['waiting', 'ITEMS_PARKED'],
    ['T-1 blocked PARKED', 'T-2 done', 'T-3 done'],
  ]);
  cast.say({ kind: 'item.retry', cast: 'c', task: 'T-1' });
  expect([...ends(cast), tasks(cast)]).toEqual(['completed', null, ['T-1 done', 'T-2 done', 'T-3 done']]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('an item whose edge is spent waits for a person while the others go on', () => {
  const asks = { ...TWO, 'sockets.Socket-3.edges.1.maxTraversals': 1, 'sockets.Socket-3.edges.1.then': 'ask' };
  const cast = stage({ Eval: [no('a'), yes, no('b'), yes, yes] }, asks);
  expect([...ends(cast), tasks(cast)]).toEqual([
    ...['waiting', 'EDGE_BUDGET_EXHAUSTED'],
    ['T-1 in_progress', 'T-2 done', 'T-3 done'],
  ]);
  cast.say({ kind: 'cast.resume', cast: 'c', reason: 'once more' });
  expect([...ends(cast), tasks(cast)]).toEqual(['completed', null, ['T-1 done', 'T-2 done', 'T-3 done']]);
});

test('a new plan replaces what is left of the old one', () => {
  const replans = { ...TWO, 'sockets.Socket-5.edges': [{ when: 'always', to: 'Socket-1', maxTraversals: 1 }] };
  const cast = stage({ Plan: [plan(2), plan(3)] }, replans);
  expect(tasks(cast)).toEqual(['T-1 done', 'T-2 done', 'T-3 done', 'T-4 done', 'T-5 done']);
});
