// `baton casts`: all casts of the workspace, newest first.
import { summaries } from '../../engine/summary.ts';
import { type Call, EXIT, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { oneLine } from '../safe-text.ts';
import { hasLog, withDoor } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const known = hasLog(workspaceOf(call));
  const casts = known ? await withDoor(call, async (door) => [...(await summaries(door))].reverse()) : [];
  if (call.json) outJson(casts);
  else if (casts.length === 0) out('No cast was run here yet. Start one with: baton cast "…"');
  else
    for (const { cast, status, loadout, request } of casts)
      out(`${cast}  ${status.padEnd(9)}  ${loadout}  ${oneLine(request, 80)}`);
  return EXIT.ok;
}
