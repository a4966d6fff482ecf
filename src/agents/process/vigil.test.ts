import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { awaitAttempt, startAttempt } from './attempt.ts';
import { identityOfChild } from './process-identity.ts';
import { keepVigil, type SignOfLife } from './vigil.ts';

const BOUNDS = { graceMs: 200, maxStdoutBytes: 1e6, maxStderrBytes: 1e6 };

async function attempt(script: string, limits: { timeoutMs: number; silentMs: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-vigil-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dir = join(folder, 'a');
  await startAttempt(dir, { argv: [process.execPath, '-e', script], cwd: folder, env: {}, ...BOUNDS, ...limits }, '');
  return awaitAttempt(dir, new AbortController().signal);
}

test('a child that neither writes nor works is taken for dead before its time limit', async () => {
  const end = await attempt('setInterval(() => {}, 1e6)', { timeoutMs: 60_000, silentMs: 1_500 });
  expect(end).toMatchObject({ timedOut: true, silent: true });
  expect(end.signs).toMatch(/waiting.*bytes.*last sign of life/);
});

test.each([
  ['writes', 'setInterval(() => console.log("still here"), 200)'],
  ['works', 'for (;;) {}'],
])('a child that %s is only slow, and ends at its time limit', async (_, script) => {
  const end = await attempt(script, { timeoutMs: 4_000, silentMs: 1_500 });
  expect(end).toMatchObject({ timedOut: true });
  expect(end.silent).toBeUndefined();
  expect(end.signs).toContain('last sign of life');
});

test.each([
  ['only wakes up now and then is taken for dead, however much that adds up to', 0.02, 'silent'],
  ['works a little is not', 0.06, 'nothing'],
])('a child that %s', async (_, usedS, first) => {
  let cpuS = 0;
  const look = (_tree: unknown, bytes: number) => {
    cpuS += usedS;
    return { bytes, cpuS, state: 'waiting' };
  };
  const vigil = keepVigil({ child: null, mark: '/nowhere', fresh: true }, () => 0, 200, look);
  onTestFinished(() => vigil.stop());
  const nothing = new Promise((resolve) => setTimeout(resolve, 1_500, 'nothing'));
  expect(await Promise.race([vigil.silent, nothing])).toBe(first);
});

test('of a child that hardly used the processor it is told how much', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-vigil-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dir = join(folder, 'a');
  const limits = { timeoutMs: 60_000, silentMs: 400 };
  await startAttempt(dir, { argv: ['sleep', '60'], cwd: folder, env: {}, ...BOUNDS, ...limits }, '');
  const { signs } = await awaitAttempt(dir, new AbortController().signal);
  expect(signs).toMatch(/^it was waiting, had used 0\.0 s of CPU time, had written 0 bytes/);
});

test('a vigil that was stopped says nothing any more', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const identity = identityOfChild(child.pid ?? 0);
  const vigil = keepVigil({ child: identity, mark: '/nowhere', fresh: true }, () => 0, 50);
  vigil.stop();
  const first = await Promise.race([vigil.silent, new Promise((resolve) => setTimeout(resolve, 300, 'nothing'))]);
  expect(first).toBe('nothing');
});

test.each<[string, Partial<SignOfLife>, boolean]>([
  ['what an idle program uses of the processor', { cpuS: 0.002 }, false],
  ['real work', { cpuS: 0.06 }, true],
  ['a line that is printed', { bytes: 1 }, true],
  ['a file that is written', { fileBytes: 4_096 }, true],
])('a sign of life, also without a limit: %s', async (_what, each, isSign) => {
  let looks = 0;
  // At its start it works; then it does the same from one look to the next.
  const look = (): SignOfLife => {
    looks += 1;
    const total = (amount: number | null | undefined) => (amount ?? 0) * looks;
    const { bytes, fileBytes, cpuS } = each;
    return { bytes: total(bytes), fileBytes: total(fileBytes), cpuS: 2 + total(cpuS), state: 'waiting' };
  };
  const vigil = keepVigil({ child: null, mark: '/nowhere', fresh: true }, () => 0, null, look, 50);
  onTestFinished(() => vigil.stop());
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  const quietS = Number(/last sign of life (\d+) s before/.exec(vigil.told())?.[1]);
  expect(quietS >= 1).toBe(!isSign);
});
