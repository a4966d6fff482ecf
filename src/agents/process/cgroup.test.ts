// The control group of an attempt: what it holds, and that it is emptied. Skipped where the system lets us make none.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { awaitAttempt, recoverAttempt, startAttempt } from './attempt.ts';
import { readAttemptClaim } from './attempt-folder.ts';
import { startTimeOf } from './process-identity.ts';
import { endGroup, groupOf, makeGroup, membersOfGroup, ownGroup, startWithin } from './process-tree.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-cgroup-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function folder(name: string): string {
  const dir = path.join(root, name);
  mkdirSync(dir);
  return dir;
}

const trial = makeGroup(folder('trial'));
if (trial !== null) await endGroup(path.join(root, 'trial'), trial);

test.each([
  ['0::/\n', '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n', '/sys/fs/cgroup'],
  [
    '1:cpu:/x\n0::/a/b.scope\n',
    '30 20 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 c rw\n',
    '/sys/fs/cgroup/unified/a/b.scope',
  ],
  ['0::/docker/1/a\n', '30 20 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup ro\n', '/sys/fs/cgroup/a'],
  ['0::/docker/12\n', '30 20 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup ro\n', null],
  ['0::/../other\n', '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n', null],
  ['1:cpu:/x\n', '30 20 0:26 / /sys/fs/cgroup rw - cgroup cgroup rw\n', null],
  ['', '', null],
])('%j is the group %j', (membership, mounts, group) => {
  expect(ownGroup(membership, mounts)).toBe(group);
});

test('a group counts only under the name of its own attempt', () => {
  const dir = folder('named');
  expect(groupOf(dir)).toBeNull();
  writeFileSync(path.join(dir, 'cgroup'), '/sys/fs/cgroup');
  expect(groupOf(dir)).toBeNull();
  writeFileSync(path.join(dir, 'cgroup'), '/sys/fs/cgroup/baton-000000000000000000000000');
  expect(groupOf(dir)).toBeNull();
});

test.runIf(trial !== null)(
  'a child is in the group from the start, we are not, and ending the group ends it',
  async () => {
    const dir = folder('child');
    const before = ownGroup();
    const group = makeGroup(dir) ?? '';
    expect(groupOf(dir)).toBe(group);
    const child = startWithin(group, () => spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }));
    expect(ownGroup()).toBe(before);
    expect(membersOfGroup(group)).toEqual([child.pid]);
    expect(await endGroup(dir, group)).toBe(true);
    expect(existsSync(group)).toBe(false);
    expect(startTimeOf(child.pid ?? 0)).toBeNull();
    expect(await endGroup(dir, group)).toBe(true);
  },
);

test('without a group a child is started all the same', async () => {
  const child = startWithin(null, () => spawn('true', { stdio: 'ignore' }));
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  const other = startWithin('/nowhere/baton', () => spawn('true', { stdio: 'ignore' }));
  expect(await new Promise((resolve) => other.once('exit', resolve))).toBe(0);
});

const ORPHAN = 'setsid env -i sh -c "echo \\$\\$ > orphan; exec sleep 60" </dev/null >/dev/null 2>&1 &';

function packet(cwd: string, line: string) {
  return {
    ...{ argv: ['sh', '-c', line], cwd, env: { PATH: process.env.PATH ?? '' } },
    ...{ timeoutMs: 30_000, graceMs: 200, maxStdoutBytes: 1000, maxStderrBytes: 1000 },
  };
}

async function pidIn(file: string): Promise<number> {
  for (let tries = 0; tries < 500; tries += 1) {
    const pid = Number(readFileSync(file, { encoding: 'utf8', flag: 'a+' }));
    if (pid > 0) return pid;
    await sleep(20);
  }
  throw new Error(`${file} stays empty`);
}

test.runIf(trial !== null)(
  'an orphan without environment, session and parent is gone when its attempt has ended',
  async () => {
    const cwd = folder('orphaned');
    const dir = path.join(root, 'attempts-1');
    await startAttempt(dir, packet(cwd, `${ORPHAN} while [ ! -s orphan ]; do sleep 0.02; done; echo done`), '');
    const end = await awaitAttempt(dir, new AbortController().signal);
    expect(end).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(startTimeOf(await pidIn(path.join(cwd, 'orphan')))).toBeNull();
    expect(existsSync(groupOf(dir) ?? '')).toBe(false);
  },
);

test.runIf(trial !== null)(
  'and when its supervisor was killed, once somebody looks what became of the attempt',
  async () => {
    const cwd = folder('lost');
    const dir = path.join(root, 'attempts-2');
    await startAttempt(dir, packet(cwd, `${ORPHAN} sleep 60`), '');
    const orphan = await pidIn(path.join(cwd, 'orphan'));
    process.kill((await readAttemptClaim(dir))?.pid ?? 0, 'SIGKILL');
    await sleep(100);
    expect(startTimeOf(orphan)).not.toBeNull();
    expect(await recoverAttempt(dir)).toBe('lost');
    expect(startTimeOf(orphan)).toBeNull();
  },
);
