// The tasks of a cast through the real command line: named as their packets name them, left by a process that was killed, and
// moved by a person.
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Why } from '../../src/app/views/why/why.ts';
import type { Fact } from '../../src/kernel/fact.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { envelope, RUN, result, TEAM } from '../team.ts';
import { baton, json, project, put, start } from './baton.ts';
import { ask, later } from './ledger-story.ts';

const CAST = ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it'];

function team(...worker: Json[]): string {
  const dir = project();
  const agents: JsonObject = { Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })], Worker: worker, Sum: ['done'] };
  put(dir, { 'cast.json': TEAM, 'agents.json': agents });
  return dir;
}

const factsOf = async (dir: string) => json<readonly Fact[]>(await baton(dir, ['log', '--json', '--after', '0']));

test('what a killed process left is judged first, and who was silent for too long works under a larger fence', async () => {
  const slow = (id: string): Json => ({ $turn: { output: result(id), delayMs: 3_500 } });
  const dir = team(slow('T-1'), slow('T-2'));
  const cast = start(dir, CAST);
  const begun = async () => {
    const told = await baton(dir, ['log', '--json', '--after', '0']);
    return told.code === 0 ? json<Fact[]>(told).filter(({ kind }) => kind === 'attempt.started').length : 0;
  };
  await expect.poll(begun, { timeout: 20_000, interval: 100 }).toBe(3);
  const beat = ['heartbeat', 'T-1', '--owner', 'Worker', '--fence', '1', '--run'];
  put(dir, { 'report.json': result('T-1') });
  const stop = { task_id: 'T-1', run_id: RUN, report_path: 'report.json' };
  const answers = await Promise.all([
    ask(dir, [...beat, RUN]),
    ask(dir, [...beat, RUN.slice(0, 6)]),
    ask(dir, ['gate', 'stop'], { input: '{"task_id":"T-1"}' }),
    ask(dir, ['gate', 'stop'], { input: JSON.stringify(stop) }),
  ]);
  expect(answers.map(({ code }) => code)).toEqual(['OK', 'OK', 'NON_COMPLIANT', 'OK']);
  cast.child.kill('SIGKILL');
  await cast.ended;
  const rows = json<readonly JsonObject[]>(await baton(dir, ['task', 'list', '--json', '--run', RUN.slice(0, 6)]));
  expect(rows.map(({ task_id, status }) => [task_id, status])).toEqual([
    ['T-1', 'in_progress'],
    ['T-2', 'in_progress'],
  ]);
  // T-2 was heard of shortly before; T-1 was not.
  const heard = ['heartbeat', 'T-2', '--owner', 'Worker', '--fence', '2'];
  expect((await ask(dir, heard, later(500))).code).toBe('OK');
  const view = json<CastView>(await baton(dir, ['resume', '--json'], later(700)));
  expect([view.status, view.reason, view.accepted]).toEqual(['completed', 'completed', 4]);
  const facts = await factsOf(dir);
  const from = facts.findIndex(({ kind }) => kind === 'cast.recovered');
  expect(facts[from]).toMatchObject({
    tasks: [
      { task: 'T-1', judged: 'timed_out' },
      { task: 'T-2', judged: 'alive' },
    ],
  });
  expect(facts.slice(from + 1, from + 3)).toMatchObject([
    { kind: 'task.moved', task: 'T-1', to: 'blocked', code: 'TASK_TIMEOUT', releases: true },
    { kind: 'task.moved', task: 'T-1', to: 'todo' },
  ]);
  const claims = facts.slice(from).flatMap((fact) => (fact.kind === 'task.claimed' ? [fact] : []));
  expect(claims.every(({ fence }) => fence > 2)).toBe(true);
  expect(claims.map(({ task }) => task).toSorted()).toEqual(['T-1', 'T-2']);
});

test('a person leaves a blocked item out, and the cast goes on without it', async () => {
  const dir = team(result('T-1', { status: 'blocked', acceptance_check: [] }), result('T-2'));
  expect((await baton(dir, CAST)).code).toBe(4);
  const { cast, commands } = json<Why>(await baton(dir, ['why', '--json', 'latest']));
  const offered = commands.find(({ command }) => command.includes('task move T-1 canceled'));
  expect(offered?.command).toContain(`--run ${cast}`);
  const move = ['task', 'move', 'T-1', 'canceled', '--run', cast, '--reason', 'not needed'];
  const agent = await ask(dir, move, { env: { BATON_ATTEMPT: '2.1' } });
  expect(agent.code).toBe('NOT_ALLOWED_NOW');
  expect(await ask(dir, move)).toMatchObject({
    code: 'OK',
    details: { carry_on: expect.stringContaining('continue') },
  });
  const view = json<CastView>(await baton(dir, ['continue', '--json', cast]));
  expect([view.status, view.accepted]).toEqual(['completed', 3]);
});
