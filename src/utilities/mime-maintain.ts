// Mime-Maintain: commits everything that changed, under the title of the current work item.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isText, type JsonObject } from '../kernel/json.ts';
import { currentBranch, git, gitRoot } from './git.ts';
import { give, type ShippedInput, titleOf, type UtilityOutcome } from './utility.ts';

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
