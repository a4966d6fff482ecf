// Finds the facts of a cast. An index that every fact joined at once would touch one page for each cast of a commit, and
// fifty casts that take turns would write more index than facts. So the log is cut into blocks of a fixed length, and a
// block joins the index when it is full, with one row for each of its casts. The last block, which is not full yet, is
// looked through, which is quick.
import { existsSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { openForReading } from './open-to-read.ts';

export type Row = { readonly seq: number; readonly line: string };

/** The facts of a block. Its number, from 0, times this is the number of the last fact before it. */
export const BLOCK = 1_024;

export class CastIndex {
  readonly #statements: Record<'head' | 'places' | 'line' | 'last' | 'file', StatementSync>;

  constructor(db: DatabaseSync) {
    this.#statements = {
      head: db.prepare('SELECT max(seq) AS seq FROM facts'),
      places: db.prepare('SELECT seqs FROM by_cast WHERE cast_id = ? AND block >= ? AND block < ? ORDER BY block'),
      line: db.prepare('SELECT line FROM facts WHERE seq = ?'),
      last: db.prepare('SELECT seq, line FROM facts WHERE seq > ? AND cast_id = ? ORDER BY seq LIMIT ?'),
      file: db.prepare(
        `INSERT OR IGNORE INTO by_cast SELECT cast_id, ?1, group_concat(seq, ',' ORDER BY seq) FROM facts
         WHERE seq > ?1 * ${BLOCK} AND seq <= ?1 * ${BLOCK} + ${BLOCK} AND cast_id IS NOT NULL GROUP BY cast_id`,
      ),
    };
  }

  /** Files the blocks that became full, within the transaction that appended everything after `before` up to `head`. */
  keepUp(before: number, head: number): void {
    for (let block = heldBlocks(before); block < heldBlocks(head); block++) this.#statements.file.run(block);
  }

  /** At most `max` facts of the cast, or all of them where it is negative. */
  read(cast: string, after: number, max: number): readonly Row[] {
    // How many blocks are full is read first: a block that fills in the meantime is looked through all the same.
    const blocks = heldBlocks((this.#statements.head.get() as { seq: number | null }).seq ?? 0);
    const filed = this.#filed(cast, after, blocks, max);
    if (filed.length === max) return filed;
    const left = max < 0 ? max : max - filed.length;
    const last = this.#statements.last.all(Math.max(after, blocks * BLOCK), cast, left) as Row[];
    return filed.length === 0 ? last : [...filed, ...last];
  }

  #filed(cast: string, after: number, blocks: number, max: number): Row[] {
    const rows: Row[] = [];
    for (const { seqs } of this.#statements.places.iterate(cast, heldBlocks(after), blocks)) {
      for (const seq of placesIn(seqs)) {
        if (rows.length === max) return rows;
        // A line that is gone is found out by whoever reads it.
        if (seq > after) rows.push({ seq, line: String(this.#statements.line.get(seq)?.line ?? '') });
      }
    }
    return rows;
  }
}

/** The numbers that a row of the index holds. */
export function placesIn(seqs: unknown): readonly number[] {
  return String(seqs).split(',').map(Number);
}

/** How many blocks are full in a log of so many facts. */
export function heldBlocks(facts: number): number {
  return Math.floor(facts / BLOCK);
}

// The facts that the lifecycle of casts consists of.
/** How their kinds begin. */
export const LIFECYCLE = 'cast.';

/** A query must say it in the same words to be served by the index. */
export const IS_LIFECYCLE = `kind >= 'cast.' AND kind < 'cast/'`;

// The lines of one cast, at once and without a log that is opened for longer.
/** None where there is no log. */
export function castLines(file: string, cast: string): readonly string[] {
  if (!existsSync(file)) return [];
  const db = openForReading(file);
  try {
    return new CastIndex(db).read(cast, 0, -1).map(({ line }) => line);
  } finally {
    db.close();
  }
}
