// `baton casts`: all casts of the workspace, newest first.
import type { Shown } from '../../app/operations/cast-list.ts';
import { again, type Call, EXIT, out, outJson, text } from '../command.ts';
import { oneLine } from '../safe-text.ts';
import { allowed } from '../show-operation.ts';

export async function run(call: Call): Promise<number> {
  const limit = text(call.values, 'limit');
  const { casts } = (await allowed(
    call,
    'cast.list',
    limit === undefined ? {} : { limit: Number(limit) },
  )) as unknown as { casts: readonly Shown[] };
  if (call.json) outJson(casts);
  else if (casts.length === 0) out(`No cast was run here yet. Start one with: ${again(call)} cast "…"`);
  else
    for (const { cast, status, driven, loadout, request, worktree } of casts) {
      const where = worktree ? `  [${worktree.branch}${worktree.state === 'ready' ? '' : `: ${worktree.state}`}]` : '';
      out(`${cast}  ${(driven === false ? 'crashed' : status).padEnd(9)}  ${loadout}  ${oneLine(request, 80)}${where}`);
    }
  return EXIT.ok;
}
