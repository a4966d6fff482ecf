// What becomes of a cast that a process left in the middle.
import { expect, test } from 'vitest';
import { graph, yes } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import { taskOf } from '../ledger/state.ts';
import { heldLocks } from '../ledger/wire.ts';
import type { Verdict } from '../verdict.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const DRIVER = { host: 'here', pid: 7 };
/** The tasks may be silent for 600 s. */
const [SOON, LATE] = [START + 300_000, START + 700_000];

/** Two tasks are in progress, under fences 1 and 2, when the process is gone. */
function cutOff(): Play {
  const plan = envelope({ id: 'T-1' }, { id: 'T-2' });
  const agents = { Lead: [plan], Worker: [result('T-1'), result('T-2'), '$repeat'], Sum: ['ok'] };
  const cast = play({ config: TEAM, agents, hold: true });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan) });
  return cast;
}

type Recover = Extract<Parameters<Play['tell']>[0], { kind: 'cast.recover' }>;
function recover(cast: Play, at: number, more: Partial<Recover> = {}): Verdict {
  return cast.tell({ kind: 'cast.recover', cast: 'c', driver: DRIVER, ...more }, at);
}

const lost = (cast: Play, turn: number, at: number) =>
  cast.tell({ kind: 'attempt.lost', cast: 'c', turn, attempt: 1, mayHaveRun: true, reason: 'gone' }, at);
const news = (cast: Play, from: number) => cast.facts.slice(from).map(({ kind }) => kind);
const task = (cast: Play, id: string) => taskOf(cast.state.ledger, 'c', id);

test('that a process was gone is told first, with what was in progress and how it was judged', () => {
  const cast = cutOff();
  const from = cast.facts.length;
  recover(cast, SOON, { heard: { 'T-2': START + 200_000 } });
  expect(news(cast, from)).toEqual(['cast.recovered']);
  const row = { owner: 'Worker', timeoutS: 600, judged: 'alive' };
  expect(cast.all('cast.recovered')).toMatchObject([
    {
      driver: DRIVER,
      tasks: [
        { task: 'T-1', turn: 2, fence: 1, silentS: 300, ...row },
        { task: 'T-2', turn: 3, fence: 2, silentS: 100, lastHeartbeatAt: START + 200_000, ...row },
      ],
    },
  ]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('who was silent for too long loses the task, which is handed out again under a larger fence', () => {
  const cast = cutOff();
  const from = cast.facts.length;
  recover(cast, LATE, { heard: { 'T-2': START + 200_000 } });
  expect(news(cast, from)).toEqual(['cast.recovered', 'task.moved', 'task.moved']);
  expect(cast.all('task.moved')).toMatchObject([
    { task: 'T-1', to: 'blocked', code: 'TASK_TIMEOUT', releases: true, retries: 1 },
    { task: 'T-1', to: 'todo' },
  ]);
  expect(heldLocks(cast.state.ledger).map(({ task }) => task)).toEqual(['T-2']);
  lost(cast, 2, LATE);
  expect(task(cast, 'T-1')).toMatchObject({ status: 'in_progress', fence: 3 });
  expect(replayed(cast.entries)).toEqual(cast.state);
  cast.run();
  expect([cast.cast.status, cast.all('turn.accepted').length]).toEqual(['completed', 4]);
  expect(cast.path).toEqual(['Socket-1', 'Socket-2 WI-1', 'Socket-2 WI-2', 'Socket-3']);
});

test('an attempt that was cut off in time runs again under a larger fence, and keeps its retries', () => {
  const cast = cutOff();
  recover(cast, SOON);
  lost(cast, 2, SOON);
  expect(task(cast, 'T-1')).toMatchObject({ status: 'in_progress', fence: 3, retries: 0 });
  expect(cast.all('task.claimed').at(-1)).toMatchObject({ task: 'T-1', fence: 3, replaces: 1 });
  cast.run();
  expect(cast.cast.status).toBe('completed');
});

test.each<['running' | 'answered', string]>([
  ['running', 'its program still runs'],
  ['answered', 'its answer lies ready'],
])('a task whose program is %s is alive, and its answer is taken under its fence', (seen, why) => {
  const cast = cutOff();
  recover(cast, LATE, { seen: { 2: seen, 3: seen } });
  expect(cast.all('cast.recovered')[0]?.tasks.map((each) => [each.judged, each.why])).toEqual([
    ['alive', why],
    ['alive', why],
  ]);
  cast.run();
  expect([cast.cast.status, task(cast, 'T-1')?.lastFence]).toEqual(['completed', 1]);
});

test('what has answered is verified on, however long nobody drove the cast, and no watchdog takes it away', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Write' } }) });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1, seal: 's' }, START + 1);
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'ok' }, START + 2);
  expect(cast.turn.phase).toBe('verifying');
  const late = START + 7_200_000;
  const expire = { kind: 'task.expire', run: 'c', task: 'T-1', lastHeartbeatAt: null, why: 'silent' } as const;
  expect(cast.tell(expire, late)).toMatchObject({ code: 'NOT_ALLOWED_NOW' });
  recover(cast, late);
  expect(cast.all('cast.recovered')[0]?.tasks).toMatchObject([{ judged: 'alive', why: 'its agent has answered' }]);
  cast.tell({ kind: 'turn.verified', cast: 'c', turn: 1, attempt: 1, seal: 's' }, late);
  expect([cast.cast.status, task(cast, 'T-1')?.status]).toEqual(['completed', 'done']);
});

test('where the retries are used up, a person decides', () => {
  const cast = cutOff();
  recover(cast, LATE);
  for (const turn of [2, 3]) lost(cast, turn, LATE);
  expect(task(cast, 'T-1')?.status).toBe('in_progress');
  const later = LATE + 700_000;
  recover(cast, later);
  expect([cast.cast.status, cast.cast.code]).toEqual(['waiting', 'TASK_TIMEOUT']);
  expect([task(cast, 'T-1')?.status, task(cast, 'T-2')?.status]).toEqual(['blocked', 'blocked']);
  expect(replayed(cast.entries)).toEqual(cast.state);
  cast.say({ kind: 'cast.resume', cast: 'c', reason: 'again' }, later + 1);
  expect(cast.all('task.claimed').map(({ fence }) => fence)).toEqual([1, 2, 3, 4, 5, 6]);
});

test('what must not run twice is left to a person, whose word is taken under a new claim', () => {
  const config = graph(
    { 'Socket-1': { materia: 'Careful' } },
    { materia: { Careful: { tools: 'coding', prompt: 'Send it.', onCrash: 'wait' } } },
  );
  const cast = play({ config, agents: { Careful: [yes] }, hold: true });
  const late = START + 7_200_000;
  recover(cast, late);
  expect(task(cast, 'T-1')?.status).toBe('todo');
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'late' }, late);
  expect([cast.cast.status, cast.cast.code]).toEqual(['waiting', 'OUTCOME_UNKNOWN']);
  cast.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'accept', output: 'it was sent' }, late);
  expect([cast.cast.status, task(cast, 'T-1')?.status, task(cast, 'T-1')?.lastFence]).toEqual(['completed', 'done', 2]);
});

test.each(['paused', 'completed'] as const)('a cast that is %s was not cut off', (status) => {
  const cast = cutOff();
  if (status === 'paused') cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'x' });
  else cast.run();
  const from = cast.facts.length;
  expect(recover(cast, LATE).allow).toBe(true);
  expect([cast.cast.status, news(cast, from)]).toEqual([status, []]);
});
