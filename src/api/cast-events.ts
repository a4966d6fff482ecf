// What happens in a cast, one after the other, for a program that reads at its own pace. Facts are all there and in order;
// what agents do right now is left out for a reader that falls behind, and never waited for.
import type { Verdict } from '../kernel/verdict.ts';
import { type CastNews, castWait } from '../mcp/cast-wait.ts';
import type { CommandLine } from '../mcp/command-line.ts';

/** The last one is the end: the cast stands, was left, or there is no such cast, as the verdict says. */
export type CastEvent = CastNews | { readonly kind: 'end'; readonly verdict: Verdict };

const LIVE_WAITING_MAX = 1_000;

/** Nothing is begun before the first event is asked for; who stops asking ends it. */
export async function* castEvents(
  baton: CommandLine,
  cast: string,
  signal: AbortSignal,
): AsyncGenerator<CastEvent, void, void> {
  const stop = new AbortController();
  const waiting: CastEvent[] = [];
  let wake = () => {};
  const put = (event: CastEvent) => {
    if (event.kind === 'live' && waiting.length >= LIVE_WAITING_MAX) return;
    waiting.push(event);
    wake();
  };
  const over = castWait(baton, cast, { signal: AbortSignal.any([signal, stop.signal]), hear: put, withFacts: true });
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
