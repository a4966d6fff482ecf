// How a cast is shown when it stands still: the object for scripts, the closing lines for people, the exit code.
import type { CastView } from '../app/views/shown-cast.ts';
import { itemsText } from '../kernel/cast/item-count.ts';
import { counted } from '../kernel/counted.ts';
import type { CastStatus } from '../kernel/state.ts';
import type { Denied } from '../kernel/verdict.ts';
import { again, type Call, EXIT, out, outJson } from './command.ts';
import { notRunLines, reportLines } from './report-lines.ts';
import { itemLines, resultLines } from './result-lines.ts';

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
