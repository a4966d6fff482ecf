// `baton status`: what runs or waits, and what ended last.
import { summaries } from '../../engine/summary.ts';
import { isOver } from '../../kernel/state.ts';
import { type Call, EXIT, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { oneLine } from '../safe-text.ts';
import { hasLog, withDoor } from '../session.ts';

const ENDED_SHOWN = 3;

export async function run(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) {
    if (call.json) outJson({ workspace: workspace.dir, head: 0, open: [], ended: [] });
    else out(`${workspace.dir}: no cast was run here yet. Start one with: baton cast "…"`);
    return EXIT.ok;
  }
  const status = await withDoor(call, async (door) => {
    const casts = await summaries(door);
    const open = await Promise.all(
      casts
        .filter((cast) => !isOver(cast.status))
        .map(async (cast) => ({ ...cast, driver: (await door.driverOf(cast.cast))?.pid ?? null })),
    );
    return {
      workspace: workspace.dir,
      head: (await door.head()).seq,
      open,
      ended: casts.filter((cast) => isOver(cast.status)).slice(-ENDED_SHOWN),
    };
  });
  if (call.json) outJson(status);
  else for (const line of lines(status)) out(line);
  return EXIT.ok;
}

type Status = {
  workspace: string;
  open: readonly { cast: string; status: string; request: string; reason: string; driver: number | null }[];
  ended: readonly { cast: string; status: string; code: string | null; request: string }[];
};

function lines({ workspace, open, ended }: Status): string[] {
  return [
    workspace,
    ...open.map(
      ({ cast, status, request, reason, driver }) =>
        `  ${cast}  ${doing(status, driver, reason)}  ${oneLine(request, 60)}`,
    ),
    ...(open.length === 0 ? ['  nothing runs or waits'] : []),
    ...ended.map(
      ({ cast, status, code, request }) => `  ${cast}  ${status}${code ? ` (${code})` : ''}  ${oneLine(request, 60)}`,
    ),
  ];
}

function doing(status: string, driver: number | null, reason: string): string {
  if (status !== 'running') return reason ? `${status} (${oneLine(reason, 300)})` : status;
  return driver === null ? 'crashed: carry on with `baton resume`' : `running in process ${driver}`;
}
