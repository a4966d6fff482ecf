import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { artifactsIn } from './witness.ts';

test('what lies in the folder is measured; what leads out of it by a link is not', () => {
  const base = mkdtempSync(join(tmpdir(), 'baton-artifacts-'));
  const root = join(base, 'project');
  mkdirSync(join(root, 'shots'), { recursive: true });
  writeFileSync(join(root, 'shots', 'a.png'), '12345');
  writeFileSync(join(base, 'secret'), 'x');
  symlinkSync(join(base, 'secret'), join(root, 'file-out'));
  symlinkSync(base, join(root, 'folder-out'));
  symlinkSync(join(base, 'nowhere'), join(root, 'dangling'));
  symlinkSync('loop', join(root, 'loop'));
  symlinkSync('shots/a.png', join(root, 'within'));
  const [out, gone] = [
    { inside: false, bytes: null },
    { inside: true, bytes: null },
  ];
  const rows = {
    'shots/a.png': { inside: true, bytes: 5 },
    within: { inside: true, bytes: 5 },
    shots: gone,
    '.': gone,
    'shots/none.png': gone,
    'new/none.png': gone,
    'file-out': out,
    'folder-out/secret': out,
    'folder-out/none': out,
    dangling: out,
    'dangling/x': out,
    loop: out,
    '../secret': out,
  };
  expect(artifactsIn(root, Object.keys(rows))).toEqual(rows);
});
