// How a cast is shown when it stands still: the object for scripts, the closing lines for people, the exit code.
import type { Door } from '../engine/door.ts';
import { type CastView, viewOf } from '../engine/view.ts';
import { elapsedOf } from '../kernel/cast/budget.ts';
import type { CastStatus } from '../kernel/state.ts';
import { branchOf } from '../workspace/worktree/branch.ts';
import { again, type Call, EXIT, out, outJson, UsageError } from './command.ts';
import { commandName } from './command-name.ts';
import { counted } from './counted.ts';
import { taskViews } from './task-view.ts';

export async function loadView(door: Door, cast: string, withTurns: boolean): Promise<CastView> {
  const state = await door.cast(cast);
  if (!state) throw new UsageError(`there is no cast ${cast}; \`${commandName()} casts\` lists them`, 'UNKNOWN_CAST');
  const entries = await door.read({ after: 0, cast });
  const view = viewOf(state, entries, await door.head(), withTurns);
  // What runs goes on getting older while nothing is written down.
  const worktree = state.root === undefined ? {} : { branch: branchOf(cast), root: state.root };
  const tasks = taskViews(cast, entries);
  const owned = tasks.length === 0 ? {} : { tasks };
  return { ...view, elapsedMs: elapsedOf(state, Date.now()), ...worktree, ...owned };
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

/** `more` comes after the closing lines: what the cast left and where. */
export function showEnd(call: Call, view: CastView, more: readonly string[] = []): number {
  if (call.json) outJson(view);
  else for (const line of [...closing(view, again(call)), ...more]) out(line);
  return exitOf(view.status);
}

function closing({ cast, status, code, reason, path, accepted, usage }: CastView, baton: string): string[] {
  const spent = `${counted(path.length, 'visit')}, ${counted(accepted, 'accepted handoff')}, ${counted(usage.tokens, 'token')}`;
  switch (status) {
    case 'completed':
      return [`Cast ${cast} completed: ${spent}.`, `Look at it with: ${baton} show ${cast}`];
    case 'running':
      return [`Cast ${cast} is running.`, `Follow it with: ${baton} watch ${cast}`];
    case 'waiting':
      return [`Cast ${cast} waits for a person (${code}): ${reason}`];
    case 'paused':
      return [`Cast ${cast} is paused: ${reason}.`, `Carry on with: ${baton} continue ${cast}`];
    default:
      return [`Cast ${cast} ${status}${code ? ` (${code})` : ''}: ${reason}`, ...wayOn(cast, code, baton)];
  }
}

function wayOn(cast: string, code: string | null, baton: string): string[] {
  const recast = `Carry on with: ${baton} recast ${cast}`;
  if (code === 'BUDGET_EXHAUSTED') {
    const other = `or set what it may use with: ${baton} budget ${cast}, then carry on with: ${baton} recast ${cast}`;
    return [`Give it as much again with: ${baton} revive ${cast}`, other];
  }
  if (code === 'EDGE_BUDGET_EXHAUSTED') return [recast, `or take the spent edge again with: ${baton} revive ${cast}`];
  return [recast];
}
