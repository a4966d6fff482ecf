// The utilities Mime-Bootstrap and Mime-Maintain: they put a git repository on a branch of the cast and commit its work there.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { isText, type JsonObject } from '../kernel/json.ts';
import { give, refuse, type ShippedInput, titleOf, type UtilityOutcome } from './utility.ts';
import { branchNameFor, currentBranch, git, gitRoot } from './vcs.ts';

export async function mimeBootstrap({ cwd, castId, params }: ShippedInput): Promise<UtilityOutcome> {
  const found = await gitRoot(cwd);
  if ('error' in found) return refuse(found.error);
  const { root } = found;
  const branchName = isText(params.branchName) ? params.branchName.trim() : branchNameFor('mime', castId);
  if (!(await git(root, 'check-ref-format', `refs/heads/${branchName}`)).ok || branchName.startsWith('-')) {
    return refuse(`params.branchName ${JSON.stringify(branchName)} is not a name that git accepts for a branch`);
  }
  const before = await currentBranch(root);
  const exists = (await git(root, 'show-ref', '--verify', '--quiet', `refs/heads/${branchName}`)).ok;
  if (before !== branchName) {
    const switched = await git(root, 'switch', ...(exists ? [branchName] : ['-c', branchName]));
    if (!switched.ok) return refuse(`git could not switch to ${branchName}: ${switched.error}`);
  }
  const created = before !== branchName && !exists;
  return give({ satisfied: true, state: { mimeBootstrap: { ok: true, root, branchName, created } } });
}

// Mime-Maintain: commits everything that changed, under the title of the current work item.
const STATE_FOLDER = '.baton/state';

export async function mimeMaintain(input: ShippedInput): Promise<UtilityOutcome> {
  const found = await gitRoot(input.cwd);
  if ('error' in found) return fail(null, found.error);
  const { root } = found;
  // Adding them all would record unfinished merges as finished.
  const unmerged = await git(root, 'ls-files', '--unmerged');
  if (!unmerged.ok) return fail(root, unmerged.error);
  if (unmerged.stdout !== '') return fail(root, 'the repository has unmerged paths; resolve them first');

  const paths = await pathsToCommit(root);
  const status = await git(root, 'status', '--porcelain', '--', ...paths);
  if (!status.ok) return fail(root, status.error);
  if (status.stdout === '') return done({ root, committed: false, commit: null, message: null }, '');
  const title = titleOf(input);
  if (title === null) return fail(root, 'there is no work item with a title to commit under');

  const added = await git(root, 'add', '--all', '--', ...paths);
  if (!added.ok) return fail(root, added.error);
  const committed = await git(root, ...(await identity(root, input.params)), 'commit', '--quiet', `--message=${title}`);
  if (!committed.ok) return fail(root, committed.error);
  const commit = (await git(root, 'rev-parse', 'HEAD')).stdout.trim();
  const branch = await currentBranch(root);
  return done({ root, branch, committed: true, commit, message: title }, `Committed ${commit.slice(0, 12)}: ${title}`);
}

function done(state: JsonObject, context: string): UtilityOutcome {
  return give({ satisfied: true, context, state: { mimeMaintain: { ok: true, ...state } } });
}

function fail(root: string | null, error: string): UtilityOutcome {
  const state = { mimeMaintain: { ok: false, root, committed: false, error } };
  return give({ satisfied: false, context: error, state });
}

/** Everything but our own log, where nobody told git to ignore it. (Git refuses to exclude what it ignores anyway.) */
async function pathsToCommit(root: string): Promise<readonly string[]> {
  const isOpen = existsSync(path.join(root, STATE_FOLDER)) && !(await git(root, 'check-ignore', '-q', STATE_FOLDER)).ok;
  return isOpen ? ['.', `:(exclude,top)${STATE_FOLDER}`] : ['.'];
}

/**
 * Settings for a name and an address, each only where git has none and would have to guess. What stands in git's own
 * variables, or is configured for authors or committers alone, wins over them anyway.
 */
async function identity(root: string, params: JsonObject): Promise<readonly string[]> {
  const name = isText(params.userName) ? params.userName : 'Baton';
  const email = isText(params.userEmail) ? params.userEmail : 'baton@localhost';
  const hasName = (await git(root, 'config', '--get', 'user.name')).ok;
  const hasEmail = isText(process.env.EMAIL) || (await git(root, 'config', '--get', 'user.email')).ok;
  return [...(hasName ? [] : ['-c', `user.name=${name}`]), ...(hasEmail ? [] : ['-c', `user.email=${email}`])];
}
