// What is kept of a claim beside the log: every way of claiming keeps it, a result without it is refused, and nobody who is
// killed on the way leaves a task behind that can never be finished.
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { asProcesses, BATON, baton, type How, injecting, project, put } from './baton.ts';
import { ask, claim, codesIn, create, finish, RUN, rows, start } from './ledger-story.ts';

const NOTHING = { changes: [] };
const claims = (dir: string) => join(dir, '.baton/state/claims');
const kept = (dir: string) => readdirSync(claims(dir)).filter((name) => name !== 'last.json');
const delta = (over: JsonObject = {}): JsonObject => ({
  task_id: 'T-1',
  status: 'in_progress',
  owner: 'ann',
  reason: 'go',
  delta_id: 'd1',
  ...over,
});
const apply = (dir: string, ...deltas: JsonObject[]) =>
  ask(dir, ['task', 'apply', '-', '--run', RUN], { input: JSON.stringify(deltas) });

const WAYS: [string, (dir: string) => Promise<unknown>][] = [
  ['claim', (dir) => claim(dir, 'T-1')],
  ['next', (dir) => ask(dir, ['task', 'next', '--owner', 'ann'])],
  ['move', (dir) => ask(dir, ['task', 'move', 'T-1', 'in_progress', '--reason', 'go', '--owner', 'ann'])],
  ['a delta', (dir) => apply(dir, delta())],
];

test.each(WAYS)('a claim by %s keeps how the folder looked, so that a stray change is found', async (_, way) => {
  const dir = project();
  await create(dir, 'T-1');
  await way(dir);
  expect(kept(dir)).toEqual(['1.json']);
  put(dir, { 'rogue.ts': 'x' });
  expect(await finish(dir, 'T-1', 1, NOTHING)).toMatchObject({
    code: 'SCOPE_VIOLATION',
    details: { outside: ['rogue.ts'] },
  });
  rmSync(join(dir, 'rogue.ts'));
  expect((await finish(dir, 'T-1', 1, NOTHING)).code).toBe('OK');
});

test('a delta that gives a task to another owner is a claim of its own, and says its fence', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  const applied = await apply(dir, delta({ owner: 'bob' }));
  expect(applied.details.claimed).toEqual([{ task: 'T-1', owner: 'bob', fence: 2, root: 'main' }]);
  expect(kept(dir)).toEqual(['2.json']);
  expect((await finish(dir, 'T-1', 1, NOTHING)).code).toBe('CONCURRENCY_CONFLICT');
  expect((await finish(dir, 'T-1', 2, NOTHING)).code).toBe('OK');
});

test('a claim that is refused keeps nothing', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2', { lock_scope: ['work/T-1/deep'] });
  await start(dir, 'T-1');
  expect((await claim(dir, 'T-2', 'bob')).code).toBe('LOCK_CONFLICT');
  expect((await ask(dir, ['task', 'next', '--owner', 'bob'])).code).toBe('LOCK_CONFLICT');
  expect(kept(dir)).toEqual(['1.json']);
});

test.each([
  ['gone', (dir: string) => rmSync(claims(dir), { recursive: true })],
  ['no record', (dir: string) => writeFileSync(join(claims(dir), '1.json'), '{"snapshot"')],
])('a result whose record is %s is refused, and the refusal says how to go on', async (_, deed) => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  deed(dir);
  const refused = await finish(dir, 'T-1', 1, NOTHING);
  expect(refused).toMatchObject({ code: 'MISSING_VALIDATOR', details: { task: 'T-1', fence: 1 } });
  expect(refused.reason).toMatch(/task move T-1 blocked --fence 1 --reason …` and claim it again/);
  expect(refused.reason).toMatch(/a person who has looked at it says `\S+ task move T-1 done --reason …`/);
  expect(await codesIn(dir)).toEqual(['MISSING_VALIDATOR']);
  await ask(dir, ['task', 'move', 'T-1', 'blocked', '--fence', '1', '--reason', 'its record is gone']);
  const fence = await start(dir, 'T-1');
  expect((await finish(dir, 'T-1', fence, NOTHING)).code).toBe('OK');
});

test('a person who has looked at it ends a task whose record is gone', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  rmSync(claims(dir), { recursive: true });
  expect((await ask(dir, ['task', 'move', 'T-1', 'done', '--reason', 'I looked'])).code).toBe('OK');
});

test('where the folder cannot be looked at the claim says so, and its result is refused for that reason', async () => {
  const dir = project({ 'a.ts': 'a' });
  execFileSync('git', ['init', '-q'], { cwd: dir });
  writeFileSync(join(dir, '.git/index'), 'no index');
  await create(dir, 'T-1');
  const claimed = await claim(dir, 'T-1');
  expect(claimed).toMatchObject({ code: 'OK', details: { warnings: [expect.stringContaining('no result will be')] } });
  rmSync(join(dir, '.git/index'));
  expect(await finish(dir, 'T-1', 1, NOTHING)).toMatchObject({
    code: 'MISSING_VALIDATOR',
    reason: expect.stringMatching(/index file[\s\S]*task move T-1 done/),
  });
});

/** The process is killed in the moment in which it is about to do this with a file of this name. */
function killedAt(call: string, name: RegExp): How {
  const code = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    const own = fs.${call};
    fs.${call} = (file, ...rest) => {
      if (${name}.test(String(file))) process.kill(process.pid, 'SIGKILL');
      return own(file, ...rest);
    };
    syncBuiltinESMExports();`;
  return injecting(code);
}

const MOMENTS: [string, How, string][] = [
  ['while the picture is written', killedAt('writeFileSync', /claims\/before-.*new$/), 'todo'],
  ['when the picture is complete', killedAt('renameSync', /claims\/before-/), 'todo'],
  ['between the claim and its record', killedAt('writeFileSync', /claims\/1\.json\.[0-9]+\.new$/), 'in_progress'],
  ['in the middle of its record', killedAt('renameSync', /claims\/1\.json\.[0-9]+\.new$/), 'in_progress'],
  ['before it tidies up', killedAt('rmSync', /claims\/before-/), 'in_progress'],
];
const COMMANDS: [string, readonly string[], string?][] = [
  ['claim', ['task', 'claim', 'T-1', '--owner', 'ann']],
  ['next', ['task', 'next', '--owner', 'ann']],
  ['a delta', ['task', 'apply', '-', '--run', RUN], JSON.stringify([delta()])],
];
/** Every moment of the first command, and of the others the one between the claim and its record; all of them in a long run. */
const KILLS = COMMANDS.flatMap(([name, args, input], index) =>
  MOMENTS.filter((_, moment) => index === 0 || moment === 2 || process.env.KILL_SEEDS !== undefined).map(
    ([moment, how, status]) => ({ name, args, moment, how, status, input }),
  ),
);

test.each(KILLS)('who claims by $name and is killed $moment leaves a task that can be finished', async (kill) => {
  const dir = project();
  await create(dir, 'T-1');
  const how = kill.input === undefined ? kill.how : { ...kill.how, input: kill.input };
  expect((await baton(dir, kill.args, how)).code).toBeNull();
  expect(await rows(dir)).toMatchObject([{ status: kill.status }]);
  const fence = kill.status === 'todo' ? await start(dir, 'T-1') : 1;
  put(dir, { 'rogue.ts': 'x' });
  expect(await finish(dir, 'T-1', fence, NOTHING)).toMatchObject({ details: { outside: ['rogue.ts'] } });
  rmSync(join(dir, 'rogue.ts'));
  expect((await finish(dir, 'T-1', fence, NOTHING)).code).toBe('OK');
  // The next claim takes away what the dead left behind.
  await create(dir, 'T-2');
  await start(dir, 'T-2');
  expect(kept(dir)).toEqual(['2.json']);
});

test('the picture of another claim is not taken for that of this one', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2');
  const start2 = ['task', 'claim', 'T-2', '--owner', 'bob'];
  expect((await baton(dir, start2, killedAt('writeFileSync', /claims\/1\.json\.[0-9]+\.new$/))).code).toBeNull();
  await start(dir, 'T-1');
  rmSync(join(claims(dir), '2.json'));
  expect((await finish(dir, 'T-1', 2, NOTHING)).code).toBe('MISSING_VALIDATOR');
  expect((await finish(dir, 'T-2', 1, NOTHING)).code).toBe('OK');
});

test('claims that are made at the same time keep their records', async () => {
  const dir = project();
  const ids = ['T-1', 'T-2', 'T-3', 'T-4', 'T-5', 'T-6'];
  for (const id of ids) await create(dir, id);
  const fences = await asProcesses(() => Promise.all(ids.map((id) => start(dir, id, `owner of ${id}`))));
  const ends = await asProcesses(() =>
    Promise.all(ids.map((id, index) => finish(dir, id, fences[index] ?? 0, NOTHING))),
  );
  expect(ends.map(({ code }) => code)).toEqual(ids.map(() => 'OK'));
});

test('a task that a person moved to done says so, with the reason, wherever it is shown', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  expect((await ask(dir, ['task', 'move', 'T-1', 'done', '--reason', 'seen by me'])).code).toBe('OK');
  const told = /moved to done by user:\S+, no evidence checked: seen by me/;
  expect(await rows(dir)).toMatchObject([{ status: 'done', reason: expect.stringMatching(told) }]);
  expect((await baton(dir, ['task', 'list'])).stdout).toMatch(told);
  expect((await baton(dir, ['log', '--json'])).stdout).toMatch(told);
});

test('a process that an agent started cannot say that a task is done', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  const inside: How = { env: { BATON_ATTEMPT: 'c-1.1' } };
  const move = ['task', 'move', 'T-1', 'done', '--reason', 'trust me'];
  expect((await ask(dir, move, inside)).code).toBe('APPROVER_IS_AGENT');
  expect((await ask(dir, [...move, '--fence', '1'], inside)).code).toBe('ACCEPTANCE_FAILED');
  // A mark that is taken off again is still found on a process above.
  const program = ['/bin/sh', '-c', 'env -u BATON_ATTEMPT "$@"; exit $?', 'sh', BATON];
  expect((await ask(dir, move, { ...inside, program })).code).toBe('APPROVER_IS_AGENT');
  expect(await rows(dir)).toMatchObject([{ status: 'in_progress' }]);
});
