// What agents do, told to a client that waits, no oftener than it can use: what is said in between is put together, and only
// its end is kept. A client that is too slow misses something; nobody waits for it.

import type { LiveNews } from '../app/follow-cast.ts';
import { scrub } from '../kernel/secrets.ts';

const TELL_EVERY_MS = 500;
const TEXT_CHARS_MAX = 500;
const LINES_MAX = 10;

export type LiveProgress = { hear(news: LiveNews): void; stop(): void };

export function liveProgress(tell: (message: string) => Promise<void>, everyMs = TELL_EVERY_MS): LiveProgress {
  /** What was not told yet, line by line. */
  let lines: string[] = [];
  let speaker: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isTelling = false;
  const flush = async () => {
    // One message at a time: a client that does not read gets the newest lines when it does.
    if (isTelling || lines.length === 0) return;
    isTelling = true;
    const message = scrub(lines.join('\n')).text;
    lines = [];
    speaker = null;
    await tell(message).catch(() => undefined);
    isTelling = false;
  };
  return {
    hear({ socket, event }) {
      const last = lines.at(-1);
      if (event.kind === 'text' && speaker === socket && last !== undefined)
        lines[lines.length - 1] = cut(last + event.text);
      else lines = [...lines.slice(-(LINES_MAX - 1)), cut(`${socket} ${wordsOf(event)}`)];
      speaker = event.kind === 'text' ? socket : null;
      timer ??= setInterval(() => void flush(), everyMs);
    },
    stop() {
      if (timer) clearInterval(timer);
    },
  };
}

function wordsOf(event: LiveNews['event']): string {
  switch (event.kind) {
    case 'text':
      return `says: ${event.text}`;
    case 'tool':
      return `uses ${event.name}`;
    case 'denied':
      return `was refused ${event.name}`;
    case 'waiting':
      return `waits ${Math.ceil(event.forMs / 1000)} s: ${event.reason}`;
  }
}

/** The beginning, which says who it is, and the end of what is too long. */
function cut(line: string): string {
  if (line.length <= TEXT_CHARS_MAX) return line;
  const head = line.slice(0, 40);
  return `${head} … ${line.slice(line.length - (TEXT_CHARS_MAX - 43))}`;
}
