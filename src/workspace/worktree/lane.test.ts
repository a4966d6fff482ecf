// Worktrees of items that walk side by side: where they begin, how they are merged, and what is left after a crash anywhere.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { initRepository } from '../../../test/init-repository.ts';
import type { Watch } from '../../kernel/cast/packet.ts';
import { catchUp, takeOffRefused } from './accepted.ts';
import { beginInLane, dropStraysInLane, keepInLane, leftoversOf, mergeLane, removeLane } from './lane.ts';
import { readyLane, readyWorktree, type SetUpStep, type Steps } from './make.ts';
import {
  asInCast,
  type LaneRecord,
  lanesOf,
  readLane,
  readRecord,
  type WorktreeRecord,
  worktreeStates,
  writeRecord,
} from './record.ts';
import { beginTurn, commitAccepted, keepTurn, uncommittedOf } from './turns.ts';

vi.setConfig({ testTimeout: 60_000 });

let dir = '';
let own: WorktreeRecord;
let lanes: LaneRecord[] = [];
let steps: SetUpStep[] = [];

const runs: Steps = {
  async run(step) {
    const [program = '', ...args] = step.argv;
    steps.push(step);
    execFileSync(program, args, { cwd: step.cwd });
    return { ok: true };
  },
  clear: async () => undefined,
};

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-lane-')));
  initRepository(dir);
  put(dir, { 'a.txt': '1\n2\n3\n', 'b.txt': 'b\n', '.gitignore': 'state\n*.log\n' });
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', 'first');
  steps = [];
  own = await readyWorktree(wanted());
  lanes = [await readyLane(wanted(), own, 1), await readyLane(wanted(), own, 2)];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function wanted() {
  const rules = { setup: [['touch', 'set.log']], copy: [], timeoutMs: 10_000 };
  const cwd = join(dir, 'state', 'home', 'worktrees', 'p-0123abcd', 'c1');
  return { dir, stateDir: stateDir(), cast: 'c1', cwd, rules, steps: runs };
}

function stateDir(): string {
  return join(dir, 'state');
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function read(folder: string, name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

function watch(place: number, task: string, turn: number, more: Partial<Watch> = {}): Watch {
  const common = {
    cast: 'c1',
    turn,
    attempt: 1,
    socket: 'Socket-2',
    task,
    place,
    label: 'Worker',
    title: `Item ${task}`,
  };
  return { ...common, begins: 'first', beside: ['.'], isFresh: true, files: true, ...more } as Watch;
}

function lane(place: number): LaneRecord {
  const found = lanes[place - 1];
  if (!found) throw new Error(`there is no lane ${place}`);
  return found;
}

async function begin(place: number, task: string, turn: number, more: Partial<Watch> = {}) {
  const begun = await beginInLane(stateDir(), own, lane(place), watch(place, task, turn, more));
  lanes[place - 1] = begun.record;
  return begun.stashed;
}

async function work(place: number, task: string, turn: number, files: Readonly<Record<string, string>>): Promise<void> {
  await begin(place, task, turn);
  put(lane(place).folder, files);
  lanes[place - 1] = (await keepInLane(stateDir(), lane(place), watch(place, task, turn))).record;
}

async function merge(place: number, task: string, turn: number) {
  const merged = await mergeLane(stateDir(), own, lane(place), watch(place, task, turn));
  own = merged.own;
  lanes[place - 1] = merged.lane;
  return merged.end;
}

const YES = () => true;
const tip = () => git(dir, 'rev-parse', 'baton/c1');

test('each is set up like the cast’s own, on a branch beside it, and belongs to the same cast', () => {
  expect(lanes.map(({ branch }) => branch)).toEqual(['baton/c1.lane-1', 'baton/c1.lane-2']);
  expect([own, ...lanes].map(({ folder }) => existsSync(join(folder, 'set.log')))).toEqual([true, true, true]);
  expect(steps.at(-1)?.env).toMatchObject({ BATON_CAST: 'c1', BATON_LANE: '2' });
  expect([...worktreeStates(stateDir())]).toEqual([['c1', 'ready']]);
  expect(lanesOf(stateDir(), 'c1').map(({ lane }) => lane.place)).toEqual([1, 2]);
  expect(asInCast(stateDir(), join(lane(2).folder, 'src/x.ts'))).toBe(join(own.folder, 'src/x.ts'));
  expect(asInCast(stateDir(), '/tmp/c1.lane-2/x')).toBe('/tmp/c1.lane-2/x');
});

test.each<[string, unknown]>([
  ['another place', { place: 9, task: 'T-1', kept: 2, conflicts: ['a.txt'] }],
  ['nothing that fits', { place: null, task: 7, kept: 'x', conflicts: 'a.txt' }],
  ['another branch', null],
])('a record that was changed by hand leads nowhere else: %s', (what, wrong) => {
  const record = { ...lane(1), branch: 'main', folder: '/etc', cwd: '/etc', lane: wrong };
  writeFileSync(join(stateDir(), 'worktrees', 'c1.lane-1.json'), JSON.stringify(record));
  const found = readLane(stateDir(), 'c1', 1);
  if (wrong === null) return expect(found).toBeNull();
  expect([found?.branch, found?.folder, found?.lane.place]).toEqual([
    'baton/c1.lane-1',
    join(stateDir(), 'worktrees', 'c1.lane-1'),
    1,
  ]);
  const isFit = what === 'another place';
  expect([found?.lane.task, found?.lane.conflicts]).toEqual(isFit ? ['T-1', ['a.txt']] : [null, []]);
});

test('items that changed different files are both in the branch, and in the cast’s own files', async () => {
  await work(1, 'T-1', 2, { 'a.txt': '1\n2\n3\nfour\n', 'new/one.txt': '1' });
  await work(2, 'T-2', 3, { 'b.txt': 'B\n' });
  expect(await merge(1, 'T-1', 2)).toEqual({ ok: true, commit: git(dir, 'rev-parse', 'baton/c1.lane-1') });
  const end = await merge(2, 'T-2', 3);
  expect(end).toEqual({ ok: true, commit: tip() });
  expect(git(dir, 'log', '-1', '--format=%s|%(trailers:key=Baton-Attempt,valueonly)', 'baton/c1')).toBe(
    'Merge Worker: Item T-2 (turn 3)|3.1',
  );
  expect([read(own.folder, 'a.txt'), read(own.folder, 'b.txt')]).toEqual(['1\n2\n3\nfour\n', 'B\n']);
  expect([await uncommittedOf(own), existsSync(join(own.folder, 'new/one.txt'))]).toEqual([0, true]);
});

test('asked again, a merge that is done is not done again', async () => {
  await work(1, 'T-1', 2, { 'a.txt': 'x\n' });
  await work(2, 'T-2', 3, { 'b.txt': 'B\n' });
  await merge(1, 'T-1', 2);
  await merge(2, 'T-2', 3);
  const before = tip();
  expect(await merge(2, 'T-2', 3)).toEqual({ ok: true, commit: before });
  expect(await merge(1, 'T-1', 2)).toEqual({ ok: true, commit: before });
  expect(tip()).toBe(before);
});

test('the next item begins from the branch as it is by then, and the worktree is used again', async () => {
  await work(2, 'T-2', 3, { 'b.txt': 'B\n' });
  await work(1, 'T-1', 2, { 'a.txt': 'x\n' });
  await merge(1, 'T-1', 2);
  await merge(2, 'T-2', 3);
  expect(await begin(1, 'T-3', 4)).toBeNull();
  expect([git(lane(1).folder, 'rev-parse', 'HEAD'), read(lane(1).folder, 'b.txt')]).toEqual([tip(), 'B\n']);
  expect(existsSync(join(lane(1).folder, 'set.log'))).toBe(true);
});

test('what an earlier item left unmerged is put aside before another one begins', async () => {
  await work(1, 'T-1', 2, { 'a.txt': 'mine\n' });
  put(lane(1).folder, { 'half.txt': 'half' });
  const aside = await begin(1, 'T-2', 3);
  expect([git(dir, 'show', `${aside?.ref}:a.txt`), git(dir, 'show', `${aside?.ref}:half.txt`)]).toEqual([
    'mine',
    'half',
  ]);
  expect([read(lane(1).folder, 'a.txt'), existsSync(join(lane(1).folder, 'half.txt'))]).toEqual(['1\n2\n3\n', false]);
});

test('an item that wrote nothing here has nothing to merge, whatever another one left', async () => {
  await work(1, 'T-1', 2, { 'a.txt': 'mine\n' });
  expect(await merge(1, 'T-9', 3)).toEqual({ ok: true, commit: null });
  expect(tip()).toBe(own.base);
});

async function clash(): Promise<void> {
  await work(1, 'T-1', 2, { 'a.txt': '1\nmine\n3\n', 'own.txt': 'own' });
  await work(2, 'T-2', 3, { 'a.txt': '1\ntheirs\n3\n' });
  await merge(2, 'T-2', 3);
}

test('a conflict leaves the branch as it is and puts both versions where the item is; mended, it is merged', async () => {
  await clash();
  const before = tip();
  expect(await merge(1, 'T-1', 2)).toMatchObject({ ok: false, files: ['a.txt'] });
  expect([tip(), await uncommittedOf(own)]).toEqual([before, 0]);
  const both = read(lane(1).folder, 'a.txt');
  for (const part of ['<<<<<<<', 'mine', '=======', 'theirs', '>>>>>>>']) expect(both).toContain(part);
  expect([git(lane(1).folder, 'status', '--short'), read(lane(1).folder, 'own.txt')]).toEqual(['', 'own']);
  await work(1, 'T-1', 4, { 'a.txt': '1\nmine and theirs\n3\n' });
  expect(await merge(1, 'T-1', 4)).toMatchObject({ ok: true });
  expect([read(own.folder, 'a.txt'), read(own.folder, 'own.txt')]).toEqual(['1\nmine and theirs\n3\n', 'own']);
});

test('what is not mended is not merged, and asked again a conflict is the same conflict', async () => {
  await clash();
  await merge(1, 'T-1', 2);
  const both = git(dir, 'rev-parse', 'baton/c1.lane-1');
  expect(await merge(1, 'T-1', 2)).toMatchObject({ ok: false, files: ['a.txt'] });
  expect(git(dir, 'rev-parse', 'baton/c1.lane-1')).toBe(both);
  await work(1, 'T-1', 4, { 'other.txt': 'x' });
  expect(await merge(1, 'T-1', 4)).toMatchObject({ ok: false, files: ['a.txt'] });
});

test.each<[string, (theirs: string) => void]>([
  ['one removed what the other changed', (theirs) => rmSync(join(theirs, 'a.txt'))],
  [
    'one has a folder where the other has a file',
    (theirs) => {
      rmSync(join(theirs, 'a.txt'));
      put(theirs, { 'a.txt/x': 'x' });
    },
  ],
])('%s: that is a conflict too', async (_what, change) => {
  await work(1, 'T-1', 2, { 'a.txt': 'mine\n' });
  await begin(2, 'T-2', 3);
  change(lane(2).folder);
  lanes[1] = (await keepInLane(stateDir(), lane(2), watch(2, 'T-2', 3))).record;
  await merge(2, 'T-2', 3);
  const end = await merge(1, 'T-1', 2);
  expect([end.ok, end.ok ? [] : end.files[0]]).toEqual([false, expect.stringContaining('a.txt')]);
});

test('accepted right before a crash: the merge commits what was not committed yet, and nothing that came later', async () => {
  await begin(1, 'T-1', 2);
  put(lane(1).folder, { 'a.txt': 'accepted\n' });
  await merge(1, 'T-1', 2);
  expect(git(dir, 'show', 'baton/c1:a.txt')).toBe('accepted');
  put(lane(1).folder, { 'late.txt': 'by somebody who was not told that it is over' });
  await merge(1, 'T-1', 2);
  expect(git(dir, 'ls-tree', '--name-only', 'baton/c1').split('\n')).not.toContain('late.txt');
  expect(await leftoversOf(lane(1), tip())).toEqual({ commits: 0, files: 1 });
});

/** As a crash leaves it: the branch was moved, and the files only in part. */
async function cutOff(files: Readonly<Record<string, string>>): Promise<void> {
  await work(1, 'T-1', 2, { 'a.txt': 'merged\n', 'new.txt': 'new\n' });
  const before = tip();
  own = writeRecord(stateDir(), { ...own, behind: before });
  git(dir, 'update-ref', 'refs/heads/baton/c1', 'refs/heads/baton/c1.lane-1');
  put(own.folder, files);
}

test.each<[string, Readonly<Record<string, string>>, number]>([
  ['before any file', {}, 0],
  ['after some of the files', { 'a.txt': 'merged\n' }, 1],
  ['after all of them', { 'a.txt': 'merged\n', 'new.txt': 'new\n' }, 0],
  ['beside somebody’s own change', { 'b.txt': 'of somebody' }, 0],
])('cut off while the files are moved, %s: nothing of it looks taken back', async (_when, files, asides) => {
  await cutOff(files);
  const { record } = await catchUp(stateDir(), readRecord(stateDir(), 'c1') ?? own, 2);
  expect([record.behind, readRecord(stateDir(), 'c1')?.behind]).toEqual([undefined, undefined]);
  expect([read(own.folder, 'a.txt'), read(own.folder, 'new.txt')]).toEqual(['merged\n', 'new\n']);
  expect(await uncommittedOf(own)).toBe(files['b.txt'] ? 1 : 0);
  expect(git(dir, 'for-each-ref', 'refs/baton/').split('\n').filter(Boolean)).toHaveLength(asides);
});

/** An item that has no worktree of its own has committed there, and is not over yet. */
async function commitsInOwn(files: Readonly<Record<string, string>>): Promise<string> {
  own = (await beginTurn(stateDir(), own, watch(0, 'T-9', 9, { beside: ['b.txt', 'c.txt'] }))).record;
  put(own.folder, files);
  git(own.folder, 'add', '-A');
  git(own.folder, 'commit', '-qm', 'own');
  return tip();
}

test.each([true, false])(
  'what an item committed in the cast’s own worktree is not accepted by a merge beside it, nor lost: accepted %s',
  async (isAccepted) => {
    await work(1, 'T-1', 2, { 'a.txt': 'merged\n' });
    const mine = await commitsInOwn({ 'c.txt': 'c\n' });
    put(own.folder, { 'b.txt': 'half\n' });
    await begin(2, 'T-2', 3);
    expect(existsSync(join(lane(2).folder, 'c.txt'))).toBe(false);
    const end = await merge(1, 'T-1', 2);
    expect([end, own.accepted]).toEqual([{ ok: true, commit: own.accepted }, git(dir, 'rev-parse', 'baton/c1^1')]);
    expect(git(dir, 'diff', '--name-only', 'main', own.accepted ?? '')).toBe('a.txt');
    expect(git(dir, 'log', '--format=%H', 'baton/c1').split('\n')).toContain(mine);
    expect([read(own.folder, 'a.txt'), read(own.folder, 'b.txt'), read(own.folder, 'c.txt')]).toEqual([
      'merged\n',
      'half\n',
      'c\n',
    ]);
    expect(await merge(1, 'T-1', 2)).toEqual(end);
    if (isAccepted) {
      const nine = watch(0, 'T-9', 9, { beside: ['b.txt', 'c.txt'] });
      own = (await keepTurn(stateDir(), own, nine, ['b.txt', 'c.txt'])).record;
    } else await takeOffRefused(stateDir(), own, YES, YES);
    const all = isAccepted ? ['a.txt', 'b.txt', 'c.txt'] : ['a.txt'];
    expect(git(dir, 'diff', '--name-only', 'main', 'baton/c1').split('\n')).toEqual(all);
    expect(git(dir, 'for-each-ref', 'refs/baton/') === '').toBe(isAccepted);
  },
);

test('what an item committed in the way of a merge is put aside', async () => {
  await work(1, 'T-1', 2, { 'a.txt': 'merged\n' });
  const mine = await commitsInOwn({ 'a.txt': 'strayed\n', 'c.txt': 'c\n' });
  expect(await merge(1, 'T-1', 2)).toMatchObject({ ok: true });
  expect([tip(), read(own.folder, 'a.txt'), read(own.folder, 'c.txt')]).toEqual([own.accepted, 'merged\n', 'c\n']);
  expect(git(dir, 'log', '--format=%H', '--glob=refs/baton/*').split('\n')).toContain(mine);
});

test.each(['baton/c1', 'baton/c1.lane-1'])('an item whose agent removed %s is merged all the same', async (name) => {
  await work(2, 'T-2', 2, { 'b.txt': 'B\n' });
  await merge(2, 'T-2', 2);
  await begin(1, 'T-1', 3);
  put(lane(1).folder, { 'a.txt': 'x\n' });
  git(lane(1).folder, 'update-ref', '-d', `refs/heads/${name}`);
  lanes[0] = (await keepInLane(stateDir(), lane(1), watch(1, 'T-1', 3))).record;
  git(lane(1).folder, 'update-ref', '-d', `refs/heads/${name}`);
  expect(await leftoversOf(lane(1), own.accepted ?? '')).toEqual({ commits: 1, files: 0 });
  git(lane(1).folder, 'update-ref', '-d', `refs/heads/${name}`);
  expect(await merge(1, 'T-1', 3)).toEqual({ ok: true, commit: tip() });
  expect(git(dir, 'diff', '--name-only', 'main', 'baton/c1').split('\n')).toEqual(['a.txt', 'b.txt']);
});

test('cut off before the branch was moved, what an agent committed meanwhile is not accepted', async () => {
  await work(1, 'T-1', 2, { 'a.txt': 'merged\n' });
  const before = await commitsInOwn({ 'c.txt': 'c\n' });
  own = writeRecord(stateDir(), { ...own, behind: before, reaches: lane(1).accepted ?? '' });
  put(own.folder, { 'c.txt': 'more\n' });
  git(own.folder, 'commit', '-qam', 'more');
  own = (await catchUp(stateDir(), own, 2)).record;
  expect([own.accepted, own.reaches, read(own.folder, 'c.txt')]).toEqual([own.base, undefined, 'more\n']);
});

test('what is in the way of a merge is put aside, never lost', async () => {
  put(own.folder, { 'a.txt': 'of somebody\n', 'b.txt': 'also\n' });
  await work(1, 'T-1', 2, { 'a.txt': 'merged\n' });
  expect(await merge(1, 'T-1', 2)).toMatchObject({ ok: true });
  expect([read(own.folder, 'a.txt'), read(own.folder, 'b.txt')]).toEqual(['merged\n', 'also\n']);
  const [aside = ''] = git(dir, 'for-each-ref', '--format=%(refname)', 'refs/baton/').split('\n');
  expect(git(dir, 'show', `${aside}:a.txt`)).toBe('of somebody');
});

test('what a turn wrote outside of its paths is taken away, and the rest stays', async () => {
  await begin(1, 'T-1', 2);
  put(lane(1).folder, { 'a.txt': 'mine\n', 'stray.txt': 's' });
  const aside = await dropStraysInLane(stateDir(), lane(1), watch(1, 'T-1', 2, { beside: ['a.txt'] }));
  expect(git(dir, 'show', `${aside?.ref}:stray.txt`)).toBe('s');
  expect([read(lane(1).folder, 'a.txt'), existsSync(join(lane(1).folder, 'stray.txt'))]).toEqual(['mine\n', false]);
});

test('a stray that the agent committed itself is taken away too, and nothing is moved under the agent', async () => {
  await begin(1, 'T-1', 2);
  put(lane(1).folder, { 'a.txt': 'mine\n', 'stray.txt': 's' });
  git(lane(1).folder, 'add', '-A');
  git(lane(1).folder, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '-m', 'own');
  const own = git(dir, 'rev-parse', lane(1).branch);
  const aside = await dropStraysInLane(stateDir(), lane(1), watch(1, 'T-1', 2, { beside: ['a.txt'] }));
  expect(git(dir, 'show', `${aside?.ref}:stray.txt`)).toBe('s');
  expect([git(dir, 'rev-parse', lane(1).branch), read(lane(1).folder, 'a.txt')]).toEqual([own, 'mine\n']);
  expect(existsSync(join(lane(1).folder, 'stray.txt'))).toBe(false);
});

test.each<[string, readonly string[], readonly string[]]>([
  ['all that began is over', [], []],
  ['some may still be refused', ['8'], ['b.txt']],
])('after a crash what was accepted is committed before others begin from it: %s', async (_when, open, left) => {
  own = writeRecord(stateDir(), { ...own, starts: { 7: own.base, 8: own.base }, open: { 7: ['a.txt'], 8: ['b.txt'] } });
  put(own.folder, { 'a.txt': 'accepted\n', 'b.txt': 'perhaps\n' });
  await commitAccepted(stateDir(), own, (turn) => open.includes(turn));
  expect(git(dir, 'show', 'baton/c1:a.txt')).toBe('accepted');
  expect(git(own.folder, 'diff', '--name-only').split('\n').filter(Boolean)).toEqual(left);
});

test('taken away, nothing of it is left, and the cast’s own stays', async () => {
  put(lane(1).cwd, { 'set.log': 's', 'a/q.log': 'q' });
  // What an agent made and git ignores goes with it, which whoever takes it away can tell.
  expect(await removeLane(stateDir(), lane(1))).toEqual({ count: 1, places: ['a/q.log'] });
  expect(lanesOf(stateDir(), 'c1').map(({ lane }) => lane.place)).toEqual([2]);
  expect([existsSync(lane(1).folder), git(dir, 'branch', '--list', 'baton/c1.lane-1')]).toEqual([false, '']);
  expect([existsSync(own.folder), git(dir, 'branch', '--list', 'baton/c1') !== '']).toEqual([true, true]);
});
