// What a cast changed, also while it runs.
import { existsSync } from 'node:fs';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import type { Json } from '../../kernel/json.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { filesBetween, patchBetween } from '../../workspace/git.ts';
import { UsageError } from '../../workspace/locate.ts';
import { isInCommit, type Left, type LeftFile, readBefore } from '../../workspace/restore-files.ts';
import { tipOf } from '../../workspace/worktree/accepted.ts';
import { type LaneRecord, lanesOf, type WorktreeRecord } from '../../workspace/worktree/record.ts';
import { treeOfWork } from '../../workspace/worktree/stash.ts';
import { uncommittedOf } from '../../workspace/worktree/turns.ts';
import { leftBy, refusing, unmergedLanes, worktreeRecordOf } from '../cast-work.ts';
import { castNamed } from '../name-cast.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

export const castDiff: Operation<'cast.diff'> = async (workspace, { cast: word, lane, patch = false }) => {
  const { store, summary } = await castNamed(workspace, word);
  return refusing(async () => {
    const record = worktreeRecordOf(workspace, summary);
    if (record) return inWorktree(workspace, record, laneAsked(workspace, record, lane), patch);
    if (lane !== undefined) throw new UsageError('the cast has no worktrees');
    return inPlace(workspace, summary, await leftBy(store, summary.cast), patch);
  });
};

function laneAsked({ stateDir }: Workspace, own: WorktreeRecord, asked: number | undefined): LaneRecord | null {
  if (asked === undefined) return null;
  const lanes = lanesOf(stateDir, own.cast);
  const lane = lanes.find((each) => each.lane.place === asked);
  if (lane) return lane;
  const there = lanes.map((each) => each.lane.place).join(', ') || 'none';
  throw new UsageError(`there is no worktree ${asked} of an item; there are: ${there}`);
}

/** From where it began to what lies in the worktree now, whether it is committed or not. */
async function inWorktree(
  workspace: Workspace,
  own: WorktreeRecord,
  lane: LaneRecord | null,
  withPatch: boolean,
): Promise<Verdict> {
  const record = lane ?? own;
  const { cast, branch, base, top, folder, state, behind } = record;
  // While the branch moves on, the files lag behind: that is no change.
  const isThere = state === 'ready' && existsSync(folder) && behind === undefined;
  const tip = await tipOf(record);
  const uncommitted = isThere ? await uncommittedOf(record) : 0;
  const now = uncommitted > 0 ? await treeOfWork(workspace.stateDir, record) : tip;
  const files = (await filesBetween(top, base, now)) as unknown as Json[];
  const lanes = lane ? {} : { lanes: (await unmergedLanes(workspace, own)) as unknown as Json[] };
  const patch = withPatch ? patchOf([await patchBetween(top, base, now)]) : {};
  const details = { cast, branch, state, base, head: tip, uncommitted, files, ...lanes, ...patch };
  return allow(`cast ${cast} changed ${files.length} files on ${branch}`, details);
}

type Touched = {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  readonly digest: string | null;
  readonly before: 'absent' | 'commit' | 'kept' | 'unknown';
};

/**
 * Of what was changed in the directory itself only what git had before can be shown line by line. What changed beside a turn
 * and may be anybody's is named apart.
 */
async function inPlace(
  { dir, stateDir }: Workspace,
  { cast }: CastSummary,
  left: Left,
  withPatch: boolean,
): Promise<Verdict> {
  const known = readBefore(stateDir, cast);
  const all: (Touched & Pick<LeftFile, 'remark'> & { readonly commit: string | null })[] = [];
  for (const [path, { digest, remark }] of Object.entries(left)) {
    const was = Object.hasOwn(known, path) ? known[path] : undefined;
    const commit = was?.kind === 'commit' && (await isInCommit(dir, was.commit, path)) ? was.commit : null;
    const before = was?.kind === 'commit' && commit === null ? 'absent' : (was?.kind ?? 'unknown');
    const status = digest === null ? 'deleted' : before === 'absent' ? 'added' : 'modified';
    all.push({ path, status, digest, before, commit, remark });
  }
  const own = all.filter(({ remark }) => remark === null);
  const beside = all.filter(({ remark }) => remark !== null).map(({ commit: _, ...file }) => file);
  const files = own.map(({ commit: _, remark: __, ...file }) => file);
  const patch = withPatch ? patchOf(await patchesOf(dir, own)) : {};
  return allow(`cast ${cast} changed ${files.length} files`, { cast, branch: null, files, beside, ...patch });
}

async function patchesOf(dir: string, files: readonly { readonly path: string; readonly commit: string | null }[]) {
  const commits = new Map<string, string[]>();
  for (const { path, commit } of files)
    if (commit !== null) commits.set(commit, [...(commits.get(commit) ?? []), path]);
  const patches: Buffer[] = [];
  for (const [commit, paths] of commits) patches.push(await patchBetween(dir, commit, null, paths));
  return patches;
}

/** Bytes that are not UTF-8 are given as base64 as well. */
function patchOf(parts: readonly Buffer[]): { readonly patch: string; readonly patchBase64?: string } {
  const bytes = Buffer.concat(parts);
  const patch = bytes.toString('utf8');
  return { patch, ...(patch.includes('\uFFFD') ? { patchBase64: bytes.toString('base64') } : {}) };
}
