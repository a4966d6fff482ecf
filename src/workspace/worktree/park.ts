// The work of an item that is parked. It is taken out of the worktree and kept under a name of its own; when a person retries
// the item, it is merged back. Both may be cut off anywhere and asked again.
import type { Watch } from '../../kernel/cast/packet.ts';
import type { ParkedWork } from '../../kernel/cast/state.ts';
import { catchUp, holdAccepted, moveBranch, tipOf } from './accepted.ts';
import { type PutAside, parkedRefs } from './aside.ts';
import { AUTHOR, commitOf, git } from './git.ts';
import { isIn, joinTrees } from './merge.ts';
import { type LaneRecord, type WorktreeRecord, writeRecord } from './record.ts';
import { commitAll, message, trailersOf } from './turns.ts';

type ParkedRecord<T> = {
  readonly record: T;
  readonly kept: ParkedWork | null;
  readonly asides: readonly PutAside[];
};

/** Brings the worktree back to the commit before the item. `key` is the name of the item. */
export async function parkWork<T extends WorktreeRecord | LaneRecord>(
  stateDir: string,
  before: T,
  watch: Watch,
  key: string,
): Promise<ParkedRecord<T>> {
  const { record, aside } = await catchUp(stateDir, before, watch.turn);
  const asides = aside ? [aside] : [];
  const base = baseOf(record, watch.task);
  if (base === null) return { record, kept: null, asides };
  const ref = `${parkedRefs(record.cast)}/${key}`;
  const held = await holdAccepted(stateDir, record, watch.turn);
  const what = `What was done for ${key} before it was parked`;
  const { commit } = await commitAll(record, held.at, what, trailersOf(record.cast, watch));
  const all = [...asides, ...(held.aside ? [held.aside] : [])];
  if (commit === base) {
    const kept = await commitOf(record.top, ref);
    return { record, kept: kept === null ? null : { ref, commit: kept }, asides: all };
  }
  await git(record.top, ['update-ref', '-m', 'baton', ref, commit]);
  const over = writeRecord(stateDir, { ...record, starts: {}, open: {}, accepted: commit });
  const moved = await moveBranch(stateDir, over, base, watch.turn);
  return {
    record: moved.record,
    kept: { ref, commit },
    asides: [...all, ...(moved.aside ? [moved.aside] : [])],
  };
}

type RestoredWork<T> = {
  readonly record: T;
  readonly clashes: readonly string[];
  readonly aside: PutAside | null;
};

/** Merges what was kept back before an attempt. Files that clash hold both versions, for the agent. */
export async function restoreWork<T extends WorktreeRecord | LaneRecord>(
  stateDir: string,
  record: T,
  watch: Watch,
  { ref }: ParkedWork,
): Promise<RestoredWork<T>> {
  const kept = await commitOf(record.top, ref);
  // The name goes last: without it, everything was merged back before a crash.
  if (kept === null) return { record, clashes: clashesOf(record, watch.task), aside: null };
  const tip = await tipOf(record);
  let restored: Omit<RestoredWork<T>, 'clashes'> = { record, aside: null };
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

/** A turn that begins over begins with what was merged back. */
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

/** The commit before the first change for the item; null where nothing was begun for it here. */
function baseOf({ lane, item, base }: WorktreeRecord, task: string | null): string | null {
  if (lane) return lane.task === task ? base : null;
  return item && item.task === task ? item.base : null;
}
