import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { whyNot } from '../../../test/cli/namespaces.ts';
import {
  HAS_PROC,
  identityOfChild,
  isAlive,
  isOfThisBoot,
  killGroup,
  killProcess,
  ownIdentity,
  processTable,
  rowFromStat,
  startTimeOf,
  tableFromPs,
} from './process-identity.ts';

const tail = '4321 99 98 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 7 0 123456 1000 50';

test.each([
  ['a plain name', `77 (node) S ${tail}`, false],
  ['a name with spaces', `77 (a b c) S ${tail}`, false],
  ['a name that looks like the rest of the line', `77 (x) Z 1 2) S ${tail}`, false],
  ['a zombie', `77 (node) Z ${tail}`, true],
])('%s in the process table', (_name, line, ended) => {
  const row = rowFromStat(77, line);
  expect(row).toMatchObject({ pid: 77, ppid: 4321, pgid: 99, session: 98, ended });
  expect(row?.startTime.endsWith('/123456')).toBe(true);
});

test('a line that is cut short is no row', () => {
  expect(rowFromStat(77, '77 (node) S 1 2')).toBeNull();
});

test('a process is itself, and not another one with its pid', () => {
  const own = ownIdentity();
  expect([isAlive(own), isOfThisBoot(own)]).toEqual([true, true]);
  const other = { ...own, startTime: `${own.startTime}0` };
  expect([isAlive(other), killProcess(other, 'SIGKILL')]).toEqual([false, false]);
  expect(isOfThisBoot({ ...own, startTime: 'another-boot/123456' })).toBe(false);
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 40])('there is no process %d', (pid) => {
  expect(startTimeOf(pid)).toBeNull();
});

test.each([0, 1, -7, Number.NaN])('group %d is never signalled', (pgid) => {
  expect(killGroup(pgid, 'SIGKILL')).toBe(false);
});

test('a group is signalled while it has members', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  const identity = identityOfChild(child.pid ?? 0);
  expect(isAlive(identity)).toBe(true);
  expect(killGroup(identity.pid, 'SIGKILL')).toBe(true);
  await once(child, 'exit');
  expect(isAlive(identity)).toBe(false);
  expect(killGroup(identity.pid, 'SIGKILL')).toBe(false);
});

test('a child that ended before it was looked at still has an identity of this boot', () => {
  expect(isOfThisBoot(identityOfChild(2 ** 30))).toBe(true);
});

test('the process table and `ps` agree on who we are', () => {
  const own = processTable().find((row) => row.pid === process.pid);
  expect(own).toMatchObject({ ppid: process.ppid, startTime: startTimeOf(process.pid), ended: false });
  const seen = tableFromPs().find((row) => row.pid === process.pid);
  expect(seen).toMatchObject({ ppid: process.ppid, pgid: own?.pgid, session: null, ended: false });
  expect(tableFromPs(['-p', String(process.pid)])).toHaveLength(1);
  if (!HAS_PROC) expect(seen?.startTime).toBe(own?.startTime);
});

test.skipIf(whyNot('--pid', '--fork', '--mount-proc') !== null)(
  'a namespace that gets the number of an earlier one has another name',
  () => {
    const print = `import { processNamespace } from '${new URL('./process-identity.ts', import.meta.url)}';
console.log(processNamespace());`;
    const program = ['--pid', '--fork', '--mount-proc', process.execPath, '--input-type=module', '-e', print];
    const names = Array.from({ length: 6 }, () => spawnSync('unshare', program, { encoding: 'utf8' }).stdout.trim());
    expect(names.every((name) => name.startsWith('pid:['))).toBe(true);
    expect(new Set(names).size).toBe(6);
  },
);
