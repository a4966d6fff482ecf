import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { hasTooManyFiles } from './changes.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folderWith(count: number): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-count-'));
  folders.push(dir);
  mkdirSync(join(dir, 'd'));
  for (let at = 0; at < count; at++) writeFileSync(join(dir, 'd', String(at)), '');
  return dir;
}

test('every file counts, except what is never looked at', async () => {
  const dir = folderWith(4);
  expect(await hasTooManyFiles(dir, [], 4)).toBe(false);
  expect(await hasTooManyFiles(dir, [], 3)).toBe(true);
  expect(await hasTooManyFiles(dir, ['d'], 3)).toBe(false);
});

test('of a git repository only what differs from the last commit and is not ignored', async () => {
  const dir = folderWith(4);
  const git = (...args: string[]) => execFileSync('git', ['-C', dir, ...args], { stdio: 'ignore' });
  git('init');
  expect(await hasTooManyFiles(dir, [], 3)).toBe(true);
  writeFileSync(join(dir, '.gitignore'), 'd\n');
  expect(await hasTooManyFiles(dir, [], 3)).toBe(false);
  rmSync(join(dir, '.gitignore'));
  git('add', '-A');
  git('-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-m', 'x');
  expect(await hasTooManyFiles(dir, [], 0)).toBe(false);
});
