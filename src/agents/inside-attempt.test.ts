import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { isInsideAttempt } from './inside-attempt.ts';
import { HAS_PROC, processTable } from './process/process-identity.ts';

let child: ChildProcess | null = null;
afterEach(() => void child?.kill('SIGKILL'));

test.each<[string, Record<string, string>, boolean]>([
  ['nothing is marked', {}, false],
  ['an empty mark', { BATON_ATTEMPT: '' }, false],
  ['an attempt', { BATON_ATTEMPT: '7.1' }, true],
  ['the folder of an attempt', { BATON_ATTEMPT_DIR: '/s/attempts/c-7.1' }, true],
])('its own environment tells: %s', (_what, env, isInside) => {
  expect(isInsideAttempt(env, 1)).toBe(isInside);
});

test.skipIf(!HAS_PROC)('a process that took its mark off is known by the one above it', async () => {
  child = spawn('sh', ['-c', 'env -i sleep 30 & wait'], { env: { PATH: process.env.PATH, BATON_ATTEMPT: '7.1' } });
  const below = () => processTable().find(({ ppid }) => ppid === child?.pid);
  while (!below()) await new Promise((resolve) => setTimeout(resolve, 10));
  const { pid = 0 } = below() ?? {};
  expect(isInsideAttempt({}, pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
});
