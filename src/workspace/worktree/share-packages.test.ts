import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageFolders, sharePackages } from './repository.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-share-')));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function put(name: string, content = ''): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), content);
}

test('packages are links, and packages of the project lead to those of the worktree', () => {
  for (const tree of ['main', 'tree']) put(`${tree}/packages/a/index.js`, `module.exports = '${tree}'`);
  put('main/node_modules/left/index.js', 'module.exports = require("right")');
  put('main/node_modules/right/index.js', 'module.exports = 1');
  put('main/node_modules/@scope/one/index.js', 'module.exports = 2');
  put('main/node_modules/.cache/x', 'x');
  put('main/node_modules/.package-lock.json', '{}');
  mkdirSync(join(dir, 'main/node_modules/.bin'));
  symlinkSync('../left/index.js', join(dir, 'main/node_modules/.bin/left'));
  symlinkSync('../packages/a', join(dir, 'main/node_modules/a'));
  sharePackages(join(dir, 'main/node_modules'), join(dir, 'tree/node_modules'));
  const at = (name: string) => join(dir, 'tree/node_modules', name);
  expect(lstatSync(at('')).isSymbolicLink()).toBe(false);
  expect([readlinkSync(at('left')), readlinkSync(at('@scope/one'))]).toEqual([
    join(dir, 'main/node_modules/left'),
    join(dir, 'main/node_modules/@scope/one'),
  ]);
  expect([lstatSync(at('.bin')).isDirectory(), realpathSync(at('.bin/left'))]).toEqual([
    true,
    join(dir, 'main/node_modules/left/index.js'),
  ]);
  expect([existsSync(at('.cache')), readFileSync(at('.package-lock.json'), 'utf8')]).toEqual([false, '{}']);
  const line = 'console.log([require("left"), require("@scope/one"), require("a")].join())';
  expect(execFileSync('node', ['-e', line], { cwd: join(dir, 'tree'), encoding: 'utf8' })).toBe('1,2,tree\n');
});

test('of a checkout, every folder of packages that git ignores', async () => {
  execFileSync('git', ['init', '-q'], { cwd: dir });
  put('.gitignore', 'node_modules/\ndist/\n');
  for (const name of ['node_modules', 'web/node_modules', 'dist/node_modules', 'other']) put(`${name}/x/index.js`);
  expect(await packageFolders(dir)).toEqual(['node_modules', 'web/node_modules']);
  put('.gitignore', 'dist/\n');
  expect(await packageFolders(dir)).toEqual([]);
});
