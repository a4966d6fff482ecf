// Ways to keep git from showing a change. Each is found all the same, at the top of a repository and below it; what was
// ignored before the work began is nobody's, and is not walked into.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { changesBetween, snapshotOf } from './changes.ts';
import { rulesAtTop } from './changes-ignored.ts';
import { ChangesError } from './changes-mark.ts';

type Files = Readonly<Record<string, string>>;

function folder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-hidden-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function put(dir: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
}

function git(dir: string, ...args: string[]): string {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...who, ...args], { cwd: dir, stdio: 'pipe', encoding: 'utf8' }).trim();
}

const OUTSIDE = '../rules-elsewhere';

/** A repository, and the folder in it that is looked at. Packages and an environment that ignores itself lie in it. */
function repository(at: string): [top: string, dir: string] {
  const top = join(folder(), 'repository');
  const dir = join(top, at);
  put(dir, {
    'src/a.ts': 'aa',
    'src/b.ts': 'bb',
    'docs/c.md': 'cc',
    '.gitignore': 'node_modules/\n*.log\n!kept.log\n',
  });
  put(top, { '.gitignore': '/build\n', [OUTSIDE]: 'swap/\n' });
  if (dir === top) put(top, { '.gitignore': 'node_modules/\n*.log\n!kept.log\n/build\n' });
  git(top, 'init', '-q');
  git(top, 'add', '.');
  git(top, 'commit', '-qm', 'one');
  git(top, 'config', 'core.excludesFile', join(top, OUTSIDE));
  put(dir, {
    'node_modules/p/i.js': 'p',
    '.venv/.gitignore': '*\n',
    '.venv/lib/x.py': 'x',
    'x.log': 'x',
    'swap/s': 's',
  });
  return [top, dir];
}

async function changed(dir: string, work: () => void): Promise<readonly string[]> {
  const before = JSON.parse(JSON.stringify(await snapshotOf(dir)));
  work();
  return changesBetween(before, await snapshotOf(dir, { since: before })).map(({ path }) => path);
}

/** Another text of the same size, with the times of the one before. */
function swap(file: string): void {
  const { atime, mtime } = statSync(file);
  writeFileSync(file, 'zz');
  utimesSync(file, atime, mtime);
}

const HIDDEN: [string, (dir: string, top: string) => void, readonly string[]][] = [
  [
    'a rule in the .gitignore that is there',
    (dir) => put(dir, { '.gitignore': 'node_modules/\n*.log\n/out\n', 'out/o': 'o' }),
    ['.gitignore', 'out/o'],
  ],
  [
    'a .gitignore of a folder',
    (dir) => put(dir, { 'src/.gitignore': 'gen/\n', 'src/gen/g': 'g' }),
    ['src/.gitignore', 'src/gen/g'],
  ],
  [
    'a .gitignore that ignores itself',
    (dir) => put(dir, { 'src/.gitignore': '*\n', 'src/g': 'g' }),
    ['src/.gitignore', 'src/g'],
  ],
  [
    'a new folder that ignores all of itself',
    (dir) => put(dir, { 'n/.gitignore': '*\n', 'n/g': 'g' }),
    ['n/.gitignore', 'n/g'],
  ],
  [
    'a folder of packages in a place that was not ignored',
    (dir) => put(dir, { '.gitignore': '*\n', 'out/node_modules/p': 'p', 'out/o': 'o' }),
    ['.gitignore', 'out/o'],
  ],
  [
    'no rules any more',
    (dir) => {
      put(dir, { '.gitignore': '' });
      rmSync(join(dir, '.venv/.gitignore'));
    },
    ['.gitignore'],
  ],
  [
    'info/exclude',
    (dir, top) =>
      put(top, { '.git/info/exclude': 'out\n', [`${dir.slice(top.length + 1)}/out`.replace(/^\//, '')]: 'o' }),
    ['.git/info/exclude', 'out'],
  ],
  [
    'core.excludesFile',
    (dir, top) => {
      put(top, { '../other-rules': 'out\n' });
      git(top, 'config', 'core.excludesFile', join(top, '../other-rules'));
      put(dir, { out: 'o' });
    },
    ['.git/config', 'out'],
  ],
  [
    'core.excludesFile of the worktree alone',
    (dir, top) => {
      put(top, { '../other-rules': 'out\n' });
      git(top, 'config', 'extensions.worktreeConfig', 'true');
      git(top, 'config', '--worktree', 'core.excludesFile', join(top, '../other-rules'));
      put(dir, { out: 'o' });
    },
    ['.git/config', '.git/config.worktree', 'out'],
  ],
  [
    'more rules where core.excludesFile leads',
    (dir, top) => {
      put(top, { [OUTSIDE]: 'swap/\nout\n' });
      put(dir, { out: 'o' });
    },
    ['out'],
  ],
  [
    'assume-unchanged',
    (dir) => {
      git(dir, 'update-index', '--assume-unchanged', 'src/a.ts', 'src/b.ts');
      put(dir, { 'src/a.ts': 'A' });
    },
    ['src/a.ts'],
  ],
  [
    'skip-worktree',
    (dir) => {
      git(dir, 'update-index', '--skip-worktree', 'src/a.ts', 'src/b.ts');
      put(dir, { 'src/a.ts': 'A' });
    },
    ['src/a.ts'],
  ],
  [
    'both, and the file is gone',
    (dir) => {
      git(dir, 'update-index', '--skip-worktree', 'src/a.ts');
      git(dir, 'update-index', '--assume-unchanged', 'src/a.ts');
      rmSync(join(dir, 'src/a.ts'));
    },
    ['src/a.ts'],
  ],
  [
    'orders of an agent program, ignored before or not',
    (dir) => put(dir, { '.claude/settings.local.json': '{}', '.claude/skills/x.log': 'x', 'swap/t': 't' }),
    ['.claude/settings.local.json', '.claude/skills/x.log'],
  ],
  [
    'a sparse checkout',
    (_, top) => void git(top, 'sparse-checkout', 'set', '--no-cone', '/*', '!b.ts'),
    ['.git/config', '.git/config.worktree', '.git/info/sparse-checkout', 'src/b.ts'],
  ],
  [
    'a mode that does not count',
    (dir) => {
      git(dir, 'config', 'core.fileMode', 'false');
      chmodSync(join(dir, 'src/a.ts'), 0o755);
    },
    ['.git/config', 'src/a.ts'],
  ],
  [
    'the same size and the same time, and no other number counts',
    (dir) => {
      git(dir, 'config', 'core.trustctime', 'false');
      git(dir, 'config', 'core.checkStat', 'minimal');
      swap(join(dir, 'src/a.ts'));
    },
    ['.git/config', 'src/a.ts'],
  ],
  [
    'another commit in the place of the last one',
    (dir) => {
      put(dir, { 'src/a.ts': 'A' });
      git(dir, 'add', 'src');
      git(dir, 'replace', 'HEAD', git(dir, 'commit-tree', git(dir, 'write-tree'), '-m', 'two'));
    },
    [expect.stringMatching(/^\.git\/refs\/replace\/[0-9a-f]{40}$/), 'src/a.ts'],
  ],
  ['info/attributes', (_, top) => put(top, { '.git/info/attributes': '* text\n' }), ['.git/info/attributes']],
  [
    'core.attributesFile',
    (dir, top) => {
      put(top, { '../attributes': '* filter=same\n' });
      git(top, 'config', 'core.attributesFile', join(top, '../attributes'));
      git(top, 'config', 'filter.same.clean', 'printf aa');
      swap(join(dir, 'src/a.ts'));
    },
    ['.git/config', 'src/a.ts'],
  ],
];

const NOBODYS: typeof HIDDEN = [
  ['a bit alone', (dir) => void git(dir, 'update-index', '--skip-worktree', 'src/a.ts'), []],
  [
    'what was ignored before, whatever the rules are now',
    (dir) => {
      put(dir, {
        'node_modules/p/i.js': 'q',
        'node_modules/q/i.js': 'q',
        '.venv/lib/y.py': 'y',
        'swap/t': 't',
        'src/y.log': 'y',
      });
    },
    [],
  ],
  ['what a rule took out of the ignored', (dir) => put(dir, { 'src/kept.log': 'k' }), ['src/kept.log']],
];

for (const at of ['', 'pkg/inner']) {
  test.each([...HIDDEN, ...NOBODYS])(`in "${at}": %s`, async (_, work, expected) => {
    const [top, dir] = repository(at);
    expect(await changed(dir, () => work(dir, top))).toEqual(expected);
  });
}

test('what a link in the place of orders leads to is what is obeyed, and an untouched one is no change', async () => {
  const [, dir] = repository('');
  mkdirSync(join(dir, '.claude'));
  symlinkSync('../docs/c.md', join(dir, '.claude/settings.json'));
  git(dir, 'add', '-f', '.claude');
  git(dir, 'commit', '-qm', 'two');
  expect(await changed(dir, () => put(dir, { 'src/a.ts': 'A' }))).toEqual(['src/a.ts']);
  expect(await changed(dir, () => put(dir, { 'docs/c.md': '{"hooks":{}}' }))).toEqual([
    '.claude/settings.json',
    'docs/c.md',
  ]);
});

test('a rule above the folder that is looked at, also one that ignores the folder itself', async () => {
  for (const rule of ['out', '/pkg', 'inner/']) {
    const [top, dir] = repository('pkg/inner');
    const found = await changed(dir, () => {
      put(top, { '.gitignore': '/build\n', 'pkg/.gitignore': `${rule}\n`, 'build/x': 'x' });
      put(top, { '.gitignore': `/build\n${rule}\n` });
      put(dir, { out: 'o' });
    });
    expect([rule, found]).toEqual([rule, ['out']]);
  }
});

test('where temporary files lie in the folder, ours are none of its changes, however many rules there are', async () => {
  const [, dir] = repository('');
  put(dir, { 'docs/.gitignore': 'a-rule\n'.repeat(20_000) });
  const kept = process.env.TMPDIR;
  onTestFinished(() => {
    if (kept === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = kept;
  });
  process.env.TMPDIR = dir;
  git(dir, 'update-index', '--skip-worktree', 'src/b.ts');
  expect(await changed(dir, () => put(dir, { 'src/a.ts': 'A', rules: 'r' }))).toEqual(['rules', 'src/a.ts']);
});

test('as many bytes, in the second in which git last looked, are found also a second later', async () => {
  const [, dir] = repository('');
  const before = await snapshotOf(dir);
  await sleep(1_000 - (Date.now() % 1_000));
  put(dir, { 'src/a.ts': 'aa' });
  git(dir, 'update-index', '--refresh', '--skip-worktree', 'src/a.ts');
  put(dir, { 'src/a.ts': 'zz' });
  await sleep(1_000);
  expect(changesBetween(before, await snapshotOf(dir, { since: before })).map(({ path }) => path)).toEqual([
    'src/a.ts',
  ]);
});

test('a repository that looks elsewhere cannot tell any more, and says so', async () => {
  for (const at of ['', 'pkg/inner']) {
    const [top, dir] = repository(at);
    const before = await snapshotOf(dir);
    git(top, 'config', 'core.worktree', dirname(top));
    await expect(snapshotOf(dir, { since: before })).rejects.toThrow(ChangesError);
  }
});

test('what was ignored before the work began is not walked into', async () => {
  const home = folder();
  const trace = join(home, 'trace');
  const kept = process.env.HOME;
  onTestFinished(() => {
    if (kept === undefined) delete process.env.HOME;
    else process.env.HOME = kept;
  });
  process.env.HOME = home;
  put(home, { '.gitconfig': `[trace2]\n  perfTarget = ${trace}\n  perfBrief = true\n` });
  const visited = async (packages: number) => {
    const [, dir] = repository('');
    for (let n = 0; n < packages; n++) put(dir, { [`node_modules/p${n}/lib/i.js`]: 'p' });
    const before = await snapshotOf(dir);
    put(dir, { '.gitignore': '' });
    writeFileSync(trace, '');
    const after = await snapshotOf(dir, { since: before });
    expect(Object.keys({ ...before.files, ...after.files }).filter((path) => path.includes('node_modules'))).toEqual(
      [],
    );
    return readFileSync(trace, 'utf8').match(/directories-visited:\d+/g);
  };
  const few = await visited(1);
  expect(few).not.toBeNull();
  expect(await visited(40)).toEqual(few);
});

test.each<[string, Files, string]>([
  ['the top', { '.gitignore': 'a\n/b\nc/d\n' }, 'a\n/b\nc/d\n'],
  ['a folder', { 's/.gitignore': 'a\na/\n/b\nc/d\nc/d/\n' }, '/s/**/a\n/s/**/a/\n/s/b\n/s/c/d\n/s/c/d/\n'],
  ['what is not ignored after all', { 's/.gitignore': '!a\n!/b\n\\!c\n' }, '!/s/**/a\n!/s/b\n/s/**/\\!c\n'],
  ['remarks, empty lines, blanks, marks', { '.gitignore': '\ufeff# x\r\n\r\na  \r\nb\\ \n\\#c' }, 'a\nb\\ \n\\#c\n'],
  ['signs in the name of a folder', { 's*[x]?/.gitignore': 'a\n' }, '/s\\*\\[x\\]\\?/**/a\n'],
  ['a lone slash', { 's/.gitignore': '/\n!\n' }, ''],
  [
    'the more special ones last',
    { 's/t/.gitignore': '4', '.git/info/exclude': '2', '.gitignore': '3', 'core.excludesFile': '1' },
    '1\n2\n3\n/s/t/**/4\n',
  ],
])('rules in one file: %s', (_, rules, expected) => {
  expect(rulesAtTop(rules).map((line) => `${line}\n`)).toEqual(expected.split(/(?<=\n)/).filter((line) => line !== ''));
});
