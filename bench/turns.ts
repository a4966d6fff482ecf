// What a durable turn costs, alone, in a long cast, and among fifty.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../src/engine/store.ts';
import { WorkerStore } from '../src/engine/worker-store.ts';
import { runCast, scratch } from './casts.ts';
import { floorMicros } from './floor.ts';
import { median, type Row } from './row.ts';

const ROUNDS = 5;

/** A single cast beside the floor, in turns, so that both meet the same weather. */
export async function turnAgainstFloor(): Promise<Row[]> {
  const dir = scratch();
  const store = await WorkerStore.open(join(dir, 'log.sqlite'));
  await runCast(store, 'warm-up', 400, dir);
  const floors: number[] = [];
  const turns: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(floorMicros(400));
    turns.push(await microsPerTurn(store, `round-${round}`, 600, dir));
  }
  await store.close();
  const ratio = median(turns.map((turn, index) => turn / (floors[index] ?? turn)));
  return [
    { what: 'two synced SQLite inserts with hashing (the floor)', value: `${median(floors).toFixed(0)} µs` },
    { what: 'one durable turn of a single cast', value: `${median(turns).toFixed(0)} µs` },
    { what: 'durable turn ÷ floor (median of five pairs)', value: ratio.toFixed(2), target: '≤ 2', met: ratio <= 2 },
  ];
}

/** The first thousand turns of a cast against the last thousand of a hundred thousand. */
export async function growth(turns: number): Promise<Row[]> {
  const short = await longCast(1_000);
  const long = await longCast(turns);
  const cost = long.last / long.lastFloor / (short.last / short.lastFloor);
  const bytes = long.bytesPerTurn / short.bytesPerTurn;
  return [
    { what: 'turn at 1,000 turns', value: `${short.last.toFixed(0)} µs (floor then ${short.lastFloor.toFixed(0)} µs)` },
    {
      what: `turn at ${turns.toLocaleString('en')} turns`,
      value: `${long.last.toFixed(0)} µs (floor then ${long.lastFloor.toFixed(0)} µs)`,
    },
    {
      what: 'cost per turn, long ÷ short, each against its floor',
      value: cost.toFixed(2),
      target: '≤ 1.2',
      met: cost <= 1.2,
    },
    { what: 'bytes per turn at 1,000 turns', value: `${short.bytesPerTurn.toFixed(0)} B` },
    { what: `bytes per turn at ${turns.toLocaleString('en')} turns`, value: `${long.bytesPerTurn.toFixed(0)} B` },
    { what: 'bytes per turn, long ÷ short', value: bytes.toFixed(2), target: '≤ 1.2', met: bytes <= 1.2 },
  ];
}

export async function fiftyCasts(): Promise<Row[]> {
  const dir = scratch();
  const store = await WorkerStore.open(join(dir, 'log.sqlite'));
  await Promise.all(Array.from({ length: 50 }, (_, cast) => runCast(store, `warm-${cast}`, 40, dir)));
  const rates: number[] = [];
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    await Promise.all(Array.from({ length: 50 }, (_, cast) => runCast(store, `cast-${round}-${cast}`, 400, dir)));
    rates.push((50 * 400 * 1000) / (performance.now() - began));
  }
  await store.close();
  const rate = median(rates);
  return [
    { what: 'durable turns a second, 50 casts at once', value: rate.toFixed(0), target: '≥ 5,000', met: rate >= 5000 },
  ];
}

async function longCast(turns: number): Promise<{ last: number; lastFloor: number; bytesPerTurn: number }> {
  const dir = scratch();
  const file = join(dir, 'log.sqlite');
  const store = await WorkerStore.open(file);
  await runCast(store, 'warm-up', 400, dir);
  const times: number[] = [];
  const stop = await store.watchCast('long', false, () => times.push(performance.now()));
  await runCast(store, 'long', turns, dir);
  stop();
  const lastFloor = median([1, 2, 3].map(() => floorMicros(400)));
  await store.close();
  const window = Math.min(900, times.length - 1);
  const tail = times.slice(-window);
  const steps = tail.slice(1).map((time, index) => (time - (tail[index] ?? time)) * 1000);
  return { last: median(steps), lastFloor, bytesPerTurn: sizeOf(file) / (turns + 400) };
}

function sizeOf(file: string): number {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  return statSync(file).size;
}

async function microsPerTurn(store: Store, id: string, turns: number, dir: string): Promise<number> {
  const began = performance.now();
  await runCast(store, id, turns, dir);
  return ((performance.now() - began) / turns) * 1000;
}
