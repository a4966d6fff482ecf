// Which way a cast goes: edges, cursors, exits of loops, and the budgets of edges.
import { expect, test } from 'vitest';
import { always, crew, exit, graph, no, notSatisfied, plan, satisfied, workflow, yes } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { Json, JsonObject } from '../json.ts';

/** A judge at Socket-1 with these edges; whatever comes after it says nothing more. */
function crossing(edges: readonly JsonObject[], said: Json, data?: JsonObject): readonly string[] {
  const leaf = { materia: 'Write' };
  const sockets = { 'Socket-1': { materia: 'Judge', edges }, 'Socket-2': leaf, 'Socket-3': leaf, 'Socket-4': leaf };
  const agents = { Judge: [said], Write: ['done'] };
  const cast = play({ config: graph(sockets), agents, ...(data ? { data } : {}) });
  expect(cast.cast.status).toBe('completed');
  return cast.path.slice(1);
}

test.each<[string, JsonObject[], Json, string[]]>([
  ['no edge at all ends the cast', [], yes, []],
  ['the only edge that is always taken', [always('Socket-2')], {}, ['Socket-2']],
  ['an edge to the end', [always('end')], {}, []],
  ['satisfied on true', [satisfied('Socket-2'), notSatisfied('Socket-3')], yes, ['Socket-2']],
  ['not_satisfied on false', [satisfied('Socket-2'), notSatisfied('Socket-3')], no(), ['Socket-3']],
  ['no edge matches: the cast ends', [satisfied('Socket-2')], no(), []],
  ['the first of two that match', [satisfied('Socket-2'), satisfied('Socket-3')], yes, ['Socket-2']],
  ['order decides, not the kind', [notSatisfied('Socket-4'), satisfied('Socket-2')], yes, ['Socket-2']],
  ['always after a guard that does not hold', [satisfied('Socket-2'), always('Socket-3')], no(), ['Socket-3']],
  ['a guard before always when it holds', [satisfied('Socket-2'), always('Socket-3')], yes, ['Socket-2']],
  ['always does not ask for the boolean', [always('Socket-3')], no(), ['Socket-3']],
])('%s', (_rule, edges, said, path) => {
  expect(crossing(edges, said)).toEqual(path);
});

test('a utility without guarded edges may leave the boolean out, and always is what is left', () => {
  const sockets = { 'Socket-1': { materia: 'Tool', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Write' } };
  const agents = { Tool: [{ state: { satisfied: true, x: 1 } }], Write: ['done'] };
  expect(play({ config: graph(sockets), agents }).path).toEqual(['Socket-1', 'Socket-2']);
});

test('plain text never satisfies anything, even when it reads like JSON', () => {
  const sockets = { 'Socket-1': { materia: 'Write', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Write' } };
  const cast = play({ config: graph(sockets), agents: { Write: ['{"satisfied":false}', 'done'] } });
  expect(cast.all('turn.accepted')[0]?.handoff.satisfied).toBeNull();
  expect(cast.all('rework.noted')).toEqual([]);
});

test('only the current payload decides; what stands in the data is history', () => {
  const edges = [satisfied('Socket-2'), notSatisfied('Socket-3')];
  expect(crossing(edges, no(), { satisfied: true, envelope: { satisfied: true } })).toEqual(['Socket-3']);
});

test('each item goes through build, judge and maintain, then the loop is left by its exit', () => {
  const cast = play({ config: workflow(), agents: crew() });
  expect(cast.path).toEqual([
    'Socket-1',
    ...['Socket-2 WI-1', 'Socket-3 WI-1', 'Socket-4 WI-1'],
    ...['Socket-2 WI-2', 'Socket-3 WI-2', 'Socket-4 WI-2'],
    'Socket-5',
  ]);
  expect(cast.all('cursor.advanced').map(({ to, item, exhausted }) => [to, item, exhausted])).toEqual([
    [1, 'WI-1', false],
    [2, 'WI-2', true],
  ]);
  expect(cast.cast.visits).toEqual({ 'Socket-1': 1, 'Socket-2': 2, 'Socket-3': 2, 'Socket-4': 2, 'Socket-5': 1 });
});

test('an exhausted list bypasses every edge of the socket: the back edge is taken once for two items', () => {
  const cast = play({ config: workflow(), agents: crew() });
  const back = cast.all('edge.taken').filter(({ from }) => from === 'Socket-4');
  expect(back.map(({ to, item }) => [to, item])).toEqual([['Socket-2', 'WI-1']]);
});

test('an item whose advance does not hold stays: the back edge leads to the same item', () => {
  const cast = play({ config: workflow(), agents: crew({ Plan: [plan(1)], Maintain: [no('dirty'), yes] }) });
  expect(cast.path.filter((step) => step.startsWith('Socket-4'))).toEqual(['Socket-4 WI-1', 'Socket-4 WI-1']);
  expect(cast.path.at(-1)).toBe('Socket-5');
});

test.each<[string, string[], Json, string | null]>([
  ['satisfied goes by its own route', ['always', 'satisfied', 'not_satisfied'], yes, 'satisfied'],
  ['not satisfied by its own', ['always', 'satisfied', 'not_satisfied'], no(), 'not_satisfied'],
  ['without its own route, by always', ['always', 'satisfied'], no(), 'always'],
  ['without either, to the end', ['satisfied'], no(), null],
  ['without a boolean, by always', ['satisfied', 'always'], {}, 'always'],
  ['without a boolean and always, to the end', ['satisfied', 'not_satisfied'], {}, null],
])('the last item leaves the loop: %s', (_rule, conditions, said, taken) => {
  const targets: Record<string, string> = { always: 'Socket-2', satisfied: 'Socket-3', not_satisfied: 'Socket-4' };
  const leaf = { materia: 'Write' };
  const walk = { cursor: 'i', items: 'state.list', when: 'always' };
  const sockets = {
    'Socket-1': { materia: 'Judge', advance: walk, edges: [always('Socket-1')] },
    ...{ 'Socket-2': leaf, 'Socket-3': leaf, 'Socket-4': leaf },
  };
  const exits = conditions.map((condition) => exit('Socket-1', condition, targets[condition] ?? ''));
  const loops = { each: { sockets: ['Socket-1'], iterator: { items: 'state.list', cursor: 'i' }, exits } };
  const cast = play({
    config: graph(sockets, { loops }),
    data: { list: ['one'] },
    agents: { Judge: [said], Write: ['x'] },
  });
  expect(cast.cast.status).toBe('completed');
  expect(cast.path).toEqual(['Socket-1 0', ...(taken === null ? [] : [targets[taken]])]);
});

test('`done` never routes', () => {
  const edits = {
    'sockets.Socket-4.advance.done': 'Socket-5',
    'loops.main.consumes.done': 'Socket-5',
    'loops.main.exits': [],
  };
  const cast = play({ config: workflow(edits), agents: crew() });
  expect(cast.cast.status).toBe('completed');
  expect(cast.path).not.toContain('Socket-5');
});

test('advance over a list that is not there is exhausted at once', () => {
  const advance = { cursor: 'i', items: 'state.nowhere' };
  const write = { materia: 'Write' };
  const sockets = { 'Socket-1': { ...write, advance, edges: [always('Socket-2')] }, 'Socket-2': write };
  const cast = play({ config: graph(sockets), agents: { Write: ['x', '$repeat'] } });
  expect(cast.path).toEqual(['Socket-1']);
  expect(cast.all('cursor.advanced')).toMatchObject([{ to: 1, item: null, exhausted: true }]);
});

test('an edge with maxTraversals 3 lets three rejections of an item pass and fails the fourth', () => {
  const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': 3 });
  const { cast, path, facts } = play({ config, agents: crew({ Eval: [no('tests fail'), '$repeat'] }) });
  expect([cast.status, cast.code]).toEqual(['failed', 'EDGE_BUDGET_EXHAUSTED']);
  expect(path.filter((step) => step === 'Socket-2 WI-1')).toHaveLength(4);
  expect(facts.findLast(({ kind }) => kind === 'cast.failed')).toMatchObject({
    kind: 'cast.failed',
    details: { from: 'Socket-3', to: 'Socket-2', item: 'WI-1', count: 4, limit: 3 },
  });
  expect(cast.reason).toContain('WI-1 (Item 1)');
});

test('every item has the whole budget of an edge for itself', () => {
  const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': 1 });
  const { cast } = play({ config, agents: crew({ Eval: [no(), yes, no(), yes] }) });
  expect(cast.status).toBe('completed');
});

test('a back edge is counted for the item that was finished, so its budget is no limit to the number of items', () => {
  const config = workflow({ 'sockets.Socket-4.edges.0.maxTraversals': 1 });
  const cast = play({ config, agents: crew({ Plan: [plan(4)] }) });
  expect(cast.cast.status).toBe('completed');
  const back = cast.all('edge.taken').filter(({ from }) => from === 'Socket-4');
  expect(back.map(({ counts }) => counts)).toEqual(['WI-1', 'WI-2', 'WI-3'].map((key) => `Socket-4->Socket-2@${key}`));
  expect(cast.cast.traversals).toEqual({});
});

test('outside loops an edge has one budget for the whole cast', () => {
  const sockets = { 'Socket-1': { materia: 'Judge', edges: [notSatisfied('Socket-1', 2)] } };
  const { cast } = play({ config: graph(sockets), agents: { Judge: [no(), '$repeat'] } });
  expect([cast.code, cast.turnsStarted]).toEqual(['EDGE_BUDGET_EXHAUSTED', 3]);
  expect(cast.traversals).toEqual({ 'Socket-1->Socket-1@': 2 });
});

test('a spent edge stops the cast before the cursor moves: the item it would have finished is not finished', () => {
  const config = workflow({ 'sockets.Socket-4.edges.0.maxTraversals': 1 });
  const cast = play({ config, agents: crew({ Maintain: [no(), yes] }) });
  expect([cast.cast.code, cast.cast.stand?.at]).toEqual(['EDGE_BUDGET_EXHAUSTED', 'edge']);
  expect([cast.all('cursor.advanced'), cast.cast.cursors]).toEqual([[], {}]);
});

test('a budget for planning anew is not refilled by every new plan', () => {
  const config = workflow({ 'sockets.Socket-3.edges.1': notSatisfied('Socket-1', 2) });
  const agents = crew({ Plan: [plan(2), '$repeat'], Eval: [yes, no('replan'), yes, no('replan'), yes, no('replan')] });
  const { cast, path } = play({ config, agents });
  expect(cast.code).toBe('EDGE_BUDGET_EXHAUSTED');
  expect(path.filter((step) => step === 'Socket-1')).toHaveLength(3);
});

test('a finished item takes its counters with it; those of the item at hand stay', () => {
  const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': 2 });
  const { cast } = play({ config, agents: crew({ Eval: [no(), yes, no(), no(), no()] }) });
  expect(cast.traversals).toEqual({ 'Socket-3->Socket-2@WI-2': 2 });
});
