// The log as a stream: what is there already, then what is appended, page by page. The reader sets the pace, so that a slow
// one never fills the memory.
import type { Entry } from '../kernel/fact.ts';
import type { Log } from './ports.ts';

const PAGE = 1_000;

export type FollowQuery = {
  /** Only the entries of this cast; without it, those of the whole workspace. */
  readonly cast?: string;
  readonly after: number;
  readonly signal?: AbortSignal;
};

export async function* followEntries(
  source: Pick<Log, 'read' | 'watch'>,
  closed: AbortSignal,
  { cast, after, signal }: FollowQuery,
): AsyncGenerator<readonly Entry[], void, void> {
  const ended = signal ? AbortSignal.any([signal, closed]) : closed;
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const unwatch = source.watch(wake);
  ended.addEventListener('abort', wake);
  try {
    for (let seen = after; !ended.aborted; ) {
      // What is appended while a page is read or shown is read in the next round.
      changed = Promise.withResolvers();
      const entries = await source.read({ after: seen, limit: PAGE, ...(cast === undefined ? {} : { cast }) });
      const last = entries.at(-1);
      if (last) {
        seen = last.seq;
        yield entries;
      } else await changed.promise;
    }
  } catch (error) {
    // A store that was closed meanwhile cannot be read.
    if (!closed.aborted) throw error;
  } finally {
    ended.removeEventListener('abort', wake);
    unwatch();
  }
}
