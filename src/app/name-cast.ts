// Casts by name and as a list: an id, a beginning that only one has, or `latest`.
import type { CastQuery } from '../engine/ports.ts';
import type { Store } from '../engine/store.ts';
import { saidNow } from '../kernel/cast/asked.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { CastStatus } from '../kernel/state.ts';
import { UsageError } from '../workspace/usage-error.ts';

export async function nameCast(
  store: Pick<Store, 'view'>,
  word: string | undefined,
  program = 'baton',
): Promise<CastSummary> {
  const [newest] = await store.view('casts', { limit: 1 });
  if (!newest) throw new UsageError(`there is no cast yet; start one with \`${program} cast\``, 'UNKNOWN_CAST');
  if (word === undefined || word === 'latest') return newest;
  const [exact] = await store.view('casts', { cast: word });
  if (exact) return exact;
  const matching = word === '' ? [] : await store.view('casts', { prefix: word });
  if (matching.length === 1 && matching[0]) return matching[0];
  if (matching.length > 1)
    throw new UsageError(`${word} fits ${matching.length} casts: ${matching.map(({ cast }) => cast).join(', ')}`);
  throw new UsageError(`there is no cast ${word}; \`${program} casts\` lists them`, 'UNKNOWN_CAST');
}

export type Listed = Omit<CastSummary, 'clock'> & {
  /** How long it has been running by now; what it waited or was paused does not count. */
  readonly elapsedMs: number;
};

/** Oldest first. */
export async function listCasts(store: Pick<Store, 'view'>, now: number, query: CastQuery): Promise<readonly Listed[]> {
  return (await store.view('casts', query)).map(({ clock: { elapsedMs, since }, ...summary }) => {
    const running = since === null ? 0 : Math.max(0, now - since);
    const said = saidNow(summary.cast, summary, now);
    return { ...summary, ...said, reason: reasonOf({ ...summary, ...said }), elapsedMs: elapsedMs + running };
  });
}

/** A cast that runs has nothing to say for itself, and one that is done says just that. */
function reasonOf({ status, reason }: { readonly status: CastStatus; readonly reason: string }): string {
  if (status === 'running') return '';
  return status === 'completed' ? status : reason;
}
