// `baton casts`: all casts of the workspace, newest first.

import { listCasts } from '../cast-list.ts';
import { again, type Call, EXIT, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { branchOf } from '../../workspace/worktree/repository.ts';
import { oneLine } from '../safe-text.ts';
import { withDoor } from '../session.ts';
import { hasLog } from '../state-folder.ts';

export async function run(call: Call): Promise<number> {
  const known = hasLog(workspaceOf(call));
  const casts = known ? await withDoor(call, async (door) => [...(await listCasts(door, Date.now()))].reverse()) : [];
  if (call.json) outJson(casts);
  else if (casts.length === 0) out(`No cast was run here yet. Start one with: ${again(call)} cast "…"`);
  else
    for (const { cast, status, loadout, request } of casts)
      out(`${cast}  ${status.padEnd(9)}  ${loadout}  ${oneLine(request, 80)}`);
  return EXIT.ok;
}
