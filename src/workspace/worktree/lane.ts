// The worktree of an item that walks beside others. It begins from the cast's branch as that is when the item begins, serves
// one item after the other, and is cleared away when nothing lies in it that is nowhere else.
import type { Watch } from '../../kernel/cast/packet.ts';
import { acceptedPart } from './accepted.ts';
import { alsoMoved, type PutAside, putAside } from './aside.ts';
import { commitOf, dropStaleLock, git, tryGit } from './git.ts';
import { type LeftBehind, leftBehindIn, NOTHING_LEFT } from './ignored.ts';
import { clearAway } from './make.ts';
import { isIn } from './merge.ts';
import { catchUp } from './move.ts';
import { dropRecord, type LaneRecord, type WorktreeRecord, writeRecord } from './record.ts';
import { refuseApart } from './repositories.ts';
import { cleanPath, cleanVacant } from './restore-path.ts';
import { branchTip, tipOf } from './tip.ts';
import { type Begun, beginTurn, dropStrays, keepTurn, uncommittedOf } from './turns.ts';

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

export type Leftovers = { readonly commits: number; readonly files: number };

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
