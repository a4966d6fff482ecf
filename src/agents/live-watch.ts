// Listens to the agents of a cast that another process drives: each running attempt leaves what it prints in its folder, and
// its adapter makes events of it. Nothing is asked of the one who drives, and nothing is written. What is missed is missed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LiveEvent } from '../engine/ports.ts';
import { runnerCan } from '../kernel/capabilities.ts';
import { chosenMateria, isScripted } from '../kernel/cast/rules.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import type { Reader } from './agent-call.ts';
import { follow } from './follow.ts';
import { LIVE_FILE, liveReader } from './live-file.ts';
import { programOf } from './programs.ts';

export type Heard = {
  readonly turn: number;
  readonly attempt: number;
  readonly socket: string;
  readonly event: LiveEvent;
};

export type LiveWatch = {
  /** Listens to what runs now, and to nothing else. To be called when the cast has changed, and now and then. */
  look(cast: Cast): void;
  stop(): Promise<void>;
};

/** Of what was said before somebody began to listen, this much is told. */
const PAST_BYTES_MAX = 262_144;

export function liveWatch(stateDir: string, tell: (heard: Heard) => void): LiveWatch {
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
      following.set(file, follow(file, take, PAST_BYTES_MAX));
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

type Source = { readonly turn: Turn; readonly reader: () => Reader };

/** The file that the running attempt of a turn fills; none where nobody prints anything. */
export function sourceOf(stateDir: string, cast: Cast, turn: Turn): readonly (readonly [string, Source])[] {
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
