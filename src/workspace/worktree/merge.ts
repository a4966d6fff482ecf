// Merges the branch of a cast into the checked out branch, and undoes such a merge. Conflicts are detected before any file is
// changed, if git can tell.
import type { Code } from '../../kernel/codes.ts';
import { AUTHOR, commitOf, git, records, tryGit, WorktreeError } from '../git.ts';
import type { Merge } from './record.ts';

export type Merged =
  | {
      readonly ok: true;
      readonly before: string;
      readonly commit: string;
      readonly how: 'nothing to merge' | 'fast-forward' | 'merge commit' | 'one commit';
    }
  | { readonly ok: false; readonly code: Code; readonly reason: string; readonly files: readonly string[] };

/** Unfinished operations in a folder, by the name of their ref. */
const UNDER_WAY = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD'];

/** Only up to `upTo`, if the branch has more than the accepted work. */
export async function mergeBranch(dir: string, branch: string, upTo: string): Promise<Merged> {
  const [before, tip] = [await commitOf(dir, 'HEAD'), await commitOf(dir, upTo)];
  if (before === null || tip === null) return no('WORKTREE_UNUSABLE', `there is no branch ${branch} any more`);
  const busy = await underWay(dir);
  if (busy !== null) return no('NOT_ALLOWED_NOW', busy);
  if (await isIn(dir, tip, before)) return { ok: true, before, commit: before, how: 'nothing to merge' };
  const conflicts = await conflictsAhead(dir, before, tip);
  if (conflicts.length > 0) return conflicting(branch, conflicts);
  // Git names the branch in the message only if all of it is merged.
  const isWhole = tip === (await commitOf(dir, `refs/heads/${branch}`));
  const what = isWhole ? ['--no-edit', branch] : ['-m', `Merge what was accepted of ${branch}`, tip];
  const merged = await tryGit(dir, ['merge', '-q', '--no-autostash', ...what], { env: await identity(dir) });
  const after = (await commitOf(dir, 'HEAD')) ?? before;
  if (merged.code === 0)
    return { ok: true, before, commit: after, how: after === tip ? 'fast-forward' : 'merge commit' };
  const unmerged = records((await tryGit(dir, ['diff', '--name-only', '--diff-filter=U', '-z'])).out);
  if ((await commitOf(dir, 'MERGE_HEAD')) !== null) await git(dir, ['merge', '--abort']);
  if (unmerged.length > 0) return conflicting(branch, unmerged);
  return no('NOT_ALLOWED_NOW', `git does not merge ${branch}: ${merged.error.replace(/\s+/g, ' ')}`);
}

/** All of it as one commit of the person, on top of the checked out branch. */
export async function squashBranch(dir: string, branch: string, upTo: string, message: string): Promise<Merged> {
  const [before, tip] = [await commitOf(dir, 'HEAD'), await commitOf(dir, upTo)];
  if (before === null || tip === null) return no('WORKTREE_UNUSABLE', `there is no branch ${branch} any more`);
  const busy = await underWay(dir);
  if (busy !== null) return no('NOT_ALLOWED_NOW', busy);
  const author = await tryGit(dir, ['var', 'GIT_AUTHOR_IDENT']);
  if (author.code !== 0)
    return no(
      'NOT_ALLOWED_NOW',
      'git does not know whose commit it is; say so with git config user.name and user.email',
    );
  const { tree, files } = await joinTrees(dir, before, tip);
  if (files.length > 0) return conflicting(branch, files);
  if (tree === (await git(dir, ['rev-parse', `${before}^{tree}`])))
    return { ok: true, before, commit: before, how: 'nothing to merge' };
  const commit = await git(dir, ['commit-tree', tree, '-p', before, '-F', '-'], { input: message });
  // Only the last step changes files, and git does it completely or not at all.
  const moved = await tryGit(dir, ['merge', '-q', '--no-autostash', '--ff-only', commit]);
  if (moved.code === 0) return { ok: true, before, commit, how: 'one commit' };
  return no('NOT_ALLOWED_NOW', `git does not merge ${branch}: ${moved.error.replace(/\s+/g, ' ')}`);
}

/** The name of the checked out branch, or null. */
export async function branchIn(dir: string): Promise<string | null> {
  const { code, out } = await tryGit(dir, ['symbolic-ref', '-q', 'HEAD']);
  return code === 0 ? out.trim().replace(/^refs\/heads\//, '') : null;
}

/** A text about an unfinished operation in the folder, or null. */
async function underWay(dir: string): Promise<string | null> {
  for (const name of UNDER_WAY) {
    if ((await commitOf(dir, name)) === null) continue;
    return `another merge or rebase is under way in ${dir}; finish or abort it first`;
  }
  return null;
}

/** Whether the commit is in the history of the other one. */
export async function isIn(dir: string, commit: string, other: string): Promise<boolean> {
  return (await tryGit(dir, ['merge-base', '--is-ancestor', commit, other])).code === 0;
}

/** The merged tree of two commits, and the conflicting files. These have both versions between marks. */
export async function joinTrees(top: string, ours: string, theirs: string) {
  const merged = await tryGit(top, ['merge-tree', '--write-tree', '--name-only', '-z', ours, theirs]);
  const [tree = ''] = merged.out.split('\0');
  if (merged.code === 0) return { tree, files: [] };
  if (merged.code === 1) return { tree, files: conflictsIn(merged.out) };
  const why = merged.error.split('\n')[0] ?? '';
  throw new WorktreeError(`git cannot merge what ran side by side (it has to be 2.38 or newer): ${why}`);
}

/** The conflicting files. None if this version of git cannot tell. */
async function conflictsAhead(dir: string, ours: string, theirs: string): Promise<readonly string[]> {
  const { code, out } = await tryGit(dir, ['merge-tree', '--write-tree', '--name-only', '-z', ours, theirs]);
  return code === 1 ? conflictsIn(out) : [];
}

/** The files in the output of `merge-tree`: after the tree, before an empty part and the messages. */
function conflictsIn(out: string): readonly string[] {
  const [, ...parts] = out.split('\0');
  const end = parts.indexOf('');
  return [...new Set(end === -1 ? parts : parts.slice(0, end))];
}

function conflicting(branch: string, files: readonly string[]): Merged {
  const reason = `${branch} changes what was changed here too: ${files.join(', ')}; nothing was merged`;
  return { ok: false, code: 'MERGE_CONFLICT', reason, files };
}

function no(code: Code, reason: string): Merged {
  return { ok: false, code, reason, files: [] };
}

/** The person is the author of a merge, if git knows the name. */
async function identity(dir: string): Promise<Readonly<Record<string, string>>> {
  return (await tryGit(dir, ['var', 'GIT_COMMITTER_IDENT'])).code === 0 ? {} : AUTHOR;
}

// Undoes a merge with a new commit, so history and later work stay. Whether this is possible is checked first.
type MergeUndone =
  /** Null if nothing of it was left. */
  | { readonly ok: true; readonly commit: string | null }
  | { readonly ok: false; readonly code: Code; readonly reason: string };

/** Removes all changes of `merge` from the branch that is checked out in `top`. */
export async function undoMerge(top: string, merge: Merge, title: string): Promise<MergeUndone> {
  const { before, after } = merge;
  const byHand = undoByHand(merge);
  const elsewhere = await elsewhereIs(top, merge);
  if (elsewhere !== null) return notUndone('NOT_ALLOWED_NOW', elsewhere);
  const busy = await underWay(top);
  if (busy !== null) return notUndone('NOT_ALLOWED_NOW', busy);
  if ((await tryGit(top, ['diff', '--cached', '--quiet', '--ignore-submodules'])).code !== 0) {
    return notUndone(
      'NOT_ALLOWED_NOW',
      'you have staged changes, which would become part of it; commit or unstage them first',
    );
  }
  const reverse = ['diff', '--binary', '--full-index', '--no-renames', '--no-ext-diff', '--no-textconv', after, before];
  const { bytes } = await tryGit(top, reverse);
  if (bytes.length === 0) return { ok: true, commit: null };
  // All or nothing, and only on unchanged files: uncommitted work is never overwritten.
  const applied = await tryGit(top, ['apply', '--index', '--whitespace=nowarn', '-'], { input: bytes });
  if (applied.code !== 0) {
    const why = applied.error.split('\n').slice(0, 3).join('; ');
    return notUndone('MERGE_CONFLICT', `the files were changed since, so nothing was taken back (${why}); ${byHand}`);
  }
  const message = ['-m', title, '-m', `What came with ${before}..${after} is undone.`];
  await git(top, ['commit', '-q', '--no-verify', ...message], { env: await identity(top) });
  return { ok: true, commit: await commitOf(top, 'HEAD') };
}

/**
 * Why the merge is not undone in this branch: it was merged into another one and would stay there. If that branch is gone or
 * was reset, any branch with the merge will do.
 */
async function elsewhereIs(top: string, { after, into }: Merge): Promise<string | null> {
  const theirs = into === undefined ? null : await commitOf(top, `refs/heads/${into}`);
  const isThere = theirs !== null && (await isIn(top, after, theirs));
  if (isThere && (await branchIn(top)) !== into) return `it was merged into ${into}; check that branch out first`;
  const head = await commitOf(top, 'HEAD');
  if (head !== null && (await isIn(top, after, head))) return null;
  const list = `git branch --contains ${after.slice(0, 12)}`;
  return `it is not in the branch that is checked out; check one out that has it (\`${list}\` names them)`;
}

/** How a person undoes the same with git. */
function undoByHand({ before, after }: Merge): string {
  const patch = `git diff --binary ${after.slice(0, 12)} ${before.slice(0, 12)} | git apply --3way`;
  return `commit or stash your own changes, then \`${patch}\` puts both versions side by side where they differ`;
}

function notUndone(code: Code, reason: string): MergeUndone {
  return { ok: false, code, reason };
}
