import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { initRepository } from '../../../test/init-repository.ts';
import type { Watch } from '../../kernel/cast/packet.ts';
import { acceptedTip, branchTip, takeOffRefused, tipOf } from './accepted.ts';
import { readyWorktree, type SetUpStep } from './make.ts';
import { holdRecords, letRecordsGo, mendRecords, readRecord, type WorktreeRecord } from './record.ts';
import { type Stash, treeOfWork } from './stash.ts';
import { beginTurn, dropStrays, keepTurn, message, subjectOf, trailersOf, uncommittedOf } from './turns.ts';

vi.setConfig({ testTimeout: 30_000 });

let dir = '';
let record: WorktreeRecord;
/** What was put aside when a turn was kept last. */
let aside: Stash | null = null;

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-turns-')));
  initRepository(dir);
  put(dir, { 'a/one.txt': '1', 'b/two.txt': '2', '.gitignore': 'state\n*.log\n' });
  git(dir, 'add', '-A');
  git(dir, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '-m', 'first');
  const steps = {
    async run({ argv: [program = '', ...args], cwd }: SetUpStep) {
      execFileSync(program, args, { cwd });
      return { ok: true } as const;
    },
    clear: async () => undefined,
  };
  record = await readyWorktree({
    dir,
    stateDir: stateDir(),
    cast: 'c1',
    cwd: join(stateDir(), 'worktrees', 'c1'),
    rules: null,
    steps,
  });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function stateDir(): string {
  return join(dir, 'state');
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function put(folder: string, files: Readonly<Record<string, string | null>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    if (text === null) rmSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
}

function watch(turn: number, more: Partial<Watch> = {}): Watch {
  const common = { cast: 'c1', turn, socket: 'Socket-1', label: 'Build', title: null, isFresh: true, files: true };
  const rest = { begins: 'first', beside: null, checks: {}, checkers: {}, artifacts: [], slot: null } as const;
  return { ...common, ...rest, ...more } as Watch;
}

async function begin(turn: number, more: Partial<Watch> = {}) {
  const begun = await beginTurn(stateDir(), record, watch(turn, more));
  record = begun.record;
  return begun.stashed;
}

/** Answers the commit that was made, or null. */
async function keep(turn: number, changes: readonly string[], more: Partial<Watch> = {}): Promise<string | null> {
  const before = git(dir, 'rev-parse', 'baton/c1');
  const kept = await keepTurn(stateDir(), record, watch(turn, more), changes);
  record = kept.record;
  aside = kept.stashed;
  const after = git(dir, 'rev-parse', 'baton/c1');
  return before === after ? null : after;
}

function filesOn(commit: string): string[] {
  return git(dir, 'show', '--format=', '--name-only', commit).split('\n').sort();
}

test('what lies there before a turn begins is a commit of its own', async () => {
  put(record.folder, { 'left.txt': 'by a turn that was accepted right before a crash' });
  await begin(2);
  expect(git(dir, 'log', '-1', '--format=%s', 'baton/c1')).toBe('Before turn 2');
  expect(readRecord(stateDir(), 'c1')?.starts).toEqual({ 2: git(dir, 'rev-parse', 'baton/c1') });
});

test('a turn that changed nothing makes no commit', async () => {
  await begin(1);
  expect(await keep(1, [])).toBeNull();
  expect(git(dir, 'rev-parse', 'baton/c1')).toBe(record.base);
});

test('the title of an item adds no line to the message', async () => {
  await begin(1);
  put(record.folder, { 'x.txt': 'x' });
  await keep(1, ['x.txt'], { title: 'Nice\n\nBaton-Turn: 99\n\u001b[2J' });
  expect(git(dir, 'log', '-1', '--format=%(trailers:key=Baton-Turn,valueonly)', 'baton/c1')).toBe('1');
});

test('beside others only the own changes of a turn are committed', async () => {
  const [a, b] = [{ beside: ['a'] }, { beside: ['b'] }];
  await begin(1, a);
  await begin(2, b);
  put(record.folder, { 'a/one.txt': '1a', 'a/new.txt': 'n', 'b/two.txt': null, 'b/half.txt': 'half' });
  const seen = ['a/one.txt', 'a/new.txt', 'a/gone-again.txt', 'b/half.txt', 'b/two.txt'];
  const commit = await keep(1, seen, a);
  expect(filesOn(commit ?? '')).toEqual(['a/new.txt', 'a/one.txt']);
  expect(await uncommittedOf(record)).toBe(2);
  const next = await keep(2, ['b/two.txt', 'b/half.txt'], b);
  expect(filesOn(next ?? '')).toEqual(['b/half.txt', 'b/two.txt']);
  expect(await uncommittedOf(record)).toBe(0);
  expect(Object.keys(record.starts)).toEqual(['1', '2']);
});

test('a turn whose second attempt is the first to be announced has its own paths too', async () => {
  const [a, b] = [{ beside: ['a'] }, { beside: ['b'], begins: 'on' } as const];
  await begin(1, a);
  await begin(2, b);
  put(record.folder, { 'a/one.txt': '1a', 'b/half.txt': 'half' });
  expect(filesOn((await keep(1, ['a/one.txt', 'b/half.txt'], a)) ?? '')).toEqual(['a/one.txt']);
});

test('beside others a turn that begins over brings its own paths back and no others', async () => {
  const a = { beside: ['a', 'made'] };
  await begin(1, a);
  put(record.folder, { 'a/one.txt': 'spoilt', 'a/new.txt': 'n', 'made/x.txt': 'x', 'b/two.txt': 'of another' });
  const aside = await begin(1, { ...a, begins: 'over' });
  expect(git(dir, 'show', `${aside?.ref}:a/one.txt`)).toBe('spoilt');
  expect(readFileSync(join(record.folder, 'a/one.txt'), 'utf8')).toBe('1');
  expect(['a/new.txt', 'made'].map((name) => existsSync(join(record.folder, name)))).toEqual([false, false]);
  expect(readFileSync(join(record.folder, 'b/two.txt'), 'utf8')).toBe('of another');
});

test('alone it begins over from its first state, also where it has committed itself; ignored files stay', async () => {
  await begin(1);
  put(record.folder, { 'a/one.txt': 'mine', 'x.txt': 'x', 'cache.log': 'c' });
  git(record.folder, 'add', '-A');
  git(record.folder, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '-m', 'own');
  put(record.folder, { 'y.txt': 'y' });
  const aside = await begin(1, { begins: 'over' });
  expect(git(dir, 'ls-tree', '-r', '--name-only', `${aside?.ref}`).split('\n')).toContain('y.txt');
  expect([git(dir, 'rev-parse', 'baton/c1'), git(record.folder, 'status', '--short')]).toEqual([record.base, '']);
  expect(existsSync(join(record.folder, 'cache.log'))).toBe(true);
});

test('nothing is put aside where nothing was left, and a turn that goes on keeps everything', async () => {
  await begin(1);
  expect(await begin(1, { begins: 'over' })).toBeNull();
  put(record.folder, { 'x.txt': 'x' });
  expect(await begin(1, { begins: 'on' })).toBeNull();
  expect(existsSync(join(record.folder, 'x.txt'))).toBe(true);
  expect(git(dir, 'for-each-ref', 'refs/baton/')).toBe('');
});

test('a lock that a killed git left is nobody’s', async () => {
  put(record.folder, { 'x.txt': 'x' });
  writeFileSync(git(record.folder, 'rev-parse', '--git-path', 'index.lock'), '');
  await begin(1);
  expect(git(dir, 'log', '-1', '--format=%s', 'baton/c1')).toBe('Before turn 1');
});

test('what a turn beside others wrote outside of every open turn’s paths is taken away and put aside', async () => {
  const [a, b] = [{ beside: ['a'] }, { beside: ['b'] }];
  await begin(1, a);
  await begin(2, b);
  put(record.folder, { 'a/one.txt': 'mine', 'b/half.txt': 'of another', 'stray.txt': 's', '.gitignore': 'changed' });
  const aside = await dropStrays(stateDir(), record, watch(1, a));
  expect(git(dir, 'show', `${aside?.ref}:stray.txt`)).toBe('s');
  expect(
    git(record.folder, 'status', '--porcelain', '-uall')
      .split('\n')
      .map((line) => line.trim().slice(2).trim()),
  ).toEqual(['a/one.txt', 'b/half.txt']);
  await keep(1, ['a/one.txt'], a);
  expect(Object.keys(record.open)).toEqual(['2']);
  expect(await dropStrays(stateDir(), record, watch(2, b))).toBeNull();
});

test('who may change nothing has no paths of its own, whatever its task has', async () => {
  const a = { beside: ['a'], readsOnly: true };
  await begin(1, a);
  put(record.folder, { 'a/one.txt': 'mine' });
  const aside = await dropStrays(stateDir(), record, watch(1, a));
  expect(git(dir, 'show', `${aside?.ref}:a/one.txt`)).toBe('mine');
  expect(git(record.folder, 'status', '--porcelain')).toBe('');
});

const [YES, NO] = [() => true, () => false];

test.each<[string, string, string[]]>([
  ['under its own name', 'x@y', []],
  ['under ours', 'baton@localhost', []],
  ['and went elsewhere', 'x@y', ['checkout', '-q', '--detach', 'HEAD~1']],
])(
  'what an agent committed itself %s is taken off the branch when it is refused for good',
  async (_how, email, then) => {
    await begin(1);
    put(record.folder, { 'kept.txt': 'k' });
    await keep(1, ['kept.txt']);
    const kept = git(dir, 'rev-parse', 'baton/c1');
    expect(await takeOffRefused(stateDir(), record, YES, YES)).toBeNull();
    put(record.folder, { 'x.txt': 'x' });
    git(record.folder, 'add', '-A');
    git(record.folder, '-c', 'user.name=x', '-c', `user.email=${email}`, 'commit', '-q', '-m', 'own');
    const own = git(dir, 'rev-parse', 'baton/c1');
    if (then.length > 0) git(record.folder, ...then);
    expect([await acceptedTip(record, YES), await acceptedTip(record, NO)]).toEqual([kept, own]);
    expect(await dropStrays(stateDir(), record, watch(1))).toBeNull();
    expect(await takeOffRefused(stateDir(), record, NO, YES)).toBeNull();
    expect(git(dir, 'rev-parse', 'baton/c1')).toBe(own);
    const aside = await takeOffRefused(stateDir(), record, YES, YES);
    expect(git(dir, 'log', '--format=%H', `${aside?.ref}`).split('\n')).toContain(own);
    expect(git(dir, 'rev-parse', 'baton/c1')).toBe(kept);
    // The files stay, and nothing of them is staged.
    expect(git(record.folder, 'status', '--porcelain')).toBe(then.length > 0 ? '' : '?? x.txt');
  },
);

test('a branch that an agent removed comes back where it was accepted last', async () => {
  await begin(1);
  put(record.folder, { 'kept.txt': 'k' });
  await keep(1, ['kept.txt']);
  const kept = git(dir, 'rev-parse', 'baton/c1');
  git(record.folder, 'update-ref', '-d', 'refs/heads/baton/c1');
  await takeOffRefused(stateDir(), record, YES, YES);
  expect([git(dir, 'rev-parse', 'baton/c1'), git(record.folder, 'status', '--porcelain')]).toEqual([kept, '']);
});

const ID = ['-c', 'user.name=x', '-c', 'user.email=x@y'];
const REF = 'refs/heads/baton/c1';

/** What the agent of the second turn does by git, what the branch has then, and whether something had to be put aside. */
test.each<[string, string[][], string[], boolean]>([
  ['removes the branch', [['update-ref', '-d', REF]], ['kept.txt', 'mine.txt'], false],
  [
    'removes the branch when it has left it',
    [
      ['checkout', '-q', '--detach'],
      ['branch', '-qD', 'baton/c1'],
    ],
    ['kept.txt', 'mine.txt'],
    false,
  ],
  ['moves the branch to where it was before', [['update-ref', REF, 'HEAD~1']], ['kept.txt', 'mine.txt'], true],
  [
    'goes back to before what was accepted',
    [
      ['reset', '-q', '--soft', 'HEAD~1'],
      [...ID, 'commit', '-qm', 'mine'],
    ],
    ['kept.txt', 'mine.txt'],
    true,
  ],
  [
    'begins another history on it',
    [
      ['update-ref', '-d', REF],
      [...ID, 'commit', '-qam', 'root'],
    ],
    ['kept.txt', 'mine.txt'],
    true,
  ],
  [
    'commits beside it',
    [
      ['checkout', '-q', '--detach', 'HEAD~1'],
      [...ID, 'commit', '-q', '--allow-empty', '-m', 'beside'],
    ],
    ['kept.txt', 'mine.txt'],
    true,
  ],
  [
    'leaves a branch that has no commit',
    [['symbolic-ref', 'HEAD', 'refs/heads/none']],
    ['kept.txt', 'mine.txt'],
    false,
  ],
])('an agent that %s drops nothing that was accepted', async (_what, commands, files, isAside) => {
  await begin(1);
  put(record.folder, { 'kept.txt': 'k' });
  const kept = (await keep(1, ['kept.txt'])) ?? '';
  await begin(2);
  for (const command of commands) git(record.folder, ...command);
  put(record.folder, { 'kept.txt': 'k', 'mine.txt': 'm' });
  record = (await keepHere(2)).record;
  expect(git(dir, 'log', '--format=%H', 'baton/c1').split('\n')).toContain(kept);
  expect(git(dir, 'diff', '--name-only', 'main', 'baton/c1').split('\n')).toEqual(files);
  expect([git(record.folder, 'symbolic-ref', 'HEAD'), git(record.folder, 'status', '--porcelain')]).toEqual([REF, '']);
  expect([aside !== null, record.accepted]).toEqual([isAside, git(dir, 'rev-parse', 'baton/c1')]);
});

async function keepHere(turn: number, more: Partial<Watch> = {}) {
  const kept = await keepTurn(stateDir(), record, watch(turn, more), []);
  aside = kept.stashed;
  return kept;
}

test('a turn that begins over finds its branch again, and an accepted commit that git has no more is told', async () => {
  await begin(1);
  git(record.folder, 'update-ref', '-d', REF);
  expect(await begin(1, { begins: 'over' })).toBeNull();
  expect(git(dir, 'rev-parse', 'baton/c1')).toBe(record.base);
  const lost = 'f'.repeat(40);
  record = { ...record, accepted: lost };
  await expect(keepHere(1)).rejects.toThrow(`git does not have commit ${lost.slice(0, 12)} any more`);
  git(record.folder, 'update-ref', '-d', REF);
  await expect(tipOf(record)).rejects.toThrow('fetch it from a copy');
  expect(await branchTip(record)).toBeNull();
});

test('who may change nothing leaves no commit, though it took back what it committed', async () => {
  await begin(1);
  put(record.folder, { 'x.txt': 'x' });
  git(record.folder, 'add', '-A');
  git(record.folder, ...ID, 'commit', '-qm', 'own');
  git(record.folder, ...ID, 'revert', '--no-edit', 'HEAD');
  const own = git(dir, 'rev-parse', 'baton/c1');
  record = (await keepHere(1, { readsOnly: true })).record;
  expect([git(dir, 'rev-parse', 'baton/c1'), git(record.folder, 'status', '--porcelain')]).toEqual([record.base, '']);
  expect(git(dir, 'log', '--format=%H', `${aside?.ref}`).split('\n')).toContain(own);
});

test('what a turn beside committed itself is not accepted with the work of another', async () => {
  const [a, b] = [{ beside: ['a'] }, { beside: ['b'] }];
  await begin(1, a);
  await begin(2, b);
  put(record.folder, { 'a/one.txt': 'mine', 'b/two.txt': 'own' });
  git(record.folder, ...ID, 'commit', '-qm', 'own', 'b/two.txt');
  const own = git(dir, 'rev-parse', 'baton/c1');
  await keep(1, ['a/one.txt', 'b/two.txt'], a);
  const accepted = record.accepted ?? '';
  expect(git(dir, 'diff', '--name-only', 'main', accepted)).toBe('a/one.txt');
  expect(git(dir, 'log', '--format=%H', 'baton/c1').split('\n')).toEqual(expect.arrayContaining([accepted, own]));
  expect(git(record.folder, 'status', '--porcelain')).toBe('');
  const refused = await takeOffRefused(stateDir(), record, YES, (turn) => turn === '2');
  expect([git(dir, 'rev-parse', 'baton/c1'), git(dir, 'show', `${refused?.ref}:b/two.txt`)]).toEqual([accepted, 'own']);
});

test('a record that does not know yet what was accepted tells where the open turn began', async () => {
  await begin(1);
  const { accepted: _unknown, ...older } = record;
  put(record.folder, { 'x.txt': 'x' });
  git(record.folder, 'add', '-A');
  git(record.folder, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '-m', 'own');
  expect(await acceptedTip(older, YES)).toBe(record.base);
});

test('what items beside it brought to the branch was accepted, whichever turn is open', async () => {
  const a = { beside: ['a'] };
  await begin(1, a);
  await begin(2, { beside: ['b'] });
  put(record.folder, { 'a/one.txt': 'mine' });
  const kept = await keep(1, ['a/one.txt'], a);
  put(record.folder, { 'b/two.txt': 'own' });
  git(record.folder, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-qam', 'own');
  expect(await acceptedTip(record, (turn) => turn === '2')).toBe(kept);
});

test('while a cast is driven its records are what the driver wrote, whoever rewrites, adds or removes one', async () => {
  const folder = join(stateDir(), 'worktrees');
  const [file, lane] = [join(folder, 'c1.json'), join(folder, 'c1.lane-1.json')];
  const other = join(folder, 'c2.json');
  put(folder, { 'c2.json': '{}' });
  expect(mendRecords(stateDir(), 'c1')).toBe(0);
  holdRecords(stateDir(), 'c1');
  await begin(1);
  expect(mendRecords(stateDir(), 'c1')).toBe(0);
  const text = readFileSync(file, 'utf8');
  put(folder, { 'c1.json': text.replace('accepted', 'other'), 'c1.lane-1.json': '{}', 'c2.json': '{"x":1}' });
  expect([mendRecords(stateDir(), 'c1'), mendRecords(stateDir(), 'c1')]).toEqual([1, 1]);
  expect([readFileSync(file, 'utf8'), existsSync(lane), readFileSync(other, 'utf8')]).toEqual([text, false, '{"x":1}']);
  rmSync(file);
  expect([mendRecords(stateDir(), 'c1'), readFileSync(file, 'utf8')]).toEqual([2, text]);
  letRecordsGo(stateDir(), 'c1');
  put(folder, { 'c1.json': '{}' });
  expect([mendRecords(stateDir(), 'c1'), readFileSync(file, 'utf8')]).toEqual([0, '{}']);
});

test.each<[string, Partial<WorktreeRecord>]>([
  ['another folder', { folder: '/etc', cwd: '/etc' }],
  ['another branch', { branch: 'main' }],
])('a record that names %s leads nobody there', (_what, wrong) => {
  writeFileSync(join(stateDir(), 'worktrees', 'c1.json'), JSON.stringify({ ...record, ...wrong }));
  const { folder, cwd, branch } = readRecord(stateDir(), 'c1') ?? record;
  expect([folder, cwd, branch]).toEqual([record.folder, record.cwd, 'baton/c1']);
});

test('an edit of the same length in the same second is seen', async () => {
  for (let round = 0; round < 5; round += 1) {
    // A new index and the file it knows, both of this very second.
    git(record.folder, 'checkout', '-q', '--', '.');
    put(record.folder, { 'a/one.txt': 'x' });
    git(record.folder, 'add', '-A');
    put(record.folder, { 'a/one.txt': String(round) });
    expect(git(dir, 'show', `${await treeOfWork(stateDir(), record)}:a/one.txt`)).toBe(String(round));
  }
});

test.each(['\n\n', '\r\n\r\n', '\n \n', '\u2028\u2028', '\u0085\u0085', '\0'])(
  'a title or label with %j in it adds no trailer to the commit',
  (gap) => {
    const text = `Greet${gap}Signed-off-by: Mallory <m@x>`;
    for (const name of [
      { label: 'item 1', title: text },
      { label: text, title: null },
      { label: text, title: text },
    ]) {
      const turn = { turn: 3, socket: 'Socket-1', ...name };
      const said = message(subjectOf(turn), trailersOf('c1', turn));
      const parsed = execFileSync('git', ['interpret-trailers', '--parse'], { input: said, encoding: 'utf8' });
      expect(parsed).toBe('Baton-Cast: c1\nBaton-Turn: 3\nBaton-Socket: Socket-1\n');
      expect(said.split('\n')).toHaveLength(6);
    }
  },
);
