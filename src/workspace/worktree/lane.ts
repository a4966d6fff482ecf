// The work of one item at a time. A lane is a worktree in which items run next to those of other lanes; its accepted work is merged into
// the branch of the cast. A parked item's work is moved out of the worktree and kept under a ref of its own. When a person retries the
// item, it is merged back. Every step may be interrupted anywhere and repeated.
import type { Watch } from '../../kernel/cast/packet.ts';
import type { ParkedWork } from '../../kernel/cast/state.ts';
import type { MergeEnd } from '../../kernel/input.ts';
import { AUTHOR, commitOf, dropStaleLock, git, tryGit } from '../git.ts';
import { acceptedPart, branchTip, carryOpen, catchUp, keepAccepted, moveBranch, tipOf } from './accepted.ts';
import { clearAway } from './make.ts';
import { isIn, joinTrees } from './merge.ts';
import { NOTHING_ORPHANED, type OrphanedFiles, orphanedIn, refuseApart } from './nested-repositories.ts';
import { dropRecord, type LaneRecord, type WorktreeRecord, writeRecord } from './record.ts';
import { cleanPath, cleanVacant } from './restore-path.ts';
import { alsoMoved, parkedRefs, type Stash, stash } from './stash.ts';
import {
  type Begun,
  beginTurn,
  commitAll,
  dropStrays,
  keepTurn,
  message,
  subjectOf,
  trailersOf,
  uncommittedOf,
} from './turns.ts';

/** In its lane an item is alone. */
const alone = (watch: Watch): Watch => ({ ...watch, beside: null });

/** Brings the worktree to the start of an attempt. A new item starts at the cast's branch. */
export async function beginInLane(
  stateDir: string,
  own: WorktreeRecord,
  lane: LaneRecord,
  watch: Watch,
): Promise<Begun<LaneRecord>> {
  const { record, stashed } = await catchUp(stateDir, lane, watch.turn);
  if (record.lane.task === watch.task) {
    const begun = await beginTurn(stateDir, record, alone(watch));
    return { ...begun, stashed: begun.stashed ?? stashed };
  }
  dropStaleLock(record.folder);
  const tip = acceptedPart(own, await tipOf(own));
  const left = await putLeftoversAside(stateDir, record, tip, watch.turn);
  await git(record.folder, ['symbolic-ref', 'HEAD', `refs/heads/${record.branch}`]);
  await git(record.folder, ['reset', '-q', '--hard', tip]);
  const moved = [...(await cleanPath(record, record.folder)), ...(await cleanVacant(record))];
  const note = { ...record.lane, task: watch.task, kept: null, conflicts: [] };
  const fresh = writeRecord(stateDir, { ...record, base: tip, accepted: tip, starts: {}, open: {}, lane: note });
  const begun = await beginTurn(stateDir, fresh, alone(watch));
  return { ...begun, stashed: alsoMoved(left, moved) };
}

/** Commits the work of an accepted turn. */
export async function keepInLane(
  stateDir: string,
  lane: LaneRecord,
  watch: Watch,
  changes: readonly string[] = [],
): Promise<Begun<LaneRecord>> {
  const { record, ...rest } = await keepTurn(stateDir, lane, alone(watch), changes);
  return { record: writeRecord(stateDir, { ...record, lane: { ...record.lane, kept: watch.turn } }), ...rest };
}

/** Removes files outside of the paths that the item may change. */
export function dropStraysInLane(stateDir: string, lane: LaneRecord, watch: Watch): Promise<Stash | null> {
  return dropStrays(stateDir, { ...lane, open: { [watch.turn]: watch.beside ?? [] } }, watch);
}

type Leftovers = { readonly commits: number; readonly files: number };

/** Work in the lane that is not in the cast's branch, whose last commit is `tip`. */
export async function leftoversOf(lane: LaneRecord, tip: string): Promise<Leftovers> {
  const work = await branchTip(lane);
  const counted = work === null ? null : await tryGit(lane.top, ['rev-list', '--count', `${tip}..${work}`]);
  const files = await uncommittedOf(lane).catch(() => 0);
  return { commits: Number(counted?.out) || 0, files };
}

/** Stashes work that exists nowhere else. */
export async function putLeftoversAside(
  stateDir: string,
  lane: LaneRecord,
  tip: string,
  turn: number,
): Promise<Stash | null> {
  const work = await branchTip(lane);
  const head = await commitOf(lane.folder, 'HEAD');
  if (head === null) return null;
  const start = (await isIn(lane.folder, head, tip)) ? head : tip;
  const more = work === null || (await isIn(lane.top, work, tip)) ? [] : [work];
  return stash(stateDir, lane, turn, start, `What ${lane.lane.task ?? 'an item'} left in ${lane.branch}`, more);
}

/**
 * Removes the worktree, its branch and its record with all content, except repositories with own work. Returns the ignored
 * files that were lost.
 */
export async function removeLane(stateDir: string, lane: LaneRecord): Promise<OrphanedFiles> {
  if (lane.state !== 'making') await refuseApart(lane);
  const behind = lane.state === 'making' ? NOTHING_ORPHANED : await orphanedIn(lane);
  await clearAway(lane);
  dropRecord(stateDir, lane);
  return behind;
}

// Merges the work of a lane into the cast's branch. After a crash it is called again; if the item's last commit is in the
// branch, it is done. On a conflict, the lane gets both versions for a repair, and the branch stays unchanged.
type LaneMerge = {
  readonly own: WorktreeRecord;
  readonly lane: LaneRecord;
  readonly end: MergeEnd;
  /** The stashes of both worktrees. */
  readonly stashes: readonly Stash[];
};

export async function mergeLane(
  stateDir: string,
  before: WorktreeRecord,
  begun: LaneRecord,
  watch: Watch,
): Promise<LaneMerge> {
  const [mine, theirs] = [await catchUp(stateDir, before, watch.turn), await catchUp(stateDir, begun, watch.turn)];
  const own = mine.record;
  let lane = theirs.record;
  const [held, heldLane] = [
    await keepAccepted(stateDir, own, watch.turn),
    await keepAccepted(stateDir, lane, watch.turn),
  ];
  const stashes = [mine, theirs, held, heldLane].flatMap(({ stashed }) => stashed ?? []);
  let work = heldLane.at.tip;
  // This item has no work here. The files belong to another one.
  if (lane.lane.task !== watch.task) return { own, lane, stashes, end: { ok: true, commit: null } };
  // After a crash right after the acceptance, the commit is missing. Later work was not accepted.
  if (lane.lane.kept !== watch.turn) {
    work = (await commitAll(lane, heldLane.at, subjectOf(watch), trailersOf(lane.cast, watch))).commit;
    lane = writeRecord(stateDir, { ...lane, accepted: work, lane: { ...lane.lane, kept: watch.turn } });
  }
  // A merge does not accept commits of an open turn in the cast's own worktree.
  const tip = acceptedPart(own, held.at.tip);
  if (await isIn(own.top, work, tip)) return { own, lane, stashes, end: { ok: true, commit: tip } };
  const marked = await stillMarked(lane, work);
  if (marked.length > 0) return { own, lane, stashes, end: conflict(own, marked, 'is not resolved yet') };
  const joined = await joinTrees(own.top, work, tip);
  if (joined.files.length > 0) {
    const moved = await takeBoth(stateDir, lane, { tip, work, tree: joined.tree, files: joined.files }, watch);
    const all = [...stashes, ...moved.stashes];
    return { own, lane: moved.lane, stashes: all, end: conflict(own, joined.files, 'was changed there too') };
  }
  const commit = (await isIn(own.top, tip, work)) ? work : await commitMerge(own, joined.tree, [tip, work], watch);
  const carried = await carryOpen(stateDir, own, commit, held.at.tip, watch.turn);
  const moved = await moveBranch(stateDir, own, carried.tip, watch.turn, commit);
  const all = [...stashes, ...[carried, moved].flatMap(({ stashed }) => stashed ?? [])];
  return { own: moved.record, lane, stashes: all, end: { ok: true, commit } };
}

async function commitMerge({ folder, cast }: WorktreeRecord, tree: string, parents: readonly string[], watch: Watch) {
  const trailers = [...trailersOf(cast, watch), `Baton-Attempt: ${watch.turn}.${watch.attempt}`];
  const input = message(`Merge ${subjectOf(watch)}`, trailers);
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])];
  return git(folder, args, { input, env: AUTHOR });
}

type Clash = {
  readonly tip: string;
  readonly work: string;
  readonly tree: string;
  readonly files: readonly string[];
};

/** Both versions in one commit of the item's branch. After the repair, no conflict is left. */
async function takeBoth(stateDir: string, lane: LaneRecord, { tip, work, tree, files }: Clash, watch: Watch) {
  const { folder, cast, branch } = lane;
  const stashed = await stash(stateDir, lane, watch.turn, work, `What was in the way when ${branch} was moved on`);
  await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  await git(folder, ['reset', '-q', '--hard', work]);
  const apart = await cleanPath(lane, folder);
  const input = message(`Both versions, to be resolved (turn ${watch.turn})`, trailersOf(cast, watch));
  const both = await git(folder, ['commit-tree', tree, '-p', work, '-p', tip], { input, env: AUTHOR });
  // The record of the files comes first. Otherwise the marks could count as the item's work.
  const noted = writeRecord(stateDir, { ...lane, lane: { ...lane.lane, conflicts: files } });
  const moved = await moveBranch(stateDir, noted, both, watch.turn);
  return { lane: moved.record, stashes: [alsoMoved(stashed, apart), moved.stashed].flatMap((each) => each ?? []) };
}

const MARKS = ['<<<<<<< ', '>>>>>>> '];

/** The files that still have conflict marks. */
async function stillMarked({ top, lane }: LaneRecord, commit: string): Promise<readonly string[]> {
  const marked: string[] = [];
  for (const path of lane.conflicts) {
    const { code, out } = await tryGit(top, ['cat-file', 'blob', `${commit}:${path}`]);
    if (code === 0 && MARKS.every((mark) => `\n${out}`.includes(`\n${mark}`))) marked.push(path);
  }
  return marked;
}

function conflict({ branch }: WorktreeRecord, files: readonly string[], what: string): MergeEnd {
  return { ok: false, files, reason: `it cannot be merged into ${branch}: ${files.join(', ')} ${what}` };
}

type ParkedRecord<T> = {
  readonly record: T;
  readonly kept: ParkedWork | null;
  readonly stashes: readonly Stash[];
};

/** Brings the worktree back to the commit before the item. `key` is the name of the item. */
export async function parkWork<T extends WorktreeRecord | LaneRecord>(
  stateDir: string,
  before: T,
  watch: Watch,
  key: string,
): Promise<ParkedRecord<T>> {
  const { record, stashed } = await catchUp(stateDir, before, watch.turn);
  const stashes = stashed ? [stashed] : [];
  const base = baseOf(record, watch.task);
  if (base === null) return { record, kept: null, stashes };
  const ref = `${parkedRefs(record.cast)}/${key}`;
  const held = await keepAccepted(stateDir, record, watch.turn);
  const what = `What was done for ${key} before it was parked`;
  const { commit } = await commitAll(record, held.at, what, trailersOf(record.cast, watch));
  const all = [...stashes, ...(held.stashed ? [held.stashed] : [])];
  if (commit === base) {
    const kept = await commitOf(record.top, ref);
    return { record, kept: kept === null ? null : { ref, commit: kept }, stashes: all };
  }
  await git(record.top, ['update-ref', '-m', 'baton', ref, commit]);
  const over = writeRecord(stateDir, { ...record, starts: {}, open: {}, accepted: commit });
  const moved = await moveBranch(stateDir, over, base, watch.turn);
  return {
    record: moved.record,
    kept: { ref, commit },
    stashes: [...all, ...(moved.stashed ? [moved.stashed] : [])],
  };
}

type RestoredWork<T> = {
  readonly record: T;
  readonly clashes: readonly string[];
  readonly stashed: Stash | null;
};

/** Merges what was kept back before an attempt. Conflicting files hold both versions, for the agent. */
export async function restoreWork<T extends WorktreeRecord | LaneRecord>(
  stateDir: string,
  record: T,
  watch: Watch,
  { ref }: ParkedWork,
): Promise<RestoredWork<T>> {
  const kept = await commitOf(record.top, ref);
  // The ref is deleted last. If it is missing, everything was merged back before a crash.
  if (kept === null) return { record, clashes: clashesOf(record, watch.task), stashed: null };
  const tip = await tipOf(record);
  let restored: Omit<RestoredWork<T>, 'clashes'> = { record, stashed: null };
  if (!(await isIn(record.top, kept, tip))) {
    const { tree, files } = await joinTrees(record.top, tip, kept);
    const input = message(`What was parked is merged back (turn ${watch.turn})`, trailersOf(record.cast, watch));
    const args = ['commit-tree', tree, '-p', tip, '-p', kept];
    const commit = await git(record.top, args, { input, env: AUTHOR });
    const noted = writeRecord(stateDir, withClashes(record, files, watch.turn, commit));
    restored = await moveBranch(stateDir, noted, commit, watch.turn);
  }
  await git(record.top, ['update-ref', '-d', ref]);
  return { ...restored, clashes: clashesOf(restored.record, watch.task) };
}

/** A turn that starts again starts with the merged work. */
function withClashes<T extends WorktreeRecord | LaneRecord>(
  record: T,
  files: readonly string[],
  turn: number,
  at: string,
): T {
  const starts = { ...record.starts, [turn]: at };
  if (record.lane) return { ...record, starts, lane: { ...record.lane, conflicts: files } };
  return { ...record, starts, ...(record.item ? { item: { ...record.item, conflicts: files } } : {}) };
}

function clashesOf({ lane, item }: WorktreeRecord, task: string | null): readonly string[] {
  const noted = lane ?? item;
  return noted && noted.task === task ? noted.conflicts : [];
}

/** The commit before the first change for the item. Null if the item has no work here. */
function baseOf({ lane, item, base }: WorktreeRecord, task: string | null): string | null {
  if (lane) return lane.task === task ? base : null;
  return item && item.task === task ? item.base : null;
}
