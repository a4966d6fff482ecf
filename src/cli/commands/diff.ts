// `baton diff`: what a cast changed, also while it runs.
import { existsSync } from 'node:fs';
import type { CastSummary } from '../../engine/summary.ts';
import { readBefore } from '../../workspace/before-state.ts';
import type { Workspace } from '../../workspace/locate.ts';
import { isInCommit, type Left } from '../../workspace/restore-files.ts';
import { type ChangedFile, filesBetween, patchBetween } from '../../workspace/worktree/diff.ts';
import type { WorktreeRecord } from '../../workspace/worktree/record.ts';
import { treeOfWork, uncommittedOf } from '../../workspace/worktree/turns.ts';
import { leftBy, recordOf, refusing, tipOf } from '../cast-work.ts';
import { type Call, EXIT, flag, note, out, outJson } from '../command.ts';
import { counted } from '../counted.ts';
import { oneLine, safe } from '../safe-text.ts';
import { nameCast, withDoor } from '../session.ts';

export async function run(call: Call): Promise<number> {
  return refusing(() =>
    withDoor(call, async (door, workspace) => {
      const summary = await nameCast(door, call.words[0]);
      const record = recordOf(workspace, summary);
      if (record) return inWorktree(call, workspace, record);
      return inPlace(call, workspace, summary, await leftBy(door, summary.cast));
    }),
  );
}

/** From where it began to what lies in the worktree now, whether it is committed or not. */
async function inWorktree(call: Call, { stateDir }: Workspace, record: WorktreeRecord): Promise<number> {
  const { cast, branch, base, top, folder, state } = record;
  const isThere = state === 'ready' && existsSync(folder);
  const tip = await tipOf(record);
  const uncommitted = isThere ? await uncommittedOf(record) : 0;
  const now = uncommitted > 0 ? await treeOfWork(stateDir, record) : tip;
  if (call.json) {
    outJson({ cast, branch, state, base, head: tip, uncommitted, files: await filesBetween(top, base, now) });
  } else if (flag(call.values, 'stat')) {
    for (const line of statOf(await filesBetween(top, base, now))) out(line);
  } else print(await patchBetween(top, base, now));
  if (uncommitted > 0 && !call.json) {
    note(
      `${counted(uncommitted, 'file')} of it ${uncommitted === 1 ? 'is' : 'are'} not committed: no turn with it was accepted yet.`,
    );
  }
  return EXIT.ok;
}

type Touched = {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  readonly digest: string | null;
  readonly before: 'absent' | 'commit' | 'unknown';
};

/** Of what was changed in the directory itself only what git had before can be shown line by line. */
async function inPlace(call: Call, { dir, stateDir }: Workspace, { cast }: CastSummary, left: Left): Promise<number> {
  const known = readBefore(stateDir, cast);
  const files: (Touched & { readonly commit: string | null })[] = [];
  for (const [path, digest] of Object.entries(left)) {
    const was = Object.hasOwn(known, path) ? known[path] : undefined;
    const commit = was?.kind === 'commit' && (await isInCommit(dir, was.commit, path)) ? was.commit : null;
    const before = was?.kind === 'commit' && commit === null ? 'absent' : (was?.kind ?? 'unknown');
    const status = digest === null ? 'deleted' : before === 'absent' ? 'added' : 'modified';
    files.push({ path, status, digest, before, commit });
  }
  if (call.json) outJson({ cast, branch: null, files: files.map(({ commit: _, ...file }) => file) });
  else if (flag(call.values, 'stat'))
    for (const { path, status } of files) out(`${status.padEnd(8)}  ${oneLine(path)}`);
  else {
    const commits = new Map<string, string[]>();
    for (const { path, commit, before } of files) {
      if (commit !== null) commits.set(commit, [...(commits.get(commit) ?? []), path]);
      else
        note(`${oneLine(path)} ${before === 'absent' ? 'was added' : 'was changed; nobody kept what it was before'}`);
    }
    for (const [commit, paths] of commits) print(await patchBetween(dir, commit, null, paths));
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
