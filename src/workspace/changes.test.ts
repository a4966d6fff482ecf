import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { changesBetween, snapshotOf } from './changes.ts';
import { parseStatus } from './changes-git.ts';
import { ChangesError } from './changes-mark.ts';

type Files = Readonly<Record<string, string>>;

function folder(files: Files = {}): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-changes-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  put(dir, files);
  return dir;
}

function put(dir: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
}

function git(dir: string, ...args: string[]): void {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'init.defaultBranch=main'];
  execFileSync('git', [...who, ...args], { cwd: dir, stdio: 'pipe' });
}

const BEFORE: Files = {
  'src/a.ts': 'a',
  'src/b.ts': 'b',
  'docs/c.md': 'c',
  'dirty.txt': 'clean',
  '.gitignore': 'ignored/\n',
};

/** A repository with one commit, a file that differs from it, and one that it does not know. */
function repository(): string {
  const dir = folder(BEFORE);
  git(dir, 'init', '-q');
  git(dir, 'add', '.');
  git(dir, 'commit', '-qm', 'one');
  put(dir, { 'dirty.txt': 'dirty before', 'new.txt': 'new before', 'ignored/x': 'x' });
  return dir;
}

function plain(): string {
  return folder({ ...BEFORE, 'dirty.txt': 'dirty before', 'new.txt': 'new before' });
}

async function changed(dir: string, work: () => void): Promise<readonly string[]> {
  const before = JSON.parse(JSON.stringify(await snapshotOf(dir)));
  work();
  return changesBetween(before, await snapshotOf(dir, { since: before })).map(({ path }) => path);
}

const CASES: [string, (dir: string) => void, readonly string[]][] = [
  ['nothing', () => undefined, []],
  ['an edit', (dir) => put(dir, { 'src/a.ts': 'A' }), ['src/a.ts']],
  ['an edit of the same length', (dir) => put(dir, { 'src/a.ts': 'z' }), ['src/a.ts']],
  ['an edit of what differed before', (dir) => put(dir, { 'dirty.txt': 'dirty after' }), ['dirty.txt']],
  ['an edit of what was new before', (dir) => put(dir, { 'new.txt': 'new after!' }), ['new.txt']],
  ['a new file', (dir) => put(dir, { 'src/deep/er/n.ts': 'n' }), ['src/deep/er/n.ts']],
  ['a name with spaces and letters', (dir) => put(dir, { 'src/ä "q" x.ts': 'n' }), ['src/ä "q" x.ts']],
  ['a deleted file', (dir) => rmSync(join(dir, 'src/a.ts')), ['src/a.ts']],
  ['a deleted file that was new', (dir) => rmSync(join(dir, 'new.txt')), ['new.txt']],
  ['a rename', (dir) => renameSync(join(dir, 'src/a.ts'), join(dir, 'src/z.ts')), ['src/a.ts', 'src/z.ts']],
  ['a folder that was moved', (dir) => renameSync(join(dir, 'docs'), join(dir, 'dox')), ['docs/c.md', 'dox/c.md']],
  ['a mode', (dir) => chmodSync(join(dir, 'src/a.ts'), 0o755), ['src/a.ts']],
  ['a mode of what was new before', (dir) => chmodSync(join(dir, 'new.txt'), 0o755), ['new.txt']],
  ['a link', (dir) => symlinkSync('/etc', join(dir, 'etc')), ['etc']],
  [
    'a link in the place of a file',
    (dir) => {
      rmSync(join(dir, 'src/a.ts'));
      symlinkSync('b.ts', join(dir, 'src/a.ts'));
    },
    ['src/a.ts'],
  ],
  [
    'a folder in the place of a file',
    (dir) => {
      rmSync(join(dir, 'src/a.ts'));
      put(dir, { 'src/a.ts/x': 'x' });
    },
    ['src/a.ts', 'src/a.ts/x'],
  ],
  ['a touch without a change', (dir) => utimesSync(join(dir, 'src/a.ts'), 1, 1), []],
  [
    'an edit that was taken back',
    (dir) => {
      put(dir, { 'src/a.ts': 'other' });
      put(dir, { 'src/a.ts': 'a' });
    },
    [],
  ],
  ['our own state', (dir) => put(dir, { '.baton/state/log.sqlite': 'x' }), []],
  ['what governs the work', (dir) => put(dir, { '.baton/config.json': '{}' }), ['.baton/config.json']],
];

test.each(CASES)('without git: %s', async (_, work, expected) => {
  const dir = plain();
  expect(await changed(dir, () => work(dir))).toEqual(expected);
});

test.each(CASES)('with git: %s', async (_, work, expected) => {
  const dir = repository();
  expect(await changed(dir, () => work(dir))).toEqual(expected);
});

/** Other bytes, as many as before, with the times put back. */
function disguise(file: string): void {
  const { atime, mtime, size } = statSync(file);
  const handle = openSync(file, 'r+');
  writeSync(handle, 'z', size - 1);
  closeSync(handle);
  utimesSync(file, atime, mtime);
}

const LARGE = 64 * 1024 * 1024 + 1;

/** What is there before: a link to a file, one to a folder, a second name outside the folder, and a file too large to read. */
function disguisable(dir: string): string {
  symlinkSync('src/a.ts', join(dir, 'link'));
  symlinkSync('docs', join(dir, 'folder'));
  truncateSync(join(dir, 'new.txt'), LARGE);
  const outside = join(folder(), 'second-name');
  linkSync(join(dir, 'src/b.ts'), outside);
  return outside;
}

const DISGUISED: [string, (dir: string, outside: string) => void, readonly string[]][] = [
  ['nothing', () => undefined, []],
  ['as many bytes, with the times put back', (dir) => disguise(join(dir, 'src/a.ts')), ['src/a.ts']],
  ['the same in a file that differed before', (dir) => disguise(join(dir, 'dirty.txt')), ['dirty.txt']],
  ['the same in a file too large to read', (dir) => disguise(join(dir, 'new.txt')), ['new.txt']],
  ['a change by another name of the file', (_, outside) => disguise(outside), ['src/b.ts']],
  [
    'a second name of another file in its place',
    (dir) => {
      rmSync(join(dir, 'src/a.ts'));
      linkSync(join(dir, 'src/b.ts'), join(dir, 'src/a.ts'));
    },
    ['src/a.ts'],
  ],
  ['a second name of a file', (dir) => linkSync(join(dir, 'src/b.ts'), join(dir, 'src/c.ts')), ['src/c.ts']],
  [
    'a copy in the place of a file with two names',
    (dir) => {
      rmSync(join(dir, 'src/b.ts'));
      put(dir, { 'src/b.ts': 'b' });
    },
    [],
  ],
  [
    'a link that leads elsewhere, by a name as long',
    (dir) => {
      rmSync(join(dir, 'link'));
      symlinkSync('src/b.ts', join(dir, 'link'));
    },
    ['link'],
  ],
  [
    'a file with the content that the link led to',
    (dir) => {
      rmSync(join(dir, 'link'));
      put(dir, { link: 'a' });
    },
    ['link'],
  ],
  ['a change behind a link', (dir) => put(dir, { 'folder/c.md': 'C' }), ['docs/c.md']],
  [
    'a link to a folder in the place of a folder',
    (dir) => {
      renameSync(join(dir, 'src'), join(folder(), 'src'));
      symlinkSync('docs', join(dir, 'src'));
    },
    ['src', 'src/a.ts', 'src/b.ts'],
  ],
  ['a mode that lets its owner run it', (dir) => chmodSync(join(dir, 'src/a.ts'), 0o744), ['src/a.ts']],
  ['a mode that lets nobody else read it', (dir) => chmodSync(join(dir, 'src/a.ts'), 0o600), []],
];

test.each(DISGUISED)('without git, in disguise: %s', async (_, work, expected) => {
  const dir = plain();
  const outside = disguisable(dir);
  await sleep(110);
  expect(await changed(dir, () => work(dir, outside))).toEqual(expected);
});

test.each(DISGUISED)('with git, in disguise: %s', async (_, work, expected) => {
  const dir = repository();
  const outside = disguisable(dir);
  await sleep(110);
  expect(await changed(dir, () => work(dir, outside))).toEqual(expected);
});

test.each<[string, (dir: string) => void, readonly string[]]>([
  [
    'a commit',
    (dir) => {
      put(dir, { 'src/a.ts': 'A', 'src/n.ts': 'n' });
      git(dir, 'add', 'src');
      git(dir, 'commit', '-qm', 'two');
    },
    ['src/a.ts', 'src/n.ts'],
  ],
  [
    'a commit of what differed before, as it was',
    (dir) => {
      git(dir, 'add', '.');
      git(dir, 'commit', '-qm', 'two');
    },
    [],
  ],
  ['staging alone', (dir) => git(dir, 'add', '.'), []],
  ['taking back what differed before', (dir) => git(dir, 'checkout', 'dirty.txt'), ['dirty.txt']],
  ['an ignored file', (dir) => put(dir, { 'ignored/y': 'y' }), []],
  [
    'a file that git is told not to look at',
    (dir) => {
      git(dir, 'update-index', '--assume-unchanged', 'src/a.ts');
      put(dir, { 'src/a.ts': 'hidden' });
    },
    ['src/a.ts'],
  ],
  [
    'an exclusion behind the back of the commit',
    (dir) => put(dir, { '.git/info/exclude': 'sneaky\n', sneaky: 'x' }),
    ['.git/info/exclude', 'sneaky'],
  ],
  [
    'a repository inside',
    (dir) => {
      put(dir, { 'inner/x': 'x' });
      git(join(dir, 'inner'), 'init', '-q');
    },
    ['inner/x'],
  ],
  [
    'a hook',
    (dir) => put(dir, { '.git/hooks/post-index-change': '#!/bin/sh\ntouch ran\n' }),
    ['.git/hooks/post-index-change'],
  ],
])('with git: %s', async (_, work, expected) => {
  const dir = repository();
  expect(await changed(dir, () => work(dir))).toEqual(expected);
  expect(existsSync(join(dir, 'ran'))).toBe(false);
});

test('a repository without a commit, and its first one', async () => {
  const dir = folder({ 'a.txt': 'a' });
  git(dir, 'init', '-q');
  const found = await changed(dir, () => {
    put(dir, { 'b.txt': 'b' });
    git(dir, 'add', '.');
    git(dir, 'commit', '-qm', 'one');
  });
  expect(found).toEqual(['b.txt']);
});

test('of a repository only the folder that is asked about, by its own paths', async () => {
  const dir = folder({ 'pkg/a.ts': 'a', 'other/b.ts': 'b' });
  git(dir, 'init', '-q');
  git(dir, 'add', '.');
  git(dir, 'commit', '-qm', 'one');
  const pkg = join(dir, 'pkg');
  const found = await changed(pkg, () => {
    put(dir, { 'pkg/a.ts': 'A', 'pkg/n.ts': 'n', 'other/b.ts': 'B' });
    git(dir, 'commit', '-qam', 'two');
  });
  expect(found).toEqual(['a.ts', 'n.ts']);
});

test('a folder that its repository ignores is looked at file by file', async () => {
  const dir = repository();
  const inner = join(dir, 'ignored');
  expect(await changed(inner, () => put(inner, { y: 'y' }))).toEqual(['y']);
});

test('a repository that is gone cannot tell any more, and says so', async () => {
  const dir = repository();
  const before = await snapshotOf(dir);
  rmSync(join(dir, '.git'), { recursive: true });
  await expect(snapshotOf(dir, { since: before })).rejects.toThrow(ChangesError);
});

test('a repository that was made in between does not hide what was there', async () => {
  const dir = plain();
  const found = await changed(dir, () => {
    put(dir, { 'src/a.ts': 'A' });
    git(dir, 'init', '-q');
    git(dir, 'add', '.');
    git(dir, 'commit', '-qm', 'one');
  });
  expect(found).toEqual(['src/a.ts']);
});

test('what was not ignored at the beginning counts, whatever the rules are at the end', async () => {
  const found = await changed(repository(), () => undefined);
  expect(found).toEqual([]);
  const dir = repository();
  const hidden = await changed(dir, () => {
    put(dir, { '.gitignore': 'ignored/\nout/\n*.log\n', 'src/.gitignore': 'gen\n' });
    put(dir, { 'out/b': 'b', 'x.log': 'l', 'src/gen/y': 'y', 'ignored/new': 'n', 'deep/ignored/z': 'z' });
  });
  expect(hidden).toEqual(['.gitignore', 'out/b', 'src/.gitignore', 'src/gen/y', 'x.log']);
});

test('a change says what the file is now', async () => {
  const dir = plain();
  const before = await snapshotOf(dir);
  put(dir, { 'src/a.ts': 'A' });
  chmodSync(join(dir, 'src/a.ts'), 0o755);
  rmSync(join(dir, 'src/b.ts'));
  symlinkSync('a.ts', join(dir, 'src/l.ts'));
  expect(changesBetween(before, await snapshotOf(dir, { since: before }))).toEqual([
    { path: 'src/a.ts', digest: 'sha256:559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd' },
    { path: 'src/b.ts', digest: null },
    { path: 'src/l.ts', digest: 'link:a.ts' },
  ]);
});

test('a file whose numbers did not change is not read again', async () => {
  const dir = plain();
  await sleep(150);
  const before = await snapshotOf(dir);
  const mark = before.files['src/a.ts'];
  if (!mark) throw new Error('the file was not seen');
  const { ino } = statSync(join(dir, 'src/a.ts'));
  expect(mark.ino).toBe(ino);
  const known = { ...before, files: { ...before.files, 'src/a.ts': { ...mark, content: 'sha256:remembered' } } };
  expect((await snapshotOf(dir, { known })).files['src/a.ts']?.content).toBe('sha256:remembered');
});

test('the output of git is read to the byte', () => {
  const lines = [
    '1 .M N... 100644 100644 100644 aa bb a b',
    '2 R. N... 100644 100644 100644 aa bb R100 new',
    'old',
    'u UU N... 1 2 3 4 a b c con flict',
    '? un tracked/',
    '! ignored',
    '1 .M S.M. 160000 160000 160000 aa bb module',
    '# branch.oid x',
    '',
  ];
  const { paths, modules, untracked } = parseStatus(Buffer.from(lines.join('\0')));
  expect(paths.map(String)).toEqual(['a b', 'old', 'new', 'con flict']);
  expect(untracked.map(String)).toEqual(['un tracked/']);
  expect(modules.map(({ bytes }) => String(bytes))).toEqual(['module']);
});
