// Follows the agents of a cast that another process drives. Each running attempt leaves its output in its folder, and its adapter
// turns it into events. This reads only. Missed events are lost.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { LastSign, LiveEvent } from '../engine/ports.ts';
import { runnerCan } from '../kernel/capabilities.ts';
import { chosenMateria, isScripted } from '../kernel/cast/rules.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import type { StreamReader } from './agent-call.ts';
import { followFile, LIVE_FILE, liveReader } from './live-file.ts';
import { programOf } from './programs.ts';

export type AttemptEvent = {
  readonly turn: number;
  readonly attempt: number;
  readonly socket: string;
  readonly event: LiveEvent;
};

export type LiveListener = {
  /** Listens to what runs now, and to nothing else. To be called when the cast has changed, and now and then. */
  look(cast: Cast): void;
  stop(): Promise<void>;
};

/** Of what was said before somebody began to listen, this much is told. */
const PAST_BYTES_MAX = 262_144;

export function listenLive(stateDir: string, tell: (heard: AttemptEvent) => void): LiveListener {
  const following = new Map<string, { stop(): Promise<void> }>();
  const look = (cast: Cast) => {
    const wanted = new Map(Object.values(cast.turns).flatMap((turn) => sourceOf(stateDir, cast, turn)));
    for (const [file, one] of following) {
      if (wanted.has(file)) continue;
      following.delete(file);
      void one.stop();
    }
    for (const [file, { turn, reader }] of wanted) {
      if (following.has(file)) continue;
      const { id, attempt, socket } = turn;
      const its = reader();
      const take = (text: string) => {
        for (const event of its.push(text)) tell({ turn: id, attempt, socket, event });
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

/** The file that the running attempt of a turn fills; none where nobody prints anything. */
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

/** A run that was made again has a folder beside the first. */
function newest(dir: string): string {
  let found = dir;
  for (let run = 1; existsSync(`${dir}.again-${run}`); run += 1) found = `${dir}.again-${run}`;
  return found;
}

/** The end of what it wrote is enough to find its last call. */
const TAIL_BYTES_MAX = 1_048_576;

/** Null where nothing was heard of it yet, and where nobody writes anything. */
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
