import type { Stats } from 'node:fs';
import { expect, test } from 'vitest';
import { whyOpen } from './user-folder.ts';

const MINE = process.getuid?.() ?? 0;

test.each<[string, number, number, string | null]>([
  ['mine alone', 0o40700, MINE, null],
  ['readable by others', 0o40755, MINE, 'is open to other users (mode 755)'],
  ["another user's, though closed", 0o40700, MINE + 1, `belongs to another user (${MINE + 1})`],
])('a folder that is %s', (_name, mode, uid, why) => {
  expect(whyOpen({ mode, uid } as Stats, 0o077)).toBe(why);
});
