// Takes what a cast did over into the branch that is checked out, and clears its worktree away.
import { existsSync } from 'node:fs';
import { revealed } from '../../agents/hidden-texts.ts';
import type { Store } from '../../engine/store.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { checkersAt } from '../../kernel/graph/config.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { commandRun, tasksOf } from '../../kernel/ledger/state.ts';
import { acceptedTurns, isMergeable, isWholeEnough, squashMessage } from '../../kernel/retention.ts';
import { counted } from '../../kernel/text.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { checkProject } from '../../workspace/checkers.ts';
import { commitOf, filesBetween, fromWorkspace, tryGit } from '../../workspace/git.ts';
import { UsageError } from '../../workspace/locate.ts';
import { acceptedTip, catchUp, positionOf, tipOf } from '../../workspace/worktree/accepted.ts';
import { putLeftoversAside, removeLane } from '../../workspace/worktree/lane.ts';
import { removeWorktree } from '../../workspace/worktree/make.ts';
import { branchIn, isIn, type Merged, mergeBranch, squashBranch } from '../../workspace/worktree/merge.ts';
import {
  allOrphaned,
  apartOf,
  noticeOfOrphaned,
  type OrphanedFiles,
  orphanedIn,
} from '../../workspace/worktree/nested-repositories.ts';
import { lanesOf, type Merge, type WorktreeRecord, writeRecord } from '../../workspace/worktree/record.ts';
import { leaveUnchanged, movedNotice } from '../../workspace/worktree/restore-path.ts';
import { noticeOfParked, parkedOf } from '../../workspace/worktree/stash.ts';
import { commitAll, uncommittedOf } from '../../workspace/worktree/turns.ts';
import {
  leftBy,
  passesOf,
  refuseWhileDriven,
  refusing,
  unmergedLanes,
  withMainLocks,
  worktreeRecordOf,
} from '../cast-work.ts';
import { checkerCommands, requireTrust } from '../driving/check-start.ts';
import { castNamed } from '../name-cast.ts';
import type { Context } from '../operation.ts';
import { AsksPerson, Refused } from '../refused.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

export const castMerge: Operation<'cast.merge'> = async (workspace, input, context) => {
  const { cast: word, yes = false, unchecked = false, squash = false, message } = input;
  if (message !== undefined && !squash) throw new UsageError('--message goes with --squash');
  const { program } = workspace;
  const { store, summary } = await castNamed(workspace, word);
  const { cast, status } = summary;
  return refusing(async () => {
    await refuseWhileDriven(store, cast, program);
    const found = worktreeRecordOf(workspace, summary);
    const may = isMergeable(cast, found === null ? 'none' : (found.state as 'ready' | 'merged' | 'undone'));
    if (!may.allow || found === null) return may;
    const isWhole = isWholeEnough({ cast, status, yes, squash, program });
    if (!isWhole.allow) {
      if (squash) return isWhole;
      throw new AsksPerson(isWhole, `Cast ${cast} is ${status}. Merge what was accepted so far?`, { flag: 'yes' });
    }
    const checkers = unchecked ? {} : await checkersOf(store, workspace, cast);
    await requireTrust(workspace, checkerCommands(checkers, 'merge'));
    const text = squash ? (message ?? (await messageOf(store, summary))) : null;
    return mergeWork({ workspace, store, summary, found, checkers, squash: text }, context);
  });
};

async function messageOf(store: WorkspaceStore, { cast, request }: CastSummary): Promise<string> {
  const done = tasksOf(await store.view('ledger', cast), cast).filter(({ status }) => status === 'done');
  return squashMessage(
    cast,
    request,
    done.map(({ title }) => title),
  );
}

type Merging = {
  readonly workspace: Workspace;
  readonly store: WorkspaceStore;
  readonly summary: CastSummary;
  readonly found: WorktreeRecord;
  readonly checkers: JsonObject;
  /** The message of the one commit; null for a merge. */
  readonly squash: string | null;
};

async function mergeWork(merging: Merging, { actor, onEvent }: Context): Promise<Verdict> {
  const { workspace, store, found, checkers, squash } = merging;
  const { cast, status } = merging.summary;
  const { dir, stateDir, program } = workspace;
  const isThere = existsSync(found.folder);
  const record = isThere ? (await catchUp(stateDir, found, 0)).record : found;
  const { branch, base, top } = record;
  // A crash right after the last turn was accepted may have come before its commit.
  if (status === 'completed' && isThere) {
    const seen = Object.keys(await leftBy(store, cast));
    await commitAll(record, await positionOf(record), 'What the last turn left', undefined, seen);
  }
  const upTo = status === 'completed' ? await tipOf(record) : await acceptedOf(store, record);
  const files = await filesBetween(top, base, upTo);
  if (isThere && files.length > 0) {
    const changes = files.map(({ path }) => fromWorkspace(path, top, dir));
    await refuseRed(workspace, record, upTo, changes, checkers, (text) => onEvent({ kind: 'note', text }));
  }
  const paths = files.map(({ path }) => fromWorkspace(path, top, dir));
  const title = `merge ${branch}`;
  const locked = { name: commandRun('merge', cast), title, paths, actor };
  const merged = await withMainLocks(store, locked, async () => {
    const head = await squashedHead(dir, record, upTo);
    if (head !== null) return { ok: true as const, before: head, commit: head, how: 'nothing to merge' as const };
    const end = await (squash === null ? mergeBranch(dir, branch, upTo) : squashBranch(dir, branch, upTo, squash));
    if (end.ok) return end;
    throw new Refused(deny(end.code, end.reason, { cast, branch, files: [...end.files] }));
  });
  const merges = [...(record.merges ?? []), ...(await broughtBy(dir, record, merged, upTo))];
  const kept = writeRecord(stateDir, { ...record, merges });
  const left = isThere && status !== 'completed' ? await uncommittedOf(record) : 0;
  const beyond = await countBetween(top, upTo, branch);
  const parked = await parkedOf(record);
  const details = {
    ...{ cast, branch, commit: merged.commit, how: merged.how, files: files.length, uncommitted: left },
    ...(beyond > 0 ? { unaccepted: beyond } : {}),
    ...(parked.length > 0 ? { parked } : {}),
  };
  const what = `${branch} is merged as ${merged.commit.slice(0, 7)} (${merged.how}, ${counted(files.length, 'file')})`;
  if (status !== 'completed') {
    const lanes = await unmergedLanes(workspace, record);
    const notMerged = lanes.length === 0 ? '' : `; ${counted(lanes.length, 'item')} beside it not merged yet`;
    const without =
      beyond === 0
        ? ''
        : `; without ${counted(beyond, 'commit')} of a turn that was not accepted (\`git log ${branch}\`)`;
    const keeps = `cast ${cast} is ${status} and keeps its worktree${notMerged}${without}${noticeOfParked(parked)}`;
    return allow(`${what}; ${keeps}`, { ...details, lanes: lanes.map((lane) => ({ ...lane })) });
  }
  const stays = await whyKept(stateDir, record);
  if (stays !== null) return allow(`${what}; ${stays}, then \`${program} merge ${cast}\` clears it away`, details);
  const inOwn = isThere ? [await orphanedIn(record)] : [];
  const behind = allOrphaned([...inOwn, ...(await clearLanes(stateDir, record))]);
  await removeWorktree(stateDir, kept, 'merged');
  const ignored = behind.count > 0 ? { ignored: behind.count } : {};
  const without = `${behind.count > 0 ? `; ${noticeOfOrphaned(behind)}` : ''}${noticeOfParked(parked)}${movedNotice(record)}`;
  return allow(`${what}; its worktree and branch are cleared away${without}`, { ...details, ...ignored });
}

/** The commit that is checked out, where one commit in its history has all of this; git cannot tell that. */
async function squashedHead(dir: string, { merges = [] }: WorktreeRecord, upTo: string): Promise<string | null> {
  const one = merges.findLast(({ squashed }) => squashed === upTo);
  const head = one ? await commitOf(dir, 'HEAD') : null;
  return one && head !== null && (await isIn(dir, one.after, head)) ? head : null;
}

/** The checkers of the cast, as people wrote them. */
async function checkersOf(store: Store, { stateDir }: Workspace, cast: string): Promise<JsonObject> {
  const rules = (await store.view('cast', cast))?.rules;
  return (rules && revealed(rules.checkers, stateDir, cast)) ?? {};
}

/** The whole work is checked where it lies, before it becomes part of a branch of the user. */
async function refuseRed(
  workspace: Workspace,
  record: WorktreeRecord,
  upTo: string,
  changes: readonly string[],
  checkers: JsonObject,
  say: (line: string) => void,
): Promise<void> {
  const { cast, cwd } = record;
  const names = checkersAt(checkers, 'merge');
  if (names.length === 0) return;
  const checked = { about: `commit ${upTo}`, passes: passesOf(workspace) };
  const check = () => checkProject(names, checkers, { root: cwd, changes, say }, checked);
  const { value: checks } = await leaveUnchanged(workspace.stateDir, record, check);
  const red = checks.filter(({ ok }) => !ok);
  if (red.length === 0) return;
  const named = red.map(({ name, found }) => `${name} (${found})`).join('; ');
  const way = `look at it in ${cwd}, or merge it all the same with \`${workspace.program} merge ${cast} --unchecked\``;
  const details = { cast, checks: red.map((check) => ({ ...check })) };
  throw new Refused(
    deny('CHECKS_FAILED', `the project's checks fail on the work of cast ${cast}: ${named}; ${way}`, details),
  );
}

/** What lies in the worktree alone after everything was merged, and what to do about it. */
async function whyKept(stateDir: string, record: WorktreeRecord): Promise<string | null> {
  const apart = await apartOf(stateDir, record);
  if (apart !== null) return apart;
  const files = existsSync(record.folder) ? await uncommittedOf(record) : 0;
  if (files === 0) return null;
  const what = `${counted(files, 'file')} that git could not take over (\`git -C ${record.folder} status\`)`;
  return `the worktree ${record.folder} stays, for it holds ${what}; repair or remove ${files === 1 ? 'it' : 'them'}`;
}

/** What came into which branch. Of what a person merged before only where the cast began and ended is known. */
async function broughtBy(
  dir: string,
  record: WorktreeRecord,
  merged: Extract<Merged, { ok: true }>,
  upTo: string,
): Promise<Merge[]> {
  const into = await branchIn(dir);
  const where = into === null ? {} : { into };
  if (merged.how !== 'nothing to merge') {
    const squashed = merged.how === 'one commit' ? { squashed: upTo } : {};
    return [{ before: merged.before, after: merged.commit, ...where, ...squashed }];
  }
  return record.merges ? [] : [{ before: record.base, after: upTo, ...where }];
}

/** The last accepted commit on the branch of a cast that is not over. */
async function acceptedOf(store: Store, record: WorktreeRecord): Promise<string> {
  const entries = await store.read({ after: 0, cast: record.cast });
  const accepted = acceptedTurns(entries.map(({ fact }) => fact));
  return acceptedTip(record, (turn) => !accepted.has(turn));
}

async function countBetween(top: string, upTo: string, branch: string): Promise<number> {
  return Number((await tryGit(top, ['rev-list', '--count', `${upTo}..refs/heads/${branch}`])).out) || 0;
}

/** What an item left that never became part of the branch is kept under a name of its own. */
async function clearLanes(stateDir: string, own: WorktreeRecord): Promise<readonly OrphanedFiles[]> {
  const behind: OrphanedFiles[] = [];
  for (const lane of lanesOf(stateDir, own.cast)) {
    if (lane.state === 'ready') await putLeftoversAside(stateDir, lane, await tipOf(own), 0);
    behind.push(await removeLane(stateDir, lane));
  }
  return behind;
}
