// Whether there is more in a folder than can be looked at for changes, found out without reading a file.
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ask, tryGit } from './changes-ask-git.ts';
import { FILES_MAX } from './changes-mark.ts';

/** As a snapshot would find them: of a git repository what differs from its last commit, else everything. */
export async function hasTooManyFiles(dir: string, skip: readonly string[], max = FILES_MAX): Promise<boolean> {
  const { code } = await tryGit(dir, ['rev-parse', '--is-inside-work-tree']);
  if (code !== 0 || (await tryGit(dir, ['check-ignore', '-q', '.'])).code === 0) return countsMore(dir, skip, max);
  const files = await ask(dir, ['ls-files', '-z', '--others', '--modified', '--exclude-standard', '--', '.']);
  let count = 0;
  for (let at = files.indexOf(0); at >= 0 && count <= max; at = files.indexOf(0, at + 1)) count += 1;
  return count > max;
}

function countsMore(dir: string, skip: readonly string[], max: number): boolean {
  let count = 0;
  const open = [''];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of entriesOf(join(dir, at))) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.name === '.git' || skip.includes(path)) continue;
      if (entry.isDirectory()) open.push(path);
      else if (++count > max) return true;
    }
  }
  return false;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Gone again, or not for us to see.
  }
}
