// Takes a merge back as a commit of its own: history stays, and what was done since stays too. Whether that goes is found
// out before anything is touched.
import type { Code } from '../../kernel/codes.ts';
import { commitOf, git, tryGit } from './git.ts';
import { branchIn, identity, isIn, underWay } from './merge.ts';
import type { Merge } from './record.ts';

export type TakenBack =
  /** Null where nothing of it was left. */
  | { readonly ok: true; readonly commit: string | null }
  | { readonly ok: false; readonly code: Code; readonly reason: string };

/** What `merge` brought into the branch that is checked out in `top`, all of its commits, is taken out of it again. */
export async function takeBack(top: string, merge: Merge, title: string): Promise<TakenBack> {
  const { before, after } = merge;
  const byHand = byHandOf(merge);
  const elsewhere = await elsewhereIs(top, merge);
  if (elsewhere !== null) return no('NOT_ALLOWED_NOW', elsewhere);
  const busy = await underWay(top);
  if (busy !== null) return no('NOT_ALLOWED_NOW', busy);
  if ((await tryGit(top, ['diff', '--cached', '--quiet', '--ignore-submodules'])).code !== 0) {
    return no(
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
    return no('MERGE_CONFLICT', `the files were changed since, so nothing was taken back (${why}); ${byHand}`);
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
function byHandOf({ before, after }: Merge): string {
  const patch = `git diff --binary ${after.slice(0, 12)} ${before.slice(0, 12)} | git apply --3way`;
  return `commit or stash your own changes, then \`${patch}\` puts both versions side by side where they differ`;
}

function no(code: Code, reason: string): TakenBack {
  return { ok: false, code, reason };
}
