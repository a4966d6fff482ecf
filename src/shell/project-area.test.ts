import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { projectAreaAt } from './dangerous.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-area-')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
for (const folder of ['work/.git', 'work/src', 'other/.git', 'third/.baton', 'home', 'loose'])
  mkdirSync(join(dir, folder), { recursive: true });

test.each([
  ['a file of the work', 'work/src/a.ts', true],
  ['what governs the work', 'work/.git/config', false],
  ['a scratch file', 'loose/a.txt', true],
  ['a file of another repository among scratch files', 'other/src/a.ts', false],
  ['that repository itself', 'other', false],
  ['a file of another workspace among scratch files', 'third/a.ts', false],
  ['a file of a home among scratch files', 'home/a', false],
])('%s is the agent’s own to write: %s %s', (_name, path, isOwn) => {
  expect(projectAreaAt(join(dir, 'work'), join(dir, 'work'), join(dir, 'home')).isOwn(join(dir, path))).toBe(isOwn);
});

test('what lies elsewhere is not', () => {
  expect(projectAreaAt(join(dir, 'work'), join(dir, 'work'), undefined).isOwn('/etc/hosts')).toBe(false);
});
