// The branch of a cast: its last commit, how far it was accepted, and how it moves on. Agents may commit or move the branch
// themselves, so the record decides what was accepted, never the author of a commit.

import { branchAt, commitOfRef } from '../../git/repository-files.ts';
import { AUTHOR, commitOf, dropStaleLock, filesBetween, git, records, tryGit, WorktreeError } from '../git.ts';
import { isIn, joinTrees } from './merge.ts';
import { type WorktreeRecord, writeRecord } from './record.ts';
import { restorePath } from './restore-path.ts';
import { alsoMoved, type Stash, stash } from './stash.ts';

type IsTurn = (turn: string) => boolean;

/** The last commit of the branch that was accepted. */
export async function acceptedTip(record: WorktreeRecord, isOpen: IsTurn): Promise<string> {
  const turn = Object.keys(record.starts).find(isOpen);
  const accepted = turn === undefined ? null : acceptedIn(record, turn);
  if (accepted === null) return tipOf(record);
  return (await commitOf(record.top, accepted)) ?? refuseGone(record);
}

/** A record of an older version has only the start of the turn. */
function acceptedIn({ accepted, starts }: WorktreeRecord, turn: string): string | null {
  return accepted ?? starts[turn] ?? null;
}

type Kept = { readonly at: WorkPosition; readonly stashed: Stash | null };

/**
 * Makes sure that the branch has the accepted work before a commit is added. Commits of an agent on top of it stay. A removed
 * or moved branch is restored, and commits elsewhere are stashed. The files stay unchanged.
 */
export async function keepAccepted(stateDir: string, record: WorktreeRecord, turn: number): Promise<Kept> {
  const { folder, top, accepted } = record;
  const at = await positionOf(record);
  const { tip, head } = at;
  if (accepted === undefined || (tip === accepted && head === accepted)) return { at, stashed: null };
  const what = `What turn ${turn} committed beside ${record.branch}`;
  if (await isIn(top, accepted, tip)) {
    if (tip === head || (await isIn(folder, tip, head))) return { at, stashed: null };
    const stashed = (await isIn(folder, head, tip)) ? null : await stash(stateDir, record, turn, tip, what);
    return { at: { tip, head: tip }, stashed };
  }
  if ((await commitOf(top, accepted)) === null) refuseGone(record);
  if (isAlone(record, turn)) dropStaleLock(folder);
  const stashed = await putBack(stateDir, record, turn, accepted, what, tip);
  return { at: { tip: accepted, head: accepted }, stashed };
}

/** The commit that other work may start from: without the commits of an open turn in the same folder. */
export function acceptedPart({ open, accepted }: WorktreeRecord, tip: string): string {
  return Object.keys(open).length === 0 ? tip : (accepted ?? tip);
}

/** Whether no other turn works in the same folder. */
export function isAlone({ open }: WorktreeRecord, turn: number): boolean {
  return Object.keys(open).every((each) => each === `${turn}`);
}

/** Moves the branch back to a commit and stashes its later work. The files stay unchanged. */
export async function putBack(
  stateDir: string,
  record: WorktreeRecord,
  turn: number,
  to: string,
  what: string,
  tip: string,
): Promise<Stash | null> {
  const { folder, branch } = record;
  const stashed = await stash(stateDir, record, turn, to, what, [tip]);
  await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  // An agent may lock the index for a moment. The index is then only out of date.
  if ((await tryGit(folder, ['reset', '-q', '--mixed', to])).code !== 0) {
    await git(folder, ['update-ref', '-m', 'baton', `refs/heads/${branch}`, to]);
  }
  return stashed;
}

/**
 * Takes the commits of a finally refused turn off the branch and stashes them. The files stay unchanged. While the turn may
 * still be repaired, nothing moves under its agent.
 */
export async function takeOffRefused(
  stateDir: string,
  record: WorktreeRecord,
  isRefused: IsTurn,
  isOpen: IsTurn,
): Promise<Stash | null> {
  const open = Object.keys(record.starts).filter(isOpen);
  const turn = open.at(-1);
  if (turn === undefined || !open.every(isRefused)) return null;
  const accepted = acceptedIn(record, turn);
  const { tip, head } = await positionOf(record);
  if (accepted === null || (tip === accepted && head === accepted)) return null;
  if ((await commitOf(record.top, accepted)) === null) refuseGone(record);
  dropStaleLock(record.folder);
  const what = `What turn ${turn} committed before it was refused`;
  return putBack(stateDir, record, Number(turn), accepted, what, tip);
}

// Commits of an open turn stay after newly accepted commits on the same branch, so that they are neither accepted with them nor
// lost.
type Carried = { readonly tip: string; readonly stashed: Stash | null };

/**
 * Where the branch, now at `tip`, must be for `to` to be accepted: there, or at both merged if it has more than was accepted.
 * What cannot be merged is stashed; its files stay.
 */
export async function carryOpen(
  stateDir: string,
  record: WorktreeRecord,
  to: string,
  tip: string,
  turn: number,
): Promise<Carried> {
  const { top, folder, accepted, cast } = record;
  if (accepted === undefined || tip === accepted || (await isIn(top, tip, to))) return { tip: to, stashed: null };
  const joined = await joinTrees(top, to, tip);
  if (joined.files.length > 0) {
    const what = 'What an open turn had committed in the way of what was accepted beside it';
    return { tip: to, stashed: await putBack(stateDir, record, turn, accepted, what, tip) };
  }
  // The accepted commit is the first parent, so one step back removes the rest.
  const input = `What is not accepted yet, on top of what is\n\nBaton-Cast: ${cast}\n`;
  const commit = await git(folder, ['commit-tree', joined.tree, '-p', to, '-p', tip], { input, env: AUTHOR });
  return { tip: commit, stashed: null };
}

// Moves the branch of a worktree and its files to another commit. It may be interrupted anywhere: the record names the commit
// of the files until they are moved, so work of others never looks reverted here.
type Moved<T> = { readonly record: T; readonly stashed: Stash | null };

/** Uncommitted work stays, or is stashed if it is in the way. By default the whole new commit counts as accepted. */
export async function moveBranch<T extends WorktreeRecord>(
  stateDir: string,
  record: T,
  to: string,
  turn: number,
  accepted = to,
): Promise<Moved<T>> {
  const ref = `refs/heads/${record.branch}`;
  const from = await tipOf(record);
  if (from === to) return { record, stashed: null };
  const moving = writeRecord(stateDir, { ...record, behind: from, reaches: accepted });
  await git(record.top, ['update-ref', '-m', 'baton', ref, to, from]);
  return catchUp(stateDir, moving, turn);
}

/** Brings the files to the commit of the branch, after a possibly interrupted move. */
export async function catchUp<T extends WorktreeRecord>(stateDir: string, record: T, turn: number): Promise<Moved<T>> {
  const { behind, reaches, top } = record;
  if (behind === undefined) return { record, stashed: null };
  const to = await tipOf(record);
  const stashed = to === behind ? null : await moveFiles(stateDir, record, behind, to, turn);
  const { behind: _done, reaches: _reached, ...rest } = record;
  // Interrupted before the branch moved, nothing was accepted. An agent may have committed meanwhile.
  const accepted = reaches === undefined ? to : (await isIn(top, reaches, to)) ? reaches : record.accepted;
  return { record: writeRecord(stateDir, { ...(rest as T), ...(accepted ? { accepted } : {}) }), stashed };
}

async function moveFiles(stateDir: string, record: WorktreeRecord, from: string, to: string, turn: number) {
  const { folder, branch } = record;
  if (Object.keys(record.open).length === 0) dropStaleLock(folder);
  const what = `What was in the way when ${branch} was moved on`;
  const head = (await commitOf(folder, 'HEAD')) ?? to;
  // An agent may have committed outside of the branch, which was not accepted.
  const stray = (await isIn(folder, head, to)) ? null : await stash(stateDir, record, turn, to, what);
  await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  await tryGit(folder, ['update-index', '-q', '--refresh']);
  if ((await tryGit(folder, ['read-tree', '-m', '-u', from, to])).code === 0) return stray;
  const stashed = await stash(stateDir, record, turn, to, what);
  const moved: string[] = [];
  for (const { path } of await filesBetween(folder, from, to)) moved.push(...(await restorePath(record, folder, path)));
  return alsoMoved(stashed, moved);
}

// The last commit of a worktree's branch. Agents can remove their branch with git. The record next to the worktree has the
// accepted commit, so the branch is restored on the next use.
/** Where the branch is, and what is checked out in the folder. */
export type WorkPosition = {
  readonly tip: string;
  readonly head: string;
  /** The full name of the checked out branch. Missing if unknown. */
  readonly on?: string;
};

/** The last commit, even of a branch that was removed on purpose. Null if git has none of it. */
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

/** The same, or an error. */
export async function tipOf(record: WorktreeRecord): Promise<string> {
  return (await branchTip(record)) ?? refuseGone(record);
}

export async function positionOf(record: WorktreeRecord): Promise<WorkPosition> {
  const { folder, branch } = record;
  const ref = `refs/heads/${branch}`;
  const [own, here, name] = [commitOfRef(folder, ref), commitOfRef(folder, 'HEAD'), branchAt(folder)];
  if (own && here && name) return { tip: own, head: here, on: name };
  const both = await tryGit(folder, ['rev-parse', ref, 'HEAD', '--symbolic-full-name', 'HEAD']);
  const [first = '', second = '', on = ''] = both.out.split('\n');
  if (both.code === 0) return { tip: first, head: second, on };
  const tip = await tipOf(record);
  return { tip, head: (await commitOf(folder, 'HEAD')) ?? tip };
}

const STATUS = [
  ...['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z', '--untracked-files=normal'],
  ...['--no-renames', '--ignore-submodules=dirty'],
];

/** The position if the branch is checked out and no file differs from its last commit, else null. */
export async function unchangedPosition({ folder, branch }: WorktreeRecord): Promise<WorkPosition | null> {
  const { code, out } = await tryGit(folder, STATUS, { env: { GIT_OPTIONAL_LOCKS: '0' } });
  const lines = records(out);
  const after = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length);
  const tip = after('# branch.oid ') ?? '';
  const isUnchanged = code === 0 && lines.every((line) => line.startsWith('# '));
  // For a branch without a commit, git prints words instead.
  if (!isUnchanged || !/^[0-9a-f]+$/.test(tip) || after('# branch.head ') !== branch) return null;
  return { tip, head: tip, on: `refs/heads/${branch}` };
}

/** Accepted commits without a branch must still exist in git. */
export function refuseGone(record: WorktreeRecord): never {
  const { cast, branch } = record;
  const last = record.state === 'ready' ? lastAccepted(record) : record.tip;
  const what = last
    ? `git does not have commit ${last.slice(0, 12)} any more, the last that was accepted on ${branch}: the accepted work of cast ${cast} is gone from this repository`
    : `the branch ${branch} of cast ${cast} is gone, and what was accepted on it is unknown`;
  const fix = `fetch it from a copy of the repository that has it, or drop the cast with \`baton undo ${cast}\``;
  throw new WorktreeError(`${what}; ${fix}`);
}

/** A record of an older version has it only while no turn has begun. */
function lastAccepted({ accepted, starts, base }: WorktreeRecord): string | null {
  return accepted ?? (Object.keys(starts).length === 0 ? base : null);
}
