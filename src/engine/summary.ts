// The casts of a workspace in short, told from the facts of their beginnings and ends.
import type { Entry } from '../kernel/fact.ts';
import type { CastStatus } from '../kernel/state.ts';
import type { Door } from './door.ts';

export type CastSummary = {
  readonly cast: string;
  readonly status: CastStatus;
  readonly code: string | null;
  readonly reason: string;
  readonly loadout: string;
  readonly request: string;
  /** The folder in which it works, as locks name it; without one it works in the workspace itself. */
  readonly root?: string;
  readonly startedAt: string;
  readonly changedAt: string;
  /** The end of the permission that it waits for. */
  readonly until?: number;
};

/** Oldest first. */
export async function summaries(door: Door): Promise<readonly CastSummary[]> {
  const casts = new Map<string, CastSummary>();
  for (const entry of await door.lifecycle()) take(casts, entry);
  return [...casts.values()];
}

function take(casts: Map<string, CastSummary>, { at, fact }: Entry): void {
  if (fact.kind === 'cast.started') {
    const { cast, loadout, request, root } = fact;
    casts.set(cast, {
      cast,
      status: 'running',
      code: null,
      reason: '',
      loadout,
      request,
      ...(root === undefined ? {} : { root }),
      startedAt: at,
      changedAt: at,
    });
    return;
  }
  if (!('cast' in fact)) return;
  const known = casts.get(fact.cast);
  const status = STATUS[fact.kind as keyof typeof STATUS];
  if (!known || !status) return;
  const code = 'code' in fact ? fact.code : fact.kind === 'cast.aborted' ? 'ABORTED' : null;
  const { until: _ended, ...kept } = known;
  const until = fact.kind === 'cast.waiting' && fact.until !== undefined ? { until: fact.until } : {};
  const reason = 'reason' in fact ? fact.reason : '';
  casts.set(fact.cast, { ...kept, status, code, reason, changedAt: at, ...until });
}

const STATUS = {
  'cast.completed': 'completed',
  'cast.failed': 'failed',
  'cast.waiting': 'waiting',
  'cast.aborted': 'aborted',
  'cast.paused': 'paused',
  'cast.resumed': 'running',
  'cast.recast': 'running',
} as const satisfies Record<string, CastStatus>;
