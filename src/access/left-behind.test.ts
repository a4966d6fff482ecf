// A process that was cut off from everything above it while an agent runs is not taken for a person.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { HAS_PROC, identityOfChild, startTimeOf } from '../agents/process/process-identity.ts';
import { callerIdentity, hasTerminal, isAgent, isLater, isLeftBehind } from './who-acts.ts';

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

/** Leaves a process to the system and answers its number. */
async function left(how: string): Promise<number> {
  const file = join(state, `pid-${how.trim()}`);
  spawnSync('sh', ['-c', `${how}sh -c 'echo $$ > ${file}; exec sleep 20' </dev/null >/dev/null 2>&1 &`]);
  for (let tries = 0; tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const pid = Number(readFileSync(file, { encoding: 'utf8', flag: 'a+' }));
    if (pid !== 0) return pid;
  }
  throw new Error('nothing was left behind');
}

test.runIf(HAS_PROC)(
  'what is left to the system while an attempt runs is known by it, in the workspace of the attempt and wherever else its user acts',
  async () => {
    const folder = join(state, 'attempts', 'C-1.1');
    const supervisor = spawn(process.execPath, ['-e', 'setTimeout(() => 0, 60000)', '/x/supervisor.ts', folder], {
      stdio: 'ignore',
    });
    children.push(supervisor);
    const { pid, startTime } = identityOfChild(supervisor.pid ?? 0);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'claim'), JSON.stringify({ by: 'supervisor', pid, startTime }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const orphan = await left('setsid ');
    const ofOurSession = await left('');
    const stat = readFileSync(`/proc/${orphan}/stat`, 'utf8');
    const isInits = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === '1';
    const other = { BATON_CONFIG: join(state, 'user') };
    const here = { env: other, stateDir: state };
    try {
      expect(startTimeOf(orphan)).not.toBeNull();
      expect(isLeftBehind(here, process.pid)).toBe(false);
      // Where something else than the first process takes orphans up, they cannot be told apart.
      expect(isLeftBehind(here, orphan)).toBe(isInits);
      expect(isLeftBehind({ env: process.env, stateDir: null }, orphan)).toBe(isInits);
      expect(isLeftBehind({ env: other, stateDir: join(state, 'elsewhere') }, orphan)).toBe(false);
      expect(isAgent({}, state, orphan)).toBe(isInits);
      // No attempt reaches a session that was there before it.
      expect(isLeftBehind(here, ofOurSession)).toBe(false);
      expect(callerIdentity(process.env, orphan, 0).name).toBe(
        isInits ? 'agent:unknown' : callerIdentity({}, process.pid, 0).name,
      );
      supervisor.kill('SIGKILL');
      await new Promise((resolve) => supervisor.once('exit', resolve));
      expect(isLeftBehind(here, orphan)).toBe(false);
    } finally {
      for (const pid of [orphan, ofOurSession]) process.kill(pid, 'SIGKILL');
    }
  },
);
