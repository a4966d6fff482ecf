// Killed while a worktree is made, in the middle of a turn, or after it was lost: the cast goes on from a sound one, or says
// what to do.
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, isRunning, json, put, script, start, supervisorIn, until, untilWritten } from './baton.ts';
import { coder, git, repository, row, worktreesOf, writes } from './repository.ts';

/** Tells its number, then waits until it is let go. */
const WAIT = `import { existsSync, writeFileSync } from 'node:fs';
const { BATON_WORKSPACE } = process.env;
if (!existsSync(BATON_WORKSPACE + '/go.log')) { writeFileSync(BATON_WORKSPACE + '/pid.log', String(process.pid)); setInterval(() => {}, 1000); }
else writeFileSync('set.log', 'whole');`;

const BUILD = row({ Build: coder }, ['Build']);
const WORK = { Build: [writes({ 'a.txt': 'two\n' })] };

function prepared(config: JsonObject, agents: JsonObject | null, files: JsonObject = {}): [string, string[]] {
  const dir = repository(files);
  put(dir, { 'cast.json': config, ...(agents ? { 'agents.json': agents } : {}) });
  return [dir, ['cast', '--file', 'cast.json', ...(agents ? ['--agents', 'agents.json'] : []), 'do it']];
}

function lastOf(dir: string): Promise<CastView> {
  return baton(dir, ['resume', '--json']).then((ran) => json<CastView>(ran));
}

test('killed while the set-up step runs: nothing of it is left, and the worktree is made again', async () => {
  const config = { ...BUILD, worktree: { setup: ['node', 'wait.mjs'] } };
  const [dir, args] = prepared(config, WORK, { 'wait.mjs': WAIT });
  const running = start(dir, args);
  const pid = Number(await untilWritten(dir, 'pid.log'));
  running.child.kill('SIGKILL');
  await running.ended;
  expect(isRunning(pid)).toBe(true);
  put(dir, { 'go.log': '' });
  const view = await lastOf(dir);
  expect([view.status, isRunning(pid)]).toEqual(['completed', false]);
  expect([worktreesOf(dir).length, git(dir, 'show', `baton/${view.cast}:a.txt`)]).toEqual([1, 'two']);
  expect(existsSync(resolve(dir, view.root ?? '', 'set.log'))).toBe(true);
});

test('Ctrl-C while the set-up step runs ends it and pauses the cast', async () => {
  const config = { ...BUILD, worktree: { setup: ['node', 'wait.mjs'] } };
  const [dir, args] = prepared(config, WORK, { 'wait.mjs': WAIT });
  const running = start(dir, args);
  const pid = Number(await untilWritten(dir, 'pid.log'));
  running.child.kill('SIGINT');
  const { code, stdout } = await running.ended;
  expect([code, stdout]).toEqual([1, expect.stringContaining('is paused\n  interrupted from the keyboard')]);
  expect(isRunning(pid)).toBe(false);
});

test.each([0, 60, 120, 200, 300, 450])(
  'killed %d ms after the cast has its name, it is resumed to its end',
  async (delayMs) => {
    const [dir, args] = prepared(BUILD, WORK);
    const running = start(dir, args);
    await until('the name', () => /^cast \S+\n/.test(running.stderr()));
    await sleep(delayMs);
    running.child.kill('SIGKILL');
    await running.ended;
    const listed = json<{ status: string }[]>(await baton(dir, ['casts', '--json']));
    expect(listed).toHaveLength(1);
    const view =
      listed[0]?.status === 'completed' ? json<CastView>(await baton(dir, ['show', '--json'])) : await lastOf(dir);
    expect(view.status).toBe('completed');
    expect((await baton(dir, ['merge', '--json'])).code).toBe(0);
    expect([git(dir, 'show', 'HEAD:a.txt'), git(dir, 'status', '--short'), worktreesOf(dir)]).toEqual(['two', '', []]);
  },
);

/** Writes half of its work and waits; let go, it tells whether it found that half. */
const HALF = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const found = [existsSync('half.txt'), readFileSync('a.txt', 'utf8')];
if (!existsSync('GO')) { writeFileSync('half.txt', 'half'); writeFileSync('a.txt', 'half'); writeFileSync('PID', String(process.pid)); setInterval(() => {}, 1000); }
else { writeFileSync('whole.txt', 'whole'); console.log(JSON.stringify({ state: { found } })); }`;

async function killedInMidTurn(more: JsonObject): Promise<string> {
  const tool = { ...script('half.mjs'), lockScope: ['.'], timeoutMs: 600_000, ...more };
  const [dir, args] = prepared(row({ Build: coder, Tool: tool }, ['Build', 'Tool']), {
    Build: [writes({ 'first.txt': '1' })],
  });
  put(dir, { 'half.mjs': HALF.replaceAll("'GO'", `'${dir}/go.log'`).replaceAll("'PID'", `'${dir}/pid.log'`) });
  const running = start(dir, args);
  await untilWritten(dir, 'pid.log');
  running.child.kill('SIGKILL');
  process.kill(await supervisorIn(dir), 'SIGKILL');
  await running.ended;
  put(dir, { 'go.log': '' });
  return dir;
}

test('killed in the middle of a turn, the turn begins again from where it began, and what it left is put aside', async () => {
  const dir = await killedInMidTurn({});
  const view = await lastOf(dir);
  expect([view.status, view.data]).toEqual(['completed', { found: [false, 'one\n'] }]);
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`).split('\n')).toEqual(['first.txt', 'whole.txt']);
  const [aside = ''] = git(dir, 'for-each-ref', '--format=%(refname)', 'refs/baton/').split('\n');
  expect([git(dir, 'show', `${aside}:half.txt`), git(dir, 'show', `${aside}:a.txt`)]).toEqual(['half', 'half']);
});

test('an agent that lives on while its driver is killed works in the same worktree, and its work is committed', async () => {
  const live = `import { existsSync, writeFileSync } from 'node:fs';
writeFileSync('PID', String(process.pid));
const timer = setInterval(() => {
  if (!existsSync('GO')) return;
  writeFileSync('whole.txt', 'whole');
  console.log('{}');
  clearInterval(timer);
}, 20);`;
  const tool = { ...script('live.mjs'), lockScope: ['.'], timeoutMs: 600_000 };
  const [dir, args] = prepared(row({ Tool: tool }, ['Tool']), null);
  put(dir, { 'live.mjs': live.replaceAll("'GO'", `'${dir}/go.log'`).replaceAll("'PID'", `'${dir}/pid.log'`) });
  const running = start(dir, args);
  await untilWritten(dir, 'pid.log');
  running.child.kill('SIGKILL');
  await running.ended;
  put(dir, { 'go.log': '' });
  const view = await lastOf(dir);
  expect([view.status, git(dir, 'show', `baton/${view.cast}:whole.txt`)]).toEqual(['completed', 'whole']);
  expect(git(dir, 'for-each-ref', 'refs/baton/')).toBe('');
});

test('what must not run twice keeps what it left until a person has decided', async () => {
  const dir = await killedInMidTurn({ once: true });
  const view = await lastOf(dir);
  expect([view.status, view.code]).toEqual(['waiting', 'OUTCOME_UNKNOWN']);
  const shown = json<{ uncommitted: number }>(await baton(dir, ['diff', '--json']));
  expect(shown.uncommitted).toBe(2);
  const again = json<CastView>(await baton(dir, ['decide', 'latest:2', 'rerun', '--json']));
  expect([again.status, again.data]).toEqual(['completed', { found: [true, 'half'] }]);
});

test('a worktree that is gone is an error with the way out', async () => {
  const dir = await killedInMidTurn({});
  const [tree = ''] = worktreesOf(dir);
  rmSync(tree, { recursive: true });
  const view = await lastOf(dir);
  expect(view.status).toBe('paused');
  const way = /`git -C (\S+) (worktree add -f \S+ \S+)`/.exec(view.reason);
  git(way?.[1] ?? '', ...(way?.[2] ?? '').split(' '));
  const again = json<CastView>(await baton(dir, ['continue', '--json']));
  expect([again.status, again.data]).toEqual(['completed', { found: [false, 'one\n'] }]);
});

test('a cast that was cut off can be undone; while it runs it cannot', async () => {
  const tool = { ...script('half.mjs'), lockScope: ['.'], timeoutMs: 600_000 };
  const [dir, args] = prepared(row({ Tool: tool }, ['Tool']), null);
  put(dir, { 'half.mjs': HALF.replaceAll("'GO'", `'${dir}/go.log'`).replaceAll("'PID'", `'${dir}/pid.log'`) });
  const running = start(dir, args);
  const pid = Number(await untilWritten(dir, 'pid.log'));
  for (const verb of ['undo', 'merge']) {
    const refused = await baton(dir, [verb, '--yes', '--json']);
    expect([refused.code, json(refused).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
  }
  running.child.kill('SIGKILL');
  await running.ended;
  expect((await baton(dir, ['undo', '--yes'])).code).toBe(0);
  expect([worktreesOf(dir), git(dir, 'branch', '--list', 'baton/*'), isRunning(pid)]).toEqual([[], '', false]);
  expect(json<{ status: string }[]>(await baton(dir, ['casts', '--json']))[0]?.status).toBe('aborted');
});
