// How a cast is shown when it stands still: the object for scripts, the closing lines for people, the exit code.
import { join } from 'node:path';
import type { Door } from '../engine/door.ts';
import { type CastView, viewOf } from '../engine/view.ts';
import { elapsedOf } from '../kernel/cast/budget.ts';
import { saidNow } from '../kernel/cast/expired.ts';
import { itemsText } from '../kernel/cast/item-count.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Cast, CastStatus } from '../kernel/state.ts';
import type { BoundaryRefusal } from '../kernel/turn/consolidation.ts';
import type { Denied } from '../kernel/verdict.ts';
import { branchOf } from '../workspace/worktree/branch.ts';
import { again, type Call, EXIT, out, outJson, UsageError } from './command.ts';
import { commandName } from './command-name.ts';
import { counted } from './counted.ts';
import { notRunLines, reportLines } from './report-lines.ts';
import { itemLines, resultLines } from './result-lines.ts';
import { taskViews } from './task-view.ts';

/** With `dir`, the project directory, what agents propose is held against the boundaries of its registry too. */
export async function loadView(door: Door, cast: string, withTurns: boolean, dir?: string): Promise<CastView> {
  const state = await door.cast(cast);
  if (!state) throw new UsageError(`there is no cast ${cast}; \`${commandName()} casts\` lists them`, 'UNKNOWN_CAST');
  const entries = await door.read({ after: 0, cast });
  const view = viewOf(state, entries, await door.head(), withTurns, await boundariesFor(state, dir));
  // What runs goes on getting older while nothing is written down.
  const worktree = state.root === undefined ? {} : { branch: branchOf(cast), root: state.root };
  const tasks = taskViews(state, entries);
  const owned = tasks.length === 0 ? {} : { tasks };
  const suggested = await suggestionsLeft(door, entries);
  const memory = suggested === 0 ? {} : { memorySuggestions: suggested };
  const now = Date.now();
  return { ...view, ...saidNow(cast, state, now), elapsedMs: elapsedOf(state, now), ...worktree, ...owned, ...memory };
}

/** The registry is read only where an agent has proposed another one. */
async function boundariesFor({ reports }: Cast, dir: string | undefined): Promise<BoundaryRefusal | undefined> {
  if (dir === undefined || reports.every(({ nextBestAgent }) => nextBestAgent === null)) return undefined;
  const { boundariesIn } = await import('../workspace/registry-boundaries.ts');
  return boundariesIn(join(dir, '.baton'))?.refusal;
}

/** How many of the notes that the cast's agents suggested to remember wait for a person still. */
async function suggestionsLeft(door: Door, entries: readonly Entry[]): Promise<number> {
  const ids = new Set(entries.flatMap(({ fact }) => (fact.kind === 'memory.suggested' ? [fact.id] : [])));
  if (ids.size === 0) return 0;
  for (const { fact } of await door.read({ after: 0, kindPrefix: 'memory.' })) {
    if (fact.kind === 'memory.accepted' || fact.kind === 'memory.dropped') ids.delete(fact.id);
  }
  return ids.size;
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

/**
 * `more` comes after the closing lines: what the cast left and where. A command that was refused although the cast went on
 * says so to scripts as well, and is no success wherever the cast has come to.
 */
export function showEnd(
  call: Call,
  view: CastView,
  more: readonly string[] = [],
  refused: Denied | null = null,
): number {
  if (call.json) outJson(refused ? { ...view, refused } : view);
  else for (const line of endLines(view, again(call), more)) out(line);
  return refused ? EXIT.denied : exitOf(view.status);
}

/** The results come first, then how the cast ended and the ways on. */
function endLines(view: CastView, baton: string, more: readonly string[]): readonly string[] {
  const [results, items] = [resultLines(view, baton), itemLines(view.tasks)];
  const gap = results.length + items.length > 0 ? [''] : [];
  return [
    ...results,
    ...reportLines(view, baton),
    ...items,
    ...notRunLines(view),
    ...gap,
    ...closing(view, baton),
    ...more,
  ];
}

function closing({ cast, status, code, reason, path, accepted, usage, items }: CastView, baton: string): string[] {
  const done = items ? itemsText(items) : null;
  const counts = done === null ? [] : [`Items: ${done}.`];
  const spent = `${counted(path.length, 'visit')}, ${counted(accepted, 'accepted handoff')}, ${counted(usage.tokens, 'token')}`;
  switch (status) {
    case 'completed':
      return [
        `Cast ${cast} completed: ${done === null ? '' : `${done}, `}${spent}.`,
        `Look at it with: ${baton} show ${cast}`,
      ];
    case 'running':
      return [`Cast ${cast} is running.`, ...counts, `Follow it with: ${baton} watch ${cast}`];
    case 'waiting':
      return [`Cast ${cast} waits for a person (${code}): ${reason}`, ...counts, `All ways on: ${baton} why ${cast}`];
    case 'paused':
      return [`Cast ${cast} is paused: ${reason}.`, ...counts, `Carry on with: ${baton} continue ${cast}`];
    default:
      return [`Cast ${cast} ${status}${code ? ` (${code})` : ''}: ${reason}`, ...counts, ...wayOn(cast, code, baton)];
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
