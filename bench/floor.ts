// The floor: what two durable inserts and their hashing cost on this disk, with nothing of ours around them.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scratch } from './casts.ts';

const LINE_BYTES = 600;

/** Microseconds for one turn's worth: two inserts, each with its own sync, each hashed and chained. */
export function floorMicros(turns: number): number {
  const db = new DatabaseSync(join(scratch(), 'floor.sqlite'));
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE facts (seq INTEGER PRIMARY KEY, line TEXT)',
  );
  const insert = db.prepare('INSERT INTO facts (line) VALUES (?)');
  const body = 'x'.repeat(LINE_BYTES);
  let prev = '0'.repeat(64);
  const began = performance.now();
  for (let count = 0; count < turns * 2; count++) {
    const line = JSON.stringify({ body, count, prev });
    prev = hash('sha256', line, 'hex');
    insert.run(line);
  }
  const micros = ((performance.now() - began) / turns) * 1000;
  db.close();
  return micros;
}
