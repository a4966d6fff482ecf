// The utilities that record a cast's work on a branch of its own: Blackbelt-Bootstrap and Blackbelt-Maintain with jj,
// Mime-Bootstrap and Mime-Maintain with git; and Commit, which records it where it is.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isObject, isText, type JsonObject } from '../kernel/json.ts';
import { ignorePatterns } from './ignore-artifacts.ts';
import { type ShippedInput, titleLine, titleOf, type UtilityOutcome, utilityFault, utilityResult } from './utility.ts';
import {
  askGit,
  branchNameFor,
  currentBranch,
  gitRoot,
  hasBookmark,
  hasJj,
  isBookmarkName,
  isClean,
  JJ_MISSING,
  jj,
  jjInTurn,
  repositoryOf,
} from './vcs.ts';

/** Jj records everything that is not ignored, so these are ignored before its first look. */
const BUILD_FOLDERS = ['node_modules/', 'dist/', 'build/', 'target/', '.venv/', '__pycache__/', '.baton/state/'];

export async function blackbeltBootstrap({ cwd, castId, params }: ShippedInput): Promise<UtilityOutcome> {
  const bookmarkName = isText(params.bookmarkName) ? params.bookmarkName.trim() : branchNameFor('blackbelt', castId);
  if (!isBookmarkName(bookmarkName)) {
    return utilityFault(`params.bookmarkName ${JSON.stringify(bookmarkName)} is not a name for a bookmark`);
  }
  if (!(await hasJj(cwd))) return utilityFault(JJ_MISSING);
  const existing = await jj(cwd, 'root');
  const initialized = !existing.ok;
  if (initialized) {
    const failure = await initialize(cwd);
    if (failure !== null) return utilityFault(failure);
  }
  const root = existing.ok ? existing.stdout.trim() : cwd;

  const clean = await isClean(root);
  if (typeof clean === 'object') return utilityFault(clean.error);
  const mark = ['bookmark', 'set', bookmarkName, '-r', '@', '--allow-backwards'];
  const record = [['describe', '-m', `bootstrap: ${bookmarkName}`], mark, ['new']];
  const failure = await jjInTurn(root, clean ? [mark] : record);
  if (failure !== null) return utilityFault(failure);
  const emptyHead = await isClean(root);
  if (emptyHead !== true)
    return utilityFault(`the working copy of ${root} is not empty after bootstrapping; look at \`jj status\``);

  const state = { ok: true, root, available: true, initialized, newWorkingCommit: !clean, emptyHead, bookmarkName };
  return utilityResult({ satisfied: true, state: { blackbeltBootstrap: state } });
}

async function initialize(cwd: string): Promise<string | null> {
  await ignorePatterns(cwd, '.gitignore', BUILD_FOLDERS);
  const flags = existsSync(path.join(cwd, '.git')) ? ['--colocate'] : [];
  return await jjInTurn(cwd, [['git', 'init', ...flags]]);
}

/** Blackbelt-Maintain commits the jj working copy under the title of the current work item and moves the cast's bookmark. */
export async function blackbeltMaintain(input: ShippedInput): Promise<UtilityOutcome> {
  const { cwd, state } = input;
  if (!(await hasJj(cwd))) return unsatisfied(JJ_MISSING);
  const clean = await isClean(cwd);
  if (typeof clean === 'object') return unsatisfied(`the state of the working copy is not known: ${clean.error}`);
  if (clean) return utilityResult({ satisfied: true, context: '' });

  const bookmark = isObject(state.blackbeltBootstrap) ? state.blackbeltBootstrap.bookmarkName : null;
  if (!isText(bookmark) || !isBookmarkName(bookmark)) {
    return unsatisfied('state.blackbeltBootstrap.bookmarkName is missing; run Blackbelt-Bootstrap first');
  }
  const title = titleOf(input);
  if (title === null) return unsatisfied('there is no work item with a title to describe the change');
  if (!(await hasBookmark(cwd, bookmark))) return unsatisfied(`the bookmark ${bookmark} does not exist any more`);
  const move = ['bookmark', 'set', bookmark, '-r', '@', '--allow-backwards'];
  const failure = await jjInTurn(cwd, [['describe', '-m', title], move, ['new']]);
  return failure === null ? utilityResult({ satisfied: true, context: `Recorded: ${title}` }) : unsatisfied(failure);
}

function unsatisfied(context: string): UtilityOutcome {
  return utilityResult({ satisfied: false, context });
}

export async function mimeBootstrap({ cwd, castId, params }: ShippedInput): Promise<UtilityOutcome> {
  const found = await gitRoot(cwd);
  if ('error' in found) return utilityFault(found.error);
  const { root } = found;
  const branchName = isText(params.branchName) ? params.branchName.trim() : branchNameFor('mime', castId);
  if (!(await askGit(root, 'check-ref-format', `refs/heads/${branchName}`)).ok || branchName.startsWith('-')) {
    return utilityFault(`params.branchName ${JSON.stringify(branchName)} is not a name that git accepts for a branch`);
  }
  const before = await currentBranch(root);
  const exists = (await askGit(root, 'show-ref', '--verify', '--quiet', `refs/heads/${branchName}`)).ok;
  if (before !== branchName) {
    const switched = await askGit(root, 'switch', ...(exists ? [branchName] : ['-c', branchName]));
    if (!switched.ok) return utilityFault(`git could not switch to ${branchName}: ${switched.error}`);
  }
  const created = before !== branchName && !exists;
  return utilityResult({ satisfied: true, state: { mimeBootstrap: { ok: true, root, branchName, created } } });
}

const STATE_FOLDER = '.baton/state';

/** Mime-Maintain commits every change, under the title of the current work item. */
export async function mimeMaintain(input: ShippedInput): Promise<UtilityOutcome> {
  const recorded = await commitWithGit(input, titleOf(input));
  return outcome('mimeMaintain', recorded);
}

/**
 * Commit records every change, with jj where the folder is a jj repository and with git otherwise: under `params.message`, else under the
 * title of the work item, else under the id of the cast.
 */
export async function commit(input: ShippedInput): Promise<UtilityOutcome> {
  const { cwd, castId, params } = input;
  const message = isText(params.message) ? titleLine(params.message) : (titleOf(input) ?? `Work of cast ${castId}`);
  const isJj = repositoryOf(cwd)?.kind === 'jj';
  return outcome('commit', await (isJj ? commitWithJj(cwd, message) : commitWithGit(input, message)));
}

type Recorded =
  | { readonly state: JsonObject; readonly context: string }
  | { readonly root: string | null; readonly error: string };

/** What could not be recorded is a failure of the utility: no other turn can put it right. */
function outcome(name: 'mimeMaintain' | 'commit', recorded: Recorded): UtilityOutcome {
  if (!('error' in recorded)) {
    const { state, context } = recorded;
    return utilityResult({ satisfied: true, context, state: { [name]: { ok: true, ...state } } });
  }
  const { root, error } = recorded;
  return utilityResult({
    satisfied: false,
    context: error,
    state: { [name]: { ok: false, root, committed: false, error } },
  });
}

async function commitWithJj(root: string, message: string): Promise<Recorded> {
  if (!(await hasJj(root))) return { root, error: JJ_MISSING };
  const clean = await isClean(root);
  if (typeof clean === 'object') return { root, error: clean.error };
  if (clean) return { state: { root, committed: false, commit: null, message: null }, context: '' };
  const failure = await jjInTurn(root, [['describe', '-m', message], ['new']]);
  if (failure !== null) return { root, error: failure };
  const commit = await jj(root, 'log', '--no-graph', '-r', '@-', '-T', 'commit_id');
  const id = commit.stdout.trim();
  return { state: { root, committed: true, commit: id, message }, context: `Committed ${id.slice(0, 12)}: ${message}` };
}

async function commitWithGit({ cwd, params }: ShippedInput, message: string | null): Promise<Recorded> {
  const found = await gitRoot(cwd);
  if ('error' in found) return { root: null, error: found.error };
  const { root } = found;
  const fail = (error: string): Recorded => ({ root, error });
  // Adding unmerged paths would record unfinished merges as finished.
  const unmerged = await askGit(root, 'ls-files', '--unmerged');
  if (!unmerged.ok) return fail(unmerged.error);
  if (unmerged.stdout !== '') return fail('the repository has unmerged paths; resolve them first');

  const paths = await pathsToCommit(root);
  const status = await askGit(root, 'status', '--porcelain', '--', ...paths);
  if (!status.ok) return fail(status.error);
  if (status.stdout === '') return { state: { root, committed: false, commit: null, message: null }, context: '' };
  if (message === null) return fail('there is no work item with a title to commit under');

  const added = await askGit(root, 'add', '--all', '--', ...paths);
  if (!added.ok) return fail(added.error);
  const committed = await askGit(root, ...(await identity(root, params)), 'commit', '--quiet', `--message=${message}`);
  if (!committed.ok) return fail(committed.error);
  const commit = (await askGit(root, 'rev-parse', 'HEAD')).stdout.trim();
  const branch = await currentBranch(root);
  return {
    state: { root, branch, committed: true, commit, message },
    context: `Committed ${commit.slice(0, 12)}: ${message}`,
  };
}

/** Everything except our log, if git does not ignore it. Git refuses to exclude an ignored path. */
async function pathsToCommit(root: string): Promise<readonly string[]> {
  const isOpen =
    existsSync(path.join(root, STATE_FOLDER)) && !(await askGit(root, 'check-ignore', '-q', STATE_FOLDER)).ok;
  return isOpen ? ['.', `:(exclude,top)${STATE_FOLDER}`] : ['.'];
}

/** A name and an address, each only if git has none. Git's own variables and author settings still take precedence. */
async function identity(root: string, params: JsonObject): Promise<readonly string[]> {
  const name = isText(params.userName) ? params.userName : 'Baton';
  const email = isText(params.userEmail) ? params.userEmail : 'baton@localhost';
  const hasName = (await askGit(root, 'config', '--get', 'user.name')).ok;
  const hasEmail = isText(process.env.EMAIL) || (await askGit(root, 'config', '--get', 'user.email')).ok;
  return [...(hasName ? [] : ['-c', `user.name=${name}`]), ...(hasEmail ? [] : ['-c', `user.email=${email}`])];
}
