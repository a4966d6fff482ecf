// `baton undo`: takes back what a cast did: its worktree and branch, or, where it worked in the directory itself, the files
// of which it is known what they were.
import type { Door } from '../../engine/door.ts';
import type { CastSummary } from '../../engine/summary.ts';
import { isOver } from '../../kernel/state.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { readBefore } from '../../workspace/before-state.ts';
import type { Workspace } from '../../workspace/locate.ts';
import { planRestoring, type Restoring, restoreFiles } from '../../workspace/restore-files.ts';
import { dropAside } from '../../workspace/worktree/aside.ts';
import { commitOf, tryGit } from '../../workspace/worktree/git.ts';
import { removeLane } from '../../workspace/worktree/lane.ts';
import { removeWorktree } from '../../workspace/worktree/make.ts';
import { lanesOf, readRecord, type WorktreeRecord } from '../../workspace/worktree/record.ts';
import { uncommittedOf } from '../../workspace/worktree/turns.ts';
import { ask } from '../ask.ts';
import { leftBy, refuseWhileDriven, refusing, unmergedLanes } from '../cast-work.ts';
import { again, type Call, EXIT, flag, note, out, outJson, Refused } from '../command.ts';
import { counted } from '../counted.ts';
import { endLeftovers } from '../leftovers.ts';
import { nameCast, withDoor } from '../looking.ts';
import { withMainLocks } from '../main-locks.ts';
import { refuseAgents } from '../refuse-agents.ts';
import { oneLine } from '../safe-text.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  refuseAgents(call, 'take back what a cast did');
  const verdict = await refusing(() =>
    withDoor(call, async (door, workspace) => {
      const summary = await nameCast(door, call.words[0]);
      await refuseWhileDriven(door, summary.cast);
      if (summary.root === undefined) return undoFiles(call, door, workspace, summary);
      return undoWorktree(call, door, workspace, summary);
    }),
  );
  if (!verdict.allow) throw new Refused(verdict);
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT.ok;
}

async function undoWorktree(call: Call, door: Door, workspace: Workspace, summary: CastSummary): Promise<Verdict> {
  const { cast } = summary;
  const record = readRecord(workspace.stateDir, cast);
  if (!record) {
    await stop(door, workspace, summary);
    return allow(`cast ${cast} had not come as far as to have a worktree; it goes no further`, { cast });
  }
  const { branch, state } = record;
  if (state === 'undone') return allow(`cast ${cast} was taken back already`, { cast });
  if (state === 'merged') {
    const how = 'take a merge back with `git revert -m 1` and its commit';
    return deny('NOT_ALLOWED_NOW', `the work of cast ${cast} was merged and is part of your branch by now; ${how}`, {
      cast,
    });
  }
  const lost = await unmergedOf(workspace, record);
  await confirm(call, cast, lost === null ? null : `${lost} of cast ${cast} would be lost. Drop it?`, lost);
  await stop(door, workspace, summary);
  for (const lane of lanesOf(workspace.stateDir, cast)) await removeLane(workspace.stateDir, lane);
  const removed = await removeWorktree(workspace.stateDir, record, 'undone');
  await dropAside(record);
  const { tip = null } = removed;
  const back =
    tip === null || lost === null ? '' : `; while git keeps it, \`git branch NAME ${tip.slice(0, 12)}\` brings it back`;
  return allow(`the worktree and the branch ${branch} are gone${back}`, { cast, branch, tip });
}

/** The work that would be lost with the worktree, in words, or null. */
async function unmergedOf(at: Workspace, record: WorktreeRecord): Promise<string | null> {
  const { top, branch, workspace } = record;
  const tip = await commitOf(top, `refs/heads/${branch}`);
  const here = tip === null ? null : await tryGit(workspace, ['rev-list', '--count', `HEAD..${tip}`]);
  const commits = Number(here?.out) || 0;
  const lanes = tip === null ? [] : await unmergedLanes(at, record);
  const beside = lanes.reduce((sum, lane) => sum + lane.uncommitted, 0);
  const files = (record.behind === undefined ? await uncommittedOf(record).catch(() => 0) : 0) + beside;
  const all = lanes.reduce((sum, lane) => sum + lane.commits, commits);
  const parts = [
    ...(all > 0 ? [counted(all, 'unmerged commit')] : []),
    ...(files > 0 ? [counted(files, 'uncommitted file')] : []),
  ];
  return parts.length === 0 ? null : parts.join(' and ');
}

/** What was changed since by somebody else, and what nobody kept, stays as it is. */
async function undoFiles(call: Call, door: Door, workspace: Workspace, summary: CastSummary): Promise<Verdict> {
  const { dir, stateDir } = workspace;
  const { cast } = summary;
  const plan = await planRestoring(dir, readBefore(stateDir, cast), await leftBy(door, cast));
  const able = plan.filter(({ what }) => what !== 'leave');
  for (const { path, what, why } of plan) note(`${what === 'leave' ? 'stays' : what}  ${oneLine(path)}: ${why}`);
  if (able.length > 0) {
    await confirm(call, cast, `Take ${counted(able.length, 'file')} back?`, counted(able.length, 'changed file'));
    await stop(door, workspace, summary);
    const paths = able.map(({ path }) => path);
    const title = `undo cast ${cast}`;
    await withMainLocks(door, { name: `undo-${cast}`, title, paths }, () => restoreFiles(dir, able));
  }
  const named = (what: Restoring['what']) => plan.filter((each) => each.what === what).map(({ path }) => path);
  const details = { cast, restored: named('restore'), removed: named('remove'), left: named('leave') };
  const stays = details.left.length === 0 ? '' : `; ${counted(details.left.length, 'file')} could not be taken back`;
  return allow(`${counted(able.length, 'file')} of cast ${cast} taken back${stays}`, details);
}

async function confirm(call: Call, cast: string, question: string | null, what: string | null): Promise<void> {
  if (question === null || flag(call.values, 'yes') || (await ask(question))) return;
  const reason = `${what} of cast ${cast} would be gone; say so with \`${again(call)} undo ${cast} --yes\``;
  throw new Refused(deny('NOT_ALLOWED_NOW', reason, { cast }));
}

/** A cast that waits, is paused or was cut off cannot go on without its work: it ends here. */
async function stop(door: Door, { stateDir }: Workspace, { cast, status }: CastSummary): Promise<void> {
  if (!isOver(status)) await door.submit({ kind: 'cast.abort', cast, reason: 'its work was taken back' }, person());
  await endLeftovers(door, stateDir, cast);
}
