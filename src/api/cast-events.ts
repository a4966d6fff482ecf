// What happens in a cast, one after the other, for a program that reads at its own pace. Facts are all there and in order;
// what agents do right now is left out for a reader that falls behind, and never waited for.
import type { LiveNews, CastNews as NewsOfWatch } from '../app/look-at-cast.ts';
import type { OperationEvent } from '../app/operation.ts';
import { flat, type LoggedFact } from '../app/views/flat-entry.ts';
import type { Verdict } from '../kernel/verdict.ts';

export type CastNews = { readonly kind: 'fact'; readonly fact: LoggedFact } | LiveNews;

/** The last one is the end: the cast stands, was left, or there is no such cast, as the verdict says. */
export type CastEvent = CastNews | { readonly kind: 'end'; readonly verdict: Verdict };

const LIVE_WAITING_MAX = 1_000;

/** Nothing is begun before the first event is asked for; who stops asking ends it. */
export async function* castEvents(
  watch: (onEvent: (event: OperationEvent) => void, signal: AbortSignal) => Promise<Verdict>,
  signal: AbortSignal,
): AsyncGenerator<CastEvent, void, void> {
  const stop = new AbortController();
  const waiting: CastEvent[] = [];
  let wake = () => {};
  const put = (...events: readonly CastEvent[]) => {
    waiting.push(...events);
    wake();
  };
  const onEvent = (event: OperationEvent) => {
    if (event.kind !== 'value') return;
    const news = event.value as NewsOfWatch;
    if (news.kind === 'entries') put(...news.entries.map((entry) => ({ kind: 'fact', fact: flat(entry) }) as const));
    else if (waiting.length < LIVE_WAITING_MAX) put(news);
  };
  const over = watch(onEvent, AbortSignal.any([signal, stop.signal]));
  void over.then((verdict) => put({ kind: 'end', verdict }));
  try {
    for (;;) {
      const events = waiting.splice(0);
      for (const event of events) {
        yield event;
        if (event.kind === 'end') return;
      }
      if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop.abort();
    await over;
  }
}
