// A process that was cut off from everything above it while an agent runs is not taken for a person.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { HAS_PROC, identityOfChild, startTimeOf } from '../agents/process/process-identity.ts';
import { hasTerminal, isLater, isLeftBehind } from './left-behind.ts';

const state = mkdtempSync(join(tmpdir(), 'baton-left-'));
const children: ReturnType<typeof spawn>[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(state, { recursive: true, force: true });
});

test.each([
  ['7 (a) b) S 1 7 7 0 -1', false],
  ['7 (sh) S 1 7 7 34816 -1', true],
])('%s', (stat, has) => {
  expect(hasTerminal(stat)).toBe(has);
});

test.each([
  ['b/10', 'b/9', true],
  ['b/9', 'b/10', false],
  ['b/10', 'b/10', false],
  ['other/10', 'b/9', false],
])('%s began after %s: %s', (one, other, later) => {
  expect(isLater({ startTime: one }, { startTime: other })).toBe(later);
});

test.runIf(HAS_PROC)(
  'what is left to the system while an attempt runs is known by it; what was there before is not',
  async () => {
    const supervisor = spawn('sleep', ['60'], { stdio: 'ignore' });
    children.push(supervisor);
    const { pid, startTime } = identityOfChild(supervisor.pid ?? 0);
    mkdirSync(join(state, 'attempts', 'C-1.1'), { recursive: true });
    writeFileSync(join(state, 'attempts', 'C-1.1', 'claim'), JSON.stringify({ by: 'supervisor', pid, startTime }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const file = join(state, 'pid');
    spawnSync('sh', ['-c', `setsid sh -c 'echo $$ > ${file}; exec sleep 20' </dev/null >/dev/null 2>&1 &`]);
    let orphan = 0;
    for (let tries = 0; tries < 100 && orphan === 0; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      orphan = Number(readFileSync(file, { encoding: 'utf8', flag: 'a+' }));
    }
    const stat = readFileSync(`/proc/${orphan}/stat`, 'utf8');
    const isInits = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === '1';
    try {
      expect(startTimeOf(orphan)).not.toBeNull();
      expect(isLeftBehind(state, process.pid)).toBe(false);
      // Where something else than the first process takes orphans up, they cannot be told apart.
      expect(isLeftBehind(state, orphan)).toBe(isInits);
      supervisor.kill('SIGKILL');
      await new Promise((resolve) => supervisor.once('exit', resolve));
      expect(isLeftBehind(state, orphan)).toBe(false);
    } finally {
      process.kill(orphan, 'SIGKILL');
    }
  },
);
