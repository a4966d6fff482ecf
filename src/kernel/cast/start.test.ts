// Starting a cast and its sockets: what is chosen to work on, and what happens where there is nothing to do.
import { expect, test } from 'vitest';
import { always, crew, exit, graph, plan, satisfied, workflow, yes } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { JsonObject } from '../json.ts';

test('a cast starts at the entry, with its rules, its request and its data frozen in the first fact', () => {
  const config = graph({ 'Socket-1': { materia: 'Write' }, 'Socket-2': { materia: 'Write' } });
  const cast = play({ config, request: 'be brave', data: { quest: 7 }, agents: { Write: ['done'] } });
  expect(cast.facts[0]).toMatchObject({
    kind: 'cast.started',
    request: 'be brave',
    loadout: 'Flow',
    rules: { graph: { entry: 'Socket-1' } },
    script: { Write: ['done'] },
    data: { quest: 7 },
  });
  expect(cast.path).toEqual(['Socket-1']);
});

test('a second cast under the same id is refused; under another it runs beside the first', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Write' } }), agents: { Write: ['done'] }, hold: true });
  const { rules, script } = cast.cast;
  const start = { kind: 'cast.start', request: 'again', loadout: 'Flow', rules, script } as const;
  expect(cast.tell({ ...start, cast: 'c' }).code).toBe('NOT_ALLOWED_NOW');
  expect(cast.tell({ ...start, cast: 'd' }).code).toBe('OK');
  expect(cast.state.casts.d?.status).toBe('running');
});

test('a turn without a script is owed its preparation first', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Write' } }) });
  expect(cast.owed).toEqual([{ kind: 'prepare', cast: 'c', turn: 1, attempt: 1 }]);
  expect(cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 }).code).toBe('OK');
  expect(cast.owed).toEqual([{ kind: 'dispatch', cast: 'c', turn: 1, attempt: 1 }]);
});

/** Where an empty plan leads, with these routes out of the loop. */
function afterNothing(exits: JsonObject[]): readonly string[] {
  const cast = play({ config: workflow({ 'loops.main.exits': exits }), agents: crew({ Plan: [plan(0)] }) });
  expect(cast.cast.status).toBe('completed');
  return cast.path.slice(1);
}

test.each<[string, JsonObject[], string[]]>([
  ['without a route the cast ends', [], []],
  ['the always route of the entered socket leads on', [exit('Socket-2', 'always', 'Socket-5')], ['Socket-5']],
  ['so does that of the last member', [exit('Socket-4', 'always', 'Socket-5')], ['Socket-5']],
  ['nothing was judged, so no guarded route is taken', [exit('Socket-4', 'satisfied', 'Socket-5')], []],
])('an empty list runs nothing of the loop: %s', (_rule, exits, path) => {
  expect(afterNothing(exits)).toEqual(path);
});

test('the route of the entered socket goes before that of another member', () => {
  const exits = [exit('Socket-4', 'always', 'Socket-1'), exit('Socket-2', 'always', 'Socket-5')];
  expect(afterNothing(exits)).toEqual(['Socket-5']);
});

test('an empty loop whose exit leads back into it is stopped and not passed over for ever', () => {
  const config = workflow({ 'loops.main.exits': [exit('Socket-4', 'always', 'Socket-3')] });
  const { cast } = play({ config, agents: crew({ Plan: [plan(0)] }) });
  expect([cast.status, cast.code, cast.stand]).toEqual(['failed', 'NO_PROGRESS', { at: 'start', socket: 'Socket-2' }]);
});

test('after the loop there is no current item: not for the socket, and not in the data', () => {
  const cast = play({ config: workflow(), agents: crew() });
  expect(cast.path.at(-1)).toBe('Socket-5');
  for (const name of ['item', 'workItem', 'currentWorkItem']) expect(cast.cast.data).not.toHaveProperty(name);
});

test('a generator that runs again starts its loop from the first item of the new list', () => {
  const edits = {
    'loops.main.exits': [exit('Socket-4', 'satisfied', 'Socket-5')],
    'sockets.Socket-5': { materia: 'Eval', parse: 'json', edges: [{ when: 'not_satisfied', to: 'Socket-1' }] },
  };
  const agents = crew({ Plan: [plan(2), plan(1, 'More')], 'Socket-5': [{ satisfied: false }, yes] });
  const cast = play({ config: workflow(edits), agents });
  expect(cast.path.filter((step) => step.startsWith('Socket-2'))).toEqual([
    'Socket-2 WI-1',
    'Socket-2 WI-2',
    'Socket-2 WI-1',
  ]);
  expect(cast.all('cursor.reset')).toMatchObject([{ cursor: 'workItemIndex', loop: 'main' }]);
  expect(cast.briefs('Socket-2').at(-1)).toContain('Current item (1 of 1): More 1');
});

/** Two planners, each followed by a loop of one socket, none of which names its cursor. */
const TWO_LOOPS = (() => {
  const advance = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };
  const worker = (id: string) => ({
    materia: 'Judge',
    advance,
    edges: [satisfied(id), { when: 'not_satisfied', to: id }],
  });
  const sockets = {
    'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
    'Socket-2': worker('Socket-2'),
    'Socket-3': { materia: 'Plan', edges: [always('Socket-4')] },
    'Socket-4': worker('Socket-4'),
  };
  const loops = {
    first: { sockets: ['Socket-2'], consumes: { from: 'Socket-1' }, exits: [exit('Socket-2', 'always', 'Socket-3')] },
    second: { sockets: ['Socket-4'], consumes: { from: 'Socket-3' } },
  };
  return graph(sockets, { loops });
})();

test('two loops that leave the name of their cursor open do not share one', () => {
  const cast = play({ config: TWO_LOOPS, agents: { Plan: [plan(2), plan(2, 'Late')], Judge: [yes, '$repeat'] } });
  expect(cast.path).toEqual([
    'Socket-1',
    ...['Socket-2 WI-1', 'Socket-2 WI-2'],
    'Socket-3',
    ...['Socket-4 WI-1', 'Socket-4 WI-2'],
  ]);
  expect(cast.cast.cursors).toEqual({ workItemIndex: 2, 'workItemIndex@second': 2 });
});

test('a downstream generator sees the items of the one before and replaces them all', () => {
  const sockets = {
    'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Refine', edges: [always('Socket-3')] },
    'Socket-3': {
      materia: 'Write',
      advance: { cursor: 'workItemIndex', items: 'state.workItems' },
      edges: [always('Socket-3')],
    },
  };
  const loops = { each: { sockets: ['Socket-3'], consumes: { from: 'Socket-2' } } };
  const materia = { Refine: { tools: 'none', prompt: 'Refine.', generator: true } };
  const agents = { Plan: [plan(3, 'Rough')], Refine: [plan(1, 'Fine')], Write: ['done', '$repeat'] };
  const cast = play({ config: graph(sockets, { loops, materia }), agents });
  expect(cast.briefs('Socket-2')[0]).toMatch(/## Work items so far\n<data>\n.*Rough 3/);
  expect(cast.path).toEqual(['Socket-1', 'Socket-2', 'Socket-3 WI-1']);
  expect(cast.cast.data.workItems).toEqual([{ title: 'Fine 1', context: 'do fine 1' }]);
});

test('a loop that walks a list by name starts anew when somebody outside it replaces the list, alone or as a whole', () => {
  const sockets = {
    'Socket-1': { materia: 'Judge', assign: { batch: '$' }, edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Write', advance: { cursor: 'i', items: 'state.batch.files' }, edges: [always('Socket-2')] },
    'Socket-3': { materia: 'Judge', assign: { batch: '$' }, edges: [always('Socket-2', 1)] },
  };
  const iterator = { items: 'state.batch.files', cursor: 'i', as: 'file' };
  const loops = { each: { sockets: ['Socket-2'], iterator, exits: [exit('Socket-2', 'always', 'Socket-3')] } };
  const agents = {
    'Socket-1': [{ files: ['a', 'b'] }],
    'Socket-3': [{ files: ['c'] }, '$repeat'],
    Write: ['x', '$repeat'],
  };
  const cast = play({ config: graph(sockets, { loops }), agents });
  expect(cast.path.slice(0, 5)).toEqual(['Socket-1', 'Socket-2 0', 'Socket-2 1', 'Socket-3', 'Socket-2 0']);
});

test('a member that rewrites the list it walks goes on with the next item, so that the loop ends', () => {
  const sockets = {
    'Socket-1': {
      materia: 'Judge',
      assign: { files: '$.files' },
      advance: { cursor: 'i', items: 'state.files' },
      edges: [always('Socket-1')],
    },
  };
  const loops = { each: { sockets: ['Socket-1'], iterator: { items: 'state.files', cursor: 'i' } } };
  const agents = { Judge: [{ files: ['a', 'B', 'C'] }, '$repeat'] };
  const cast = play({ config: graph(sockets, { loops }), data: { files: ['a', 'b'] }, agents });
  expect(cast.path).toEqual(['Socket-1 0', 'Socket-1 1', 'Socket-1 2']);
  expect(cast.cast.status).toBe('completed');
});
