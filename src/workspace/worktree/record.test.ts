import { expect, test } from 'vitest';
import { isWorktreePlace, worktreesFolder } from './record.ts';

const HOME = '/home/ada';
const workspace = { dir: '/home/ada/code/shop', stateDir: '/home/ada/code/shop/.baton/state' };
const shop = /^(?<above>.*)\/worktrees\/shop-[0-9a-f]{8}$/;

test.each<[string, NodeJS.ProcessEnv, NodeJS.Platform, string]>([
  ['the user’s folder for state', { HOME }, 'linux', '/home/ada/.local/state/baton'],
  ['the system’s place', { HOME }, 'darwin', '/home/ada/Library/Application Support/baton'],
  ['XDG_STATE_HOME', { HOME, XDG_STATE_HOME: '/state' }, 'linux', '/state/baton'],
  ['XDG_STATE_HOME on macOS too', { HOME, XDG_STATE_HOME: '/state' }, 'darwin', '/state/baton'],
  [
    'XDG_STATE_HOME only where it is absolute',
    { HOME, XDG_STATE_HOME: 'state' },
    'linux',
    '/home/ada/.local/state/baton',
  ],
  ['BATON_HOME before all', { HOME, XDG_STATE_HOME: '/state', BATON_HOME: '/baton' }, 'linux', '/baton'],
  [
    'but not the one that a cast gives to its agents',
    { HOME, BATON_HOME: workspace.stateDir },
    'linux',
    '/home/ada/.local/state/baton',
  ],
])('worktrees are made in %s', (_what, env, platform, above) => {
  expect(shop.exec(worktreesFolder(workspace, env, platform))?.groups?.above).toBe(above);
});

test('two projects of the same name have folders of their own, and a project always the same one', () => {
  const at = (dir: string) => worktreesFolder({ ...workspace, dir }, { HOME });
  expect(at('/a/shop')).toBe(at('/a/shop'));
  expect(at('/a/shop')).not.toBe(at('/b/shop'));
});

test.each<[string, boolean]>([
  ['/state/baton/worktrees/shop-0123abcd/c1', true],
  ['/state/baton/worktrees/shop-0123abcd/c2', false],
  ['/state/baton/worktrees/shop/c1', false],
  ['/state/baton/shop-0123abcd/c1', false],
  ['/state/baton/worktrees/shop-0123abcd/x/../c1', false],
  ['worktrees/shop-0123abcd/c1', false],
  ['/etc', false],
])('%s is the place of a worktree named c1: %s', (folder, isOne) => {
  expect(isWorktreePlace(folder, 'c1')).toBe(isOne);
});
