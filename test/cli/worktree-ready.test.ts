// Worktrees lie outside the project, so that tools do not find its packages above them. `init` proposes how they are made ready,
// packages are shared where nothing is said, and checks that cannot start are named before the first turn.
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, cast, json, put, read } from './baton.ts';
import { coder, git, repository, row, worktreesOf, writes } from './repository.ts';

const ONE = row({ Build: coder }, ['Build']);
const WORK = { 'Socket-1': [writes({ 'b.txt': 'b\n' })] };
const MANIFEST = { scripts: { test: 'greet', build: 'node build.js' }, devDependencies: { greet: '*' } };
const IGNORED = '.baton/state/\ncast.json\nagents.json\nnode_modules/\n.env*\n!.env.example\n';

/** A node project with one installed package, whose program is what its tests run. */
function nodeProject(): string {
  const dir = repository({
    ...{ '.gitignore': IGNORED, 'package.json': MANIFEST, 'package-lock.json': {}, '.env.example': 'KEY=' },
  });
  put(dir, {
    'node_modules/greet/index.js': 'module.exports = 1',
    'node_modules/.bin/greet': '#!/bin/sh\n',
    '.env': 'KEY=1',
  });
  return dir;
}

test('init writes the checks of the project and how its worktrees are made ready, and check finds no fault', async () => {
  const dir = nodeProject();
  const told = json<JsonObject>(await baton(dir, ['init', '--json']));
  const { checkers, worktree } = JSON.parse(read(dir, '.baton/config.json'));
  expect(checkers).toEqual({
    test: { command: ['npm', 'test'], when: 'turn' },
    build: { command: ['npm', 'run', 'build'], when: 'merge' },
  });
  expect(worktree).toEqual({ link: ['node_modules'], copy: ['.env'] });
  expect([told.checkers, told.worktree]).toEqual([checkers, worktree]);
  expect((await baton(dir, ['check', '--strict'])).stdout).toMatch(/^ok: no issues/);
});

test('init proposes what each sort of project needs: linked packages of one, an installing step of the other', async () => {
  const dir = nodeProject();
  put(dir, { 'requirements.txt': 'pytest\n', '.gitignore': `${IGNORED}.venv/\n` });
  await baton(dir, ['init']);
  const { checkers, worktree } = JSON.parse(read(dir, '.baton/config.json'));
  expect(Object.keys(checkers)).toEqual(['test', 'build', 'python-test']);
  expect(worktree).toEqual({
    setup: [
      ['python3', '-m', 'venv', '.venv'],
      ['.venv/bin/pip', 'install', '-q', '-r', 'requirements.txt'],
    ],
    link: ['node_modules'],
    copy: ['.env'],
  });
});

test('without anything configured, installed packages are found from inside the worktree and are not committed', async () => {
  const dir = nodeProject();
  const view = await cast(dir, ONE, WORK);
  const [tree = ''] = worktreesOf(dir);
  expect(view.status).toBe('completed');
  expect(lstatSync(join(tree, 'node_modules/greet')).isSymbolicLink()).toBe(true);
  expect(git(tree, 'status', '--short')).toBe('');
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`)).toBe('b.txt');
  expect((await baton(dir, ['merge'])).stdout).not.toContain('left behind');
  expect(read(dir, 'node_modules/greet/index.js')).toBe('module.exports = 1');
});

test.each<[string, JsonObject, string | null]>([
  ['packages that nobody installed', {}, 'check test (npm test) and 1 more cannot start in the worktree: its packages'],
  ['checks that are red and can start', { checkers: { own: { command: ['false'] } } }, null],
])('before the first turn it is said that a check cannot start: %s', async (_what, more, said) => {
  const dir = repository({ '.gitignore': IGNORED, 'package.json': MANIFEST });
  put(dir, { 'cast.json': { ...ONE, ...more }, 'agents.json': WORK });
  const { code, stderr } = await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it']);
  expect(code).toBe(0);
  if (said === null) return expect(stderr).not.toContain('cannot start');
  expect(stderr).toContain(said);
  expect(stderr.indexOf(said)).toBeLessThan(stderr.indexOf('▸ Build'));
});
