// Stashes the state of a worktree under a ref of its own before anything in it is restored, and stages files for a commit.
// Nothing is deleted, because it may be a person's work.
import { copyFileSync, lstatSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { ownGitFile } from '../../git/repository-files.ts';
import { nameOf } from '../changes-mark.ts';
import { AUTHOR, commitOf, git, indexed, lastLines, tryGit, WorktreeError } from '../git.ts';
import { dropLostLinks, noticeOfRepository, submodulesIn } from './nested-repositories.ts';
import { recordName, type WorktreeRecord, worktreesIn } from './record.ts';

/** The ref of the stash. Repositories cannot be stashed, so it also names the folders to which they were moved. */
export type Stash = { readonly ref: string };

/** Stashes what differs from `start` in the worktree, committed or not, and `more` commits. Null if nothing differs. */
export async function stash(
  stateDir: string,
  record: WorktreeRecord,
  turn: number,
  start: string,
  what = stashTitle(turn),
  more: readonly string[] = [],
): Promise<Stash | null> {
  const { folder, cast } = record;
  const tree = await treeOfWork(stateDir, record);
  const head = (await commitOf(folder, 'HEAD')) ?? start;
  const isSame = [head, ...more].every((commit) => commit === start);
  if (isSame && tree === (await git(folder, ['rev-parse', `${start}^{tree}`]))) return null;
  const text = `${what}\n\nBaton-Cast: ${cast}\nBaton-Turn: ${turn}\n`;
  const parents = [...new Set([head, ...more])].flatMap((parent) => ['-p', parent]);
  const commit = await git(folder, ['commit-tree', tree, ...parents], { input: text, env: AUTHOR });
  const ref = `${stashRefs(cast)}/turn-${turn}-${commit.slice(0, 8)}`;
  await git(folder, ['update-ref', ref, commit]);
  return { ref };
}

/** What was stashed, with the folders to which repositories were moved. */
export function alsoMoved(stashed: Stash | null, folders: readonly string[]): Stash | null {
  const names = [...(stashed ? [stashed.ref] : []), ...folders];
  return names.length === 0 ? null : { ref: names.join(' and ') };
}

export function stashTitle(turn: number): string {
  return `What turn ${turn} left before it began over`;
}

/** Where what was stashed is kept. */
function stashRefs(cast: string): string {
  return `refs/baton/${cast}`;
}

/** The refs of parked items. It outlives what was stashed: only a person gives it up. */
export function parkedRefs(cast: string): string {
  return `${stashRefs(cast)}/parked`;
}

export async function dropStashes({ top, cast }: WorktreeRecord): Promise<void> {
  const parked = await parkedOf({ top, cast });
  for (const ref of await refsIn(top, stashRefs(cast))) {
    if (!parked.includes(ref)) await git(top, ['update-ref', '-d', ref]);
  }
}

/** The names under which the work of parked items is kept. */
export function parkedOf({ top, cast }: Pick<WorktreeRecord, 'top' | 'cast'>): Promise<readonly string[]> {
  return refsIn(top, parkedRefs(cast));
}

/** The notice about parked work after the worktree is gone. */
export function noticeOfParked(refs: readonly string[]): string {
  if (refs.length === 0) return '';
  return `; the work of parked items is kept as ${refs.join(', ')}: \`git branch NAME REF\` brings it back`;
}

async function refsIn(top: string, folder: string): Promise<readonly string[]> {
  const refs = await git(top, ['for-each-ref', '--format=%(refname)', `${folder}/`]);
  return refs.split('\n').filter((line) => line !== '');
}

/** All files of the worktree as a tree of git, without changing its index. */
export async function treeOfWork(stateDir: string, record: WorktreeRecord): Promise<string> {
  const { folder } = record;
  return withIndex(stateDir, record, async (env) => {
    await stageAll(record, env);
    return git(folder, ['write-tree'], { env });
  });
}

/** Works with a copy of the worktree's index. */
export async function withIndex<T>(
  stateDir: string,
  record: WorktreeRecord,
  work: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const { folder } = record;
  const own = join(worktreesIn(stateDir), `${recordName(record)}.index`);
  try {
    // The copy knows which files are unchanged, so they are not read again. Git re-reads files that changed in the second of
    // the index, so the copy keeps the time of the original.
    const index = ownGitFile(folder, 'index');
    if (index === null) throw new WorktreeError(`${folder} is in no git repository any more`);
    const writtenAt = Math.floor(statSync(index).mtimeMs / 1000);
    copyFileSync(index, own);
    utimesSync(own, writtenAt, writtenAt);
    return await work({ GIT_INDEX_FILE: own });
  } finally {
    rmSync(own, { force: true });
    rmSync(`${own}.lock`, { force: true });
  }
}

// Stages the files of a worktree, as far as git can keep them. An agent may have set git to skip files. Observed changes are
// staged anyway, unless a `.gitignore` of the worktree ignores them. A file that cannot be staged does not stop the others.
type Env = Readonly<Record<string, string>>;
type WorkFolders = Pick<WorktreeRecord, 'folder' | 'cwd'>;

/** `seen` are paths from the workspace's folder. Returns what could not be staged, and why. */
export async function stageAll(
  place: WorkFolders,
  env: Env = {},
  seen: readonly string[] = [],
): Promise<readonly string[]> {
  const { folder, cwd } = place;
  await unhide(cwd, seen, env);
  const present = (await committable(cwd, seen)).filter((path) => isFile(join(cwd, path)));
  const added = await tryGit(folder, ['add', '-A', '--ignore-errors'], { env });
  if (added.code !== 0 && added.code !== 1) {
    throw new WorktreeError(`git add failed in ${folder}: ${lastLines(added.error) || `exit code ${added.code}`}`);
  }
  const lines = added.error.split('\n');
  const embedded = lines.flatMap((line) => (line.startsWith(EMBEDDED) ? [line.slice(EMBEDDED.length)] : []));
  for (const path of embedded) await git(folder, ['update-index', '--force-remove', '--', path], { env });
  const faults = lines.flatMap((line) => (line.startsWith(ERROR) ? [line.slice(ERROR.length)] : []));
  const lost = await dropLostLinks(folder, env);
  const hidden = (await ignoredOf(cwd, present, env)).filter(({ source }) => !isOpenRule(source));
  const there = hidden.map(({ path }) => path);
  if (there.length > 0) await git(cwd, ['update-index', '-z', '--add', '--stdin'], { env, input: there.join('\0') });
  return [...embedded.map(noticeOfRepository), ...faults, ...lost];
}

const EMBEDDED = 'warning: adding embedded git repository: ';
const ERROR = 'error: ';

/** Clears the marks in the index that make git treat files as unchanged or absent, for `paths` or for all files. */
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

/** The paths without untracked ones that a `.gitignore` of the worktree ignores. */
export async function withoutIgnored(cwd: string, paths: readonly string[], env: Env = {}): Promise<readonly string[]> {
  const ignored = await ignoredOf(cwd, await committable(cwd, paths), env);
  const open = new Set(ignored.filter(({ source }) => isOpenRule(source)).map(({ path }) => path));
  return paths.filter((path) => !open.has(path));
}

/** Which of the paths git ignores, and the file with the rule. */
async function ignoredOf(cwd: string, paths: readonly string[], env: Env) {
  const input = paths.join('\0');
  if (input === '') return [];
  const { out } = await tryGit(cwd, ['check-ignore', '-z', '-v', '--stdin'], { env, input });
  const fields = out.split('\0');
  const found: { readonly source: string; readonly path: string }[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    // Git also reports rules with `!`.
    if (!fields[at + 2]?.startsWith('!')) found.push({ source: fields[at] ?? '', path: fields[at + 3] ?? '' });
  }
  return found;
}

/** Without files of git itself and of other repositories. They are reported as changes, but no commit can have them. */
export async function committable(cwd: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return paths;
  const folders = ['.git', ...(await submodulesIn(cwd))].map((path) => `${path}/`);
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
