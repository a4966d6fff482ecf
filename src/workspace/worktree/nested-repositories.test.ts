// What git cannot keep on the branch of a cast, or was told not to look at: it is refused or kept, and never lost.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { initRepository } from '../../../test/init-repository.ts';
import type { Watch } from '../../kernel/cast/packet.ts';
import type { WorktreeRules } from '../../kernel/graph/config.ts';
import { witnessOf } from '../witness.ts';
import { readyWorktree, removeWorktree, type SetUpStep, type WorktreeRequest } from './make.ts';
import { apartIn, noticeOfOrphaned, orphanedIn } from './nested-repositories.ts';
import { readRecord, type WorktreeRecord } from './record.ts';
import { treeOfWork } from './stash.ts';
import { beginTurn, dropStrays, keepTurn } from './turns.ts';

vi.setConfig({ testTimeout: 30_000 });

const RULES: WorktreeRules = { setup: [], copy: [], timeoutMs: 60_000 };
const FILE_URLS = ['-c', 'protocol.file.allow=always'];

function git(folder: string, ...args: string[]): string {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...who, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function commit(folder: string): string {
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'work');
  return git(folder, 'rev-parse', 'HEAD');
}

/** A workspace with a commit; with a submodule `lib`, whose remote is beside it, where that is asked for. */
function workspace(withModule = false) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-kept-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [dir, lib] = [join(home, 'main'), join(home, 'lib')];
  for (const folder of withModule ? [dir, lib] : [dir]) {
    put(folder, { 'one.txt': '1', '.gitignore': 'state\n*.log\ndist/\n' });
    initRepository(folder);
    commit(folder);
  }
  if (withModule) {
    git(dir, ...FILE_URLS, 'submodule', '--quiet', 'add', lib, 'lib');
    commit(dir);
  }
  return { dir, lib, stateDir: join(dir, 'state') };
}

type Made = ReturnType<typeof workspace>;

function make({ dir, stateDir }: Made, more: Partial<WorktreeRequest> = {}): Promise<WorktreeRecord> {
  const steps = {
    async run({ argv: [program = '', ...args], cwd }: SetUpStep) {
      try {
        execFileSync(program, args, { cwd, stdio: 'pipe' });
        return { ok: true } as const;
      } catch {
        return { ok: false, why: 'exit code 1' } as const;
      }
    },
    clear: async () => undefined,
  };
  const cwd = join(stateDir, 'worktrees', 'c1');
  return readyWorktree({ dir, stateDir, cast: 'c1', cwd, rules: RULES, steps, ...more });
}

test('a worktree of an earlier version lies in the project, and what is written above it is noticed', async () => {
  const made = workspace();
  const record = await make(made);
  expect(record.folder).toBe(join(made.stateDir, 'worktrees', 'c1'));
  const witness = witnessOf(made);
  const held = { ...watch(1), isFresh: true, mainCheckout: 'refuse' } as const;
  await witness.before(held, record.cwd);
  writeFileSync(join(record.cwd, '../../../stray.txt'), 'stray');
  expect((await witness.after(held, record.cwd)).main).toEqual({
    dir: made.dir,
    changes: { 'stray.txt': expect.stringMatching(/^sha256:/) },
  });
});

const CHECKED_OUT: WorktreeRules = {
  ...RULES,
  setup: [['git', ...FILE_URLS, 'submodule', '--quiet', 'update', '--init']],
};

function watch(turn: number, more: Partial<Watch> = {}): Watch {
  const common = { cast: 'c1', turn, socket: 'Socket-1', label: 'Build', title: null, isFresh: true, files: true };
  const rest = { begins: 'first', beside: null, checks: {}, checkers: {}, artifacts: [], slot: null } as const;
  return { ...common, ...rest, compares: true, approval: null, ...more } as Watch;
}

/** A turn that does this, as it is seen from outside. */
async function seen(made: Made, record: WorktreeRecord, work: (folder: string) => void) {
  const witness = witnessOf(made);
  const begun = await beginTurn(made.stateDir, record, watch(1));
  await witness.before(watch(1), record.cwd);
  work(record.cwd);
  const { changes, unkept = {} } = await witness.after(watch(1), record.cwd);
  return { record: begun.record, changes: Object.keys(changes), unkept };
}

function filesOf({ dir }: Made): string[] {
  return git(dir, 'ls-tree', '-r', '--name-only', 'baton/c1').split('\n');
}

const OWN = expect.stringContaining('is a git repository of its own');

test.each<[string, (folder: string) => void, Record<string, unknown>]>([
  ['a repository without a commit', (at) => git(at, 'init', '-q', 'sub'), { sub: OWN }],
  [
    'one with a commit',
    (at) => [git(at, 'init', '-q', 'sub'), put(at, { 'sub/f': 'x' }), commit(join(at, 'sub'))],
    { sub: OWN },
  ],
  [
    'one that was committed itself',
    (at) => [git(at, 'init', '-q', 'sub'), put(at, { 'sub/f': 'x' }), commit(join(at, 'sub')), commit(at)],
    { sub: OWN },
  ],
  [
    'one that the worktree’s own rules ignore',
    (at) => [git(at, 'init', '-q', 'dist/sub'), put(at, { 'dist/sub/f': 'x' })],
    {},
  ],
  [
    'one that the worktree’s own rules ignore by now',
    (at) => [put(at, { '.gitignore': 'deps\n' }), git(at, 'init', '-q', 'deps/sub'), put(at, { 'deps/sub/f': 'x' })],
    {},
  ],
  [
    'a repository that is none any more',
    (at) => [
      git(at, 'init', '-q', 'sub'),
      put(at, { 'sub/f': 'x' }),
      rmSync(join(at, 'sub/.git'), { recursive: true }),
    ],
    {},
  ],
])('of what a turn leaves, what no commit can hold is told: %s', async (_what, work, unkept) => {
  const made = workspace();
  expect((await seen(made, await make(made), work)).unkept).toEqual(unkept);
});

test.each<[string, (lib: string) => void, Record<string, unknown>]>([
  ['nothing is changed', () => undefined, {}],
  [
    'a file is not committed in it',
    (lib) => put(lib, { 'new.txt': 'n' }),
    { lib: expect.stringContaining('is not committed in it') },
  ],
  [
    'a commit lies in it alone',
    (lib) => [put(lib, { 'new.txt': 'n' }), commit(lib)],
    { lib: expect.stringMatching(/in this worktree alone; push it .*checkout/) },
  ],
  [
    'that commit is in a commit of the branch already',
    (lib) => [put(lib, { 'new.txt': 'n' }), commit(lib), commit(dirname(lib))],
    { lib: expect.stringContaining('in this worktree alone') },
  ],
  [
    'a commit is in its remote too',
    (lib) => [put(lib, { 'new.txt': 'n' }), commit(lib), git(lib, 'push', '-q', 'origin', 'HEAD:refs/heads/more')],
    {},
  ],
])('of a submodule: %s', async (_what, work, unkept) => {
  const made = workspace(true);
  const record = await make(made, { rules: CHECKED_OUT });
  expect(await apartIn(record)).toEqual([]);
  const turn = await seen(made, record, (at) => work(join(at, 'lib')));
  expect(turn.unkept).toEqual(unkept);
  const before = git(made.dir, 'rev-parse', 'baton/c1:lib');
  const { untaken } = await keepTurn(made.stateDir, turn.record, watch(1), turn.changes);
  // Even where it was accepted, nobody else is led to a commit that only lies here.
  const isMoved = git(made.dir, 'rev-parse', 'baton/c1:lib') !== before;
  if (untaken?.length) expect(isMoved).toBe(false);
  const isPushed = Object.keys(unkept).length === 0;
  expect((await apartIn(record)).map(({ path }) => path)).toEqual(isPushed ? [] : ['lib']);
  if (!isPushed) await expect(removeWorktree(made.stateDir, turn.record, 'merged')).rejects.toThrow('lib has 1');
  else expect((await removeWorktree(made.stateDir, turn.record, 'merged')).state).toBe('merged');
  expect(existsSync(record.folder)).toBe(!isPushed);
});

const NOT_OUT = expect.stringContaining('lib is a submodule that is not checked out here');

test.each<[string, (at: string) => void, Record<string, unknown>, string[]]>([
  ['nothing', () => undefined, {}, []],
  ['a folder without a file', (at) => mkdirSync(join(at, 'lib/inc')), {}, []],
  [
    'files',
    (at) => put(at, { 'lib/new.h': 'n', 'lib/.claude/settings.json': '{}' }),
    { 'lib/.claude/settings.json': NOT_OUT, 'lib/new.h': NOT_OUT },
    ['lib/.claude/settings.json', 'lib/new.h'],
  ],
  [
    'files that the worktree ignores elsewhere',
    (at) => put(at, { 'lib/x.log': 'n' }),
    { 'lib/x.log': NOT_OUT },
    ['lib/x.log'],
  ],
  [
    'a file beside a repository that hides it and has no commit',
    (at) => [git(at, 'init', '-q', 'lib'), put(at, { 'lib/.git/info/exclude': '*\n', 'lib/new.h': 'n' })],
    { 'lib/.git/info/exclude': NOT_OUT, 'lib/new.h': NOT_OUT },
    // What hides files from git is planted, too.
    ['lib/.git/info/exclude', 'lib/new.h'],
  ],
])('in the place of a submodule that is not checked out: %s', async (_what, work, unkept, changes) => {
  const made = workspace(true);
  const turn = await seen(made, await make(made), (at) => [put(at, { 'top.txt': 't' }), work(at)]);
  expect(turn).toMatchObject({ unkept, changes: [...changes, 'top.txt'] });
  expect(Object.keys(turn.unkept)).toEqual(Object.keys(unkept));
  // Even where it was accepted, the rest is committed and the submodule stays one.
  const before = git(made.dir, 'rev-parse', 'main:lib');
  for (const beside of [null, ['.']]) {
    await keepTurn(made.stateDir, { ...turn.record, open: { 1: ['.'] } }, watch(1, { beside }), turn.changes);
    expect(filesOf(made)).toEqual(['.gitignore', '.gitmodules', 'lib', 'one.txt', 'top.txt']);
    expect(git(made.dir, 'rev-parse', 'baton/c1:lib')).toBe(before);
  }
  const cleared = removeWorktree(made.stateDir, turn.record, 'merged');
  if (changes.length === 0) expect((await cleared).state).toBe('merged');
  else await expect(cleared).rejects.toThrow(/work that is nowhere else: lib has [12] files? without its repository/);
  expect(existsSync(turn.record.folder)).toBe(changes.length > 0);
});

test('a submodule that stands at no commit keeps the worktree for its other branches', async () => {
  const made = workspace(true);
  const record = await make(made, { rules: CHECKED_OUT });
  const lib = join(record.cwd, 'lib');
  put(lib, { 'new.txt': 'n' });
  commit(lib);
  git(lib, 'branch', 'kept');
  git(lib, 'checkout', '-q', '--orphan', 'none');
  git(lib, 'rm', '-rqf', '.');
  expect(await apartIn(record)).toEqual([{ path: 'lib', what: '1 commit' }]);
});

test('in the place of a submodule inside of one that is checked out likewise', async () => {
  const made = workspace(true);
  git(made.lib, ...FILE_URLS, 'submodule', '--quiet', 'add', made.lib, 'deep');
  const moved = commit(made.lib);
  git(join(made.dir, 'lib'), ...FILE_URLS, 'pull', '-q', 'origin', 'HEAD');
  expect(git(join(made.dir, 'lib'), 'rev-parse', 'HEAD')).toBe(moved);
  commit(made.dir);
  const record = await make(made, { rules: CHECKED_OUT });
  expect(await apartIn(record)).toEqual([]);
  const turn = await seen(made, record, (at) => put(at, { 'lib/deep/new.h': 'n' }));
  expect(turn.unkept).toEqual({ 'lib/deep/new.h': expect.stringContaining('lib/deep is a submodule') });
  expect((await apartIn(record)).map(({ path }) => path)).toEqual(['lib/deep']);
});

test('what the set-up left in the place of a submodule is nobody’s work, and stays when a turn begins over', async () => {
  const made = workspace(true);
  const setup = [['cp', join(made.lib, 'one.txt'), 'lib/one.txt']];
  const record = await make(made, { rules: { ...RULES, setup } });
  const turn = await seen(made, record, () => undefined);
  expect([turn.unkept, await apartIn(record)]).toEqual([{}, []]);
  expect((await beginTurn(made.stateDir, turn.record, watch(1, { begins: 'over' }))).stashed).toBe(null);
  expect(existsSync(join(record.cwd, 'lib/one.txt'))).toBe(true);
});

test.each<[string, Partial<Watch>, string[]]>([
  ['alone', {}, ['inc', 'new.h']],
  ['beside others, of its own paths', { beside: ['lib/new.h', 'src'] }, ['new.h']],
])('a turn that begins over finds no file there, and they are kept: %s', async (_what, more, gone) => {
  const made = workspace(true);
  const { record } = await seen(made, await make(made), (at) => put(at, { 'lib/new.h': 'n', 'lib/inc/x.h': 'x' }));
  const { stashed: aside } = await beginTurn(made.stateDir, record, watch(1, { begins: 'over', ...more }));
  const all = ['inc', 'new.h'];
  expect(readdirSync(join(record.cwd, 'lib'))).toEqual(all.filter((name) => !gone.includes(name)));
  const apart = join(`${record.folder}.apart`, gone.length === 2 ? 'lib' : '');
  expect([readdirSync(apart), aside?.ref]).toEqual([gone, expect.stringContaining('.apart')]);
});

test('beside others what lies there outside of every scope is moved away too', async () => {
  const made = workspace(true);
  const { record } = await beginTurn(made.stateDir, await make(made), watch(1, { beside: ['lib/inc'] }));
  put(record.cwd, { 'lib/new.h': 'n', 'lib/inc/x.h': 'x' });
  const aside = await dropStrays(made.stateDir, record, watch(1, { beside: ['lib/inc'] }));
  expect([aside?.ref, readdirSync(join(record.cwd, 'lib'))]).toEqual([
    join(`${record.folder}.apart`, 'new.h'),
    ['inc'],
  ]);
});

test('what can be committed is, beside what cannot, and what cannot is told and stays', async () => {
  const made = workspace();
  const turn = await seen(made, await make(made), (at) => {
    git(at, 'init', '-q', 'empty');
    git(at, 'init', '-q', 'sub');
    put(at, { 'empty/f': 'e', 'sub/f': 's', 'work.txt': 'w' });
    commit(join(at, 'sub'));
  });
  await treeOfWork(made.stateDir, turn.record);
  const { record, untaken = [] } = await keepTurn(made.stateDir, turn.record, watch(1), turn.changes);
  expect(filesOf(made)).toEqual(['.gitignore', 'one.txt', 'work.txt']);
  expect(untaken).toEqual([OWN, expect.stringContaining('does not have a commit checked out')]);
  expect(await apartIn(record)).toEqual([
    { path: 'empty', what: '1 file not committed' },
    { path: 'sub', what: '1 commit' },
  ]);
  await expect(removeWorktree(made.stateDir, record, 'undone')).rejects.toThrow('work that is nowhere else');
  expect(existsSync(join(record.folder, 'sub/f'))).toBe(true);
});

test('a turn that begins over finds no repository of its first attempt, which is kept beside the worktree', async () => {
  const made = workspace();
  const { record } = await seen(made, await make(made), (at) => {
    git(at, 'init', '-q', 'a/sub');
    put(at, { 'a/sub/f': 's', 'work.txt': 'w' });
  });
  const { stashed: aside } = await beginTurn(made.stateDir, record, watch(1, { begins: 'over' }));
  const apart = join(`${record.folder}.apart`, 'sub');
  expect(aside?.ref).toMatch(/^refs\/baton\/c1\/turn-1-\w+ and .*sub$/);
  expect([existsSync(join(record.cwd, 'a/sub')), readFileSync(join(apart, 'f'), 'utf8')]).toEqual([false, 's']);
});

test('beside others a repository outside of every scope is moved away too', async () => {
  const made = workspace();
  const { record } = await beginTurn(made.stateDir, await make(made), watch(1, { beside: ['src'] }));
  git(record.cwd, 'init', '-q', 'sub');
  put(record.cwd, { 'sub/f': 's' });
  const aside = await dropStrays(made.stateDir, record, watch(1, { beside: ['src'] }));
  expect([aside?.ref, existsSync(join(record.cwd, 'sub'))]).toEqual([join(`${record.folder}.apart`, 'sub'), false]);
});

const HIDING: [string, (at: string) => void, string[]][] = [
  [
    'a file that is to be taken for absent',
    (at) => [git(at, 'update-index', '--skip-worktree', 'one.txt'), put(at, { 'one.txt': 'w' })],
    ['one.txt'],
  ],
  [
    'a file that is to be taken for unchanged',
    (at) => [git(at, 'update-index', '--assume-unchanged', 'one.txt'), put(at, { 'one.txt': 'w' })],
    ['one.txt'],
  ],
  [
    'rules in a file of the agent',
    (at) => [
      put(at, { '../rules': 'new.txt\n' }),
      git(at, 'config', 'core.excludesFile', join(at, '../rules')),
      put(at, { 'new.txt': 'w' }),
    ],
    ['new.txt'],
  ],
  [
    'rules of git’s own',
    (at) => [
      put(git(at, 'rev-parse', '--path-format=absolute', '--git-common-dir'), { 'info/exclude': 'new.txt\n' }),
      put(at, { 'new.txt': 'w' }),
    ],
    ['new.txt'],
  ],
  ['rules that are on the branch too', (at) => put(at, { '.gitignore': 'state\nout\n', 'out/o': 'o' }), ['.gitignore']],
  ['what was ignored before', (at) => put(at, { 'x.log': 'x', 'dist/d': 'd', 'new.txt': 'n' }), ['new.txt']],
];

test.each(HIDING)(
  'what was seen to change is committed, whatever hides it from git: %s',
  async (_what, work, files) => {
    for (const beside of [null, ['.']]) {
      const made = workspace();
      const turn = await seen(made, await make(made), work);
      const on = beside === null ? turn.record : { ...turn.record, open: { 1: beside } };
      await keepTurn(made.stateDir, on, watch(1, { beside }), turn.changes);
      expect(git(made.dir, 'diff', '--name-only', 'main', 'baton/c1').split('\n')).toEqual(files);
    }
  },
);

test('what somebody made and git ignores is counted before it goes; what the set-up left is not', async () => {
  const made = workspace();
  const setup = [
    ['mkdir', 'dist'],
    ['touch', 'dist/setup', 'setup.log'],
  ];
  const record = await make(made, { rules: { ...RULES, setup } });
  put(record.cwd, { 'dist/more': 'm' });
  expect(noticeOfOrphaned(await orphanedIn(record))).toBe('');
  put(record.cwd, { 'a/dist/1': '1', 'a/dist/2': '2', 'x.log': 'x' });
  expect(noticeOfOrphaned(await orphanedIn(record))).toBe(
    '3 ignored files were left behind and are removed with it (a/dist/, x.log)',
  );
});

test('a set-up that was wrong is taken from the configuration of now, once that says something else', async () => {
  const made = workspace();
  const wrong = { ...RULES, setup: [['false']] };
  const right = { ...RULES, setup: [['touch', 'x.log']] };
  const failing = 'correct that, or worktree in the configuration, then carry on';
  await expect(make(made, { rules: wrong, now: wrong })).rejects.toThrow(failing);
  await expect(make(made, { rules: wrong, now: wrong })).rejects.toThrow(failing);
  const worse = { ...RULES, setup: [['flase']] };
  await expect(make(made, { rules: wrong, now: worse })).rejects.toThrow('set-up step flase');
  const record = await make(made, { rules: wrong, now: right });
  expect([existsSync(join(record.cwd, 'x.log')), record.mended]).toEqual([true, right]);
});

test('a cast keeps the set-up it was started with where the workspace says another all along', async () => {
  const made = workspace();
  const own = { ...RULES, setup: [['touch', 'x.log']] };
  const now = { ...RULES, setup: [['false']] };
  expect(existsSync(join((await make(made, { rules: own, now })).cwd, 'x.log'))).toBe(true);
});

test('of what is to be copied, a name that is missing is told and a file that git has is refused', async () => {
  const made = workspace();
  const said: string[] = [];
  await make(made, { rules: { ...RULES, copy: ['none.log'] }, warn: (line) => said.push(line) });
  expect(said).toEqual(['there is no none.log to copy into the worktree (worktree.copy)']);
  const tracked = { ...RULES, copy: ['one.txt'] };
  await expect(make(workspace(), { rules: tracked })).rejects.toThrow('git has one.txt');
});

test('a set-up that leaves a repository where git does not ignore it is refused', async () => {
  const made = workspace();
  await expect(make(made, { rules: { ...RULES, setup: [['git', 'init', '-q', 'sub']] } })).rejects.toThrow(
    'left sub, a git repository of its own',
  );
  expect(readRecord(made.stateDir, 'c1')?.state).toBe('making');
});
