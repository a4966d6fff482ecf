import { expect, test } from 'vitest';
import { withoutBranches } from './repository-files.ts';

const CORE = '[core]\n\tbare = false\n[remote "origin"]\n\turl = x';

test.each<[what: string, text: string, left: string]>([
  ['a branch', `${CORE}\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main`, CORE],
  ['what follows a branch', `[branch "main"]\n\tremote = origin\n${CORE}`, CORE],
  ['two sections in one line', '[branch "x"][core]\n\tfsmonitor = evil', '[branch "x"][core]\n\tfsmonitor = evil'],
  ['options of a merge', '[branch "x"]\n\tmergeOptions = -s evil', '\tmergeOptions = -s evil'],
  ['a value that goes on', '[branch "x"]\n\tremote = a\\\n[core]', '\tremote = a\\\n[core]'],
  ['a branch of this repository', '[branch "x"]\n\tremote = .\n\tmerge = refs/heads/main', ''],
  ['a folder in the place of a remote', `${CORE}\n[branch "x"]\n\tpushRemote = evil`, `${CORE}\n\tpushRemote = evil`],
  ['an address', `${CORE}\n[branch "x"]\n\tremote = https://evil/x`, `${CORE}\n\tremote = https://evil/x`],
  ['a section behind a value', '[branch "x"]\n\tremote = a [core]', '\tremote = a [core]'],
])('of %s only what can run nothing is left out', (_, text, left) => {
  expect(withoutBranches(text)).toBe(left);
});
