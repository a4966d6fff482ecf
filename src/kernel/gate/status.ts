// The status machine at the second door: which report may follow which, where agents report with a status.
import { dialectCan } from '../capabilities.ts';
import type { Handoff } from '../dialect.ts';
import { type Progress, statusOf, step } from '../report/status.ts';
import type { Cast, Turn } from '../state.ts';
import type { Denied } from '../verdict.ts';

/** Whether the turns of a socket are reported on with a status, and more than once if need be. */
export function reportsStatus({ rules }: Pick<Cast, 'rules'>, socket: string): boolean {
  return dialectCan(rules, rules.graph.sockets[socket]?.contract, 'reportsStatus');
}

/** Where the agent stands after this report, or why it may not make it. */
export function stepOf(
  cast: Cast,
  turn: Turn,
  { outcome }: Handoff,
): { readonly refusal: Denied | null; readonly progress: Progress } {
  if (!reportsStatus(cast, turn.socket)) return { refusal: null, progress: turn.progress };
  const { verdict, progress } = step(turn.progress, statusOf(outcome));
  return { refusal: verdict.allow ? null : verdict, progress };
}
