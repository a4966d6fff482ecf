// A person moves the tasks of a cast by hand, and the cast makes the best of it.
import { expect, test } from 'vitest';
import { always, exit, graph, satisfied } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { asBlock, reportOf } from '../../../test/reports.ts';
import { envelope, result, TEAM, type Wish } from '../../../test/team.ts';
import type { Json } from '../json.ts';
import { type TaskStatus, taskOf } from '../ledger/state.ts';

const blocked = (id: string): Json => result(id, { status: 'blocked', acceptance_check: [] });

/** Workers side by side; each says what stands in its place. */
function team(wishes: readonly Wish[], ...says: Json[]): Play {
  return play({ config: TEAM, agents: { Lead: [envelope(...wishes)], Worker: says, Sum: ['ok'] } });
}

const move = (cast: Play, task: string, to: TaskStatus, over: object = {}) =>
  cast.tell({ kind: 'task.move', run: 'c', task, to, reason: 'not needed', ...over });
const goOn = (cast: Play) => cast.say({ kind: 'cast.resume', cast: 'c', reason: 'on' });
const stands = ({ cast }: Play) => [cast.status, cast.code];
const status = (cast: Play, id: string) => taskOf(cast.state.ledger, 'c', id)?.status;

test.each<[string, TaskStatus, object, string]>([
  ['an agent', 'canceled', { actor: 'agent' }, 'NOT_ALLOWED_NOW'],
  ['whoever gives a fence', 'canceled', { fence: 1 }, 'NOT_ALLOWED_NOW'],
  ['a person who would work on it', 'in_progress', {}, 'NOT_ALLOWED_NOW'],
  ['a person who would end it without a result', 'done', {}, 'NOT_ALLOWED_NOW'],
  ['a person who would try it again', 'todo', {}, 'OK'],
  ['a person who leaves it out', 'canceled', {}, 'OK'],
  ['a person who gives it up', 'failed', {}, 'OK'],
])('%s moves a blocked task of a cast to %s', (_, to, over, code) => {
  const cast = team([{ id: 'T-1' }], blocked('T-1'));
  expect(stands(cast)).toEqual(['waiting', 'MISSING_REQUIRED_INPUT']);
  expect(move(cast, 'T-1', to, over).code).toBe(code);
  expect(cast.all('task.refused').length).toBe(code === 'OK' ? 0 : 1);
});

test("a task that is in progress is nobody else's", () => {
  const cast = play({
    config: TEAM,
    agents: { Lead: [envelope({ id: 'T-1' })], Worker: [result('T-1')], Sum: ['ok'] },
    hold: true,
  });
  const output = JSON.stringify(envelope({ id: 'T-1' }));
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output });
  expect([status(cast, 'T-1'), move(cast, 'T-1', 'canceled').code]).toEqual(['in_progress', 'NOT_ALLOWED_NOW']);
});

test('an item that is left out ends its walk without a handoff, and the cast leaves the loop with what was done', () => {
  const cast = team([{ id: 'T-1' }, { id: 'T-2' }], blocked('T-1'), result('T-2'));
  expect([stands(cast), status(cast, 'T-2')]).toEqual([['waiting', 'MISSING_REQUIRED_INPUT'], 'done']);
  move(cast, 'T-1', 'canceled');
  expect(cast.cast.status).toBe('waiting');
  goOn(cast);
  expect(stands(cast)).toEqual(['completed', null]);
  expect(cast.path).toEqual(['Socket-1', 'Socket-2 WI-1', 'Socket-2 WI-2', 'Socket-3']);
  expect(cast.all('turn.accepted').map(({ turn }) => turn)).toEqual([1, 3, 4]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('what depends on it can never be done, which the cast says with the way out', () => {
  const cast = team([{ id: 'T-1' }, { id: 'T-2', dependencies: ['T-1'] }], blocked('T-1'));
  move(cast, 'T-1', 'canceled');
  goOn(cast);
  expect(stands(cast)).toEqual(['waiting', 'DEPENDENCY_NOT_MET']);
  expect(cast.cast.reason).toContain('baton task move T-2 canceled --run c');
  move(cast, 'T-2', 'canceled');
  goOn(cast);
  expect(stands(cast)).toEqual(['completed', null]);
});

test('while others are at work, the cast takes notice at once', () => {
  const wishes = [{ id: 'T-1' }, { id: 'T-2' }];
  const agents = { Lead: [envelope(...wishes)], Worker: [blocked('T-1'), result('T-2'), result('T-1')], Sum: ['ok'] };
  const begin = (): Play => {
    const cast = play({ config: TEAM, agents, hold: true });
    const say = (turn: number, output: Json) =>
      cast.tell({ kind: 'attempt.output', cast: 'c', turn, attempt: 1, output: JSON.stringify(output) });
    say(1, envelope(...wishes));
    say(2, blocked('T-1'));
    expect(stands(cast)).toEqual(['running', null]);
    return cast;
  };
  const out = begin();
  move(out, 'T-1', 'canceled');
  expect(Object.values(out.cast.turns).map(({ task }) => task)).toEqual(['T-2']);
  out.run();
  expect(stands(out)).toEqual(['completed', null]);
  const again = begin();
  move(again, 'T-1', 'todo');
  expect(Object.values(again.cast.turns).map(({ task, phase }) => [task, phase])).toEqual([
    ['T-1', 'owed'],
    ['T-2', 'running'],
  ]);
  again.run();
  expect([stands(again), status(again, 'T-1')]).toEqual([['completed', null], 'done']);
});

/** One item after the other: an agent that reports may be blocked. */
function row(exits: readonly Json[], ...says: Json[]): Play {
  const gaia = { contract: 'gaia', parse: 'json' };
  const advance = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };
  const config = graph(
    {
      'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Look', edges: [always('Socket-3')] },
      'Socket-3': { materia: 'Spec', ...gaia, advance, edges: [satisfied('Socket-2')] },
      'Socket-4': { materia: 'Sum' },
    },
    {
      loops: {
        items: { sockets: ['Socket-2', 'Socket-3'], consumes: { from: 'Socket-1', output: 'workItems' }, exits },
      },
      materia: {
        Plan: { tools: 'none', prompt: 'Plan.', generator: true },
        Look: { tools: 'none', prompt: 'Look.' },
        Spec: { tools: 'none', prompt: 'Do.' },
        Sum: { tools: 'none', prompt: 'Sum up.' },
      },
    },
  );
  const workItems = ['a', 'b', 'c'].map((title) => ({ title, context: title }));
  return play({
    config,
    agents: { Plan: [{ workItems }], Look: ['seen', '$repeat'], Spec: says, Sum: ['ok'] },
  });
}

const report = (plan: 'COMPLETE' | 'BLOCKED') => asBlock(reportOf(plan, { open_gaps: ['a gap'] }));
const [DONE, STUCK] = [report('COMPLETE'), report('BLOCKED')];

test.each([
  ['always', exit('Socket-3', 'always', 'Socket-4')],
  ['satisfied', exit('Socket-3', 'satisfied', 'Socket-4')],
])('of items in a row the next one begins; the last one leads out by the exit for %s', (_, way) => {
  const cast = row([way], DONE, STUCK, STUCK);
  expect(stands(cast)).toEqual(['waiting', 'AGENT_BLOCKED']);
  expect(move(cast, 'T-2', 'canceled').code).toBe('OK');
  goOn(cast);
  expect([stands(cast), cast.turn.item?.key]).toEqual([['waiting', 'AGENT_BLOCKED'], 'WI-3']);
  move(cast, 'T-3', 'failed');
  goOn(cast);
  expect(stands(cast)).toEqual(['completed', null]);
  expect(cast.path.filter((step) => !step.startsWith('Socket-2'))).toEqual([
    ...['Socket-1', 'Socket-3 WI-1', 'Socket-3 WI-2', 'Socket-3 WI-3', 'Socket-4'],
  ]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('an item that was left out before its turn came is passed over', () => {
  const cast = row([exit('Socket-3', 'always', 'Socket-4')], STUCK, DONE, DONE);
  move(cast, 'T-2', 'canceled');
  move(cast, 'T-1', 'todo');
  goOn(cast);
  expect(stands(cast)).toEqual(['completed', null]);
  expect(cast.path.filter((step) => step.includes('WI-2'))).toEqual([]);
});

test('a cast that has failed or was aborted leaves it out when it is run on', () => {
  const cast = row([exit('Socket-3', 'always', 'Socket-4')], STUCK, DONE, DONE);
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'stop' });
  expect(move(cast, 'T-1', 'canceled').code).toBe('OK');
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect([stands(cast), status(cast, 'T-1')]).toEqual([['completed', null], 'canceled']);
});

test('what is a step of the graph is not left out; the cast is stopped instead', () => {
  const config = graph(
    { 'Socket-1': { materia: 'Spec', contract: 'gaia', parse: 'json', edges: [always('end')] } },
    { materia: { Spec: { tools: 'coding', prompt: 'Do.' } } },
  );
  const cast = play({ config, agents: { Spec: [STUCK, DONE] } });
  expect(move(cast, 'T-1', 'canceled')).toMatchObject({ code: 'NOT_ALLOWED_NOW', details: { cast: 'c' } });
  expect(move(cast, 'T-1', 'todo').code).toBe('OK');
  goOn(cast);
  expect(stands(cast)).toEqual(['completed', null]);
});
