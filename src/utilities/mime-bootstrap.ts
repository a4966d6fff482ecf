// Mime-Bootstrap: puts a git repository on a branch of the cast's own, creating it the first time.
import { isText } from '../kernel/json.ts';
import { branchNameFor } from './branch-name.ts';
import { currentBranch, git, gitRoot } from './git.ts';
import { give, refuse, type ShippedInput, type UtilityOutcome } from './utility.ts';

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
