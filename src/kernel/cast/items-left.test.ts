// Loops that are left before their items are done.
import { expect, test } from 'vitest';
import { always, crew, exit, graph, no, notSatisfied, plan, satisfied, workflow, yes } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { envelope, result } from '../../../test/team.ts';
import type { JsonObject } from '../json.ts';
import { tasksOf } from '../ledger/state.ts';
import { heldLocks } from '../ledger/wire.ts';

const tasks = ({ state }: Play) =>
  tasksOf(state.ledger, 'c')
    .filter(({ title }) => /^(Item|Task)/.test(title))
    .map(({ id, status, code }) => (code === null ? `${id} ${status}` : `${id} ${status} ${code}`));

/** A loop needs a cycle among its members; this one lies between the judge and the maintainer. */
const SMALL = { 'sockets.Socket-4.edges': [always('Socket-3')] };
const STEPS = ['Socket-2', 'Socket-3', 'Socket-4'];

test.each<[rule: string, edits: Record<string, JsonObject[] | undefined>, done: number]>([
  ['a member without an edge', { 'sockets.Socket-2.edges': undefined, ...SMALL }, 0],
  ['a member that leads to the end', { 'sockets.Socket-2.edges': [always('end')], ...SMALL }, 0],
  ['an outcome without an edge', { 'sockets.Socket-3.edges': [notSatisfied('Socket-2')] }, 0],
  ['an outcome that leads to the end', { 'sockets.Socket-3.edges': [satisfied('end'), always('Socket-2')] }, 0],
  ['the member that advances, without an edge', { 'sockets.Socket-4.edges': undefined }, 1],
  ['the member that advances, to the end', { 'sockets.Socket-4.edges': [always('end')] }, 1],
])('a loop with items left does not complete: %s', (_rule, edits, done) => {
  const cast = play({ config: workflow(edits), agents: crew({ Plan: [plan(3)] }) });
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'ITEMS_LEFT']);
  expect(cast.cast.reason).toContain(`${3 - done} of 3 items are not done`);
  expect(cast.all('cast.failed')[0]?.details).toMatchObject({ loop: 'main', total: 3, left: 3 - done });
  expect(tasks(cast).filter((task) => task.endsWith('done'))).toHaveLength(done);
  expect(heldLocks(cast.state.ledger)).toEqual([]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('the last item may use up the list and find no exit: the cast completes as before', () => {
  const cast = play({ config: workflow({ 'loops.main.exits': [] }), agents: crew() });
  expect([cast.cast.status, tasks(cast)]).toEqual(['completed', ['T-1 done', 'T-2 done']]);
});

test('a recast gives the member another turn with the same item, or goes on with the next one', () => {
  const edits = { 'sockets.Socket-3.edges': [satisfied('Socket-4')] };
  const cast = play({ config: workflow(edits), agents: crew({ Eval: [no('not yet'), yes, '$repeat'] }) });
  expect([cast.cast.code, cast.path.at(-1)]).toEqual(['ITEMS_LEFT', 'Socket-3 WI-1']);
  expect(tasks(cast)).toEqual(['T-1 blocked ITEMS_LEFT', 'T-2 todo']);
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect([cast.cast.status, tasks(cast)]).toEqual(['completed', ['T-1 done', 'T-2 done']]);
  expect(cast.path.filter((step) => step === 'Socket-3 WI-1')).toHaveLength(2);

  const ending = play({ config: workflow({ 'sockets.Socket-4.edges': undefined }), agents: crew() });
  ending.say({ kind: 'cast.recast', cast: 'c' });
  expect([ending.cast.status, tasks(ending)]).toEqual(['completed', ['T-1 done', 'T-2 done']]);
  expect(ending.path).toEqual([
    'Socket-1',
    ...STEPS.map((socket) => `${socket} WI-1`),
    ...STEPS.map((socket) => `${socket} WI-2`),
    'Socket-5',
  ]);
});

test('an edge out of the loop cancels the items that are left, and the cast may complete', () => {
  const edits = { 'sockets.Socket-3.edges': [satisfied('Socket-4'), notSatisfied('Socket-5')] };
  const agents = crew({ Plan: [plan(3)], Eval: [yes, no('give up')] });
  const cast = play({ config: workflow(edits), agents });
  expect([cast.cast.status, cast.path.at(-1)]).toEqual(['completed', 'Socket-5']);
  expect(tasks(cast)).toEqual(['T-1 done', 'T-2 canceled LEFT_EARLY', 'T-3 canceled LEFT_EARLY']);
  const left = cast.facts.findIndex((fact) => fact.kind === 'task.moved' && fact.to === 'canceled');
  const next = cast.facts.findIndex((fact) => fact.kind === 'turn.started' && fact.socket === 'Socket-5');
  expect(left).toBeLessThan(next);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a detour that comes back goes on with the same item; one that ends the cast leaves the items', () => {
  const detour = (edges: JsonObject[]) =>
    workflow({
      'sockets.Socket-3.edges': [satisfied('Socket-4'), notSatisfied('Socket-6')],
      'sockets.Socket-6': { materia: 'Eval', parse: 'json', edges },
    });
  const agents = crew({ 'Socket-3': [no('ask'), yes, '$repeat'], 'Socket-6': [yes, '$repeat'] });
  const back = play({ config: detour([always('Socket-2')]), agents });
  expect([back.cast.status, tasks(back)]).toEqual(['completed', ['T-1 done', 'T-2 done']]);
  const gone = play({ config: detour([notSatisfied('Socket-2')]), agents });
  expect([gone.cast.status, tasks(gone)]).toEqual([
    'completed',
    ['T-1 canceled LEFT_EARLY', 'T-2 canceled LEFT_EARLY'],
  ]);
});

test('a socket with a list of its own that is never advanced leaves its items, and they are not done', () => {
  const sockets = { 'Socket-1': { materia: 'Write', foreach: { items: 'state.list' } } };
  const list = [{ title: 'Item a' }, { title: 'Item b' }];
  const cast = play({ config: graph(sockets), data: { list }, agents: { Write: ['x'] } });
  expect([cast.cast.status, tasks(cast)]).toEqual([
    'completed',
    ['T-1 canceled LEFT_EARLY', 'T-2 canceled LEFT_EARLY'],
  ]);
});

test('an item that was accepted before the budget was spent is done after the recast', () => {
  const config = { ...workflow(), budget: { maxTokens: 10 } };
  const agents = crew({ Plan: [plan(1)], Maintain: [{ $turn: { output: yes, usage: { input: 10 } } }] });
  const cast = play({ config, agents });
  expect([cast.cast.code, tasks(cast)]).toEqual(['BUDGET_EXHAUSTED', ['T-1 blocked BUDGET_EXHAUSTED']]);
  cast.tell({ kind: 'budget.change', cast: 'c', maxTokens: 100 });
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect([cast.cast.status, tasks(cast)]).toEqual(['completed', ['T-1 done']]);
});

/** Workers side by side, whose work is judged one by one; `edges` are those of the judge. */
const side = (edges: JsonObject[], exits: JsonObject[] = []) =>
  graph(
    {
      'Socket-1': { materia: 'Lead', contract: 'operator', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Worker', contract: 'operator', edges: [always('Socket-3')] },
      'Socket-3': {
        materia: 'Judge',
        advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
        edges,
      },
      'Socket-4': { materia: 'Sum' },
    },
    {
      loops: {
        work: { sockets: ['Socket-2', 'Socket-3'], consumes: { from: 'Socket-1', output: 'workItems' }, exits },
      },
      materia: {
        Lead: { prompt: 'Assign.', tools: 'none', generator: true },
        Worker: { prompt: 'Do.', tools: 'coding' },
        Sum: { prompt: 'Sum up.', tools: 'none' },
      },
    },
  );
const team = (...said: boolean[]) => ({
  Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })],
  Worker: ['T-1', 'T-2', 'T-1', 'T-2'].map((id) => result(id)),
  Judge: [...said.map((each) => (each ? yes : no('red'))), yes, '$repeat'],
  Sum: ['all', '$repeat'],
});

test.each<[rule: string, edges: JsonObject[]]>([
  ['without an edge', [satisfied('Socket-2')]],
  ['that leads to the end', [satisfied('Socket-2'), notSatisfied('end')]],
])('side by side an item %s is blocked, the others go on, and the cast waits', (_rule, edges) => {
  const cast = play({ config: side(edges), agents: team(false) });
  expect([cast.cast.status, cast.cast.code]).toEqual(['waiting', 'ITEMS_LEFT']);
  expect(tasks(cast)).toEqual(['T-1 blocked ITEMS_LEFT', 'T-2 done']);
  expect(heldLocks(cast.state.ledger)).toEqual([]);
  cast.say({ kind: 'cast.resume', cast: 'c', reason: 'judge it again' });
  expect([cast.cast.status, tasks(cast)]).toEqual(['completed', ['T-1 done', 'T-2 done']]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test.each<[rule: string, said: boolean[], statuses: string[], path: string[]]>([
  ['the first', [false, true], ['T-1 canceled LEFT_EARLY', 'T-2 done'], ['Socket-4', 'Socket-4']],
  ['the last', [true, false], ['T-1 done', 'T-2 canceled LEFT_EARLY'], ['Socket-4']],
  ['both', [false, false], ['T-1 canceled LEFT_EARLY', 'T-2 canceled LEFT_EARLY'], ['Socket-4', 'Socket-4']],
])('side by side an edge out of the loop cancels the item that takes it: %s', (_rule, said, statuses, path) => {
  const edges = [satisfied('Socket-2'), notSatisfied('Socket-4')];
  const exits = [exit('Socket-3', 'always', 'Socket-4')];
  const cast = play({ config: side(edges, exits), agents: team(...said) });
  expect([cast.cast.status, tasks(cast)]).toEqual(['completed', statuses]);
  expect(cast.path.filter((step) => step.startsWith('Socket-4'))).toEqual(path);
  expect(cast.cast.lanes).toEqual({});
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('side by side the cast does not complete while an item beside the one that left is blocked', () => {
  const edges = [satisfied('Socket-2'), notSatisfied('Socket-4')];
  const stuck = result('T-1', { status: 'blocked', acceptance_check: [] });
  const cast = play({
    config: side(edges),
    agents: { ...team(false), Worker: [stuck, result('T-2'), result('T-1')] },
  });
  expect([cast.cast.status, cast.cast.code]).toEqual(['waiting', 'MISSING_REQUIRED_INPUT']);
  cast.say({ kind: 'cast.resume', cast: 'c', reason: 'go on' });
  expect([cast.cast.status, tasks(cast)]).toEqual(['completed', ['T-1 done', 'T-2 canceled LEFT_EARLY']]);
});
