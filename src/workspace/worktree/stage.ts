// Takes what lies in a worktree into an index of git, all that git can keep. An agent may have told git not to look at files;
// what it was seen to change is taken all the same, unless the `.gitignore` files of the worktree, which everybody can
// read, leave it out. One thing that cannot be taken keeps nothing else from being taken.
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf } from '../changes-walk.ts';
import { indexed } from '../index-entries.ts';
import { git, lastLines, tryGit, WorktreeError } from './git.ts';
import { dropLostLinks, saidOfRepository } from './links.ts';
import type { WorktreeRecord } from './record.ts';
import { linksIn } from './vacant.ts';

type Env = Readonly<Record<string, string>>;
type Place = Pick<WorktreeRecord, 'folder' | 'cwd'>;

/** `seen` are paths from the workspace's folder. Answers what could not be taken, and why. */
export async function stageAll(place: Place, env: Env = {}, seen: readonly string[] = []): Promise<readonly string[]> {
  const { folder, cwd } = place;
  await unhide(cwd, seen, env);
  const present = (await keepable(cwd, seen)).filter((path) => isFile(join(cwd, path)));
  const added = await tryGit(folder, ['add', '-A', '--ignore-errors'], { env });
  if (added.code !== 0 && added.code !== 1) {
    throw new WorktreeError(`git add failed in ${folder}: ${lastLines(added.error) || `exit code ${added.code}`}`);
  }
  const said = added.error.split('\n');
  const embedded = said.flatMap((line) => (line.startsWith(EMBEDDED) ? [line.slice(EMBEDDED.length)] : []));
  for (const path of embedded) await git(folder, ['update-index', '--force-remove', '--', path], { env });
  const faults = said.flatMap((line) => (line.startsWith(ERROR) ? [line.slice(ERROR.length)] : []));
  const lost = await dropLostLinks(folder, env);
  const hidden = (await ignoredOf(cwd, present, env)).filter(({ source }) => !isOpenRule(source));
  const there = hidden.map(({ path }) => path);
  if (there.length > 0) await git(cwd, ['update-index', '-z', '--add', '--stdin'], { env, input: there.join('\0') });
  return [...embedded.map(saidOfRepository), ...faults, ...lost];
}

const EMBEDDED = 'warning: adding embedded git repository: ';
const ERROR = 'error: ';

/** Git takes files for unchanged, or for absent, where its index says so. Without `paths` all such files are looked at again. */
export async function unhide(cwd: string, paths?: readonly string[], env: Env = {}): Promise<void> {
  if (paths?.length === 0) return;
  const hidden = (await indexed(cwd)).hidden.map(nameOf);
  const meant = paths && new Set(paths);
  const input = hidden.filter((path) => meant?.has(path) ?? true).join('\0');
  if (input === '') return;
  for (const bit of ['--no-skip-worktree', '--no-assume-unchanged']) {
    await git(cwd, ['update-index', '-z', bit, '--stdin'], { env, input });
  }
}

/** The paths without those that the `.gitignore` files of the worktree leave out and git does not have. */
export async function withoutIgnored(cwd: string, paths: readonly string[], env: Env = {}): Promise<readonly string[]> {
  const ignored = await ignoredOf(cwd, await keepable(cwd, paths), env);
  const open = new Set(ignored.filter(({ source }) => isOpenRule(source)).map(({ path }) => path));
  return paths.filter((path) => !open.has(path));
}

/** Which of the paths git leaves out, and the file that says so. */
async function ignoredOf(cwd: string, paths: readonly string[], env: Env) {
  const input = paths.join('\0');
  if (input === '') return [];
  const { out } = await tryGit(cwd, ['check-ignore', '-z', '-v', '--stdin'], { env, input });
  const fields = out.split('\0');
  const found: { readonly source: string; readonly path: string }[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    // A rule that takes others back is told too.
    if (!fields[at + 2]?.startsWith('!')) found.push({ source: fields[at] ?? '', path: fields[at + 3] ?? '' });
  }
  return found;
}

/** Files of git itself, and those in the place of another repository, are told of as changes too, and are in no commit. */
export async function keepable(cwd: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return paths;
  const folders = ['.git', ...(await linksIn(cwd))].map((path) => `${path}/`);
  return paths.filter((path) => path !== '.git' && !folders.some((folder) => path.startsWith(folder)));
}

function isOpenRule(source: string): boolean {
  return !source.startsWith('/') && (source === '.gitignore' || source.endsWith('/.gitignore'));
}

function isFile(path: string): boolean {
  try {
    const stat = lstatSync(path);
    return stat.isFile() || stat.isSymbolicLink();
  } catch {
    return false; // It is gone, or a file took the place of a folder above.
  }
}
