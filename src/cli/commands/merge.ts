// `baton merge`: takes what a cast did over into the branch that is checked out, and clears its worktree away.
import { existsSync } from 'node:fs';
import { revealed } from '../../agents/hidden-texts.ts';
import type { Door } from '../../engine/door.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { counted } from '../../kernel/counted.ts';
import { checkersAt } from '../../kernel/graph/checker.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { commandRun } from '../../kernel/ledger/state.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { checkProject } from '../../workspace/checkers.ts';
import type { Workspace } from '../../workspace/locate.ts';
import { acceptedTip } from '../../workspace/worktree/accepted.ts';
import { filesBetween, fromWorkspace } from '../../workspace/worktree/diff.ts';
import { tryGit } from '../../workspace/worktree/git.ts';
import { allLeftBehind, type LeftBehind, leftBehindIn, saidOfLeftBehind } from '../../workspace/worktree/ignored.ts';
import { putLeftoversAside, removeLane } from '../../workspace/worktree/lane.ts';
import { leaveUnchanged } from '../../workspace/worktree/leave-unchanged.ts';
import { removeWorktree } from '../../workspace/worktree/make.ts';
import { branchIn, type Merged, mergeBranch } from '../../workspace/worktree/merge.ts';
import { catchUp } from '../../workspace/worktree/move.ts';
import { lanesOf, type Merge, type WorktreeRecord, writeRecord } from '../../workspace/worktree/record.ts';
import { apartOf } from '../../workspace/worktree/repositories.ts';
import { saidOfMoved } from '../../workspace/worktree/restore-path.ts';
import { positionOf, tipOf } from '../../workspace/worktree/tip.ts';
import { commitAll, uncommittedOf } from '../../workspace/worktree/turns.ts';
import { ask } from '../ask.ts';
import { leftBy, recordOf, refuseWhileDriven, refusing, unmergedLanes } from '../cast-work.ts';
import { again, type Call, EXIT, flag, note, out, outJson, Refused } from '../command.ts';
import { nameCast, withDoor } from '../looking.ts';
import { withMainLocks } from '../main-locks.ts';
import { checkerCommands, requireTrust } from '../require-trust.ts';
import { passesOf } from '../submitted-work.ts';

export async function run(call: Call): Promise<number> {
  const verdict = await refusing(() =>
    withDoor(call, async (door, workspace) => {
      const summary = await nameCast(door, call.words[0]);
      await refuseWhileDriven(door, summary.cast);
      const record = mergeable(workspace, summary);
      await confirm(call, summary);
      const checkers = flag(call.values, 'unchecked') ? {} : await checkersOf(door, workspace, summary.cast);
      await requireTrust(call, workspace, checkerCommands(checkers, 'merge'));
      return merge(door, workspace, summary, record, checkers, call);
    }),
  );
  if (!verdict.allow) throw new Refused(verdict);
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT.ok;
}

function mergeable(workspace: Workspace, summary: CastSummary): WorktreeRecord {
  const { cast } = summary;
  const record = recordOf(workspace, summary);
  if (!record) {
    throw new Refused(deny('NOT_ALLOWED_NOW', `cast ${cast} works in the directory itself; there is nothing to merge`));
  }
  if (record.state === 'ready') return record;
  const what = record.state === 'merged' ? 'merged already' : 'taken back';
  throw new Refused(
    deny('NOT_ALLOWED_NOW', `the work of cast ${cast} was ${what}; there is nothing to merge`, { cast }),
  );
}

/** Half a piece of work is merged only if a person says so. */
async function confirm(call: Call, { cast, status }: CastSummary): Promise<void> {
  if (status === 'completed' || flag(call.values, 'yes')) return;
  if (await ask(`Cast ${cast} is ${status}. Merge what was accepted so far?`)) return;
  const how = `merge what was accepted so far with \`${again(call)} merge ${cast} --yes\``;
  throw new Refused(deny('NOT_ALLOWED_NOW', `cast ${cast} is ${status}, not completed; ${how}`, { cast, status }));
}

async function merge(
  door: Door,
  workspace: Workspace,
  { cast, status }: CastSummary,
  found: WorktreeRecord,
  checkers: JsonObject,
  call: Call,
): Promise<Verdict> {
  const { dir, stateDir } = workspace;
  const isThere = existsSync(found.folder);
  const record = isThere ? (await catchUp(stateDir, found, 0)).record : found;
  const { branch, base, top } = record;
  // A crash right after the last turn was accepted may have come before its commit.
  if (status === 'completed' && isThere) {
    const seen = Object.keys(await leftBy(door, cast));
    await commitAll(record, await positionOf(record), 'What the last turn left', undefined, seen);
  }
  const upTo = status === 'completed' ? await tipOf(record) : await acceptedOf(door, record);
  const files = await filesBetween(top, base, upTo);
  if (isThere && files.length > 0) {
    const changes = files.map(({ path }) => fromWorkspace(path, top, dir));
    await refuseRed(call, workspace, record, upTo, changes, checkers);
  }
  const paths = files.map(({ path }) => fromWorkspace(path, top, dir));
  const title = `merge ${branch}`;
  const merged = await withMainLocks(door, { name: commandRun('merge', cast), title, paths }, async () => {
    const end = await mergeBranch(dir, branch, upTo);
    if (end.ok) return end;
    throw new Refused(deny(end.code, end.reason, { cast, branch, files: [...end.files] }));
  });
  const merges = [...(record.merges ?? []), ...(await broughtBy(dir, record, merged, upTo))];
  const kept = writeRecord(stateDir, { ...record, merges });
  const left = isThere && status !== 'completed' ? await uncommittedOf(record) : 0;
  const beyond = await countBetween(top, upTo, branch);
  const details = {
    ...{ cast, branch, commit: merged.commit, how: merged.how, files: files.length, uncommitted: left },
    ...(beyond > 0 ? { unaccepted: beyond } : {}),
  };
  const what = `${branch} is merged as ${merged.commit.slice(0, 7)} (${merged.how}, ${counted(files.length, 'file')})`;
  if (status !== 'completed') {
    const lanes = await unmergedLanes(workspace, record);
    const beside = lanes.length === 0 ? '' : `; ${counted(lanes.length, 'item')} beside it not merged yet`;
    const without =
      beyond === 0
        ? ''
        : `; without ${counted(beyond, 'commit')} of a turn that was not accepted (\`git log ${branch}\`)`;
    const keeps = `cast ${cast} is ${status} and keeps its worktree${beside}${without}`;
    return allow(`${what}; ${keeps}`, { ...details, lanes: lanes.map((lane) => ({ ...lane })) });
  }
  const stays = await whyKept(stateDir, record);
  if (stays !== null) return allow(`${what}; ${stays}, then \`${again(call)} merge ${cast}\` clears it away`, details);
  const inOwn = isThere ? [await leftBehindIn(record)] : [];
  const behind = allLeftBehind([...inOwn, ...(await clearLanes(stateDir, record))]);
  await removeWorktree(stateDir, kept, 'merged');
  const ignored = behind.count > 0 ? { ignored: behind.count } : {};
  const without = `${behind.count > 0 ? `; ${saidOfLeftBehind(behind)}` : ''}${saidOfMoved(record)}`;
  return allow(`${what}; its worktree and branch are cleared away${without}`, { ...details, ...ignored });
}

/** The checkers of the cast, as people wrote them. */
async function checkersOf(door: Door, { stateDir }: Workspace, cast: string): Promise<JsonObject> {
  const rules = (await door.cast(cast))?.rules;
  return (rules && revealed(rules.checkers, stateDir, cast)) ?? {};
}

/** The whole work is checked where it lies, before it becomes part of a branch of the user. */
async function refuseRed(
  call: Call,
  workspace: Workspace,
  record: WorktreeRecord,
  upTo: string,
  changes: readonly string[],
  checkers: JsonObject,
): Promise<void> {
  const { cast, cwd } = record;
  const names = checkersAt(checkers, 'merge');
  if (names.length === 0) return;
  const checked = { about: `commit ${upTo}`, passes: passesOf(workspace, call.env) };
  const check = () => checkProject(names, checkers, { root: cwd, changes, say: note }, checked);
  const { value: checks } = await leaveUnchanged(workspace.stateDir, record, check);
  const red = checks.filter(({ ok }) => !ok);
  if (red.length === 0) return;
  const named = red.map(({ name, found }) => `${name} (${found})`).join('; ');
  const way = `look at it in ${cwd}, or merge it all the same with \`${again(call)} merge ${cast} --unchecked\``;
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
  return `the worktree ${record.folder} stays, for it holds ${what}; mend or remove ${files === 1 ? 'it' : 'them'}`;
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
  if (merged.how !== 'nothing to merge') return [{ before: merged.before, after: merged.commit, ...where }];
  return record.merges ? [] : [{ before: record.base, after: upTo, ...where }];
}

/** What is on the branch of a cast that is not over, without what an agent committed in a turn that was not accepted. */
async function acceptedOf(door: Door, record: WorktreeRecord): Promise<string> {
  const accepted = new Set<string>();
  for (const { fact } of await door.read({ after: 0, cast: record.cast })) {
    if (fact.kind === 'turn.accepted') accepted.add(`${fact.turn}`);
    if (fact.kind === 'turn.reopened') accepted.delete(`${fact.turn}`);
  }
  return acceptedTip(record, (turn) => !accepted.has(turn));
}

async function countBetween(top: string, upTo: string, branch: string): Promise<number> {
  return Number((await tryGit(top, ['rev-list', '--count', `${upTo}..refs/heads/${branch}`])).out) || 0;
}

/** What an item left that never became part of the branch is kept under a name of its own. */
async function clearLanes(stateDir: string, own: WorktreeRecord): Promise<readonly LeftBehind[]> {
  const behind: LeftBehind[] = [];
  for (const lane of lanesOf(stateDir, own.cast)) {
    if (lane.state === 'ready') await putLeftoversAside(stateDir, lane, await tipOf(own), 0);
    behind.push(await removeLane(stateDir, lane));
  }
  return behind;
}
