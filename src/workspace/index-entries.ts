// What the index of a worktree says of files that a look at the files alone would miss. The answer is remembered for as long as
// the index holds the same bytes.
import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { ownGitFile } from '../git/git-folders.ts';
import { ask, records } from './changes-ask-git.ts';

/** How git marks what stands for a commit of another repository. */
export const LINK = '160000';

/** Paths from the folder that was asked about. */
export type Indexed = {
  /** Tracked files that git was told to take for unchanged or for absent. */
  readonly hidden: readonly Buffer[];
  /** What stands for commits of other repositories. */
  readonly links: readonly Buffer[];
  readonly ignoreFiles: readonly Buffer[];
};

const BYTES_MAX = 32 * 1024 * 1024;
const KEPT_MAX = 50;
const known = new Map<string, { readonly digest: string; readonly found: Indexed }>();

export async function indexed(folder: string): Promise<Indexed> {
  const digest = digestOf(ownGitFile(folder, 'index'));
  const earlier = known.get(folder);
  if (digest !== null && earlier?.digest === digest) return earlier.found;
  const all = records(await ask(folder, ['ls-files', '-v', '-s', '-z', '--', '.']));
  const pathIn = (line: Buffer) => line.subarray(line.indexOf(TAB) + 1);
  const found: Indexed = {
    hidden: all.filter((line) => isHidden(line[0] ?? 0)).map(pathIn),
    links: all.filter((line) => line.subarray(2, 2 + LINK.length).equals(LINK_BYTES)).map(pathIn),
    ignoreFiles: all.map(pathIn).filter((path) => isIgnoreFile(path)),
  };
  if (known.size >= KEPT_MAX) known.clear();
  // Another program may have written the index meanwhile.
  if (digest !== null && digestOf(ownGitFile(folder, 'index')) === digest) known.set(folder, { digest, found });
  else known.delete(folder);
  return found;
}

function digestOf(index: string | null): string | null {
  try {
    return index !== null && statSync(index).size <= BYTES_MAX ? hash('sha256', readFileSync(index), 'hex') : null;
  } catch {
    return null; // Nothing was ever added to it.
  }
}

const TAB = 0x09;
const LINK_BYTES = Buffer.from(LINK);

function isIgnoreFile(path: Buffer): boolean {
  return /(?:^|\/)\.gitignore$/.test(path.toString('latin1'));
}

/** A small letter stands before what is assumed unchanged, an S before what is left out of the work tree. */
function isHidden(letter: number): boolean {
  return letter === 83 || (letter >= 97 && letter <= 122);
}
