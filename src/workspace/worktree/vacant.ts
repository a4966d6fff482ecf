// Folders that stand for a commit of another repository which is not checked out in them, such as a submodule nobody asked
// for. Git takes them for unchanged and never looks inside, so what is written there is found by looking, or by nobody.
import { createHash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf } from '../changes-walk.ts';
import { indexed } from '../index-entries.ts';
import { tryGit } from './git.ts';

export type Vacant = {
  readonly path: string;
  /** What lies in it all the same, by paths from the same folder. */
  readonly files: readonly string[];
};

/** What stands for commits of other repositories in the index, by paths from the folder. */
export async function linksIn(folder: string): Promise<readonly string[]> {
  return indexed(folder).then(
    ({ links }) => links.map(nameOf),
    () => [], // It is in no repository.
  );
}

/** Of the links, those without a repository; and those of the repositories in the others. */
export async function vacantOf(folder: string, links: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    links.map(async (path): Promise<readonly string[]> => {
      const at = join(folder, path);
      if (!isRealFolder(folder, path)) return [];
      if (!(await isCheckedOut(at))) return [path];
      return (await vacantOf(at, await linksIn(at))).map((each) => `${path}/${each}`);
    }),
  );
  return found.flat();
}

/** The folders without a repository in which something lies all the same. */
export async function filledIn(folder: string): Promise<readonly Vacant[]> {
  const vacant = await vacantOf(folder, await linksIn(folder));
  return vacant.map((path) => ({ path, files: filesIn(folder, path) })).filter(({ files }) => files.length > 0);
}

/** What lies in it, told by what nobody can set at will. */
export function standOfVacant(folder: string, { files }: Vacant): string {
  const hash = createHash('sha256');
  for (const path of files) {
    const stat = lstatSync(join(folder, path), { throwIfNoEntry: false });
    hash.update(`${path}\0${stat?.size}:${stat?.ctimeMs}:${stat?.ino}\0`);
  }
  return hash.digest('hex');
}

async function isCheckedOut(at: string): Promise<boolean> {
  const own = join(at, '.git');
  if (!lstatSync(own, { throwIfNoEntry: false })) return false;
  // Git would look for one further up.
  return (await tryGit(at, ['--git-dir', own, 'rev-parse', '-q', '--verify', 'HEAD^{commit}'])).code === 0;
}

/** Somebody may have put a link of the file system in its place, or in that of a folder above. */
function isRealFolder(folder: string, path: string): boolean {
  const at = join(folder, path);
  if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return realpathSync(at) === join(realpathSync(folder), path);
}

function filesIn(folder: string, path: string): readonly string[] {
  return entriesOf(join(folder, path))
    .filter(({ name }) => name !== '.git')
    .flatMap((entry) => {
      const below = `${path}/${entry.name}`;
      return entry.isDirectory() ? filesIn(folder, below) : [below];
    });
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Gone again, or not for us to see.
  }
}
