// Items that are parked: the loop goes on without them, and is left when a person has decided about each.
import { expect, test } from 'vitest';
import { crew, no, plan, workflow, yes } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { envelope, result, TEAM, type Wish } from '../../../test/team.ts';
import type { Json, JsonObject } from '../json.ts';
import { heldLocks } from '../ledger/wire.ts';
import { countItems, foldItem, itemsText, noItems } from './summary.ts';

const PARKS = { 'sockets.Socket-3.edges.1.maxTraversals': 1, 'sockets.Socket-3.edges.1.then': 'park' };

/** Three items; the socket that judges them says this in order. */
const judged = (evals: readonly Json[], count = 3, more: JsonObject = {}) =>
  play({ config: workflow({ ...PARKS, ...more }), agents: crew({ Plan: [plan(count)], Eval: evals }) });

const tasks = ({ state }: Play) =>
  Object.values(state.ledger.tasks).map(({ id, status, code }) => `${id} ${status}${code === null ? '' : ` ${code}`}`);
const ends = ({ cast }: Play) => [cast.status, cast.code];
const counts = ({ entries, cast }: Play) => {
  const record = noItems();
  for (const { fact } of entries) foldItem(record, fact, cast.rules);
  const found = countItems(record);
  return found && itemsText(found);
};
const retry = (task: string, note?: string) =>
  ({ kind: 'item.retry', cast: 'c', task, ...(note === undefined ? {} : { note }) }) as const;
const drop = (task: string, withDependents = false) =>
  ({ kind: 'item.drop', cast: 'c', task, reason: 'not worth it', withDependents }) as const;

const SECOND_PARKED = [yes, no('first'), no('second'), yes];

test('an item whose edge is spent is parked with the last reason, and the loop goes on with the next one', () => {
  const cast = judged([...SECOND_PARKED, yes]);
  expect(ends(cast)).toEqual(['waiting', 'ITEMS_PARKED']);
  expect(tasks(cast)).toEqual(['T-1 done', 'T-2 blocked PARKED', 'T-3 done']);
  expect(cast.all('item.parked')).toMatchObject([
    {
      ...{ task: 'T-2', item: { key: 'WI-2' }, count: 1, note: 'second', lane: null },
      edge: { from: 'Socket-3', to: 'Socket-2', key: 'Socket-3->Socket-2@WI-2' },
    },
  ]);
  expect([cast.all('exit.taken'), heldLocks(cast.state.ledger)]).toEqual([[], []]);
  expect(counts(cast)).toBe('2 of 3 items done, 1 parked');
  expect(cast.cast.reason).toContain('baton retry c:WI-2, or baton drop c:WI-2 --reason');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('one commit parks the item, frees its task and moves the cursor on', () => {
  const cast = judged([...SECOND_PARKED]);
  const facts = cast.entries.map(({ fact }) => fact.kind);
  const at = facts.indexOf('item.parked');
  expect(facts.slice(at, at + 4)).toEqual(['item.parked', 'task.moved', 'cursor.advanced', 'turn.started']);
});

test.each<[string, Json[], string[]]>([
  ['first', [no('a'), no('b'), yes, yes], ['T-1 blocked PARKED', 'T-2 done', 'T-3 done']],
  ['last', [yes, yes, no('a'), no('b')], ['T-1 done', 'T-2 done', 'T-3 blocked PARKED']],
  [
    'only',
    [no('a'), no('b'), no('a'), no('b'), no('a'), no('b')],
    ['T-1 blocked PARKED', 'T-2 blocked PARKED', 'T-3 blocked PARKED'],
  ],
])('the %s items may be parked: the exit waits for a person', (_which, evals, found) => {
  const cast = judged(evals);
  expect([...ends(cast), tasks(cast)]).toEqual(['waiting', 'ITEMS_PARKED', found]);
});

test('a retried item begins at the target of its edge with all that was said, and the loop is left by its verdict', () => {
  const cast = judged([...SECOND_PARKED, yes]);
  expect(cast.say(retry('T-2', 'use the old parser')).code).toBe('OK');
  expect([ends(cast), tasks(cast)]).toEqual([
    ['completed', null],
    ['T-1 done', 'T-2 done', 'T-3 done'],
  ]);
  expect(cast.path.slice(-4)).toEqual(['Socket-2 WI-2', 'Socket-3 WI-2', 'Socket-4 WI-2', 'Socket-5']);
  for (const said of ['first', 'second', 'use the old parser']) expect(cast.briefs('Socket-2').at(-1)).toContain(said);
  expect(cast.all('exit.taken').slice(0, 1)).toMatchObject([{ from: 'Socket-4', to: 'Socket-5' }]);
  expect(counts(cast)).toBe('3 of 3 items done');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a retried item has the traversals of its edge again, and may be parked again', () => {
  const cast = judged([...SECOND_PARKED, no('third'), no('fourth'), yes]);
  cast.say(retry('T-2'));
  expect(ends(cast)).toEqual(['waiting', 'ITEMS_PARKED']);
  expect(cast.all('item.parked').map(({ note }) => note)).toEqual(['second', 'fourth']);
  cast.say(retry('T-2'));
  expect([ends(cast), tasks(cast)]).toEqual([
    ['completed', null],
    ['T-1 done', 'T-2 done', 'T-3 done'],
  ]);
});

test('a dropped item is left out, and the loop is left with the handoff of the last turn that advanced', () => {
  const cast = judged([...SECOND_PARKED]);
  expect(cast.say(drop('T-2')).code).toBe('OK');
  expect([ends(cast), tasks(cast)]).toEqual([
    ['completed', null],
    ['T-1 done', 'T-2 canceled', 'T-3 done'],
  ]);
  expect(cast.all('exit.taken').slice(0, 1)).toMatchObject([
    { from: 'Socket-4', to: 'Socket-5', turn: null, empty: false },
  ]);
  expect(counts(cast)).toBe('2 of 3 items done, 1 left out');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('the cast waits until a person has decided about every parked item', () => {
  const cast = judged([no('a'), no('b'), no('c'), no('d'), yes]);
  cast.say(drop('T-1'));
  expect([ends(cast), tasks(cast)]).toEqual([
    ['waiting', 'ITEMS_PARKED'],
    ['T-1 canceled', 'T-2 blocked PARKED', 'T-3 done'],
  ]);
  cast.say(drop('T-2'));
  expect(ends(cast)).toEqual(['completed', null]);
});

test('where every item is dropped, the loop is left as one in which nothing ran', () => {
  const cast = judged([no('a'), no('b')], 1);
  cast.say(drop('T-1'));
  expect([cast.cast.status, tasks(cast)]).toEqual(['completed', ['T-1 canceled']]);
});

test.each<[string, (cast: Play) => unknown]>([
  ['one that is not parked', (cast) => cast.tell(retry('T-1'))],
  ['one that is not there', (cast) => cast.tell(drop('T-9'))],
  [
    'one of a cast that is over',
    (cast) => [cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'x' }), cast.tell(retry('T-2'))].at(-1),
  ],
  [
    'by another verb of the ledger',
    (cast) => cast.tell({ kind: 'task.move', run: 'c', task: 'T-2', to: 'todo', reason: 'x' }),
  ],
  ['by going on', (cast) => cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'x' })],
])('nothing is decided about %s', (_what, tell) => {
  const cast = judged([...SECOND_PARKED]);
  expect(tell(cast)).toMatchObject({ allow: false, code: 'NOT_ALLOWED_NOW' });
  expect(tasks(cast)[1]).toBe('T-2 blocked PARKED');
});

test('a cast that is aborted leaves its parked tasks blocked, and waits for them again when it is recast', () => {
  const cast = judged([...SECOND_PARKED]);
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect([cast.cast.status, tasks(cast)[1]]).toEqual(['aborted', 'T-2 blocked PARKED']);
  expect(counts(cast)).toBe('2 of 3 items done, 1 parked');
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(ends(cast)).toEqual(['waiting', 'ITEMS_PARKED']);
  cast.say(drop('T-2'));
  expect(ends(cast)).toEqual(['completed', null]);
});

test('in a worktree the item is parked when what was done for it is taken out', () => {
  const config = workflow(PARKS);
  const agents = crew({ Plan: [plan(2)], Eval: [no('a'), no('b'), yes, yes] });
  const cast = play({ config, agents, root: 'worktrees/c', parks: false });
  expect([cast.cast.status, cast.all('park.awaited').length, cast.all('item.parked')]).toEqual(['running', 1, []]);
  const turn = Object.values(cast.cast.turns)[0];
  const kept = { ref: 'refs/baton/c/parked/T-1', commit: 'abc' };
  const parked = { kind: 'turn.parked', cast: 'c', turn: turn?.id ?? 0, attempt: turn?.attempt ?? 0, kept } as const;
  expect(cast.owed).toEqual([{ kind: 'park', cast: 'c', turn: parked.turn, attempt: parked.attempt }]);
  cast.say(parked);
  expect([ends(cast), cast.all('item.parked')]).toMatchObject([['waiting', 'ITEMS_PARKED'], [{ kept }]]);
  expect(cast.tell(parked).code).toBe('UNKNOWN_TURN');
  cast.tell(retry('T-1'));
  expect(cast.cast.restores).toEqual({ 'T-1': kept });
  const prepared = { kind: 'turn.prepared', cast: 'c', attempt: 1, clashes: ['src/a.ts'] } as const;
  cast.say({ ...prepared, turn: cast.cast.turnsStarted });
  expect(cast.briefs('Socket-2').at(-1)).toContain('src/a.ts');
  expect([ends(cast), cast.cast.restores]).toEqual([['completed', null], {}]);
});

// Items side by side: an edge of its own sends a task back at most once, then parks it.
const BESIDE = (() => {
  const config = structuredClone(TEAM) as unknown as {
    loadouts: Record<string, { sockets: Record<string, JsonObject> }>;
  };
  for (const { sockets } of Object.values(config.loadouts)) {
    const again = { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 1, then: 'park' };
    sockets['Socket-2'] = { ...sockets['Socket-2'], edges: [again, { when: 'always', to: 'Socket-2' }] };
  }
  return config as unknown as JsonObject;
})();

function beside(...wishes: Wish[]) {
  const agents = { Lead: [envelope(...wishes)], Worker: ['x', '$repeat'], Sum: ['ok'] };
  const cast = play({ config: BESIDE, agents, hold: true });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(envelope(...wishes)) });
  return cast;
}

function says(cast: Play, id: string, over: JsonObject = {}) {
  const turn = Object.values(cast.cast.turns).find(({ task, phase }) => task === id && phase === 'running');
  if (!turn) throw new Error(`nobody works on ${id}`);
  const output = JSON.stringify(result(id, over));
  return cast.tell({ kind: 'attempt.output', cast: 'c', turn: turn.id, attempt: turn.attempt, output });
}

const FAILED = {
  status: 'failed',
  acceptance_check: [{ criterion: 'it works', status: 'fail', evidence: 'it does not' }],
};

test('side by side the others go on beside a parked item, and the cast waits when they are over', () => {
  const cast = beside({ id: 'T-1' }, { id: 'T-2' }, { id: 'T-3', dependencies: ['T-1'] });
  says(cast, 'T-1', FAILED);
  says(cast, 'T-1', FAILED);
  expect([cast.cast.status, tasks(cast)]).toEqual(['running', ['T-1 blocked PARKED', 'T-2 in_progress', 'T-3 todo']]);
  says(cast, 'T-2');
  expect([ends(cast), tasks(cast)]).toEqual([
    ['waiting', 'ITEMS_PARKED'],
    ['T-1 blocked PARKED', 'T-2 done', 'T-3 todo'],
  ]);
  cast.tell(retry('T-1', 'once more'));
  says(cast, 'T-1');
  says(cast, 'T-3');
  cast.run();
  expect([ends(cast), tasks(cast)]).toEqual([
    ['completed', null],
    ['T-1 done', 'T-2 done', 'T-3 done'],
  ]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('side by side the tasks that depend on a dropped item are named, and dropped with it', () => {
  const cast = beside(
    { id: 'T-1' },
    { id: 'T-2', dependencies: ['T-1'] },
    { id: 'T-3', dependencies: ['T-2'] },
    { id: 'T-4' },
  );
  says(cast, 'T-4');
  says(cast, 'T-1', FAILED);
  says(cast, 'T-1', FAILED);
  expect(ends(cast)).toEqual(['waiting', 'ITEMS_PARKED']);
  const asked = cast.tell(drop('T-1'));
  expect([asked.code, asked.details.dependents]).toEqual(['NOT_ALLOWED_NOW', ['T-2', 'T-3']]);
  cast.say(drop('T-1', true));
  expect([ends(cast), tasks(cast)]).toEqual([
    ['completed', null],
    ['T-1 canceled', 'T-2 canceled', 'T-3 canceled', 'T-4 done'],
  ]);
});
