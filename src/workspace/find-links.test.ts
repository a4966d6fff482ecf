import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { linksOnWay } from './find-links.ts';

function folder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-links-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, 'w/src/in'), { recursive: true });
  mkdirSync(join(dir, 'w/docs'));
  mkdirSync(join(dir, 'other'));
  symlinkSync('src', join(dir, 'w/lnk'));
  symlinkSync('lnk', join(dir, 'w/twice'));
  symlinkSync('../docs', join(dir, 'w/src/doc'));
  symlinkSync('../other', join(dir, 'w/out'));
  symlinkSync('not/yet', join(dir, 'w/dangling'));
  symlinkSync('circle', join(dir, 'w/circle'));
  symlinkSync('w', join(dir, 'as'));
  writeFileSync(join(dir, 'w/src/file'), '');
  return dir;
}

test.each([
  ['src/a', {}],
  ['lnk/a', { lnk: 'src' }],
  ['twice/new/file', { twice: 'src' }],
  ['lnk/doc/x', { lnk: 'src', 'src/doc': 'docs' }],
  ['dangling/x', { dangling: 'not/yet' }],
  ['src/file/below', {}],
  ['.', {}],
  ['/abs/lnk', {}],
])('on the way of %s lie %o', (path, links) => {
  const dir = folder();
  expect(linksOnWay(join(dir, 'w'), [path])).toEqual(links);
  expect(linksOnWay(join(dir, 'as'), [path])).toEqual(links);
});

test('a link out of the folder leads to an absolute path, and a circle ends', () => {
  const dir = folder();
  expect(linksOnWay(join(dir, 'w'), ['out/x'])).toEqual({ out: join(dir, 'other') });
  expect(linksOnWay(join(dir, 'w'), ['circle/x'])).toEqual({ circle: 'circle' });
  expect(linksOnWay(join(dir, 'gone'), ['lnk'])).toEqual({});
});

test('the names of one file lead to the first of them, and a file with names elsewhere leads nowhere', () => {
  const dir = folder();
  writeFileSync(join(dir, 'w/src/one'), '');
  linkSync(join(dir, 'w/src/one'), join(dir, 'w/docs/two'));
  linkSync(join(dir, 'w/src/one'), join(dir, 'w/three'));
  writeFileSync(join(dir, 'w/alone'), '');
  linkSync(join(dir, 'w/alone'), join(dir, 'other/alone'));
  const all = { 'src/one': 'docs/two', three: 'docs/two' };
  for (const path of ['src/one', 'docs/two', 'three', 'lnk/one'])
    expect(linksOnWay(join(dir, 'w'), [path])).toMatchObject(all);
  expect(linksOnWay(join(dir, 'w'), ['src', 'docs', 'alone'])).toEqual({});
  expect(linksOnWay(join(dir, 'w'), ['src/one', 'three', 'src/file'], all)).toEqual(all);
  rmSync(join(dir, 'w/three'));
  expect(linksOnWay(join(dir, 'w'), ['src/one', 'three'], all)).toEqual({ 'src/one': 'docs/two' });
});
