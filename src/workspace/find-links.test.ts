import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
