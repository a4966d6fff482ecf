import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writerIn } from './file-system.ts';
import { SqliteLog } from './log.ts';

test.each([
  ['1: POSIX  ADVISORY  WRITE 4711 fe:00:99 120 120', 4711],
  ['1: POSIX  ADVISORY  WRITE 4711 fe:00:99 120 EOF', 4711],
  ['1: POSIX  ADVISORY  READ 4711 fe:00:99 120 120', null],
  ['1: POSIX  ADVISORY  WRITE 4711 fe:00:98 120 120', null],
  ['1: POSIX  ADVISORY  WRITE 4711 fe:00:99 121 121', null],
  ['1: -> POSIX  ADVISORY  WRITE 4711 fe:00:99 120 120', null],
  ['1: POSIX  ADVISORY  WRITE 0 fe:00:99 120 120', null],
  ['1: FLOCK  ADVISORY  WRITE 4711 fe:00:99 0 EOF', null],
  ['', null],
])('%s is written by %s', (line, pid) => {
  expect(writerIn(`9: POSIX  ADVISORY  READ 1 fe:00:99 128 128\n${line}\n`, 99)).toBe(pid);
});

/** A process that takes the write lock, and stops with it. */
const HOLDER = `const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(process.argv[1]); db.exec('BEGIN IMMEDIATE');
require('node:fs').writeSync(1, 'held'); process.kill(process.pid, 'SIGSTOP'); setTimeout(() => db.exec('ROLLBACK'), 50);`;

async function held() {
  const dir = mkdtempSync(join(tmpdir(), 'baton-lock-'));
  const file = join(dir, 'log.sqlite');
  await new SqliteLog(file).close();
  const open = new SqliteLog(file);
  const holder = spawn(process.execPath, ['--no-warnings', '-e', HOLDER, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    holder.kill('SIGKILL');
    await open.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await once(holder.stdout, 'data');
  return { file, open, pid: holder.pid ?? 0, holder };
}

const linux = test.runIf(process.platform === 'linux');

linux('a stopped process that holds the write lock is named within seconds; readers are not held up', async () => {
  const { open, pid, holder } = await held();
  const began = performance.now();
  const commit = () => open.lease('a', () => '1');
  await expect(commit()).rejects.toThrow(`process ${pid} is stopped and holds the write lock`);
  await expect(commit()).rejects.toThrow(`kill -CONT ${pid}`);
  expect(performance.now() - began).toBeLessThan(15_000);
  expect([await open.head(), await open.leases('')]).toEqual([{ seq: 0, hash: '0'.repeat(64) }, []]);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(await commit()).toBe('1');
});

linux('a driver hears what blocks it and goes on when the process goes on', async () => {
  const { file, pid } = await held();
  const heard: string[] = [];
  const driver = new SqliteLog(file, {
    onBlocked: (why) => {
      heard.push(why);
      process.kill(pid, 'SIGCONT');
    },
  });
  expect(await driver.lease('a', () => '2')).toBe('2');
  expect(heard).toEqual([expect.stringContaining(`process ${pid} is stopped`)]);
  await driver.close();
});
