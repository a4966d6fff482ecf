// What must not run twice, and what must not be left alive.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import {
  always,
  baton,
  flow,
  isRunning,
  json,
  project,
  put,
  read,
  script,
  start,
  supervisorIn,
  until,
  untilWritten,
} from './baton.ts';

/** Notes every run and what it started, then waits until it is told to go on. */
const CHARGE = `import { spawn } from 'node:child_process'; import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
appendFileSync('runs.txt', 'run\\n');
if (existsSync('go')) { console.log('{"satisfied":true,"context":"charged"}'); process.exit(0); }
const kids = [false, true].map((detached) => spawn('sleep', ['600'], { detached, stdio: 'ignore' }).pid);
writeFileSync('pids.json', JSON.stringify([process.pid, ...kids]));
setInterval(() => {}, 1000);`;

function charging(more = {}): string {
  const charge = script('charge.mjs', { once: true, timeoutMs: 600_000, ...more });
  const config = flow(
    { Charge: charge, Tell: { type: 'utility', utility: 'echo', parse: 'text', params: { text: 'told' } } },
    {
      'Socket-1': {
        materia: 'Charge',
        assign: { said: '$.context' },
        edges: [{ when: 'satisfied', to: 'Socket-2' }, always('end')],
      },
      'Socket-2': { materia: 'Tell' },
    },
  );
  return project({ 'c.json': config, 'charge.mjs': CHARGE });
}

/** Kills the program and the supervisor of its utility in the middle of the run. */
async function killInMidRun(dir: string): Promise<number[]> {
  const running = start(dir, ['cast', '--file', 'c.json', 'x']);
  const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
  running.child.kill('SIGKILL');
  process.kill(await supervisorIn(dir), 'SIGKILL');
  await running.ended;
  return pids;
}

async function waiting(): Promise<string> {
  const dir = charging();
  const pids = await killInMidRun(dir);
  const ran = await baton(dir, ['resume', '--json']);
  const view = json<CastView>(ran);
  expect([ran.code, view.status, view.code]).toEqual([4, 'waiting', 'OUTCOME_UNKNOWN']);
  expect(view.reason).toContain(`baton decide ${view.cast}:1 rerun|accept|fail`);
  expect([read(dir, 'runs.txt'), pids.filter(isRunning)]).toEqual(['run\n', []]);
  return dir;
}

test('a utility that must not run twice waits for a person; rerun runs it again', async () => {
  const dir = await waiting();
  const again = await baton(dir, ['continue', '--json']);
  expect([again.code, json(again).status]).toEqual([4, 'waiting']);
  expect((await baton(dir, ['status'])).stdout).toContain('baton decide');
  const wrong = await baton(dir, ['decide', 'latest:9', 'rerun', '--json']);
  expect([wrong.code, json(wrong).code]).toEqual([1, 'UNKNOWN_TURN']);
  put(dir, { go: '' });
  const ran = await baton(dir, ['decide', 'latest:1', 'rerun', '--json']);
  const view = json<CastView & { data: { said: string } }>(ran);
  expect([ran.code, view.status, view.data.said]).toEqual([0, 'completed', 'charged']);
  expect(read(dir, 'runs.txt')).toBe('run\nrun\n');
});

test('accept goes on with the output that a person gives, and checks it', async () => {
  const dir = await waiting();
  put(dir, { 'answer.json': { satisfied: true, context: 'found in the books' } });
  const ran = await baton(dir, ['decide', 'latest:1', 'accept', '--output', 'answer.json', '--json']);
  const view = json<CastView & { data: { said: string } }>(ran);
  expect([ran.code, view.status, view.data.said]).toEqual([0, 'completed', 'found in the books']);
  expect(view.path.map(({ socket }) => socket)).toEqual(['Socket-1', 'Socket-2']);
  expect(read(dir, 'runs.txt')).toBe('run\n');
});

test('fail fails the cast with the reason of the person', async () => {
  const dir = await waiting();
  const ran = await baton(dir, ['decide', 'latest:1', 'fail', '--reason', 'the bank says no', '--json']);
  const view = json<CastView>(ran);
  expect([ran.code, view.status, view.code]).toEqual([1, 'failed', 'UTILITY_FAILED']);
  expect(view.reason).toContain('the bank says no');
});

test('a utility whose supervisor lives is waited for, not run again', async () => {
  const dir = charging();
  const running = start(dir, ['cast', '--file', 'c.json', 'x']);
  const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
  running.child.kill('SIGKILL');
  await running.ended;
  const resumed = start(dir, ['resume', '--json']);
  await until('the driver', () => resumed.stderr().startsWith('cast '));
  expect(pids.filter(isRunning)).toEqual(pids);
  expect(read(dir, 'runs.txt')).toBe('run\n');
  expect((await baton(dir, ['abort', 'latest'])).code).toBe(0);
  expect((await resumed.ended).code).toBe(1);
  expect(pids.filter(isRunning)).toEqual([]);
});

test('abort ends the agents of a driver that is stopped, before it answers', async () => {
  const dir = charging();
  const running = start(dir, ['cast', '--file', 'c.json', 'x']);
  const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
  running.child.kill('SIGSTOP');
  const aborted = await baton(dir, ['abort', '--json']);
  expect(pids.filter(isRunning)).toEqual([]);
  expect(json(aborted)).toMatchObject({ allow: true });
  expect(json<{ details: object }>(aborted).details).not.toHaveProperty('running');
  running.child.kill('SIGCONT');
  expect((await running.ended).code).toBe(1);
});

test('abort ends an agent whose supervisor is stopped', async () => {
  const dir = charging();
  const running = start(dir, ['cast', '--file', 'c.json', 'x']);
  const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
  running.child.kill('SIGKILL');
  await running.ended;
  process.kill(await supervisorIn(dir), 'SIGSTOP');
  expect(json(await baton(dir, ['abort', '--json']))).toMatchObject({ allow: true });
  expect(pids.filter(isRunning)).toEqual([]);
});

test('without `once` a utility that was cut off runs again by itself', async () => {
  const dir = charging({ once: false });
  await killInMidRun(dir);
  put(dir, { go: '' });
  const ran = await baton(dir, ['resume', '--json']);
  expect([ran.code, json(ran).status, read(dir, 'runs.txt')]).toEqual([0, 'completed', 'run\nrun\n']);
});

test('abort from a second process: when it answers, nothing of the utility is left alive', async () => {
  const dir = charging();
  const running = start(dir, ['cast', '--file', 'c.json', 'x']);
  const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
  const supervisor = await supervisorIn(dir);
  expect([...pids, supervisor].filter(isRunning)).toHaveLength(4);
  expect((await baton(dir, ['abort'])).code).toBe(0);
  expect(pids.filter(isRunning)).toEqual([]);
  await until('the end of the supervisor', () => !isRunning(supervisor));
  const ended = await running.ended;
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('aborted')]);
});

test('abort after a crash ends what the crashed process left behind', async () => {
  const dir = charging();
  const running = start(dir, ['cast', '--file', 'c.json', 'x']);
  const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
  const supervisor = await supervisorIn(dir);
  running.child.kill('SIGKILL');
  await running.ended;
  expect([...pids, supervisor].filter(isRunning)).toHaveLength(4);
  expect((await baton(dir, ['abort', 'latest'])).code).toBe(0);
  expect(pids.filter(isRunning)).toEqual([]);
  await until('the end of the supervisor', () => !isRunning(supervisor));
  expect(readdirSync(join(dir, '.baton/state/attempts'))).toEqual([]);
});

test('an interrupt in the middle of what must not run twice leaves it to a person, not to resume', async () => {
  const dir = charging();
  const running = start(dir, ['cast', '--file', 'c.json', 'x']);
  const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
  running.child.kill('SIGINT');
  await running.ended;
  expect(pids.filter(isRunning)).toEqual([]);
  const ran = await baton(dir, ['resume', '--json']);
  expect([ran.code, json(ran).code, read(dir, 'runs.txt')]).toEqual([4, 'OUTCOME_UNKNOWN', 'run\n']);
});
