import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { HAS_PROC, identityOfChild, isAlive, type ProcessIdentity } from './process-identity.ts';
import { ATTEMPT_MARK, endTree, treeMembers } from './process-tree.ts';

vi.setConfig({ testTimeout: 60_000 });
const mark = `/attempt/${process.pid}`;
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) killAll(child.pid ?? 0);
});

function killAll(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

const IDLE = 'process.stdout.write("up"); setInterval(() => {}, 1000)';

/** Starts a process that leads its own group, and waits until it runs. */
async function run(code: string, env: Record<string, string> = {}): Promise<ProcessIdentity> {
  const child = spawn(process.execPath, ['-e', code], { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env });
  started.push(child);
  await once(child.stdout, 'data');
  return identityOfChild(child.pid ?? 0);
}

/** Starts a process that starts another one in its group and ends, and waits for that end. */
async function runLeaderless(env: Record<string, string>): Promise<ProcessIdentity> {
  const code = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(IDLE)}], { stdio: 'inherit' }).unref()`;
  const child = spawn(process.execPath, ['-e', code], { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env });
  started.push(child);
  const identity = identityOfChild(child.pid ?? 0);
  await Promise.all([once(child, 'exit'), once(child.stdout, 'data')]);
  return identity;
}

const pids = (rows: readonly ProcessIdentity[]) => rows.map((row) => row.pid);

test('a child is a member by its group', async () => {
  const child = await run(IDLE);
  expect(pids(treeMembers({ child, mark, fresh: false }))).toEqual([child.pid]);
});

test('another process with the pid of the child is none', async () => {
  const child = await run(IDLE);
  const former = { pid: child.pid, startTime: child.startTime.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) };
  expect(treeMembers({ child: former, mark, fresh: true })).toEqual([]);
});

test('nothing is a member of a child from before the machine was started', async () => {
  const child = await runLeaderless({});
  expect(treeMembers({ child, mark, fresh: true })).toHaveLength(1);
  expect(treeMembers({ child: { pid: child.pid, startTime: 'earlier/1' }, mark, fresh: true })).toEqual([]);
});

test.runIf(HAS_PROC).each([
  ['that carries the mark', mark, false, 1],
  ['without the mark', '/attempt/other', false, 0],
  ['without the mark, right after its leader', '/attempt/other', true, 1],
])('a group %s and has lost its leader', async (_name, value, fresh, members) => {
  const child = await runLeaderless({ [ATTEMPT_MARK]: value });
  expect(treeMembers({ child, mark, fresh })).toHaveLength(members);
});

test.runIf(HAS_PROC)('the mark counts as a whole', async () => {
  await run(IDLE, { [ATTEMPT_MARK]: `${mark}0`, [`X${ATTEMPT_MARK}`]: mark });
  expect(treeMembers({ child: null, mark, fresh: false })).toEqual([]);
  const marked = await run(IDLE, { [ATTEMPT_MARK]: mark });
  expect(pids(treeMembers({ child: null, mark, fresh: false }))).toEqual([marked.pid]);
});

test('a child of a member is a member wherever it went, and so is one that was seen before', async () => {
  const code = `const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(IDLE)}], { stdio: 'inherit', detached: true, env: {} }); setInterval(() => {}, 1000)`;
  const child = await run(code);
  const tree = { child, mark, fresh: true };
  const before = treeMembers(tree);
  expect(before).toHaveLength(2);
  process.kill(child.pid, 'SIGKILL');
  while (isAlive(child)) await sleep(5);
  const stray = before.find((row) => row.pid !== child.pid);
  expect(treeMembers(tree)).toEqual([]);
  expect(pids(treeMembers(tree, before))).toEqual([stray?.pid]);
  killAll(stray?.pid ?? 0);
});

test('a tree is asked first, and made to end after the grace', async () => {
  const polite = await run(`process.on('SIGTERM', () => process.exit(0)); ${IDLE}`);
  expect(await endTree({ child: polite, mark, fresh: true }, 60_000)).toBe(true);
  const stubborn = await run(`process.on('SIGTERM', () => {}); ${IDLE}`);
  expect(await endTree({ child: stubborn, mark, fresh: true }, 50)).toBe(true);
  expect([isAlive(polite), isAlive(stubborn)]).toEqual([false, false]);
});

test('a tree that is gone needs no ending', async () => {
  expect(await endTree({ child: null, mark: '/attempt/none', fresh: false }, 60_000)).toBe(true);
});
