// What `init` proposes for the worktrees of casts: files of the user's own that the project needs and git does not have, and the
// installed packages, which are shared where they are there and installed where they are not.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../kernel/json.ts';
import type { Project } from '../detect-project.ts';
import { tryGit } from './git.ts';
import { packageFolders } from './share-packages.ts';

export type ProposedWorktree = { readonly worktree?: JsonObject };

/** Packages that worktrees share with the checkout. */
const SHARED = 'node_modules';
const ENV_FILE = /^\.env(?:\.[\w-]+)*$/;

/** Nothing where no worktree can be made, or where it needs nothing. */
export async function proposedWorktree(dir: string, { installs }: Project): Promise<ProposedWorktree> {
  const isIgnored = async (path: string) => (await tryGit(dir, ['check-ignore', '-q', '--', path])).code === 0;
  if ((await tryGit(dir, ['rev-parse', '--is-inside-work-tree'])).code !== 0) return {};
  const copy: string[] = [];
  for (const name of readdirSync(dir)
    .filter((each) => ENV_FILE.test(each))
    .sort())
    if (await isIgnored(name)) copy.push(name);
  const link = existsSync(join(dir, SHARED)) ? await packageFolders(dir) : [];
  const setup: (readonly string[])[] = [];
  for (const { steps, folder } of installs) {
    if (folder === SHARED && link.length > 0) continue;
    // A folder that git does not ignore would become part of the branch.
    if (folder === null || (await isIgnored(`${folder}/`))) setup.push(...steps);
  }
  const worktree = {
    ...(setup.length > 0 ? { setup } : {}),
    ...(link.length > 0 ? { link } : {}),
    ...(copy.length > 0 ? { copy } : {}),
  };
  return Object.keys(worktree).length === 0 ? {} : { worktree };
}
