// What build tools read besides what their command names, and which programs scripts are run by.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { digestAt, TOO_LARGE, withInterpreters } from './bound-parts.ts';
import { filesNamedBy } from './named-by.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-read-')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function put(name: string, text: string, mode = 0o644): string {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), text);
  chmodSync(join(dir, name), mode);
  return join(dir, name);
}

put(
  'make/Makefile',
  'include a.mk $(B)/b.mk  # c.mk\n-include d.mk\n sinclude parts/*.mk\n\tinclude recipe.mk\nall:\n',
);
put('make/a.mk', 'include deep.mk\n');
put('make/parts/one.mk', '');
put('make/own.mk', 'include e.mk\n');
put('web/package.json', '{}');
put('web/a/b/c.txt', '');
put('web/other/package.json', '{}');
for (let n = 0; n < 80; n++) put(`chain/${n === 0 ? 'Makefile' : `${n}.mk`}`, `include ${n + 1}.mk\n`);

put('long/Makefile', 'include \\\n  far.mk \\\n  near.mk\nall:\n');
put('long/inc/far.mk', '');
put('mono/package.json', JSON.stringify({ workspaces: ['pkgs/*', '!pkgs/none', 'tool'] }));
put('mono/pkgs/a/package.json', '{}');
put('yarn/package.json', JSON.stringify({ workspaces: { packages: ['pkgs/*'] } }));
put('yarn/pkgs/a/package.json', '{}');
put('pnpm/package.json', '{}');
put('pnpm/pnpm-workspace.yaml', "packages:\n  - 'pkgs/*'\n");
put('pnpm/pkgs/a/package.json', '{}');

const read = (folder: string, ...argv: string[]) => filesNamedBy(argv, join(dir, folder), dir, []);

test.each<[string, readonly string[], readonly string[]]>([
  ['make', ['make', 'all'], ['GNUmakefile', 'makefile', 'Makefile', 'a.mk', 'deep.mk', 'd.mk', 'parts/one.mk']],
  ['make', ['gmake'], ['Makefile', 'a.mk']],
  ['make', ['bash', '-c', 'cd . && make all'], ['Makefile', 'a.mk']],
  ['.', ['make', '-C', 'make', 'all'], ['make/Makefile', 'make/a.mk']],
  ['make', ['make', '-f', 'own.mk'], ['own.mk', 'e.mk']],
  ['make', ['make', '-fown.mk'], ['e.mk']],
  ['make', ['make', '--file=own.mk'], ['e.mk']],
  ['make', ['make', '--makefile', 'own.mk'], ['e.mk']],
  ['web', ['npm', 'run', 'x'], ['package.json', '.npmrc', '../.npmrc']],
  ['web/a/b', ['npm', 'test'], ['package.json', '../package.json', '../../package.json', '../../.npmrc']],
  ['web', ['pnpm', 'x'], ['package.json', 'pnpm-workspace.yaml', '.pnpmfile.cjs']],
  ['web', ['yarn', 'x'], ['package.json', '.yarnrc', '.yarnrc.yml']],
  ['web', ['bun', 'run', 'x'], ['package.json', 'bunfig.toml', '../.bunfig.toml']],
  ['web/a', ['npm', '--prefix', '../other', 'run', 'x'], ['../other/package.json', '../package.json']],
  ['web/a', ['yarn', '--cwd=../other', 'x'], ['../other/package.json']],
  ['make', ['make', '-kf', 'own.mk'], ['e.mk']],
  ['long', ['make'], ['far.mk', 'near.mk']],
  ['long', ['make', '-I', 'inc', '--include-dir=more'], ['far.mk', 'inc/far.mk', 'inc/near.mk', 'more/near.mk']],
  ['mono', ['npm', 'run', 'x', '-w', 'a'], ['pkgs/a/package.json', 'tool/package.json', 'pkgs/*/package.json']],
  ['mono', ['npm', 'run', 'x', '--workspace=pkgs/a'], ['pkgs/a/package.json']],
  ['mono', ['npm', '-ws', 'run', 'x'], ['pkgs/a/package.json']],
  ['mono', ['npm', 'run', 'x', '--workspaces'], ['pkgs/a/package.json']],
  ['mono/pkgs', ['npm', 'run', 'x', '-w', 'a'], ['a/package.json']],
  ['yarn', ['yarn', 'workspace', 'a', 'x'], ['pkgs/a/package.json']],
  ['pnpm', ['pnpm', '--filter', 'a', 'x'], ['pkgs/a/package.json']],
  ['pnpm', ['pnpm', '-r', 'x'], ['pkgs/a/package.json']],
])('in %s %j reads %j', (folder, argv, names) => {
  const { inputs, isWhole } = read(folder, ...argv);
  expect(inputs).toEqual(expect.arrayContaining(names.map((name) => join(dir, folder, name))));
  expect(isWhole).toBe(true);
});

test('what a comment, a recipe or a variable names is not followed, nor what lies above the package', () => {
  const { inputs } = read('make', 'make', 'all');
  for (const name of ['c.mk', 'recipe.mk', 'b.mk', '$(B)/b.mk']) expect(inputs).not.toContain(join(dir, 'make', name));
  expect(read('web/other', 'npm', 'run', 'x').inputs).not.toContain(join(dir, 'web/package.json'));
  expect(read('make', 'cat', 'x').inputs).not.toContain(join(dir, 'make/Makefile'));
});

test('makefiles that include one another without end can never be approved', () => {
  expect(read('chain', 'make').isWhole).toBe(false);
});

test.each<[string, string, readonly string[]]>([
  ['an interpreter', '#!/bin/sh\n', ['/bin/sh']],
  ['one with a blank before it and an argument', '#! /bin/sh -e\n', ['/bin/sh']],
  ['one that env finds', '#!/usr/bin/env sh\n', ['/usr/bin/env', 'sh']],
  ['one behind options of env', '#!/usr/bin/env -S A=1 sh -e\n', ['/usr/bin/env', 'sh']],
  ['env alone', '#!/usr/bin/env\n', ['/usr/bin/env']],
  ['none', 'echo x\n#!/bin/sh\n', []],
  ['an empty one', '#!\n', []],
])('the first line of a script names %s', (what, text, words) => {
  const file = put(`scripts/${what.replaceAll(' ', '-')}`, text, 0o755);
  expect(withInterpreters([file], [], dir, '/usr/bin:/bin')).toEqual([file, ...words]);
  expect(withInterpreters([], [file], dir, '/usr/bin:/bin')).toEqual(words);
});

test('a script that another script runs names its own interpreter too; a file that cannot be run names none', () => {
  put('bin/outer', '#!/bin/cat\n', 0o755);
  const inner = put('bin/inner', `#!${join(dir, 'bin/outer')}\n`, 0o755);
  expect(withInterpreters(['inner'], [], dir, join(dir, 'bin'))).toEqual(['inner', join(dir, 'bin/outer'), '/bin/cat']);
  expect(withInterpreters([], [put('bin/data', '#!/bin/cat\n')], dir, '')).toEqual([]);
  expect(withInterpreters([], [inner, join(dir, 'bin'), join(dir, 'nowhere')], dir, '')).toContain('/bin/cat');
});

test('a file of more than 512 MiB is known by its bytes, and one that nobody can read in time by none', () => {
  const file = put('large', '');
  truncateSync(file, 520 * 1_048_576);
  const before = digestAt(file);
  expect(before).toMatch(/^sha256:/);
  truncateSync(file, 520 * 1_048_576 + 1);
  expect(digestAt(file)).not.toBe(before);
  truncateSync(file, 9 * 1_073_741_824);
  expect(digestAt(file)).toBe(TOO_LARGE);
});
