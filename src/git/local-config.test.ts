import { expect, test } from 'vitest';
import { withoutBranches } from './local-config.ts';

const CORE = '[core]\n\tbare = false';

test.each<[what: string, text: string, left: string]>([
  ['a branch', `${CORE}\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main`, CORE],
  ['what follows a branch', `[branch "main"]\n\tremote = origin\n${CORE}`, CORE],
  ['two sections in one line', '[branch "x"][core]\n\tfsmonitor = evil', '[branch "x"][core]\n\tfsmonitor = evil'],
  ['options of a merge', '[branch "x"]\n\tmergeOptions = -s evil', '\tmergeOptions = -s evil'],
  ['a value that goes on', '[branch "x"]\n\tremote = a\\\n[core]', '\tremote = a\\\n[core]'],
  ['a section behind a value', '[branch "x"]\n\tremote = a [core]', '\tremote = a [core]'],
])('of %s only what can run nothing is left out', (_, text, left) => {
  expect(withoutBranches(text)).toBe(left);
});
