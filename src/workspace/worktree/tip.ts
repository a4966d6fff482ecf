// The last commit of a worktree's branch. Agents have git at hand and may remove the branch they work on; what was accepted
// is written down beside the worktree, so that the branch comes back with it whoever asks next.
import { commitOf, git, records, tryGit, WorktreeError } from './git.ts';
import type { WorktreeRecord } from './record.ts';

/** Where the branch is, and what is checked out in the folder. */
export type Position = {
  readonly tip: string;
  readonly head: string;
  /** The full name of the branch that is checked out; missing where it is not known. */
  readonly on?: string;
};

/** The last commit, of a branch that was taken away on purpose too; null where git has nothing of it any more. */
export async function branchTip(record: WorktreeRecord): Promise<string | null> {
  const { top, branch, state } = record;
  const ref = `refs/heads/${branch}`;
  const tip = await commitOf(top, ref);
  if (tip !== null) return tip;
  const last = state === 'ready' ? lastAccepted(record) : (record.tip ?? null);
  const found = last === null ? null : await commitOf(top, last);
  if (found !== null && state === 'ready') await git(top, ['update-ref', '-m', 'baton', ref, found]);
  return found;
}

/** The same for whoever cannot do without. */
export async function tipOf(record: WorktreeRecord): Promise<string> {
  return (await branchTip(record)) ?? refuseGone(record);
}

export async function positionOf(record: WorktreeRecord): Promise<Position> {
  const { folder, branch } = record;
  const asked = [`refs/heads/${branch}`, 'HEAD', '--symbolic-full-name', 'HEAD'];
  const both = await tryGit(folder, ['rev-parse', ...asked]);
  const [first = '', second = '', on = ''] = both.out.split('\n');
  if (both.code === 0) return { tip: first, head: second, on };
  const tip = await tipOf(record);
  return { tip, head: (await commitOf(folder, 'HEAD')) ?? tip };
}

const STATUS = [
  ...['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z', '--untracked-files=normal'],
  ...['--no-renames', '--ignore-submodules=dirty'],
];

/** The position where the branch is checked out and no file differs from its last commit; else null. */
export async function unchangedPosition({ folder, branch }: WorktreeRecord): Promise<Position | null> {
  const { code, out } = await tryGit(folder, STATUS, { env: { GIT_OPTIONAL_LOCKS: '0' } });
  const lines = records(out);
  const after = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length);
  const tip = after('# branch.oid ') ?? '';
  const isUnchanged = code === 0 && lines.every((line) => line.startsWith('# '));
  // A branch without a commit has words in the place of one.
  if (!isUnchanged || !/^[0-9a-f]+$/.test(tip) || after('# branch.head ') !== branch) return null;
  return { tip, head: tip, on: `refs/heads/${branch}` };
}

/** What was accepted and is in no branch has to be in git at least. */
export function refuseGone(record: WorktreeRecord): never {
  const { cast, branch } = record;
  const last = record.state === 'ready' ? lastAccepted(record) : record.tip;
  const what = last
    ? `git does not have commit ${last.slice(0, 12)} any more, the last that was accepted on ${branch}: the accepted work of cast ${cast} is gone from this repository`
    : `the branch ${branch} of cast ${cast} is gone, and nobody knows what was accepted on it`;
  const fix = `fetch it from a copy of the repository that has it, or drop the cast with \`baton undo ${cast}\``;
  throw new WorktreeError(`${what}; ${fix}`);
}

/** A record of an older version tells it only as long as no turn has begun. */
function lastAccepted({ accepted, starts, base }: WorktreeRecord): string | null {
  return accepted ?? (Object.keys(starts).length === 0 ? base : null);
}
