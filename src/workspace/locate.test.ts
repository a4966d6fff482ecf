import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { linkWorkspace, locate } from './locate.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-locate-')));
  for (const project of ['one', 'two']) mkdirSync(join(dir, project, '.baton', 'state'), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.each([
  ['without a home the state lies in the project', '', 'one', /^one\/\.baton\/state$/],
  ['a home has a folder for each workspace', 'home', 'one', /^home\/one-[0-9a-f]{8}$/],
  ['the state folder of a workspace is its home', 'one/.baton/state', 'one', /^one\/\.baton\/state$/],
  [
    'and for another workspace a home like any other',
    'one/.baton/state',
    'two',
    /^one\/\.baton\/state\/two-[0-9a-f]{8}$/,
  ],
])('%s', (_rule, home, project, stateDir) => {
  const env = home === '' ? {} : { BATON_HOME: join(dir, home) };
  expect(locate(undefined, env, join(dir, project))?.stateDir.slice(dir.length + 1)).toMatch(stateDir);
});

test.each<[string, string, Readonly<Record<string, unknown>> | null, 'main' | 'itself']>([
  ['the top of a worktree', '', { version: 1, workspace: 'one' }, 'main'],
  ['a folder below it that has `.baton`', 'sub', { version: 1, workspace: 'one' }, 'main'],
  ['a worktree without a record', 'sub', null, 'itself'],
  ['a record that says nothing of a workspace', 'sub', { version: 1 }, 'itself'],
  ['a record of another version', 'sub', { version: 2, workspace: 'one' }, 'itself'],
  ['a workspace that is gone', 'sub', { version: 1, workspace: 'gone' }, 'itself'],
])('from inside: %s', (_what, below, record, found) => {
  const trees = join(dir, 'home', 'one-12345678', 'worktrees');
  const start = join(trees, 'c1', below);
  mkdirSync(join(start, '.baton'), { recursive: true });
  const workspace = record?.workspace === undefined ? {} : { workspace: join(dir, String(record.workspace)) };
  if (record) writeFileSync(join(trees, 'c1.json'), JSON.stringify({ ...record, ...workspace }));
  for (const named of [undefined, '.']) {
    const located = locate(named, {}, start);
    const expected =
      found === 'main'
        ? [join(dir, 'one'), join(dir, 'home', 'one-12345678')]
        : [start, join(start, '.baton', 'state')];
    expect([located?.dir, located?.stateDir]).toEqual(expected);
  }
});

test.each<[string, 'linked' | 'not linked', string, 'main' | 'itself']>([
  ['the top of a worktree elsewhere', 'linked', '', 'main'],
  ['a folder below it that has `.baton`', 'linked', 'sub', 'main'],
  ['a worktree of the user’s own', 'not linked', '', 'itself'],
])('from inside: %s', (_what, isLinked, below, found) => {
  const tree = join(dir, 'trees', 'c1');
  const start = join(tree, below);
  mkdirSync(join(start, '.baton'), { recursive: true });
  mkdirSync(join(dir, 'one', '.git', 'worktrees', 'c1'), { recursive: true });
  writeFileSync(join(tree, '.git'), 'gitdir: ../../one/.git/worktrees/c1\n');
  const workspace = { dir: join(dir, 'one'), stateDir: join(dir, 'home', 'one-12345678') };
  if (isLinked === 'linked') linkWorkspace(tree, workspace);
  const located = locate(undefined, {}, start);
  const itself = { dir: start, stateDir: join(start, '.baton', 'state') };
  expect(located).toMatchObject(found === 'main' ? workspace : itself);
});
