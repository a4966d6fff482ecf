import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { graph } from '../../test/loadouts.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Call } from './command.ts';
import { isolationOf } from './isolation.ts';

const MISSING = expect.stringContaining('submodules are not checked out');
const UPDATE = ['git', 'submodule', 'update', '--init'];

test.each<[string, JsonObject, unknown[]]>([
  ['no set-up', {}, [MISSING]],
  ['a set-up of something else', { setup: ['npm', 'ci'] }, [MISSING]],
  ['a set-up that checks them out', { setup: [['npm', 'ci'], UPDATE] }, []],
])('that submodules are missing is told where nothing is done about it: %s', async (_what, worktree, said) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-isolation-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, '.gitmodules'), '');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: dir });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  const M = { prompt: 'Do it.', runner: 'command', command: ['x'], tools: 'coding' };
  const config: JsonObject = {
    ...(graph({ 'Socket-1': { materia: 'M' } }, { materia: { M } }) as JsonObject),
    worktree,
  };
  const [loadout = ''] = Object.keys(config.loadouts as JsonObject);
  const call = { values: {}, cwd: dir } as unknown as Call;
  const at = { dir, stateDir: join(dir, 'state'), configFile: join(dir, 'config.json') };
  const { says } = await isolationOf(call, at, resolve(config, loadout), 'c1');
  expect(says.slice(1)).toEqual(said);
});
