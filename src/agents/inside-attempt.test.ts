import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { belowCheckerParent, isCheckerParent, isInsideAttempt, runsProjectCode } from './inside-attempt.ts';
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

test.each([
  ['/n/bin/node\0--disable-warning=ExperimentalWarning\0/b/bin/main.cjs\0cast\0do it\0', true],
  ['node\0--no-warnings\0bin/main.cjs\0-C\0/mcp\0merge\0', true],
  ['node\0/b/bin/main.cjs\0-C\0mcp\0task\0finish\0', true],
  ['node /my b/bin/main.cjs cast mcp', true],
  ['node\0/b/bin/main.cjs\0', true],
  ['node\0/b/bin/main.cjs\0-C\0/w\0mcp\0--http\0', false],
  ['node\0/b/bin/main.cjs\0cast\0--detach\0x\0', false],
  ['node\0/b/bin/main.cjs\0talk\0latest\0--detach\0yes\0', false],
  ['node\0/b/bin/main.cjs\0talk\0latest\0--\0--detach\0', true],
  ['node\0/b/bin/other.cjs\0cast\0', false],
  ['vi\0/b/bin/main.cjs\0', false],
  ['node\0/b/run.js\0/b/bin/main.cjs\0cast\0', false],
])('a command of ours that may run code of the project: %j is %s', (command, isOne) => {
  expect(runsProjectCode(command)).toBe(isOne);
});

test.each([
  [belowCheckerParent(['npm', 'test']), true],
  [['/bin/sh', ...belowCheckerParent(['npm', 'test']).slice(1)], true],
  [['sh', '-c', 'echo baton-checker'], false],
  [['npm', 'test', 'baton-checker'], false],
])('%j is the parent of a checker: %s', (words, isOne) => {
  expect(isCheckerParent(`${words.join('\0')}\0`)).toBe(isOne);
  expect(isCheckerParent(words.join(' '))).toBe(isOne);
});
