// Where an agent's tools may write when it works in a worktree of a cast, or of an item beside others.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { play } from '../../test/play.ts';
import { envelope, TEAM } from '../../test/team.ts';
import { MAIN_ROOT } from '../kernel/ledger/lock-tree.ts';
import type { Task } from '../kernel/ledger/state.ts';
import { workRoot, writeRecord } from '../workspace/worktree/record.ts';
import { claimsOf, refusalOfConfigWrite, refusalOfGoverningWrite, refusalOfWrite } from './guard-write.ts';

const dir = '/proj';
const stateDir = '/proj/.baton/state';
const workspace = { dir, stateDir, configFile: '/proj/.baton/config.json' };
const TREE = `${stateDir}/worktrees/c`;

test.each<[path: string, code: string | null]>([
  ['/proj/.baton/config.json', 'SCOPE_VIOLATION'],
  [`${stateDir}/worktrees/c.json`, 'SCOPE_VIOLATION'],
  [`${TREE}/src/x.ts`, null],
  [`${TREE}.lane-2/src/x.ts`, null],
  [`${TREE}.lane-2/.baton/config.json`, 'SCOPE_VIOLATION'],
  [`${TREE}.lane-2/../../log.db`, 'SCOPE_VIOLATION'],
  ['/proj/src/x.ts', null],
])('what governs the work: %s', (path, code) => {
  expect(refusalOfGoverningWrite(path, workspace)?.code ?? null).toBe(code);
});

test.each<[path: string, code: string | null]>([
  [`${TREE}/src/T-1.ts`, null],
  [`${TREE}.lane-1/src/T-1.ts`, null],
  [`${TREE}.lane-1/src/T-2.ts`, 'LOCK_CONFLICT'],
  [`${TREE}.lane-1/src/T-9.ts`, 'SCOPE_VIOLATION'],
  // The folder of what it may write, and another one.
  [`${TREE}.lane-1/src`, null],
  [`${TREE}.lane-1/lib`, 'SCOPE_VIOLATION'],
  ['/proj/src/T-1.ts', 'SCOPE_VIOLATION'],
])('paths mean the same in the worktree of an item as in that of its cast: %s', (path, code) => {
  const plan = envelope({ id: 'T-1' }, { id: 'T-2' });
  const agents = { Lead: [plan], Worker: ['x', '$repeat'], Sum: ['ok'] };
  const cast = play({ config: TEAM, agents, hold: true, root: '.baton/state/worktrees/c' });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan) });
  const { ledger } = cast.state;
  const claims = claimsOf(ledger, { fence: 1, names: [] });
  expect(refusalOfWrite(path, ledger, claims, workspace)?.code ?? null).toBe(code);
});

test.each<[below: string, code: string | null]>([
  ['c/src/T-1.ts', null],
  ['c.lane-1/src/T-1.ts', null],
  ['c.lane-1/src/T-2.ts', 'LOCK_CONFLICT'],
  ['c.lane-1/src/T-9.ts', 'SCOPE_VIOLATION'],
  ['c.lane-1/lib', 'SCOPE_VIOLATION'],
  ['c.lane-1/.baton/config.json', 'SCOPE_VIOLATION'],
])('and so they do where the worktrees lie outside the project: %s', (below, code) => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-guard-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const trees = join(top, 'home', 'worktrees', 'proj-0123abcd');
  const outside = { dir: join(top, 'proj'), stateDir: join(top, 'proj', '.baton', 'state'), configFile: '' };
  for (const place of [null, 1, 2]) {
    const folder = join(trees, place === null ? 'c' : `c.lane-${place}`);
    const lane = place === null ? {} : { lane: { place, task: null, kept: null, conflicts: [] } };
    const record = {
      version: 1,
      cast: 'c',
      state: 'ready',
      folder,
      cwd: folder,
      starts: {},
      open: {},
      ...lane,
    } as const;
    writeRecord(outside.stateDir, { ...record, workspace: outside.dir, top: outside.dir, branch: '', base: '' });
  }
  const plan = envelope({ id: 'T-1' }, { id: 'T-2' });
  const agents = { Lead: [plan], Worker: ['x', '$repeat'], Sum: ['ok'] };
  const cast = play({ config: TEAM, agents, hold: true, root: join(trees, 'c') });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan) });
  const { ledger } = cast.state;
  const path = join(trees, below);
  const refusal =
    refusalOfGoverningWrite(path, outside) ??
    refusalOfWrite(path, ledger, claimsOf(ledger, { fence: 1, names: [] }), outside);
  expect(refusal?.code ?? null).toBe(code);
  expect(workRoot(join(trees, 'c.lane-1', 'src'), outside)).toBe(join(trees, 'c.lane-1'));
  expect(workRoot(join(top, 'elsewhere'), outside)).toBe(outside.dir);
});

test.each<[what: string, path: string, code: string | null]>([
  ['a scratch file', join(tmpdir(), 'scratch.txt'), null],
  ['a device', '/dev/null', null],
  ['a file of the machine', '/etc/x', 'SCOPE_VIOLATION'],
])('under a claim %s: %s', (_what, path, code) => {
  const task = { id: 'T-1', root: MAIN_ROOT, lockScope: ['src'], forbidden: [], worklogPath: '', reportPath: null };
  const { ledger } = play({ config: TEAM, hold: true }).state;
  expect(refusalOfWrite(path, ledger, [{ ...task, fence: 1 } as never], workspace)?.code ?? null).toBe(code);
});

test('a lock on the whole project does not reach into a worktree that lies in it', () => {
  const plan = envelope({ id: 'T-1', lock_scope: ['.'] });
  const cast = play({ config: TEAM, agents: { Lead: [plan], Worker: ['x'], Sum: ['ok'] }, hold: true });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan) });
  const codeAt = (path: string) => refusalOfWrite(path, cast.state.ledger, [], workspace)?.code ?? null;
  expect([codeAt('/proj/src/x.ts'), codeAt(`${TREE}/src/x.ts`)]).toEqual(['LOCK_CONFLICT', null]);
});

test.each([
  [['.'], 'it may write in the whole folder. Leave the file unchanged'],
  [['src', 'docs/a.md'], 'it may write in "src", "docs/a.md". Leave the file unchanged'],
  [[], 'it may write nothing. Leave the file unchanged'],
])('a scope of %j is told so that nobody takes it for another path', (lockScope, told) => {
  const task = { id: 'T-1', root: 'main', lockScope, forbidden: [], worklogPath: '', reportPath: null, fence: 1 };
  const { ledger } = play({ config: TEAM, hold: true }).state;
  expect(refusalOfWrite('/etc/x', ledger, [task as never], workspace)?.reason).toContain(told);
});

test.each<[path: string, scope: string[] | null, code: string | null]>([
  ['/proj/.claude/settings.json', null, 'SCOPE_VIOLATION'],
  ['/proj/pkg/.mcp.json', null, 'SCOPE_VIOLATION'],
  [`${TREE}/.codex/config.toml`, null, 'SCOPE_VIOLATION'],
  ['/proj/.claude/settings.json', ['.'], 'SCOPE_VIOLATION'],
  ['/proj/.claude/settings.json', ['.', '.claude'], null],
  [`${TREE}/.claude/settings.json`, ['.claude'], 'SCOPE_VIOLATION'],
  ['/proj/CLAUDE.md', null, null],
  ['/proj/.claude/plans/p.md', null, null],
])('what agent programs obey: %s under a claim of %j', (path, lockScope, code) => {
  const claims = lockScope === null ? [] : [{ root: MAIN_ROOT, lockScope } as unknown as Task];
  expect(refusalOfConfigWrite(path, claims, workspace)?.code ?? null).toBe(code);
});

test.each<[what: string, target: string, path: string]>([
  ['a link to the folder', '.claude', 'docs/settings.json'],
  ['a link to the file', '.claude/settings.json', 'docs'],
  ['a link to a file that is not there yet', '.claude/settings.local.json', 'docs'],
  ['a link to the folder of the rules', '.baton', 'docs/config.json'],
])('a link does not lead past the guard: %s', (_what, target, path) => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-guard-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  for (const folder of ['.claude', '.baton/state']) mkdirSync(join(top, folder), { recursive: true });
  symlinkSync(join(top, target), join(top, 'docs'));
  const linked = { dir: top, stateDir: join(top, '.baton/state'), configFile: join(top, '.baton/config.json') };
  const refusal = refusalOfGoverningWrite(join(top, path), linked) ?? refusalOfConfigWrite(join(top, path), [], linked);
  expect(refusal).toMatchObject({ code: 'SCOPE_VIOLATION', details: { scope: target.split('/')[0] } });
});

test.each([
  ['.claude', 'settings.json'],
  ['.baton', 'config.json'],
])('a link in the place of a governed folder does not lead past the guard: %s', (folder, name) => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-guard-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  mkdirSync(join(top, 'docs'));
  symlinkSync(join(top, 'docs'), join(top, folder));
  const linked = { dir: top, stateDir: join(top, 'state'), configFile: join(top, 'config.json') };
  const path = join(top, folder, name);
  const refusal = refusalOfGoverningWrite(path, linked) ?? refusalOfConfigWrite(path, [], linked);
  expect(refusal).toMatchObject({ code: 'SCOPE_VIOLATION', details: { scope: folder } });
});
