// The casts of a workspace as a list: what is told of each is what `show` tells of it, without reading all that it did.
import type { Door } from '../engine/door.ts';
import { type CastSummary, summaries } from '../engine/summary.ts';
import { saidNow } from '../kernel/cast/expired.ts';
import type { Entry } from '../kernel/fact.ts';
import type { CastStatus } from '../kernel/state.ts';

export type Listed = CastSummary & {
  /** How long it has been running by now; what it waited or was paused does not count. */
  readonly elapsedMs: number;
};

/** Oldest first. */
export async function listCasts(door: Door, now: number): Promise<readonly Listed[]> {
  const clocks = clocksOf(await door.lifecycle());
  return (await summaries(door)).map((summary) => {
    const { elapsedMs, since } = clocks.get(summary.cast) ?? NEVER;
    const running = since === null ? 0 : Math.max(0, now - since);
    const said = saidNow(summary.cast, summary, now);
    return { ...summary, ...said, reason: reasonOf({ ...summary, ...said }), elapsedMs: elapsedMs + running };
  });
}

type Clock = { readonly elapsedMs: number; readonly since: number | null };
const NEVER: Clock = { elapsedMs: 0, since: null };

/** Whether a fact lets the cast's time run on, or stops it. */
const RUNS: Readonly<Record<string, boolean>> = {
  'cast.started': true,
  'cast.resumed': true,
  'cast.recast': true,
  'cast.completed': false,
  'cast.failed': false,
  'cast.waiting': false,
  'cast.aborted': false,
  'cast.paused': false,
};

function clocksOf(entries: readonly Entry[]): ReadonlyMap<string, Clock> {
  const clocks = new Map<string, Clock>();
  for (const { at, fact } of entries) {
    const runs = RUNS[fact.kind];
    if (runs === undefined || !('cast' in fact)) continue;
    const { elapsedMs, since } = clocks.get(fact.cast) ?? NEVER;
    const time = Date.parse(at);
    if (runs) clocks.set(fact.cast, { elapsedMs, since: since ?? time });
    else {
      const measured = 'elapsedMs' in fact ? fact.elapsedMs : undefined;
      const passed = since === null ? 0 : Math.max(0, time - since);
      clocks.set(fact.cast, { elapsedMs: measured ?? elapsedMs + passed, since: null });
    }
  }
  return clocks;
}

/** A cast that runs has nothing to say for itself, and one that is done says just that. */
function reasonOf({ status, reason }: { readonly status: CastStatus; readonly reason: string }): string {
  if (status === 'running') return '';
  return status === 'completed' ? status : reason;
}
