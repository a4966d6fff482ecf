// Takes back what a cast did: its worktree and branch, or, where it worked in the directory itself, the files whose
// earlier contents are known.

import type { Submitter } from '../../engine/store.ts';
import { isOver } from '../../kernel/cast/state.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { commandRun } from '../../kernel/ledger/state.ts';
import { lostText } from '../../kernel/retention.ts';
import { counted } from '../../kernel/text.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { filesBetween, fromWorkspace, tryGit } from '../../workspace/git.ts';
import {
  isKept,
  planRestoring,
  type Restoring,
  readBefore,
  restoreFiles,
  restoreKept,
} from '../../workspace/restore-files.ts';
import { branchTip } from '../../workspace/worktree/accepted.ts';
import { removeLane } from '../../workspace/worktree/lane.ts';
import { removeWorktree } from '../../workspace/worktree/make.ts';
import { undoMerge } from '../../workspace/worktree/merge.ts';
import { refuseApart } from '../../workspace/worktree/nested-repositories.ts';
import { lanesOf, type Merge, readRecord, type WorktreeRecord, writeRecord } from '../../workspace/worktree/record.ts';
import { movedNotice } from '../../workspace/worktree/restore-path.ts';
import { dropStashes, noticeOfParked, parkedOf } from '../../workspace/worktree/stash.ts';
import { uncommittedOf } from '../../workspace/worktree/turns.ts';
import { leftBy, refuseWhileDriven, refusing, unmergedLanes, withMainLocks } from '../cast-work.ts';
import { requireTrust } from '../driving/check-start.ts';
import { castNamed } from '../name-cast.ts';
import { AsksPerson, Refused } from '../refused.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import { endWhatRuns } from './cast-stop.ts';
import type { Operation } from './table.ts';

type Undoing = {
  readonly workspace: Workspace;
  readonly store: WorkspaceStore;
  readonly summary: CastSummary;
  readonly yes: boolean;
  /** Who takes it back, by the name in the log. */
  readonly actor: Submitter;
  readonly say: (line: string) => void;
};

export const castUndo: Operation<'cast.undo'> = async (workspace, { cast: word, yes = false }, { actor, onEvent }) => {
  const { store, summary } = await castNamed(workspace, word);
  const say = (text: string) => onEvent({ kind: 'note', text });
  return refusing(async () => {
    await refuseWhileDriven(store, summary.cast, workspace.program);
    await requireTrust(workspace);
    const undoing = { workspace, store, summary, yes, actor, say };
    return summary.root === undefined ? undoFiles(undoing) : undoWorktree(undoing);
  });
};

async function undoWorktree(undoing: Undoing): Promise<Verdict> {
  const { workspace, summary } = undoing;
  const { cast } = summary;
  const record = readRecord(workspace.stateDir, cast);
  if (!record) {
    await stop(undoing);
    return allow(`cast ${cast} had not come as far as to have a worktree; it goes no further`, { cast });
  }
  const { branch, state } = record;
  if (state === 'undone') return allow(`cast ${cast} was taken back already`, { cast });
  const merges = mergesOf(record);
  if (state === 'merged') {
    confirm(undoing, `Take what was merged back, as a new commit?`, 'what was merged');
    const commits = await takeMergesBack(undoing, record, merges);
    return allow(`what was merged of cast ${cast} is taken back as ${named(commits)}`, { cast, branch, commits });
  }
  for (const each of [record, ...lanesOf(workspace.stateDir, cast)])
    if (each.state === 'ready') await refuseApart(each);
  const lost = await unmergedOf(workspace, record);
  // Everything is asked at once, before anything is done.
  const gone = [...(lost === null ? [] : [lost]), ...(merges.length > 0 ? ['what was merged'] : [])].join(' and ');
  if (merges.length === 0 && lost !== null) confirm(undoing, `${lost} of cast ${cast} would be lost. Drop it?`, gone);
  if (merges.length > 0) {
    const also = lost === null ? '' : `, and ${lost} would be lost`;
    confirm(undoing, `A part of cast ${cast} was merged, and is taken back as a new commit${also}. Go on?`, gone);
    await takeMergesBack(undoing, record, merges);
  }
  await stop(undoing);
  for (const lane of lanesOf(workspace.stateDir, cast)) await removeLane(workspace.stateDir, lane);
  const { merges: _takenBack, ...rest } = record;
  const removed = await removeWorktree(workspace.stateDir, rest, 'undone');
  await dropStashes(record);
  const { tip = null } = removed;
  const parked = await parkedOf(record);
  const back =
    tip === null || lost === null ? '' : `; while git keeps it, \`git branch NAME ${tip.slice(0, 12)}\` brings it back`;
  return allow(`the worktree and the branch ${branch} are gone${back}${noticeOfParked(parked)}${movedNotice(record)}`, {
    ...{ cast, branch, tip },
    ...(parked.length > 0 ? { parked } : {}),
  });
}

/** What came into a branch of the user. Of a branch that he merged by himself only where it began and ended is known. */
function mergesOf({ merges = [], state, base, tip }: WorktreeRecord): readonly Merge[] {
  return merges.length > 0 || state !== 'merged' || tip === undefined ? merges : [{ before: base, after: tip }];
}

/** Takes the last merge back first, each as a commit of its own. Each is recorded at once, so that none is taken back twice. */
async function takeMergesBack(
  { store, workspace: { stateDir, dir }, actor }: Undoing,
  record: WorktreeRecord,
  merges: readonly Merge[],
): Promise<readonly string[]> {
  const { cast, top, state } = record;
  const commits: string[] = [];
  for (const [index, merge] of [...merges.entries()].reverse()) {
    const files = await filesBetween(top, merge.before, merge.after);
    const paths = files.map(({ path }) => fromWorkspace(path, top, dir));
    const title = `Take back what cast ${cast} did`;
    await withMainLocks(store, { name: commandRun('undo', cast), title, paths, actor }, async () => {
      const end = await undoMerge(top, merge, title);
      if (!end.ok) throw new Refused(deny(end.code, `cast ${cast} was merged: ${end.reason}`, { cast, ...merge }));
      if (end.commit !== null) commits.push(end.commit);
    });
    const isLast = index === 0 && state === 'merged';
    writeRecord(stateDir, {
      ...record,
      merges: merges.slice(0, index),
      ...(isLast ? { state: 'undone' as const } : {}),
    });
  }
  return commits;
}

function named(commits: readonly string[]): string {
  return commits.length === 0 ? 'nothing, for nothing of it was left' : commits.map((id) => id.slice(0, 7)).join(', ');
}

/** The work that would be lost with the worktree, in words, or null. */
async function unmergedOf(at: Workspace, record: WorktreeRecord): Promise<string | null> {
  const { workspace } = record;
  const tip = await branchTip(record);
  const here = tip === null ? null : await tryGit(workspace, ['rev-list', '--count', `HEAD..${tip}`]);
  const commits = Number(here?.out) || 0;
  const lanes = tip === null ? [] : await unmergedLanes(at, record);
  const inLanes = lanes.reduce((sum, lane) => sum + lane.uncommitted, 0);
  const files = (record.behind === undefined ? await uncommittedOf(record).catch(() => 0) : 0) + inLanes;
  const all = lanes.reduce((sum, lane) => sum + lane.commits, commits);
  return lostText(all, files);
}

/** Files that were changed by others since, or of which no copy is kept, stay as they are. */
async function undoFiles(undoing: Undoing): Promise<Verdict> {
  const { store, summary, actor, say } = undoing;
  const { dir, stateDir } = undoing.workspace;
  const { cast } = summary;
  const files = await leftBy(store, cast);
  const plan = await planRestoring(dir, readBefore(stateDir, cast), files, (content) => isKept(stateDir, content));
  const able = plan.filter(({ what }) => what !== 'leave');
  let failed: readonly string[] = [];
  for (const { path, what, why } of plan)
    say(`${what === 'leave' ? 'stays' : what}  ${path.replace(/[\s\p{Cc}]+/gu, ' ')}: ${why}`);
  if (able.length > 0) {
    confirm(undoing, `Take ${counted(able.length, 'file')} back?`, counted(able.length, 'changed file'));
    await stop(undoing);
    const paths = able.map(({ path }) => path);
    const title = `undo cast ${cast}`;
    await withMainLocks(store, { name: commandRun('undo', cast), title, paths, actor }, async () => {
      failed = await restoreFiles(dir, able, (content, file) => restoreKept(stateDir, content, file));
    });
  }
  const named = (what: Restoring['what']) =>
    plan.filter((each) => each.what === what && !failed.includes(each.path)).map(({ path }) => path);
  const left = [...named('leave'), ...failed];
  const details = { cast, restored: named('restore'), removed: named('remove'), left };
  const done = `${counted(able.length - failed.length, 'file')} of cast ${cast} taken back`;
  const stays = left.length === 0 ? '' : `; ${counted(left.length, 'file')} could not be taken back`;
  // Changes that others may have made are not for undo to take back.
  const own = left.filter((path) => (files[path]?.remark ?? null) === null);
  return own.length === 0 ? allow(done + stays, details) : deny('UNDO_INCOMPLETE', done + stays, details);
}

function confirm({ workspace, summary, yes }: Undoing, question: string, what: string): void {
  if (yes) return;
  const { cast } = summary;
  const reason = `${what} of cast ${cast} would be gone; say so with \`${workspace.program} undo ${cast} --yes\``;
  throw new AsksPerson(deny('NOT_ALLOWED_NOW', reason, { cast }), question, { flag: 'yes' });
}

/** A cast that waits, is paused or was cut off cannot go on without its work: it ends here. */
async function stop({ store, workspace, summary, actor }: Undoing): Promise<void> {
  const { cast, status } = summary;
  if (!isOver(status)) await store.submit({ kind: 'cast.abort', cast, reason: 'its work was taken back' }, actor);
  await endWhatRuns(store, workspace.stateDir, cast);
}
