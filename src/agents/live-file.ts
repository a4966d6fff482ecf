// The output of a direct model call, in a small file that other processes follow. It is a side channel: it is truncated when full,
// may lose fast output, and never delays the model.
import { appendFile, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { AttemptDirs, LiveEvent, Runner } from '../engine/ports.ts';
import { type JsonObject, stringAt } from '../kernel/json.ts';
import type { StreamReader } from './agent-call.ts';
import { jsonLines } from './event-streams.ts';
import { clearAttempt } from './process/attempt-folder.ts';
import { EMPTY_REPORT } from './report.ts';
import { toolEvent } from './tool-event.ts';

export const LIVE_FILE = 'live.jsonl';

const FILE_CHARS_MAX = 262_144;
/** What waits for a write is lost beyond this. */
const WAITING_CHARS_MAX = 65_536;

/** The same runner; what is heard of it is written beside it too, until its attempt is over. */
export function withLiveFile(runner: Runner): Runner {
  const forget = async (place: AttemptDirs) => {
    await clearAttempt(place.attemptDir).catch(() => undefined);
    await runner.forget?.(place);
  };
  return {
    async run(packet, place, signal) {
      const file = openLiveFile(place.attemptDir);
      const onEvent = (event: LiveEvent) => {
        place.onEvent?.(event);
        file.take(event);
      };
      try {
        return await runner.run(packet, { ...place, onEvent }, signal);
      } finally {
        await file.close();
      }
    },
    recover: (packet, place, signal) => runner.recover(packet, place, signal),
    forget,
  };
}

const noted = () => undefined;

type LiveFile = { take(event: LiveEvent): void; close(): Promise<void> };

/** A folder or a file that cannot be written loses everything, and disturbs nobody. */
export function openLiveFile(dir: string, charsMax = FILE_CHARS_MAX): LiveFile {
  const file = join(dir, LIVE_FILE);
  let waiting = '';
  let written = 0;
  let writing: Promise<void> | null = null;
  const made = mkdir(dir, { recursive: true, mode: 0o700 }).then(noted, noted);
  const write = async () => {
    await made;
    while (waiting !== '') {
      const text = waiting;
      waiting = '';
      const isFull = written + text.length > charsMax;
      // A line of its own first, so that whoever had read half of one finds its end.
      if (isFull || written === 0) await writeFile(file, `\n${text}`, { mode: 0o600 });
      else await appendFile(file, text);
      written = isFull ? text.length : written + text.length;
    }
  };
  return {
    take(event) {
      const line = `${JSON.stringify(event)}\n`;
      if (waiting.length + line.length > WAITING_CHARS_MAX) return;
      waiting += line;
      writing ??= write()
        .catch(() => undefined)
        .finally(() => {
          writing = null;
        });
    },
    async close() {
      await (writing ?? made);
    },
  };
}

/** Reads such a file as it grows. */
export function liveReader(): StreamReader {
  const lines = jsonLines();
  return { push: (chunk) => lines.push(chunk).flatMap(asEvent), report: () => EMPTY_REPORT };
}

function asEvent(line: JsonObject): readonly LiveEvent[] {
  const [text, name, reason] = [stringAt(line, 'text'), stringAt(line, 'name'), stringAt(line, 'reason')];
  if (line.kind === 'text' && text !== null) return [{ kind: 'text', text }];
  if (line.kind === 'tool' && name !== null) return [toolEvent(name, stringAt(line, 'detail'))];
  if (line.kind === 'denied' && name !== null) return [{ kind: 'denied', name }];
  if (line.kind === 'waiting' && reason !== null && typeof line.forMs === 'number') {
    return [{ kind: 'waiting', forMs: line.forMs, reason }];
  }
  return [];
}

const LOOK_EVERY_MS = 100;
const PIECE_BYTES = 262_144;

/**
 * Hands over what is added to the file, until it is told to stop; the last look is after that. Of what is there already at
 * most `pastBytesMax` are told. A file that was cut is read from its beginning.
 */
export function followFile(
  file: string,
  take: (text: string) => void,
  pastBytesMax = Number.POSITIVE_INFINITY,
): { stop(): Promise<void> } {
  let decoder = new StringDecoder('utf8');
  let at: number | null = null;
  let isStopped = false;
  let wake = () => {};
  const look = async () => {
    const handle = await open(file, 'r').catch(() => null);
    if (handle === null) return; // It is not there yet, or not any more.
    try {
      const { size } = await handle.stat();
      at ??= Math.max(0, size - pastBytesMax);
      if (size < at) {
        at = 0;
        decoder = new StringDecoder('utf8');
      }
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        take(decoder.write(buffer.subarray(0, bytesRead)));
      }
    } finally {
      await handle.close();
    }
  };
  const running = (async () => {
    while (!isStopped) {
      await look().catch(() => {});
      if (isStopped) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_EVERY_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await look().catch(() => {});
  })();
  return {
    async stop() {
      isStopped = true;
      wake();
      await running;
    },
  };
}
