// A cast of which nothing runs keeps its claims; a person may take them away, and whoever is refused is told so.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { asBlock, reportOf } from '../../../test/reports.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import { packet } from '../ledger/fixtures/book.ts';
import { type Task, type TaskStatus, taskOf } from '../ledger/state.ts';
import { heldLocks } from '../ledger/wire.ts';

/** A team whose worker is at work on T-1. */
function atWork(): Play {
  const agents = { Lead: [envelope({ id: 'T-1' })], Worker: [result('T-1'), '$repeat'], Sum: ['ok'] };
  const cast = play({ config: TEAM, agents, hold: true });
  const output = JSON.stringify(envelope({ id: 'T-1' }));
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output });
  expect(one(cast).status).toBe('in_progress');
  return cast;
}

const one = ({ state }: Play) => taskOf(state.ledger, 'c', 'T-1') as Task;
const pause = (cast: Play) => cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'Ctrl-C' });
const goOn = (cast: Play) => cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'on' });
const move = (cast: Play, to: TaskStatus, over: object = {}) =>
  cast.tell({ kind: 'task.move', run: 'c', task: 'T-1', to, reason: 'others need it', ...over });
const claimOther = (cast: Play) => {
  const wish = packet('T-9', { run: OTHER, lock_scope: ['src/T-1.ts'] });
  cast.tell({ kind: 'task.create', packet: wish });
  return cast.tell({ kind: 'task.claim', run: OTHER, task: 'T-9', owner: 'ann' });
};
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

test.each<[string, TaskStatus, object, boolean, string]>([
  ['a person, while it runs', 'blocked', {}, false, 'NOT_ALLOWED_NOW'],
  ['an agent', 'blocked', { actor: 'agent' }, true, 'NOT_ALLOWED_NOW'],
  ['a person who would end it without a result', 'done', {}, true, 'NOT_ALLOWED_NOW'],
  ['a person who gives it up', 'blocked', {}, true, 'OK'],
  ['a person who would have it tried later', 'todo', {}, true, 'OK'],
  ['a person who leaves it out', 'canceled', {}, true, 'OK'],
])('%s moves a task in progress to %s', (_, to, over, isPaused, code) => {
  const cast = atWork();
  if (isPaused) pause(cast);
  expect(heldLocks(cast.state.ledger, 'c')).toHaveLength(1);
  expect(move(cast, to, over).code).toBe(code);
  expect(heldLocks(cast.state.ledger, 'c')).toHaveLength(code === 'OK' ? 0 : 1);
  expect(one(cast).status).toBe(code === 'OK' ? to : 'in_progress');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test.each<TaskStatus>(['blocked', 'todo'])(
  'a cast that goes on claims what was moved to %s under a larger fence',
  (to) => {
    const cast = atWork();
    pause(cast);
    move(cast, to);
    goOn(cast);
    expect(one(cast)).toMatchObject({ status: 'in_progress', fence: 2 });
    cast.run();
    expect([cast.cast.status, one(cast).status]).toEqual(['completed', 'done']);
    expect(replayed(cast.entries)).toEqual(cast.state);
  },
);

test('it waits as long as somebody else has the paths, and starts when they are free', () => {
  const cast = atWork();
  pause(cast);
  move(cast, 'blocked');
  expect(claimOther(cast).code).toBe('OK');
  goOn(cast);
  expect(Object.values(cast.cast.turns).map(({ phase, held }) => [phase, held?.code])).toEqual([
    ['held', 'LOCK_CONFLICT'],
  ]);
  cast.tell({ kind: 'task.move', run: OTHER, task: 'T-9', to: 'canceled', reason: 'over' });
  cast.run();
  expect([cast.cast.status, one(cast).status]).toEqual(['completed', 'done']);
});

test('an item that is left out while the cast is paused is gone when it goes on', () => {
  const cast = atWork();
  pause(cast);
  move(cast, 'canceled');
  goOn(cast);
  cast.run();
  expect([cast.cast.status, one(cast).status]).toEqual(['completed', 'canceled']);
  expect(cast.all('attempt.started').filter(({ turn }) => turn === 2)).toHaveLength(1);
});

test('who is refused hears of the cast, since when it stands, and the command that frees the paths', () => {
  const cast = atWork();
  expect(claimOther(cast).reason).toContain('wait until it is over');
  pause(cast);
  const since = cast.entries.at(-1)?.at;
  const refusal = cast.tell({ kind: 'task.claim', run: OTHER, task: 'T-9', owner: 'ann' });
  const free = 'baton task move T-1 blocked --run c --reason "…"';
  const holder = { run: 'c', task: 'T-1', cast: 'c', status: 'paused', since, free };
  expect(refusal).toMatchObject({ code: 'LOCK_CONFLICT', details: { holder } });
  expect(refusal.reason).toContain(`cast c is paused since ${since}`);
  expect(refusal.reason).toContain(free);
  expect(cast.all('task.refused').at(-1)?.details).toEqual(refusal.details);
  goOn(cast);
  const later = cast.tell({ kind: 'task.claim', run: OTHER, task: 'T-9', owner: 'ann' });
  expect(later.reason).toContain('wait until it is over');
});

/** An agent, or a person, whose turn without an item holds the whole folder and asks. */
function asking(runner: 'person' | 'scripted'): Play {
  const isPersons = runner === 'person';
  const socket = isPersons ? { materia: 'Spec' } : { materia: 'Spec', contract: 'gaia', parse: 'json' };
  const config = graph(
    { 'Socket-1': { ...socket, edges: [always('end')] } },
    { materia: { Spec: { tools: 'coding', prompt: 'Do.', ...(isPersons ? { runner } : {}) } } },
  );
  const says = [asBlock(reportOf('NEEDS_INPUT', { open_gaps: ['which?'] })), asBlock(reportOf('COMPLETE'))];
  const cast = play({ config, ...(isPersons ? {} : { agents: { Spec: says } }) });
  if (isPersons) cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  expect([cast.cast.status, one(cast).status]).toEqual(['waiting', 'in_progress']);
  return cast;
}

test.each<'person' | 'scripted'>(['person', 'scripted'])('whoever asks goes on under a new claim: %s', (runner) => {
  const cast = asking(runner);
  expect(move(cast, 'canceled').code).toBe('NOT_ALLOWED_NOW');
  expect(move(cast, 'todo').code).toBe('OK');
  cast.say({ kind: 'turn.answer', cast: 'c', output: 'this one' });
  expect([cast.cast.status, one(cast).status, one(cast).lastFence]).toEqual(['completed', 'done', 2]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('what a person hands in waits while somebody else has the paths', () => {
  const cast = asking('person');
  move(cast, 'blocked');
  cast.tell({ kind: 'task.create', packet: packet('T-9', { run: OTHER, lock_scope: ['src'] }) });
  cast.tell({ kind: 'task.claim', run: OTHER, task: 'T-9', owner: 'ann' });
  expect(cast.tell({ kind: 'turn.answer', cast: 'c', output: 'mine' }).code).toBe('LOCK_CONFLICT');
  expect(cast.cast.status).toBe('waiting');
});

test('what was not looked at before its claim was taken away is done again', () => {
  const cast = play({ config: TEAM });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  const plan = JSON.stringify(envelope({ id: 'T-1' }));
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: plan });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 2, attempt: 1, seal: 's' });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 2, attempt: 1, output: JSON.stringify(result('T-1')) });
  expect(cast.cast.turns[2]?.phase).toBe('verifying');
  pause(cast);
  expect(move(cast, 'blocked').code).toBe('OK');
  goOn(cast);
  expect(cast.tell({ kind: 'turn.verified', cast: 'c', turn: 2, attempt: 1, seal: 's' }).code).toBe(
    'CONCURRENCY_CONFLICT',
  );
  expect(cast.cast.turns[2]?.phase).toBe('owed');
});

test('what is accepted and only waits to be merged keeps its claim', () => {
  const agents = { Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })], Worker: ['x', '$repeat'], Sum: ['ok'] };
  const cast = play({ config: TEAM, agents, hold: true, root: 'trees/c' });
  const say = (turn: number, output: unknown) =>
    cast.tell({ kind: 'attempt.output', cast: 'c', turn, attempt: 1, output: JSON.stringify(output) });
  say(1, envelope({ id: 'T-1' }, { id: 'T-2' }));
  say(2, result('T-1'));
  expect(cast.cast.turns[2]?.phase).toBe('merging');
  pause(cast);
  expect(move(cast, 'blocked')).toMatchObject({ code: 'NOT_ALLOWED_NOW', details: { cast: 'c' } });
});
