// Follows the agents of a cast that another process drives. Each running attempt leaves its output in its folder, and its adapter turns
// it into events. For a direct model call, the second half writes that output to a small file. Both are a side channel: events may be
// missed, and no agent ever waits for them.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { appendFile, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { AttemptDirs, LastSign, LiveEvent, Runner } from '../engine/ports.ts';
import { runnerCan } from '../kernel/capabilities.ts';
import { chosenMateria, isScripted } from '../kernel/cast/rules.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import { type JsonObject, stringAt } from '../kernel/json.ts';
import type { StreamReader } from './agent-call.ts';
import { jsonLines, toolEvent } from './event-streams.ts';
import { clearAttempt } from './process/attempt-folder.ts';
import { programOf } from './programs.ts';
import { EMPTY_REPORT } from './report.ts';

export type AttemptEvent = {
  readonly turn: number;
  readonly attempt: number;
  readonly socket: string;
  readonly event: LiveEvent;
};

export type LiveListener = {
  /** Follows exactly the attempts that run now. Call it after every change of the cast, and now and then. */
  look(cast: Cast): void;
  stop(): Promise<void>;
};

/** How much earlier output is reported at first. */
const PAST_BYTES_MAX = 262_144;

export function listenLive(stateDir: string, report: (event: AttemptEvent) => void): LiveListener {
  const following = new Map<string, { stop(): Promise<void> }>();
  const look = (cast: Cast) => {
    const running = new Map(Object.values(cast.turns).flatMap((turn) => sourceOf(stateDir, cast, turn)));
    for (const [file, one] of following) {
      if (running.has(file)) continue;
      following.delete(file);
      void one.stop();
    }
    for (const [file, { turn, reader }] of running) {
      if (following.has(file)) continue;
      const { id, attempt, socket } = turn;
      const its = reader();
      const take = (text: string) => {
        for (const event of its.push(text)) report({ turn: id, attempt, socket, event });
      };
      following.set(file, followFile(file, take, PAST_BYTES_MAX));
    }
  };
  return {
    look,
    async stop() {
      await Promise.all([...following.values()].map((one) => one.stop()));
      following.clear();
    },
  };
}

type Source = { readonly turn: Turn; readonly reader: () => StreamReader };

/** The file that the running attempt of a turn writes. None if it prints nothing. */
function sourceOf(stateDir: string, cast: Cast, turn: Turn): readonly (readonly [string, Source])[] {
  const materia = chosenMateria(cast, turn);
  if (turn.phase !== 'running' || materia.type === 'utility' || isScripted(cast, turn.socket)) return [];
  const dir = join(stateDir, 'attempts', `${cast.id}-${turn.id}.${turn.attempt}`);
  if (runnerCan(cast.rules, materia.runner, 'isModelApi')) {
    return [[join(dir, LIVE_FILE), { turn, reader: liveReader }]];
  }
  const reader = programOf(materia)?.adapter.reader;
  return reader ? [[join(newest(dir), 'stdout'), { turn, reader }]] : [];
}

/** A repeated run has its own folder next to the first. */
function newest(dir: string): string {
  let found = dir;
  for (let run = 1; existsSync(`${dir}.again-${run}`); run += 1) found = `${dir}.again-${run}`;
  return found;
}

/** The end of its output is enough to find its last call. */
const TAIL_BYTES_MAX = 1_048_576;

/** Null if it has written nothing. */
export function lastSignOf(stateDir: string, cast: Cast, turn: Turn): LastSign | null {
  const [source] = sourceOf(stateDir, cast, turn);
  const tail = source ? endOfFile(source[0]) : null;
  if (!source || !tail) return null;
  let tool: string | null = null;
  for (const event of source[1].reader().push(tail.text)) if (event.kind === 'tool') tool = event.name;
  return { at: tail.at, tool };
}

function endOfFile(file: string): { readonly at: number; readonly text: string } | null {
  let from: number | null = null;
  try {
    from = openSync(file, 'r');
    const { size, mtimeMs } = fstatSync(from);
    if (size === 0) return null;
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES_MAX));
    const read = readSync(from, bytes, 0, bytes.length, size - bytes.length);
    return { at: mtimeMs, text: bytes.toString('utf8', 0, read) };
  } catch {
    return null; // It has ended meanwhile.
  } finally {
    if (from !== null) closeSync(from);
  }
}

export const LIVE_FILE = 'live.jsonl';

const FILE_CHARS_MAX = 262_144;
/** Events beyond this many waiting characters are lost. */
const WAITING_CHARS_MAX = 65_536;

/** The same runner, which also writes its events to a file until its attempt is over. */
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

/** If the file cannot be written, events are lost without an error. */
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
      // An empty line comes first, so that a reader of half a line finds its end.
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
 * Passes on what is added to the file until it is stopped, with a last look after that. Of the existing content at most
 * `pastBytesMax` bytes are passed on. A truncated file is read from its beginning.
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
    if (handle === null) return; // The file does not exist now.
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
