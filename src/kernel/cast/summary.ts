// A cast in short, folded from the facts of its lifecycle. An index of casts keeps it, so that a list of casts does not read
// what they did.
import type { Entry } from '../fact.ts';
import type { CastStatus } from '../state.ts';

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
  /** How long it ran until it stopped last, and since when it runs now; null while it does not run. */
  readonly clock: { readonly elapsedMs: number; readonly since: number | null };
};

const STATUS = {
  'cast.started': 'running',
  'cast.completed': 'completed',
  'cast.failed': 'failed',
  'cast.waiting': 'waiting',
  'cast.aborted': 'aborted',
  'cast.paused': 'paused',
  'cast.resumed': 'running',
  'cast.recast': 'running',
} as const satisfies Record<string, CastStatus>;

/** The kinds of facts that change a summary. */
export const SUMMARY_KINDS: readonly string[] = Object.keys(STATUS);

/** The summary after a fact of the same cast; undefined where the cast has not started. */
export function foldSummary(
  before: CastSummary | undefined,
  { at, fact }: Pick<Entry, 'at' | 'fact'>,
): CastSummary | undefined {
  if (fact.kind === 'cast.started') {
    const { cast, loadout, request, root } = fact;
    return {
      ...{ cast, status: 'running', code: null, reason: '', loadout, request },
      ...(root === undefined ? {} : { root }),
      ...{ startedAt: at, changedAt: at, clock: { elapsedMs: 0, since: Date.parse(at) } },
    };
  }
  const status = STATUS[fact.kind as keyof typeof STATUS];
  if (!before || !status) return before;
  const code = 'code' in fact ? fact.code : fact.kind === 'cast.aborted' ? 'ABORTED' : null;
  const { until: _ended, ...kept } = before;
  const until = fact.kind === 'cast.waiting' && fact.until !== undefined ? { until: fact.until } : {};
  const reason = 'reason' in fact ? fact.reason : '';
  const measured = 'elapsedMs' in fact ? fact.elapsedMs : undefined;
  const clock = clockAfter(before.clock, status === 'running', Date.parse(at), measured);
  return { ...kept, status, code, reason, changedAt: at, ...until, clock };
}

function clockAfter(
  { elapsedMs, since }: CastSummary['clock'],
  isRunning: boolean,
  at: number,
  measured: number | undefined,
): CastSummary['clock'] {
  if (isRunning) return { elapsedMs, since: since ?? at };
  const passed = since === null ? 0 : Math.max(0, at - since);
  return { elapsedMs: measured ?? elapsedMs + passed, since: null };
}
