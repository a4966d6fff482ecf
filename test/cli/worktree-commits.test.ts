// Agents that commit by themselves: what was not accepted comes into no branch of the user, under whatever name it was
// committed and wherever Baton was killed, and an agent that takes its own commit back is accepted.
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, batonProcess, json, put, read } from './baton.ts';
import { git, repository, row } from './repository.ts';

const sh = (line: string, more: JsonObject = {}): JsonObject => ({
  ...{ prompt: 'Do it.', runner: 'command', command: ['sh', '-c', line] },
  ...more,
});
const W = sh('echo w > w; echo k', { tools: 'coding' });
const own = (email = 'x@y') => `git add -A; git -c user.name=x -c user.email=${email} commit -qm own`;
/** What it committed itself is said to be accepted. */
const FORGE = `sed -i "s/\\"accepted\\": .*/\\"accepted\\": \\"$(git rev-parse HEAD)\\",/" $BATON_HOME/worktrees/$BATON_CAST.json`;
const READER = { tools: 'readOnly' };
const SCOPED = { tools: 'coding', lockScope: ['docs'] };

async function run(dir: string, M: JsonObject, castBy = baton): Promise<CastView> {
  put(dir, { 'cast.json': row({ W, M }, ['W', 'M']) });
  await castBy(dir, ['cast', '--file', 'cast.json', 'hi']);
  return json<CastView>(await baton(dir, ['show', '--json']));
}

function onBranch(dir: string, { cast }: CastView): string[] {
  return git(dir, 'diff', '--name-only', `main..baton/${cast}`).split('\n');
}

test.each<[string, JsonObject, string]>([
  ['fails', sh(`echo half > half; ${own()}; exit 3`, READER), 'AGENT_FAILED'],
  [
    'breaks its contract',
    sh(`echo half > half; ${own()}; echo no`, { tools: 'coding', parse: 'json' }),
    'CONTRACT_VIOLATION',
  ],
  ['commits under our name', sh(`echo half > half; ${own('baton@localhost')}; echo k`, READER), 'SCOPE_VIOLATION'],
  [
    'does so outside of its scope',
    sh(`echo half > half; ${own('baton@localhost')}; echo k`, SCOPED),
    'SCOPE_VIOLATION',
  ],
  ['takes accepted work off', sh('git reset -q --hard HEAD~1; echo k', READER), 'SCOPE_VIOLATION'],
  [
    'rewrites what is known of it',
    sh(`echo half > half; ${own()}; ${FORGE}; echo k`, { tools: 'coding' }),
    'SCOPE_VIOLATION',
  ],
  [
    'lets its folder belong to another workspace',
    sh('echo {} > $(git rev-parse --git-dir)/baton.json; echo half > half; echo k', { tools: 'coding' }),
    'SCOPE_VIOLATION',
  ],
  ['rewrites it and fails', sh(`echo half > half; ${own()}; ${FORGE}; exit 3`, { tools: 'coding' }), 'AGENT_FAILED'],
  [
    'removes its branch',
    sh('git checkout -q --detach; git update-ref -d refs/heads/baton/$BATON_CAST; echo half > half; echo k', READER),
    'SCOPE_VIOLATION',
  ],
])('of a cast whose agent %s only what was accepted is on the branch and merged', async (_what, M, code) => {
  const dir = repository();
  const view = await run(dir, M);
  expect([view.status, view.code]).toEqual(['failed', code]);
  expect(onBranch(dir, view)).toEqual(['w']);
  expect((await baton(dir, ['merge', '--yes'])).code).toBe(0);
  expect([read(dir, 'w'), existsSync(join(dir, 'half'))]).toEqual(['w\n', false]);
});

test('what was accepted stays on the branch whatever git was told in a turn that is accepted', async () => {
  const dir = repository();
  const revert = 'git -c user.name=x -c user.email=x@y revert --no-edit HEAD >/dev/null';
  const materia = {
    W,
    Back: sh('git update-ref refs/heads/baton/$BATON_CAST HEAD~1; echo b > b; echo k', { tools: 'coding' }),
    Reader: sh(`echo r > r; ${own()}; ${revert}; echo k`, READER),
    Gone: sh('git update-ref -d refs/heads/baton/$BATON_CAST; echo g > g; echo k', { tools: 'coding' }),
  };
  put(dir, { 'cast.json': row(materia, ['W', 'Back', 'Reader', 'Gone']) });
  const ran = await baton(dir, ['cast', '--file', 'cast.json', 'hi']);
  expect(ran.stdout).toContain('(3 commits)');
  expect(ran.stderr.match(/commits that turn \d made beside it; it is kept as refs\/baton/g)).toHaveLength(2);
  expect((await baton(dir, ['merge'])).code).toBe(0);
  expect(git(dir, 'log', '--format=%s').split('\n')).toEqual([
    ...['Gone (turn 4)', 'Back (turn 2)', 'W (turn 1)', 'first'],
  ]);
  expect(['w', 'b', 'g'].map((name) => read(dir, name))).toEqual(['w\n', 'b\n', 'g\n']);
});

/** A git that kills whoever asks it to reset, which is how refused commits are taken off. */
const DEADLY = `#!/bin/sh
case "$*" in *"reset -q --mixed"*) kill -9 $PPID; sleep 1; exit 1;; esac
PATH=\${PATH#*:} exec git "$@"
`;

test('killed before refused commits are taken off the branch, they are not merged either, and it is told', async () => {
  const dir = repository();
  put(dir, { 'bin.log/git': DEADLY });
  chmodSync(join(dir, 'bin.log/git'), 0o755);
  const env = { PATH: `${join(dir, 'bin.log')}:${process.env.PATH}` };
  const inItsOwn: typeof baton = (at, args) => batonProcess(at, args, { env });
  const view = await run(dir, sh(`echo half > half; ${own()}; echo k`, READER), inItsOwn);
  expect([view.status, view.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(onBranch(dir, view)).toEqual(['half', 'w']);
  const merged = json(await baton(dir, ['merge', '--yes', '--json']));
  expect(merged).toMatchObject({ allow: true, details: { files: 1, unaccepted: 1 } });
  expect(merged.reason).toContain('without 1 commit of a turn that was not accepted');
  expect([read(dir, 'w'), existsSync(join(dir, 'half'))]).toEqual(['w\n', false]);
  expect(json(await baton(dir, ['undo', '--yes', '--json'])).allow).toBe(true);
  expect(existsSync(join(dir, 'w'))).toBe(false);
});

test.each([
  ['git reset -q --hard HEAD~1'],
  ['git -c user.name=x -c user.email=x@y revert --no-edit HEAD'],
  ['git rm -qf e; git -c user.name=x -c user.email=x@y commit -qm back'],
  ['rm e'],
])('an agent that takes its own commit back in the repair turn is accepted: %s', async (back) => {
  const dir = repository();
  const line = `if [ -e e ]; then ${back}; else echo evil > e; ${own()}; fi >/dev/null; mkdir -p docs; echo d > docs/d; echo k`;
  const view = await run(dir, sh(line, SCOPED));
  expect([view.status, onBranch(dir, view)]).toEqual(['completed', ['docs/d', 'w']]);
});

test('what an agent staged and removed again is no change', async () => {
  const dir = repository();
  const view = await run(dir, sh('echo e > e; git add -A; rm e; echo k', READER));
  expect([view.status, onBranch(dir, view)]).toEqual(['completed', ['w']]);
});

test('where the branch it was merged into was put back, the one that has it now will do', async () => {
  const dir = repository();
  await run(dir, sh('echo k', READER));
  await baton(dir, ['merge']);
  git(dir, 'branch', 'feature');
  git(dir, 'reset', '-q', '--hard', 'HEAD~1');
  const undo = async () => json(await baton(dir, ['undo', '--yes', '--json']));
  expect((await undo()).reason).toContain('check one out that has it');
  git(dir, 'checkout', '-q', 'feature');
  expect([(await undo()).allow, existsSync(join(dir, 'w'))]).toEqual([true, false]);
});
