// How a cast is shown when it stands still: the object for scripts, the closing lines for people, the exit code.
import type { Door } from '../engine/door.ts';
import { type CastView, viewOf } from '../engine/view.ts';
import type { CastStatus } from '../kernel/state.ts';
import { type Call, EXIT, out, outJson, UsageError } from './command.ts';

export async function loadView(door: Door, cast: string, withTurns: boolean): Promise<CastView> {
  const state = await door.cast(cast);
  if (!state) throw new UsageError(`there is no cast ${cast}; \`baton casts\` lists them`, 'UNKNOWN_CAST');
  return viewOf(state, await door.read({ after: 0, cast }), await door.head(), withTurns);
}

export function exitOf(status: CastStatus): number {
  switch (status) {
    case 'completed':
    case 'running':
      return EXIT.ok;
    case 'waiting':
      return EXIT.waiting;
    default:
      return EXIT.denied;
  }
}

export function showEnd(call: Call, view: CastView): number {
  if (call.json) outJson(view);
  else for (const line of closing(view)) out(line);
  return exitOf(view.status);
}

function closing({ cast, status, code, reason, path, accepted, usage }: CastView): string[] {
  const spent = `${path.length} visits, ${accepted} accepted handoffs, ${usage.tokens} tokens`;
  switch (status) {
    case 'completed':
      return [`Cast ${cast} completed: ${spent}.`, `Look at it with: baton show ${cast}`];
    case 'running':
      return [`Cast ${cast} is running.`, `Follow it with: baton watch ${cast}`];
    case 'waiting':
      return [`Cast ${cast} waits for a person (${code}): ${reason}`];
    case 'paused':
      return [`Cast ${cast} is paused: ${reason}.`, `Carry on with: baton continue ${cast}`];
    default:
      return [`Cast ${cast} ${status}${code ? ` (${code})` : ''}: ${reason}`, ...wayOn(cast, code)];
  }
}

function wayOn(cast: string, code: string | null): string[] {
  const recast = `Carry on with: baton recast ${cast}`;
  if (code === 'BUDGET_EXHAUSTED') return [`Give it more with: baton budget ${cast} --tokens N, then: ${recast}`];
  if (code === 'EDGE_BUDGET_EXHAUSTED') return [recast, `or take the spent edge again with: baton revive ${cast}`];
  return [recast];
}
