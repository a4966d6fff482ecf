import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { graph } from '../../../test/loadouts.ts';
import { resolve } from '../../kernel/graph/resolve.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { readyWorktree, type SetUpStep } from '../../workspace/worktree/make.ts';
import { wayOut } from '../cast-work.ts';
import { Workspace } from '../workspace.ts';
import { isolationOf } from './check-start.ts';

const MISSING = expect.stringContaining('submodules are not checked out');
const UPDATE = ['git', 'submodule', 'update', '--init'];

function repository() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-isolation-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, '.gitmodules'), '');
  writeFileSync(join(dir, '.gitignore'), 'state\n*.log\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: dir });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  const at = { dir, stateDir: join(dir, 'state'), configFile: join(dir, 'config.json') };
  return { at, workspace: new Workspace(at, { env: { XDG_STATE_HOME: join(dir, 'state') } }) };
}

test.each<[string, JsonObject, unknown[]]>([
  ['no set-up', {}, [MISSING]],
  ['a set-up of something else', { setup: ['npm', 'ci'] }, [MISSING]],
  ['a set-up that checks them out', { setup: [['npm', 'ci'], UPDATE] }, []],
])('that submodules are missing is told where nothing is done about it: %s', async (_what, worktree, said) => {
  const { workspace } = repository();
  const M = { prompt: 'Do it.', runner: 'command', command: ['x'], tools: 'coding' };
  const config: JsonObject = {
    ...(graph({ 'Socket-1': { materia: 'M' } }, { materia: { M } }) as JsonObject),
    worktree,
  };
  const [loadout = ''] = Object.keys(config.loadouts as JsonObject);
  const { says } = await isolationOf(workspace, resolve(config, loadout), 'c1', false);
  expect(says.slice(1)).toEqual(said);
});

test('what lies in a worktree and no branch has is told before somebody is sent to clear it away', async () => {
  const { workspace, at } = repository();
  const steps = {
    async run({ argv: [program = '', ...args], cwd }: SetUpStep) {
      execFileSync(program, args, { cwd, stdio: 'pipe' });
      return { ok: true } as const;
    },
    clear: async () => undefined,
  };
  const record = await readyWorktree({
    ...at,
    cast: 'c1',
    cwd: join(at.stateDir, 'worktrees', 'c1'),
    rules: null,
    steps,
  });
  expect(await wayOut(workspace, 'c1')).toEqual([expect.stringContaining('undo c1` clears its worktree away')]);
  execFileSync('git', ['init', '-q', 'x.log'], { cwd: record.cwd });
  writeFileSync(join(record.cwd, 'x.log/file'), 'f');
  expect(await wayOut(workspace, 'c1')).toEqual([
    expect.stringMatching(
      /^It changed no file of its branch; the worktree .* stays, .*: x\.log has 1 file not committed;/,
    ),
  ]);
});
