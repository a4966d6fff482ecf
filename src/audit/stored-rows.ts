// Reads the tables of a log from end to end, in portions: a row at a time costs several times as much, and all at once
// needs room for all of them.
import type { DatabaseSync } from 'node:sqlite';
import type { TextRow } from './text-walk.ts';

export type FactRow = readonly [seq: number, kind: string, cast: string | null, task: string | null, line: string];

/** The facts of a cast in one block of the log, as their numbers with commas between them. */
export type Filed = readonly [block: number, cast: string, seqs: string];

const FACTS_AT_ONCE = 1_024;
/** A text may be a megabyte. */
const TEXTS_AT_ONCE = 32;
const BEFORE_ALL = Number.MIN_SAFE_INTEGER;

export function factRows(db: DatabaseSync, after = BEFORE_ALL): Generator<FactRow> {
  const sql = 'SELECT seq, kind, cast_id, task_id, line FROM facts WHERE seq > ? ORDER BY seq LIMIT ?';
  return portions<FactRow>(db, sql, after, FACTS_AT_ONCE);
}

export function textRows(db: DatabaseSync): Generator<TextRow> {
  const sql = 'SELECT id, digest, body FROM texts WHERE id > ? ORDER BY id LIMIT ?';
  return portions<TextRow>(db, sql, BEFORE_ALL, TEXTS_AT_ONCE);
}

/** The index of casts, block by block. */
export function filedCasts(db: DatabaseSync): Iterator<Filed> {
  const statement = db.prepare('SELECT block, cast_id, seqs FROM by_cast ORDER BY block');
  statement.setReturnArrays(true);
  return statement.iterate() as unknown as Iterator<Filed>;
}

function* portions<Row extends readonly [number, ...unknown[]]>(
  db: DatabaseSync,
  sql: string,
  after: number,
  max: number,
): Generator<Row> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  for (let last = after; ; ) {
    const rows = statement.all(last, max) as unknown as Row[];
    yield* rows;
    const end = rows.at(-1);
    if (!end || rows.length < max) return;
    last = end[0];
  }
}
