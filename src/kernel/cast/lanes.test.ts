import { expect, test } from 'vitest';
import { always, graph, notSatisfied, yes } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';
import { envelope, RUN, result, TEAM, type Wish } from '../../../test/team.ts';
import type { JsonObject } from '../json.ts';
import { taskOf } from '../ledger/state.ts';
import { heldLocks } from '../ledger/wire.ts';
import { watchOf } from './packet.ts';
import { continued } from './start.ts';
import type { Cast } from './state.ts';

const inFlight = ({ cast }: ReturnType<typeof play>) =>
  Object.values(cast.turns)
    .filter(({ phase }) => phase === 'running')
    .map(({ task }) => task);

/** A play that stands after the plan: the tests answer the workers. */
function planned(...wishes: Wish[]) {
  const cast = play({
    config: TEAM,
    agents: { Lead: [envelope(...wishes)], Worker: ['x', '$repeat'], Sum: ['ok'] },
    hold: true,
  });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(envelope(...wishes)) });
  return cast;
}

function answer(cast: ReturnType<typeof play>, id: string, over: JsonObject = {}) {
  const turn = Object.values(cast.cast.turns).find(({ task, phase }) => task === id && phase === 'running');
  if (!turn) throw new Error(`nobody works on ${id}`);
  const output = JSON.stringify(result(id, over));
  return cast.tell({ kind: 'attempt.output', cast: 'c', turn: turn.id, attempt: turn.attempt, output });
}

const statuses = (cast: ReturnType<typeof play>) =>
  Object.fromEntries(Object.values(cast.state.ledger.tasks).map(({ id, status }) => [id, status]));

test('tasks that are free of each other are in progress together, each with its own locks and a growing fence', () => {
  const cast = planned({ id: 'T-1' }, { id: 'T-2' }, { id: 'T-3' });
  expect(inFlight(cast)).toEqual(['T-1', 'T-2', 'T-3']);
  expect(heldLocks(cast.state.ledger).map(({ task, path, fence }) => [task, path, fence])).toEqual([
    ['T-1', 'src/T-1.ts', 1],
    ['T-2', 'src/T-2.ts', 2],
    ['T-3', 'src/T-3.ts', 3],
  ]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a task starts when what it depends on is done, whatever its place in the list', () => {
  const cast = planned({ id: 'T-1', dependencies: ['T-2'] }, { id: 'T-2' });
  expect(inFlight(cast)).toEqual(['T-2']);
  answer(cast, 'T-2');
  expect(inFlight(cast)).toEqual(['T-1']);
  answer(cast, 'T-1');
  expect(inFlight(cast)).toEqual([null]);
  expect(cast.path).toEqual(['Socket-1', 'Socket-2 WI-2', 'Socket-2 WI-1', 'Socket-3']);
  cast.run();
  expect([cast.cast.status, statuses(cast)]).toEqual(['completed', { 'T-1': 'done', 'T-2': 'done' }]);
});

test('tasks with overlapping paths take turns, the more urgent one first', () => {
  const cast = planned(
    { id: 'T-1', lock_scope: ['src/ui'] },
    { id: 'T-2', lock_scope: ['src/ui/button.ts'], priority: 'critical' },
  );
  expect(inFlight(cast)).toEqual(['T-2']);
  answer(cast, 'T-2');
  expect(inFlight(cast)).toEqual(['T-1']);
});

test('a serial task runs alone', () => {
  const cast = planned({ id: 'T-1', type: 'serial', priority: 'high' }, { id: 'T-2' }, { id: 'T-3' });
  expect(inFlight(cast)).toEqual(['T-1']);
  answer(cast, 'T-1');
  expect(inFlight(cast)).toEqual(['T-2', 'T-3']);
});

test('no more are in progress than the loop allows', () => {
  const wishes = Array.from({ length: 6 }, (_, index) => ({ id: `T-${index + 1}` }));
  const cast = planned(...wishes);
  expect(inFlight(cast)).toHaveLength(4);
  answer(cast, 'T-3');
  expect(inFlight(cast)).toEqual(['T-1', 'T-2', 'T-4', 'T-5']);
});

/** Five tasks for four places. The serial one is refused three times before the cast is stopped. */
const crowd = (): Wish[] => [
  { id: 'T-1', type: 'serial', lock_scope: ['src'], priority: 'low' },
  { id: 'T-2', lock_scope: ['src'], priority: 'low' },
  { id: 'T-3', lock_scope: ['src'], priority: 'critical' },
  { id: 'T-4', lock_scope: ['docs'], priority: 'low' },
  { id: 'T-5', lock_scope: ['test/y'], priority: 'high' },
];

test('turns that are put off take no place: the task that goes first gets one', () => {
  const cast = planned(...crowd());
  answer(cast, 'T-3', { status: 'blocked', acceptance_check: [] });
  expect(inFlight(cast)).toEqual(['T-5', 'T-4', 'T-2']);
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  cast.tell({ kind: 'cast.recast', cast: 'c' });
  // Four turns are open again, and all of them give way to T-1, which was passed over three times and has no turn yet.
  expect(inFlight(cast)).toEqual(['T-1']);
  expect(Object.values(cast.cast.turns).map(({ task, phase }) => [task, phase])).toEqual([
    ...['T-3', 'T-5', 'T-4', 'T-2'].map((task) => [task, 'held']),
    ['T-1', 'running'],
  ]);
  for (let [next] = inFlight(cast); next; [next] = inFlight(cast)) answer(cast, next);
  cast.run();
  expect(cast.cast.status).toBe('completed');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('turns that are opened again take no more places than there are', () => {
  const cast = planned(...Array.from({ length: 6 }, (_, index) => ({ id: `T-${index + 1}` })));
  for (const id of ['T-1', 'T-2']) answer(cast, id, { status: 'blocked', acceptance_check: [] });
  expect(inFlight(cast)).toEqual(['T-3', 'T-4', 'T-5', 'T-6']);
  cast.tell({ kind: 'task.move', run: 'c', task: 'T-1', to: 'todo', reason: 'put right' });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 2, attempt: 2 });
  expect(inFlight(cast)).toEqual(['T-3', 'T-4', 'T-5', 'T-6']);
  expect(Object.values(cast.cast.turns).find(({ task }) => task === 'T-1')).toMatchObject({
    phase: 'held',
    held: { code: 'NOT_ALLOWED_NOW', reason: expect.stringContaining('4 places') },
  });
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  cast.tell({ kind: 'cast.recast', cast: 'c' });
  expect(inFlight(cast)).toHaveLength(4);
  answer(cast, 'T-1');
  expect(inFlight(cast)).toHaveLength(4);
  for (let [next] = inFlight(cast); next; [next] = inFlight(cast)) answer(cast, next);
  cast.run();
  expect([cast.cast.status, Object.values(statuses(cast))]).toEqual(['completed', Array(6).fill('done')]);
});

test('a blocked task that a person moved to todo while the cast was paused is worked on again', () => {
  const cast = planned({ id: 'T-1' }, { id: 'T-2' });
  answer(cast, 'T-1', { status: 'blocked', acceptance_check: [] });
  cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'lunch' });
  cast.tell({ kind: 'task.move', run: 'c', task: 'T-1', to: 'todo', reason: 'put right' });
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'back' });
  expect(inFlight(cast)).toEqual(['T-1', 'T-2']);
  for (const id of ['T-2', 'T-1']) answer(cast, id);
  cast.run();
  expect(cast.cast.status).toBe('completed');
});

test('a blocked report blocks its task, the others go on, and then the cast waits for a person', () => {
  const cast = planned({ id: 'T-1' }, { id: 'T-2' }, { id: 'T-3', dependencies: ['T-1'] });
  answer(cast, 'T-1', { status: 'blocked', notes_for_orchestrator: ['the key is missing'], acceptance_check: [] });
  expect([cast.cast.status, inFlight(cast)]).toEqual(['running', ['T-2']]);
  answer(cast, 'T-2');
  expect([cast.cast.status, cast.cast.code]).toEqual(['waiting', 'MISSING_REQUIRED_INPUT']);
  expect(cast.cast.reason).toContain('the key is missing');
  expect(heldLocks(cast.state.ledger)).toEqual([]);
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'the key is there' });
  expect([cast.cast.status, inFlight(cast)]).toEqual(['running', ['T-1']]);
  answer(cast, 'T-1');
  answer(cast, 'T-3');
  cast.run();
  expect(cast.cast.status).toBe('completed');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test.each<[string, Partial<Cast>, string, string]>([
  ['in the directory itself', {}, 'SCOPE_VIOLATION', 'Put it right, then go on with: baton continue c'],
  ['what lies outside', { root: 'c' }, 'MISSING_REQUIRED_INPUT', 'Put it right, then go on with: baton continue c'],
  ['what an agent left in its worktree', { root: 'c' }, 'SCOPE_VIOLATION', 'what its worktree holds is stashed'],
])('a person is told to put right only what a person can: %s', (_what, more, code, said) => {
  expect(continued({ id: 'c', ...more } as Cast, 'it is wrong.', code)).toContain(said);
});

test.each<[string, JsonObject, string]>([
  ['another task of the run', { task_id: 'T-2' }, 'SCHEMA_INVALID'],
  ['a task that is not there', { task_id: 'T-9' }, 'SCHEMA_INVALID'],
  ['the same task of another run', { run_id: RUN.replaceAll('3', '4') }, 'SCHEMA_INVALID'],
  ['a run that is not there', { run_id: '00000000-0000-4000-8000-000000000000' }, 'SCHEMA_INVALID'],
  ['its own task', {}, 'OK'],
])('a result about %s: %s', (_, over, code) => {
  const cast = planned({ id: 'T-1' }, { id: 'T-2' });
  expect(answer(cast, 'T-1', over).code).toBe(code);
  expect(statuses(cast)).toEqual({ 'T-1': code === 'OK' ? 'done' : 'in_progress', 'T-2': 'in_progress' });
});

test('a claim that names another task, or misses a criterion, goes back for repair, and then blocks its task alone', () => {
  const cast = planned({ id: 'T-1' }, { id: 'T-2' });
  expect(answer(cast, 'T-1', { acceptance_check: [{ criterion: 'other', status: 'pass', evidence: 'x' }] }).code).toBe(
    'ACCEPTANCE_FAILED',
  );
  expect(cast.all('attempt.refused')).toMatchObject([{ repair: true, verdict: { code: 'ACCEPTANCE_FAILED' } }]);
  answer(cast, 'T-1', { acceptance_check: [{ criterion: 'other', status: 'pass', evidence: 'x' }] });
  expect(cast.all('turn.blocked')).toMatchObject([{ code: 'ACCEPTANCE_FAILED' }]);
  expect([inFlight(cast), statuses(cast)]).toEqual([['T-2'], { 'T-1': 'blocked', 'T-2': 'in_progress' }]);
});

test('the brief of a task is its packet with the locks of the others, and nothing the others said', () => {
  const cast = planned({ id: 'T-1' }, { id: 'T-2' });
  const [, second] = cast.briefs('Socket-2');
  expect(second).toContain('"task_id": "T-2"');
  expect(second).toContain(`"run_id": "${RUN}"`);
  expect(second).toContain('"resource": "src/T-1.ts"');
  expect(second).not.toContain('Result of the socket before');
  expect(cast.briefs('Socket-1')[0]).toContain('run_id: c');
});

test.each<[what: string, wishes: Wish[], code: string]>([
  [
    'tasks that wait for each other',
    [
      { id: 'T-1', dependencies: ['T-2'] },
      { id: 'T-2', dependencies: ['T-1'] },
    ],
    'LEDGER_INCONSISTENT',
  ],
  ['a dependency nobody assigned', [{ id: 'T-1', dependencies: ['T-9'] }], 'LEDGER_INCONSISTENT'],
  ['a checker nobody declared', [{ id: 'T-1', x_checkers: { 'it works': 'unit' } }], 'MISSING_VALIDATOR'],
  ['settings of a program as a worklog', [{ id: 'T-1', worklog_path: '.claude/settings.json' }], 'SCOPE_VIOLATION'],
  ['settings of a program as a report', [{ id: 'T-1', report_path: '.mcp.json' }], 'SCOPE_VIOLATION'],
  ['settings of a program in a scope', [{ id: 'T-1', lock_scope: ['x/../.claude/hooks'] }], 'SCOPE_VIOLATION'],
  ['the folder of a program as a scope', [{ id: 'T-1', lock_scope: ['src', '.codex'] }], 'SCOPE_VIOLATION'],
])('a plan with %s is given back whole', (_, wishes, code) => {
  const cast = planned(...wishes);
  expect(cast.all('attempt.refused')).toMatchObject([{ repair: true, verdict: { code } }]);
  expect(cast.state.ledger.tasks).toEqual({});
});

test('a plan may name the settings of a program where a person names them in a lockScope', () => {
  const wish = { id: 'T-1', lock_scope: ['.claude/skills'] };
  const { materia, ...rest } = TEAM as { materia: JsonObject };
  const config = {
    ...rest,
    materia: { ...materia, Worker: { ...(materia.Worker as JsonObject), lockScope: '.claude/skills' } },
  };
  const cast = play({ config, agents: { Lead: [envelope(wish)], Worker: ['x', '$repeat'], Sum: ['ok'] }, hold: true });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(envelope(wish)) });
  expect(taskOf(cast.state.ledger, 'c', 'T-1')?.lockScope).toEqual(['.claude/skills']);
});

test('a silent agent’s task is handed out again under a new fence, and then the cast says so', () => {
  const cast = planned({ id: 'T-1' });
  const fail = () =>
    cast.tell({
      kind: 'attempt.failed',
      cast: 'c',
      turn: 2,
      attempt: cast.cast.turns[2]?.attempt ?? 0,
      fault: 'timeout',
      reason: 'silent for 600 s',
    });
  fail();
  expect(taskOf(cast.state.ledger, 'c', 'T-1')).toMatchObject({ status: 'in_progress', fence: 2, retries: 1 });
  expect(cast.all('task.moved').map(({ to, code }) => [to, code])).toEqual([
    ['blocked', 'TASK_TIMEOUT'],
    ['todo', null],
  ]);
  fail();
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'AGENT_TIMEOUT']);
  expect(heldLocks(cast.state.ledger)).toEqual([]);
});

test('an answer under a claim that has ended is not taken, and the work is handed out again', () => {
  const cast = planned({ id: 'T-1' });
  const turn = cast.cast.turns[2];
  cast.tell({ kind: 'task.expire', run: 'c', task: 'T-1', lastHeartbeatAt: null, why: 'gone' });
  const output = JSON.stringify(result('T-1'));
  const late = cast.tell({ kind: 'attempt.output', cast: 'c', turn: 2, attempt: turn?.attempt ?? 0, output });
  expect(late.code).toBe('CONCURRENCY_CONFLICT');
  expect(cast.all('turn.accepted')).toHaveLength(1);
  expect(taskOf(cast.state.ledger, 'c', 'T-1')).toMatchObject({ status: 'in_progress', fence: 2 });
});

test('a failed cast leaves no task in progress, and a recast claims them again', () => {
  const cast = planned({ id: 'T-1' }, { id: 'T-2' });
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect([statuses(cast), heldLocks(cast.state.ledger)]).toEqual([{ 'T-1': 'blocked', 'T-2': 'blocked' }, []]);
  cast.tell({ kind: 'cast.recast', cast: 'c' });
  expect([cast.cast.status, inFlight(cast)]).toEqual(['running', ['T-1', 'T-2']]);
  answer(cast, 'T-2');
  answer(cast, 'T-1');
  cast.run();
  expect(cast.cast.status).toBe('completed');
});

/** Workers side by side, whose work is judged one by one. */
const JUDGED = graph(
  {
    'Socket-1': { materia: 'Lead', contract: 'operator', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Worker', contract: 'operator', edges: [always('Socket-3')] },
    'Socket-3': {
      materia: 'Judge',
      parse: 'json',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [notSatisfied('Socket-2', 2), always('end')],
    },
  },
  {
    loops: {
      work: {
        sockets: ['Socket-2', 'Socket-3'],
        consumes: { from: 'Socket-1', output: 'workItems' },
      },
    },
    materia: {
      Lead: { prompt: 'Assign.', tools: 'none', generator: true },
      Worker: { prompt: 'Do.', tools: 'coding' },
    },
  },
);

test('rework of one item keeps its task in progress while the others go on', () => {
  const agents = {
    Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })],
    Worker: [result('T-1'), result('T-2'), result('T-1')],
    Judge: [{ satisfied: false, context: 'mend it' }, { satisfied: true }, { satisfied: true }],
  };
  const cast = play({ config: JUDGED, agents });
  expect([cast.cast.status, cast.cast.reason]).toEqual(['completed', 'completed']);
  expect(cast.path).toEqual([
    'Socket-1',
    'Socket-2 WI-1',
    'Socket-2 WI-2',
    'Socket-3 WI-1',
    'Socket-3 WI-2',
    'Socket-2 WI-1',
    'Socket-3 WI-1',
  ]);
  expect(statuses(cast)).toEqual({ 'T-1': 'done', 'T-2': 'done' });
});

test('of two items that are rejected at the same time each is told its own reason', () => {
  const agents = {
    Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })],
    Worker: ['T-1', 'T-2', 'T-1', 'T-2'].map((id) => result(id)),
    Judge: [
      { satisfied: false, context: 'the first is red' },
      { satisfied: false, context: 'the second is red' },
      yes,
      yes,
    ],
  };
  const cast = play({ config: JUDGED, agents });
  const told = cast
    .briefs('Socket-2')
    .map((brief) => [/the first is red/.test(brief), /the second is red/.test(brief)]);
  expect([cast.cast.status, told]).toEqual([
    'completed',
    [
      [false, false],
      [false, false],
      [true, false],
      [false, true],
    ],
  ]);
});

/** A team without a script: the test prepares, answers and looks. */
function watched(...wishes: Wish[]) {
  const cast = play({ config: TEAM });
  const act = (id: string | null, output: JsonObject, changes: Record<string, string | null> = {}) => {
    const turn = Object.values(cast.cast.turns).find(({ task, phase }) => task === id && phase !== 'accepted');
    if (!turn) throw new Error(`nobody works on ${id}`);
    const at = { cast: 'c', turn: turn.id, attempt: turn.attempt };
    cast.tell({ kind: 'attempt.output', ...at, output: JSON.stringify(output) });
    return cast.tell({ kind: 'turn.verified', ...at, seal: 's', changes });
  };
  const ready = () => {
    for (const effect of cast.owed) {
      if (effect.kind !== 'prepare') continue;
      cast.tell({ kind: 'turn.prepared', cast: 'c', turn: effect.turn, attempt: effect.attempt, seal: 's' });
    }
  };
  ready();
  act(null, envelope(...wishes) as JsonObject);
  ready();
  return { cast, act, ready };
}

const stuck = (id: string) => result(id, { status: 'blocked', acceptance_check: [] });

test('what a blocked sibling left behind is not held against the others, as long as it is as it was left', () => {
  const { act } = watched({ id: 'T-1' }, { id: 'T-2' });
  act('T-1', stuck('T-1'), { 'src/T-1.ts': 'one' });
  expect(act('T-2', result('T-2'), { 'src/T-1.ts': 'one', 'src/T-2.ts': 'two' }).code).toBe('OK');
  const other = watched({ id: 'T-1' }, { id: 'T-2' });
  other.act('T-1', stuck('T-1'), { 'src/T-1.ts': 'one' });
  expect(other.act('T-2', result('T-2'), { 'src/T-1.ts': 'changed again' }).code).toBe('SCOPE_VIOLATION');
});

test('what lies in the lock of another task is that task’s', () => {
  const { act } = watched({ id: 'T-1' }, { id: 'T-2' });
  expect(act('T-2', result('T-2'), { 'src/T-1.ts': 'half done', 'worklogs/T-1.jsonl': 'x' }).code).toBe('OK');
});

test('a stray change is not forgiven by going on: what was there before the turn still counts', () => {
  const { cast, act, ready } = watched({ id: 'T-1' });
  act('T-1', result('T-1'), { 'stray.txt': 'x' });
  ready();
  act('T-1', result('T-1'), { 'stray.txt': 'x' });
  expect([cast.cast.status, cast.cast.code]).toEqual(['waiting', 'SCOPE_VIOLATION']);
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'go on' });
  // Not fresh: whoever looks compares with what was seen before the first attempt.
  expect(watchOf(cast.state, cast.cast, cast.turn)).toMatchObject({ isFresh: false });
  ready();
  expect(act('T-1', result('T-1'), { 'stray.txt': 'x' }).code).toBe('SCOPE_VIOLATION');
  ready();
  expect(act('T-1', result('T-1'), {}).code).toBe('OK');
});

test('a result that names another worklog than its packet is not taken', () => {
  const cast = planned({ id: 'T-1' });
  expect(answer(cast, 'T-1', { worklog_path: 'zz' })).toMatchObject({
    code: 'SCHEMA_INVALID',
    details: { path: 'worklog_path', expected: 'worklogs/T-1.jsonl' },
  });
  expect(answer(cast, 'T-1', { worklog_path: './worklogs//T-1.jsonl' }).allow).toBe(true);
});

test('a large task that is older than more urgent small ones is passed over for a while only', () => {
  const small = Array.from({ length: 8 }, (_, index) => `T-${index + 2}`);
  const wishes = small.map((id) => ({ id, lock_scope: [`src/${id}.ts`], priority: 'high' }));
  const agents = { Lead: [envelope({ id: 'T-1', lock_scope: ['src'] }, ...wishes)], Worker: ['x'], Sum: ['ok'] };
  const config = { ...TEAM, parallelism: { maxConcurrency: 2 } };
  const cast = play({ config, agents, hold: true });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(agents.Lead[0]) });
  const order: (string | null)[] = [];
  for (let [next] = inFlight(cast); next; [next] = inFlight(cast)) {
    order.push(next);
    answer(cast, next);
  }
  expect(order.length).toBe(9);
  expect(order.indexOf('T-1')).toBeLessThan(6);
});
