// `baton diff`: what a cast changed, also while it runs.
import { existsSync } from 'node:fs';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { counted } from '../../kernel/counted.ts';
import { readBefore } from '../../workspace/before-state.ts';
import type { Workspace } from '../../workspace/locate.ts';
import { isInCommit, type Left, type LeftFile } from '../../workspace/restore-files.ts';
import { treeOfWork } from '../../workspace/worktree/aside.ts';
import { type ChangedFile, filesBetween, patchBetween } from '../../workspace/worktree/diff.ts';
import { type LaneRecord, lanesOf, type WorktreeRecord } from '../../workspace/worktree/record.ts';
import { tipOf } from '../../workspace/worktree/tip.ts';
import { uncommittedOf } from '../../workspace/worktree/turns.ts';
import { leftBy, recordOf, refusing, saidOf, unmergedLanes } from '../cast-work.ts';
import { again, type Call, EXIT, flag, note, out, outJson, text, UsageError } from '../command.ts';
import { nameCast, withDoor } from '../looking.ts';
import { oneLine, safe } from '../safe-text.ts';

export async function run(call: Call): Promise<number> {
  return refusing(() =>
    withDoor(call, async (door, workspace) => {
      const summary = await nameCast(door, call.words[0]);
      const record = recordOf(workspace, summary);
      if (record) return inWorktree(call, workspace, record, laneAsked(call, workspace, record));
      if (laneAsked(call, workspace, null)) throw new UsageError('the cast has no worktrees');
      return inPlace(call, workspace, summary, await leftBy(door, summary.cast));
    }),
  );
}

function laneAsked(call: Call, { stateDir }: Workspace, own: WorktreeRecord | null): LaneRecord | null {
  const word = text(call.values, 'lane');
  if (word === undefined) return null;
  const lanes = own ? lanesOf(stateDir, own.cast) : [];
  const lane = lanes.find(({ lane }) => String(lane.place) === word);
  if (lane) return lane;
  const there = lanes.map((each) => each.lane.place).join(', ') || 'none';
  throw new UsageError(`there is no worktree ${word} of an item; there are: ${there}`);
}

/** From where it began to what lies in the worktree now, whether it is committed or not. */
async function inWorktree(
  call: Call,
  workspace: Workspace,
  own: WorktreeRecord,
  lane: LaneRecord | null,
): Promise<number> {
  const { stateDir } = workspace;
  const record = lane ?? own;
  const { cast, branch, base, top, folder, state, behind } = record;
  // While the branch is moved on the files only lag behind: that is nobody's change.
  const isThere = state === 'ready' && existsSync(folder) && behind === undefined;
  const tip = await tipOf(record);
  const uncommitted = isThere ? await uncommittedOf(record) : 0;
  const now = uncommitted > 0 ? await treeOfWork(stateDir, record) : tip;
  if (call.json) {
    const files = await filesBetween(top, base, now);
    const lanes = lane ? {} : { lanes: await unmergedLanes(workspace, own) };
    outJson({ cast, branch, state, base, head: tip, uncommitted, files, ...lanes });
  } else if (flag(call.values, 'stat')) {
    for (const line of statOf(await filesBetween(top, base, now))) out(line);
  } else print(await patchBetween(top, base, now));
  if (uncommitted > 0 && !call.json) {
    note(
      `${counted(uncommitted, 'file')} of it ${uncommitted === 1 ? 'is' : 'are'} not committed: no turn with it was accepted yet.`,
    );
  }
  if (!lane && !call.json) {
    for (const each of await unmergedLanes(workspace, own)) {
      note(`${saidOf(each)}: ${again(call)} diff ${cast} --lane ${each.lane}`);
    }
  }
  return EXIT.ok;
}

type Touched = {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  readonly digest: string | null;
  readonly before: 'absent' | 'commit' | 'unknown';
};

/**
 * Of what was changed in the directory itself only what git had before can be shown line by line. What changed beside a turn
 * and may be anybody's is named apart.
 */
async function inPlace(call: Call, { dir, stateDir }: Workspace, { cast }: CastSummary, left: Left): Promise<number> {
  const known = readBefore(stateDir, cast);
  const all: (Touched & Pick<LeftFile, 'remark'> & { readonly commit: string | null })[] = [];
  for (const [path, { digest, remark }] of Object.entries(left)) {
    const was = Object.hasOwn(known, path) ? known[path] : undefined;
    const commit = was?.kind === 'commit' && (await isInCommit(dir, was.commit, path)) ? was.commit : null;
    const before = was?.kind === 'commit' && commit === null ? 'absent' : (was?.kind ?? 'unknown');
    const status = digest === null ? 'deleted' : before === 'absent' ? 'added' : 'modified';
    all.push({ path, status, digest, before, commit, remark });
  }
  const files = all.filter(({ remark }) => remark === null);
  const beside = all.filter(({ remark }) => remark !== null);
  if (call.json) {
    const own = files.map(({ commit: _, remark: __, ...file }) => file);
    outJson({ cast, branch: null, files: own, beside: beside.map(({ commit: _, ...file }) => file) });
  } else if (flag(call.values, 'stat')) {
    for (const { path, status } of files) out(`${status.padEnd(8)}  ${oneLine(path)}`);
    for (const { path, status, remark } of beside) out(`${status.padEnd(8)}  ${oneLine(path)}  (${remark})`);
  } else {
    const commits = new Map<string, string[]>();
    for (const { path, commit, before } of files) {
      if (commit !== null) commits.set(commit, [...(commits.get(commit) ?? []), path]);
      else
        note(`${oneLine(path)} ${before === 'absent' ? 'was added' : 'was changed; nobody kept what it was before'}`);
    }
    for (const [commit, paths] of commits) print(await patchBetween(dir, commit, null, paths));
    for (const { path, remark } of beside) note(`${oneLine(path)} ${remark}`);
  }
  return EXIT.ok;
}

/** As it is where a program reads it; without what would act on a terminal where a person does. */
function print(patch: Buffer): void {
  process.stdout.write(process.stdout.isTTY ? safe(patch.toString('utf8')) : patch);
}

function statOf(files: readonly ChangedFile[]): string[] {
  const lines = files.map(({ path, status, insertions, deletions }) => {
    const how = insertions === null ? 'binary' : `+${insertions} -${deletions ?? 0}`;
    return `${status.padEnd(8)}  ${how.padStart(12)}  ${oneLine(path)}`;
  });
  return [...lines, `${counted(files.length, 'file')} changed`];
}
