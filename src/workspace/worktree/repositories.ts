// Repositories that lie inside of a worktree: submodules, and those that somebody made there. The branch of the worktree holds
// at most the name of a commit of theirs, so what is in them and nowhere else would be gone with the worktree; and so would
// what lies in the place of one that is not checked out.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LINK } from '../index-entries.ts';
import { git, records, tryGit, WorktreeError } from './git.ts';
import { lanesOf, type WorktreeRecord } from './record.ts';
import { filledIn, linksIn, standOfVacant } from './vacant.ts';

/** Work in, or in the place of, a repository inside of a worktree that is nowhere else, in words. */
export type Apart = { readonly path: string; readonly what: string };

/** By path, what the repositories were like when the worktree was set up. */
export type Stands = Readonly<Record<string, string>>;

/** Without those that git ignores: what lies there beside the files of the worktree and is no submodule. */
export async function strangersIn(folder: string, path = '.'): Promise<readonly string[]> {
  const listed = ['--literal-pathspecs', 'ls-files', '-o', '--exclude-standard', '-z', '--', path];
  return foldersIn(await git(folder, listed));
}

/** What is in repositories of the worktree alone, or in the place of one, wherever they lie in it. */
export async function apartIn({ folder, base, stands = {} }: WorktreeRecord): Promise<readonly Apart[]> {
  if (!existsSync(folder)) return [];
  const found: Apart[] = [];
  const told = new Set<string>();
  for (const path of await repositoriesIn(folder)) {
    const at = join(folder, path);
    const isAsSetUp = Object.hasOwn(stands, path) && stands[path] === (await standOf(at));
    const what = isAsSetUp ? null : await workIn(at, await linkIn(folder, base, path));
    if (what !== null) found.push({ path, what });
    if (isAsSetUp || what !== null) told.add(path);
  }
  // One without a commit may be a repository that hides what lies beside it.
  for (const vacant of await filledIn(folder)) {
    if (told.has(vacant.path) || stands[vacant.path] === standOfVacant(folder, vacant)) continue;
    const count = vacant.files.length;
    const what = `${count} file${count === 1 ? '' : 's'} without its repository being checked out`;
    found.push({ path: vacant.path, what });
  }
  return found;
}

/** A set-up step may leave something in them, which is nobody's work. */
export async function standsIn(folder: string): Promise<Stands> {
  const found: Record<string, string> = {};
  for (const path of await repositoriesIn(folder)) found[path] = await standOf(join(folder, path));
  for (const vacant of await filledIn(folder)) found[vacant.path] ??= standOfVacant(folder, vacant);
  return found;
}

/** Whoever clears a worktree away does not take what is nowhere else with it, whatever a person has agreed to. */
export async function refuseApart(record: WorktreeRecord): Promise<void> {
  const apart = await apartIn(record);
  if (apart.length === 0) return;
  throw new WorktreeError(saidOfApart(record, apart), 'NOT_ALLOWED_NOW');
}

/** Why the worktrees of a cast cannot be cleared away, in words; null where they can. */
export async function apartOf(stateDir: string, record: WorktreeRecord): Promise<string | null> {
  for (const each of [record, ...lanesOf(stateDir, record.cast)]) {
    const apart = each.state === 'ready' ? await apartIn(each) : [];
    if (apart.length > 0) return saidOfApart(each, apart);
  }
  return null;
}

export function saidOfApart({ folder }: WorktreeRecord, apart: readonly Apart[]): string {
  const each = apart.map(({ path, what }) => `${path} has ${what}`).join(', ');
  return `the worktree ${folder} stays, for it holds work that is nowhere else: ${each}; push it, or move or remove it by hand`;
}

async function repositoriesIn(folder: string): Promise<readonly string[]> {
  const all = await tryGit(folder, ['ls-files', '-o', '-z', '--', '.']);
  const paths = [...foldersIn(all.out), ...(await linksIn(folder))];
  return paths.filter((path) => existsSync(join(folder, path, '.git')));
}

/** Git names files only, and walks into every folder except those that are repositories. */
function foldersIn(listed: string): readonly string[] {
  return records(listed).flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : []));
}

/** The commit that a commit of the outer repository has of the one at a path; null where it has none. */
export async function linkIn(folder: string, commit: string, path: string): Promise<string | null> {
  const { code, out } = await tryGit(folder, ['ls-tree', '-z', commit, '--', path]);
  const [mode = '', , id = ''] = (out.split('\t')[0] ?? '').split(' ');
  return code === 0 && mode === LINK ? id : null;
}

/** Commits that no remote has, apart from the one that the outer repository names, and files that are not committed. */
async function workIn(at: string, known: string | null): Promise<string | null> {
  const files = (await statusOf(at)).length;
  const commits = await unpushedIn(at, known);
  const parts = [
    ...(commits > 0 ? [`${commits} commit${commits === 1 ? '' : 's'}`] : []),
    ...(files > 0 ? [`${files} file${files === 1 ? '' : 's'} not committed`] : []),
  ];
  return parts.length === 0 ? null : parts.join(' and ');
}

async function unpushedIn(at: string, known: string | null): Promise<number> {
  const isHere = async (name: string) => (await tryGit(at, ['cat-file', '-e', `${name}^{commit}`])).code === 0;
  const head = (await isHere('HEAD')) ? ['HEAD'] : [];
  const without = known !== null && (await isHere(known)) ? [known] : [];
  const { out } = await tryGit(at, ['rev-list', '--count', ...head, '--all', '--not', '--remotes', ...without]);
  return Number(out) || 0;
}

/** Whether a commit of the repository is in one of its remotes, as far as was seen last. */
export async function isPushed(at: string, commit: string): Promise<boolean> {
  const { code, out } = await tryGit(at, ['rev-list', '--count', '--max-count=1', commit, '--not', '--remotes']);
  return code === 0 && out.trim() === '0';
}

export async function statusOf(at: string): Promise<readonly string[]> {
  const { out } = await tryGit(at, [
    'status',
    '--porcelain',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    '--ignore-submodules=none',
  ]);
  return records(out);
}

async function standOf(at: string): Promise<string> {
  const { out } = await tryGit(at, ['rev-parse', 'HEAD', '--all']);
  return createHash('sha256')
    .update([out, ...(await statusOf(at))].join('\0'))
    .digest('hex');
}
