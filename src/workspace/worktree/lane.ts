// The worktree of one of several items that run side by side: it begins at the branch of the cast, serves one item after the
// other, and is merged back after each.
import type { Watch } from '../../kernel/cast/packet.ts';
import type { MergeEnd } from '../../kernel/input.ts';
import { acceptedPart, branchTip, carryOpen, catchUp, holdAccepted, moveBranch, tipOf } from './accepted.ts';
import { alsoMoved, type PutAside, putAside } from './aside.ts';
import { AUTHOR, commitOf, dropStaleLock, git, tryGit } from './git.ts';
import { clearAway } from './make.ts';
import { isIn, joinTrees } from './merge.ts';
import { type LeftBehind, leftBehindIn, NOTHING_LEFT, refuseApart } from './nested-repositories.ts';
import { dropRecord, type LaneRecord, type WorktreeRecord, writeRecord } from './record.ts';
import { cleanPath, cleanVacant } from './restore-path.ts';
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

/** In a worktree of its own an item is alone. */
const alone = (watch: Watch): Watch => ({ ...watch, beside: null });

/** Brings the worktree to where an attempt begins; for another item than the last one, to the cast's branch. */
export async function beginInLane(
  stateDir: string,
  own: WorktreeRecord,
  lane: LaneRecord,
  watch: Watch,
): Promise<Begun<LaneRecord>> {
  const { record, aside } = await catchUp(stateDir, lane, watch.turn);
  if (record.lane.task === watch.task) {
    const begun = await beginTurn(stateDir, record, alone(watch));
    return { ...begun, aside: begun.aside ?? aside };
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
  return { ...begun, aside: alsoMoved(left, moved) };
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

/** Takes away what was written outside of the paths that the item may change. */
export function dropStraysInLane(stateDir: string, lane: LaneRecord, watch: Watch): Promise<PutAside | null> {
  return dropStrays(stateDir, { ...lane, open: { [watch.turn]: watch.beside ?? [] } }, watch);
}

type Leftovers = { readonly commits: number; readonly files: number };

/** What lies in the worktree and not in the cast's branch, whose last commit is `tip`. */
export async function leftoversOf(lane: LaneRecord, tip: string): Promise<Leftovers> {
  const work = await branchTip(lane);
  const counted = work === null ? null : await tryGit(lane.top, ['rev-list', '--count', `${tip}..${work}`]);
  const files = await uncommittedOf(lane).catch(() => 0);
  return { commits: Number(counted?.out) || 0, files };
}

/** Keeps what is nowhere else under a name of its own. */
export async function putLeftoversAside(
  stateDir: string,
  lane: LaneRecord,
  tip: string,
  turn: number,
): Promise<PutAside | null> {
  const work = await branchTip(lane);
  const head = await commitOf(lane.folder, 'HEAD');
  if (head === null) return null;
  const start = (await isIn(lane.folder, head, tip)) ? head : tip;
  const more = work === null || (await isIn(lane.top, work, tip)) ? [] : [work];
  return putAside(stateDir, lane, turn, start, `What ${lane.lane.task ?? 'an item'} left in ${lane.branch}`, more);
}

/**
 * Takes the worktree, its branch and its record away, whatever they hold, except repositories with work of their own. Answers
 * which ignored files went with it.
 */
export async function removeLane(stateDir: string, lane: LaneRecord): Promise<LeftBehind> {
  if (lane.state !== 'making') await refuseApart(lane);
  const behind = lane.state === 'making' ? NOTHING_LEFT : await leftBehindIn(lane);
  await clearAway(lane);
  dropRecord(stateDir, lane);
  return behind;
}

// Takes what an item did in a worktree of its own over into the cast's branch. It is asked again after a crash, so it may
// have been done already: then the item's last commit is in the branch. Where others changed the same, the item's worktree
// gets both versions, for whoever mends it, and the branch stays as it was.
type LaneMerge = {
  readonly own: WorktreeRecord;
  readonly lane: LaneRecord;
  readonly end: MergeEnd;
  /** What was in the way in either of them. */
  readonly asides: readonly PutAside[];
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
    await holdAccepted(stateDir, own, watch.turn),
    await holdAccepted(stateDir, lane, watch.turn),
  ];
  const asides = [mine, theirs, held, heldLane].flatMap(({ aside }) => aside ?? []);
  let work = heldLane.at.tip;
  // Nothing of this item was ever written here: what lies here is another one's.
  if (lane.lane.task !== watch.task) return { own, lane, asides, end: { ok: true, commit: null } };
  // A crash right after the turn was accepted came before its commit. What comes later is nobody's who was accepted.
  if (lane.lane.kept !== watch.turn) {
    work = (await commitAll(lane, heldLane.at, subjectOf(watch), trailersOf(lane.cast, watch))).commit;
    lane = writeRecord(stateDir, { ...lane, accepted: work, lane: { ...lane.lane, kept: watch.turn } });
  }
  // What a turn that is open in the cast's own worktree has committed there is not accepted by what is merged beside it.
  const tip = acceptedPart(own, held.at.tip);
  if (await isIn(own.top, work, tip)) return { own, lane, asides, end: { ok: true, commit: tip } };
  const marked = await stillMarked(lane, work);
  if (marked.length > 0) return { own, lane, asides, end: conflict(own, marked, 'is not mended yet') };
  const joined = await joinTrees(own.top, work, tip);
  if (joined.files.length > 0) {
    const moved = await takeBoth(stateDir, lane, { tip, work, tree: joined.tree, files: joined.files }, watch);
    const all = [...asides, ...moved.asides];
    return { own, lane: moved.lane, asides: all, end: conflict(own, joined.files, 'was changed there too') };
  }
  const commit = (await isIn(own.top, tip, work)) ? work : await commitMerge(own, joined.tree, [tip, work], watch);
  const carried = await carryOpen(stateDir, own, commit, held.at.tip, watch.turn);
  const moved = await moveBranch(stateDir, own, carried.tip, watch.turn, commit);
  const all = [...asides, ...[carried, moved].flatMap(({ aside }) => aside ?? [])];
  return { own: moved.record, lane, asides: all, end: { ok: true, commit } };
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

/** Both versions in one commit of the item's branch: when they are mended there is nothing left that clashes. */
async function takeBoth(stateDir: string, lane: LaneRecord, { tip, work, tree, files }: Clash, watch: Watch) {
  const { folder, cast, branch } = lane;
  const aside = await putAside(stateDir, lane, watch.turn, work, `What was in the way when ${branch} was moved on`);
  await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  await git(folder, ['reset', '-q', '--hard', work]);
  const apart = await cleanPath(lane, folder);
  const input = message(`Both versions, to be mended (turn ${watch.turn})`, trailersOf(cast, watch));
  const both = await git(folder, ['commit-tree', tree, '-p', work, '-p', tip], { input, env: AUTHOR });
  // The files come first: with them unknown the marks could be taken for the item's work.
  const noted = writeRecord(stateDir, { ...lane, lane: { ...lane.lane, conflicts: files } });
  const moved = await moveBranch(stateDir, noted, both, watch.turn);
  return { lane: moved.record, asides: [alsoMoved(aside, apart), moved.aside].flatMap((each) => each ?? []) };
}

const MARKS = ['<<<<<<< ', '>>>>>>> '];

/** The files in which both versions still stand side by side. */
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
