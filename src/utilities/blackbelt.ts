// The utilities Blackbelt-Bootstrap and Blackbelt-Maintain: they prepare a jj repository for a cast and record its work there.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isObject, isText } from '../kernel/json.ts';
import { ignorePatterns } from './ignore-artifacts.ts';
import { type ShippedInput, titleOf, type UtilityOutcome, utilityFault, utilityResult } from './utility.ts';
import { branchNameFor, hasBookmark, hasJj, isBookmarkName, isClean, JJ_MISSING, jj, jjInTurn } from './vcs.ts';

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
  const beside = existsSync(path.join(cwd, '.git')) ? ['--colocate'] : [];
  return await jjInTurn(cwd, [['git', 'init', ...beside]]);
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
