// A log of any length, made as fast as the log itself can: large commits, each with one sync.
import type { Append } from '../src/engine/ports.ts';
import { SqliteLog } from '../src/log/sqlite/log.ts';

const BATCH = 20_000;
const CASTS = 1_000;

/** Writes so many facts into a new log, as a thousand casts that took turns would have left them. */
export async function makeLongLog(file: string, facts: number): Promise<void> {
  const log = new SqliteLog(file);
  for (let seq = 0; seq < facts; seq += BATCH) {
    const appends = Array.from({ length: Math.min(BATCH, facts - seq) }, (_, index) => factAt(seq + index));
    await log.commit(seq, { decide: () => appends });
  }
  await log.close();
}

function factAt(seq: number): Append {
  const turn = Math.floor(seq / CASTS) + 1;
  return { fact: { kind: 'turn.dropped', cast: `cast-${seq % CASTS}`, turn }, by: 'bench', at: seq };
}
