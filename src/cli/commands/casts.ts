// `baton casts`: all casts of the workspace, newest first.

import type { Door } from '../../engine/door.ts';
import { branchOf } from '../../workspace/worktree/branch.ts';
import { worktreeStates } from '../../workspace/worktree/record.ts';
import { type Listed, listCasts } from '../cast-list.ts';
import { again, type Call, EXIT, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withDoor } from '../looking.ts';
import { oneLine } from '../safe-text.ts';
import { hasLog } from '../state-folder.ts';

export async function run(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  const known = hasLog(workspace);
  const listed = known ? await withDoor(call, read) : [];
  const casts = withBranches(listed, workspace.stateDir);
  if (call.json) outJson(casts);
  else if (casts.length === 0) out(`No cast was run here yet. Start one with: ${again(call)} cast "…"`);
  else
    for (const { cast, status, driven, loadout, request, worktree } of casts) {
      const where = worktree ? `  [${worktree.branch}${worktree.state === 'ready' ? '' : `: ${worktree.state}`}]` : '';
      out(`${cast}  ${(driven === false ? 'crashed' : status).padEnd(9)}  ${loadout}  ${oneLine(request, 80)}${where}`);
    }
  return EXIT.ok;
}

/** Newest first. Whether somebody drives it is told of those that should be driven. */
async function read(door: Door): Promise<readonly Driven[]> {
  const casts = await Promise.all(
    (await listCasts(door, Date.now())).map(async (cast): Promise<Driven> => {
      if (cast.status !== 'running') return cast;
      return { ...cast, driven: (await door.driverOf(cast.cast)) !== null };
    }),
  );
  return casts.reverse();
}

type Driven = Listed & { readonly driven?: boolean };
type Shown = Driven & { readonly worktree?: { readonly branch: string; readonly state: string } };

/** A cast that works on a branch of its own is shown with it, and with what became of it. */
function withBranches(casts: readonly Driven[], stateDir: string): readonly Shown[] {
  if (casts.every(({ root }) => root === undefined)) return casts;
  const states = worktreeStates(stateDir);
  return casts.map((cast) => {
    if (cast.root === undefined) return cast;
    return { ...cast, worktree: { branch: branchOf(cast.cast), state: states.get(cast.cast) ?? 'making' } };
  });
}
