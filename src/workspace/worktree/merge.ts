// Merges the branch of a cast into the branch that is checked out, and takes such a merge back. Whether it works without a person
// is found out before any file is touched, where git can tell.
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

/** What else may be under way in a folder, by the name that git gives to its state. */
const UNDER_WAY = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD'];

/** As far as `upTo`, where the branch has more than was accepted. */
export async function mergeBranch(dir: string, branch: string, upTo: string): Promise<Merged> {
  const [before, tip] = [await commitOf(dir, 'HEAD'), await commitOf(dir, upTo)];
  if (before === null || tip === null) return no('WORKTREE_UNUSABLE', `there is no branch ${branch} any more`);
  const busy = await underWay(dir);
  if (busy !== null) return no('NOT_ALLOWED_NOW', busy);
  if (await isIn(dir, tip, before)) return { ok: true, before, commit: before, how: 'nothing to merge' };
  const conflicts = await conflictsAhead(dir, before, tip);
  if (conflicts.length > 0) return conflicting(branch, conflicts);
  // Git names a merge after the branch only where all of it is merged.
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

/** All of it as one commit of the person, on top of the branch that is checked out. */
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
  // Files are touched by the last step alone, which git does whole or not at all.
  const moved = await tryGit(dir, ['merge', '-q', '--no-autostash', '--ff-only', commit]);
  if (moved.code === 0) return { ok: true, before, commit, how: 'one commit' };
  return no('NOT_ALLOWED_NOW', `git does not merge ${branch}: ${moved.error.replace(/\s+/g, ' ')}`);
}

/** The name of the branch that is checked out; null where none is. */
export async function branchIn(dir: string): Promise<string | null> {
  const { code, out } = await tryGit(dir, ['symbolic-ref', '-q', 'HEAD']);
  return code === 0 ? out.trim().replace(/^refs\/heads\//, '') : null;
}

/** What else is under way in the folder, in words; null where nothing is. */
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

/** The tree of two commits together, and the files in which they clash; these hold both versions, between marks. */
export async function joinTrees(top: string, ours: string, theirs: string) {
  const merged = await tryGit(top, ['merge-tree', '--write-tree', '--name-only', '-z', ours, theirs]);
  const [tree = ''] = merged.out.split('\0');
  if (merged.code === 0) return { tree, files: [] };
  if (merged.code === 1) return { tree, files: conflictsIn(merged.out) };
  const why = merged.error.split('\n')[0] ?? '';
  throw new WorktreeError(`git cannot merge what ran side by side (it has to be 2.38 or newer): ${why}`);
}

/** The files that could not be merged; none where this git cannot tell. */
async function conflictsAhead(dir: string, ours: string, theirs: string): Promise<readonly string[]> {
  const { code, out } = await tryGit(dir, ['merge-tree', '--write-tree', '--name-only', '-z', ours, theirs]);
  return code === 1 ? conflictsIn(out) : [];
}

/** The files in an answer of `merge-tree`: the tree comes first, after them an empty part and what git says about them. */
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

/** A merge is the person's own, unless git does not know who that is. */
async function identity(dir: string): Promise<Readonly<Record<string, string>>> {
  return (await tryGit(dir, ['var', 'GIT_COMMITTER_IDENT'])).code === 0 ? {} : AUTHOR;
}

// Takes a merge back as a commit of its own: history stays, and what was done since stays too. Whether that goes is found
// out before anything is touched.
type MergeUndone =
  /** Null where nothing of it was left. */
  | { readonly ok: true; readonly commit: string | null }
  | { readonly ok: false; readonly code: Code; readonly reason: string };

/** What `merge` brought into the branch that is checked out in `top`, all of its commits, is taken out of it again. */
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
  // All of it or nothing, and only where the files are what git has: what nobody has committed is never written over.
  const applied = await tryGit(top, ['apply', '--index', '--whitespace=nowarn', '-'], { input: bytes });
  if (applied.code !== 0) {
    const why = applied.error.split('\n').slice(0, 3).join('; ');
    return notUndone('MERGE_CONFLICT', `the files were changed since, so nothing was taken back (${why}); ${byHand}`);
  }
  const said = ['-m', title, '-m', `What came with ${before}..${after} is undone.`];
  await git(top, ['commit', '-q', '--no-verify', ...said], { env: await identity(top) });
  return { ok: true, commit: await commitOf(top, 'HEAD') };
}

/**
 * Why it is not taken back here: other branches may contain it too, and it would stay in the one it was merged into. Where
 * that one is gone, or was put back to before it, whichever has it now will do.
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

/** How a person takes the same back with git, several commits or one. */
function undoByHand({ before, after }: Merge): string {
  const patch = `git diff --binary ${after.slice(0, 12)} ${before.slice(0, 12)} | git apply --3way`;
  return `commit or stash your own changes, then \`${patch}\` puts both versions side by side where they differ`;
}

function notUndone(code: Code, reason: string): MergeUndone {
  return { ok: false, code, reason };
}
