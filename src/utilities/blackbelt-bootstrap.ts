// Blackbelt-Bootstrap: readies a jj repository for a cast. What lies in the working copy becomes a commit of its own, a
// bookmark marks the place, and the working copy is empty afterwards.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isText } from '../kernel/json.ts';
import { branchNameFor } from './branch-name.ts';
import { ignorePatterns } from './ignore-artifacts.ts';
import { hasJj, isBookmarkName, isClean, JJ_MISSING, jj, jjInTurn } from './jj.ts';
import { give, refuse, type ShippedInput, type UtilityOutcome } from './utility.ts';

/** Jj records whatever is not ignored, so these must be before it first looks. */
const BUILD_FOLDERS = ['node_modules/', 'dist/', 'build/', 'target/', '.venv/', '__pycache__/', '.baton/state/'];

export async function blackbeltBootstrap({ cwd, castId, params }: ShippedInput): Promise<UtilityOutcome> {
  const bookmarkName = isText(params.bookmarkName) ? params.bookmarkName.trim() : branchNameFor('blackbelt', castId);
  if (!isBookmarkName(bookmarkName)) {
    return refuse(`params.bookmarkName ${JSON.stringify(bookmarkName)} is not a name for a bookmark`);
  }
  if (!(await hasJj(cwd))) return refuse(JJ_MISSING);
  const existing = await jj(cwd, 'root');
  const initialized = !existing.ok;
  if (initialized) {
    const failure = await initialize(cwd);
    if (failure !== null) return refuse(failure);
  }
  const root = existing.ok ? existing.stdout.trim() : cwd;

  const clean = await isClean(root);
  if (typeof clean === 'object') return refuse(clean.error);
  const mark = ['bookmark', 'set', bookmarkName, '-r', '@', '--allow-backwards'];
  const record = [['describe', '-m', `bootstrap: ${bookmarkName}`], mark, ['new']];
  const failure = await jjInTurn(root, clean ? [mark] : record);
  if (failure !== null) return refuse(failure);
  const emptyHead = await isClean(root);
  if (emptyHead !== true)
    return refuse(`the working copy of ${root} is not empty after bootstrapping; look at \`jj status\``);

  const state = { ok: true, root, available: true, initialized, newWorkingCommit: !clean, emptyHead, bookmarkName };
  return give({ satisfied: true, state: { blackbeltBootstrap: state } });
}

async function initialize(cwd: string): Promise<string | null> {
  await ignorePatterns(cwd, '.gitignore', BUILD_FOLDERS);
  const beside = existsSync(path.join(cwd, '.git')) ? ['--colocate'] : [];
  return await jjInTurn(cwd, [['git', 'init', ...beside]]);
}
