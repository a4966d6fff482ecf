// One stream of server-sent events: the entries after a cursor, what agents do meanwhile, and the head now and then. The
// reader sets the pace. One that takes nothing for a while is let go; it comes back with the last id that it has seen.
import type { EventHub, Filter, Frame } from './event-hub.ts';
import type { AgentNews, LiveFeed } from './live-feed.ts';

const encoder = new TextEncoder();
const SIGN_OF_LIFE_MS = 15_000;
const UNREAD_MS_MAX = 30_000;
const LIVE_WAITING_MAX = 200;

type StreamOptions = {
  readonly hub: EventHub;
  readonly live: LiveFeed;
  readonly after: number;
  readonly filter: Filter;
  /** Called once, when there is no reader any more. */
  readonly onEnd: () => void;
};

export function eventStream({ hub, live, after, filter, onEnd }: StreamOptions): ReadableStream<Uint8Array> {
  const waiting: AgentNews[] = [];
  let cursor = after;
  let isCaughtUp = false;
  let isOver = false;
  let wake = () => {};
  let unread: NodeJS.Timeout | undefined;
  const changed = () => wake();
  const hear = (news: AgentNews) => {
    // What agents do right now may be missed; the newest is worth more.
    if (waiting.length >= LIVE_WAITING_MAX) waiting.shift();
    waiting.push(news);
    wake();
  };
  const unlisten = hub.listen(changed);
  const unhear = live.listen(filter.cast, hear);
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(unread);
    unlisten();
    unhear();
    wake();
    onEnd();
  };

  /** The next piece to send; null at the end. */
  const next = async (): Promise<Uint8Array | null> => {
    for (;;) {
      const failure = hub.ended;
      if (isOver || failure) return null;
      const page = await hub.page(cursor, filter);
      const isNew = page.cursor !== cursor;
      cursor = page.cursor;
      if (page.frames.length > 0) return inOne(page.frames);
      if (isNew) continue;
      if (!isCaughtUp) {
        isCaughtUp = true;
        return encoder.encode(headEvent(cursor));
      }
      const events = waiting.splice(0);
      if (events.length > 0) return encoder.encode(events.map(liveEvent).join(''));
      if (!(await changeWithin(SIGN_OF_LIFE_MS))) return encoder.encode(headEvent(cursor));
    }
  };

  /** Whether something changes in this time. */
  const changeWithin = (ms: number) =>
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
      if (cursor < hub.seq || waiting.length > 0 || isOver || hub.ended) wake();
    });

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(unread);
        try {
          const bytes = await next();
          if (isOver) return;
          if (bytes === null) {
            end();
            controller.close();
            return;
          }
          controller.enqueue(bytes);
          unread = setTimeout(() => {
            end();
            controller.error(new Error('the reader of the stream is too slow'));
          }, UNREAD_MS_MAX);
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

function inOne(frames: readonly Frame[]): Uint8Array {
  const [first] = frames;
  return frames.length === 1 && first ? first.sent : Buffer.concat(frames.map(({ sent }) => sent));
}

function liveEvent(news: AgentNews): string {
  return `event: live\ndata: ${JSON.stringify(news)}\n\n`;
}

function headEvent(seq: number): string {
  return `event: head\ndata: ${JSON.stringify({ seq })}\n\n`;
}
