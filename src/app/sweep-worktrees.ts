// Clears the worktrees of casts that are over away. What is nowhere else, committed or not, stays until a person says that
// it may go.

import type { Store } from '../engine/store.ts';
import { lostText } from '../kernel/cast/recover.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import { whyWorktreeStays } from '../kernel/retention.ts';
import { isOver } from '../kernel/state.ts';
import type { Workspace } from '../workspace/locate.ts';
import { dropAside } from '../workspace/worktree/aside.ts';
import { BRANCHES } from '../workspace/worktree/branch.ts';
import { tryGit } from '../workspace/worktree/git.ts';
import { leftBehindIn, saidOfLeftBehind } from '../workspace/worktree/ignored.ts';
import { removeLane } from '../workspace/worktree/lane.ts';
import { removeWorktree } from '../workspace/worktree/make.ts';
import { castsWithWorktrees, lanesOf, readRecord, type WorktreeRecord } from '../workspace/worktree/record.ts';
import { apartIn, saidOfApart } from '../workspace/worktree/repositories.ts';
import { branchTip } from '../workspace/worktree/tip.ts';
import { uncommittedOf } from '../workspace/worktree/turns.ts';

export type WorktreeWish = {
  /** Of casts that ended before this time; null for all that are over. */
  readonly before: string | null;
  /** Failed and aborted casts too. */
  readonly stopped: boolean;
  /** Also where work would be lost. */
  readonly force: boolean;
  readonly dryRun: boolean;
};

export type Swept = {
  readonly cast: string;
  readonly branch: string;
  /** Its last commit, with which git brings it back while it still has it. */
  readonly tip: string | null;
  readonly removed: boolean;
  /** Why it stays; else what went with it, if anything did. */
  readonly why: string | null;
};

/** What was found, cast by cast; those that the wish is not about are left out. */
export async function sweepWorktrees(store: Store, { stateDir }: Workspace, wish: WorktreeWish): Promise<Swept[]> {
  const casts = new Map((await store.view('casts', {})).map((summary) => [summary.cast, summary]));
  const swept: Swept[] = [];
  for (const id of castsWithWorktrees(stateDir)) {
    const summary = casts.get(id);
    if (!isMeant(summary, wish)) continue;
    const stays = await whyItStays(store, id, summary, wish);
    const own = readRecord(stateDir, id);
    for (const lane of lanesOf(stateDir, id)) {
      swept.push(await sweep(lane, own, stays, wish, async () => void (await removeLane(stateDir, lane))));
    }
    if (own && (own.state === 'ready' || own.state === 'making')) {
      swept.push(await sweep(own, null, stays, wish, () => removeOwn(stateDir, own, wish)));
    }
  }
  return swept;
}

/** A cast that the log does not know is over. */
function isMeant(summary: CastSummary | undefined, { before }: WorktreeWish): boolean {
  return before === null || summary === undefined || !isOver(summary.status) || summary.changedAt < before;
}

async function whyItStays(store: Store, id: string, summary: CastSummary | undefined, { stopped }: WorktreeWish) {
  if (!summary) return null;
  const { status } = summary;
  const isDriven = (await store.view('driver', id)) !== null;
  return whyWorktreeStays({ status, isOver: isOver(status), isDriven }, stopped);
}

async function sweep(
  record: WorktreeRecord,
  own: WorktreeRecord | null,
  stays: string | null,
  { force, dryRun }: WorktreeWish,
  remove: () => Promise<void>,
): Promise<Swept> {
  const { cast, branch } = record;
  const tip = await branchTip(record);
  const lost = record.state === 'making' ? null : await lostWith(record, own, tip);
  const apart = record.state === 'making' || stays !== null ? [] : await apartIn(record);
  const kept = apart.length > 0 ? saidOfApart(record, apart) : null;
  const why = stays ?? kept ?? (lost && !force ? `${lost} would be lost; look at it, then say --force` : null);
  const behind = why === null ? saidOfLeftBehind(await leftBehindIn(record)) : '';
  const went = [lost ?? '', behind].filter((part) => part !== '').join('; ') || null;
  if (why === null && !dryRun) await remove();
  return { cast, branch, tip, removed: why === null, why: why ?? went };
}

/** The work that lies in this worktree alone, in words, or null. */
async function lostWith(record: WorktreeRecord, own: WorktreeRecord | null, tip: string | null) {
  const { top } = record;
  const others = own ? [await branchTip(own), own.tip].flatMap((each) => each ?? []) : [];
  const elsewhere = ['--not', 'HEAD', ...others, `--exclude=${BRANCHES}/*`, '--branches', '--remotes'];
  const commits = tip === null ? 0 : Number((await tryGit(top, ['rev-list', '--count', tip, ...elsewhere])).out) || 0;
  const files = await uncommittedOf(record).catch(() => 0);
  return lostText(commits, files);
}

async function removeOwn(stateDir: string, own: WorktreeRecord, { force }: WorktreeWish): Promise<void> {
  const isMerged = (await lostWith(own, null, await branchTip(own))) === null;
  await removeWorktree(stateDir, own, isMerged ? 'merged' : 'undone');
  if (force) await dropAside(own);
}
