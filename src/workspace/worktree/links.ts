// What the branch of a worktree may say of other repositories. It holds of a submodule the name of a commit, which is worth
// something only where others find that commit: in the submodule's remote, or in what the main repository has of it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { gitFoldersOf } from '../../git/git-folders.ts';
import { LINK } from '../index-entries.ts';
import { git, records, tryGit } from './git.ts';
import { isPushed, linkIn, statusOf } from './repositories.ts';

type Env = Readonly<Record<string, string>>;

/**
 * Why what stands for another repository at a path of the worktree cannot be kept in a commit; null where it can, or where
 * nothing of the kind is there. `since` is the commit from before.
 */
export async function faultOfLink(folder: string, path: string, since: string): Promise<string | null> {
  const staged = await tryGit(folder, ['--literal-pathspecs', 'ls-files', '-s', '-z', '--', path]);
  const [mode, id = ''] = staged.out.split(' ');
  if (mode !== LINK || staged.out.split('\0').length > 2) return null;
  const at = join(folder, path);
  const isThere = existsSync(join(at, '.git'));
  if (isThere && (await nameOfModule(folder, path)) !== null && (await statusOf(at)).length > 0) {
    return `${path} is a submodule, and what is not committed in it is no part of the branch; take it back, or commit it there and push it`;
  }
  const commit = isThere ? (await tryGit(at, ['rev-parse', 'HEAD'])).out.trim() : id;
  return faultOfCommit(folder, path, commit, await linkIn(folder, since, path));
}

export function saidOfRepository(path: string): string {
  return `${path} is a git repository of its own, so its files are no part of the branch; remove ${path}/.git, and they are`;
}

/** `files` are what lies in it all the same, at least one. */
export function saidOfVacant(path: string, [first, ...others]: readonly string[]): string {
  const which = `${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;
  return `${path} is a submodule that is not checked out here, so git cannot keep files in it (${which}); put them elsewhere. Where it is to be worked on, a person lets worktree.setup check it out`;
}

/** Takes commits that nobody else would find out of an index again. Answers what is wrong with them. */
export async function dropLostLinks(folder: string, env: Env): Promise<readonly string[]> {
  if (!existsSync(join(folder, '.gitmodules'))) return [];
  const args = ['diff-index', '--cached', '-z', '--no-renames', '--ignore-submodules=none', 'HEAD'];
  const parts = records(await git(folder, args, { env }));
  const faults: string[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [was, mode, before = '', id = ''] = (parts[at] ?? '').slice(1).split(' ');
    const path = parts[at + 1] ?? '';
    if (mode !== LINK) continue;
    const known = was === LINK ? before : null;
    const fault = await faultOfCommit(folder, path, id, known);
    if (fault === null) continue;
    faults.push(fault);
    const back = known === null ? ['--force-remove', '--', path] : ['--cacheinfo', `${LINK},${known},${path}`];
    await git(folder, ['update-index', ...back], { env });
  }
  return faults;
}

async function faultOfCommit(folder: string, path: string, commit: string, known: string | null) {
  if (commit === known) return null;
  const name = await nameOfModule(folder, path);
  if (name === null) return saidOfRepository(path);
  if ((await isPushed(join(folder, path), commit)) || (await isInMain(folder, name, commit))) return null;
  const back = known === null ? '' : `, or go back with \`git -C ${path} checkout ${known.slice(0, 12)}\``;
  return `${path} is a submodule at commit ${commit.slice(0, 12)}, which lies in this worktree alone; push it from there${back}`;
}

/** As `.gitmodules` calls it; null where it is not in there. */
async function nameOfModule(folder: string, path: string): Promise<string | null> {
  const listed = await tryGit(folder, ['config', '-z', '-f', '.gitmodules', '--get-regexp', '^submodule\\..*\\.path$']);
  const line = records(listed.out).find((each) => each.slice(each.indexOf('\n') + 1) === path);
  return line === undefined ? null : line.slice('submodule.'.length, line.indexOf('\n') - '.path'.length);
}

async function isInMain(folder: string, name: string, commit: string): Promise<boolean> {
  const common = gitFoldersOf(folder)?.common;
  if (common === undefined) return false;
  const own = join(common, 'modules', name);
  return (await tryGit(common, ['--git-dir', own, 'cat-file', '-e', `${commit}^{commit}`])).code === 0;
}
