// Reads the tables of a log from end to end, in portions: a row at a time costs several times as much, and all at once
// needs room for all of them.
import type { DatabaseSync } from 'node:sqlite';
import type { TextRow } from './text-walk.ts';

export type FactRow = readonly [seq: number, kind: string, cast: string | null, task: string | null, line: string];

/** The index of one cast: how many rows it has, and all of them as `block:seqs`, with spaces between them. */
export type FiledCast = readonly [cast: string, rows: number, text: string | null];

const FACTS_AT_ONCE = 1_024;
/** A text may be a megabyte. */
const TEXTS_AT_ONCE = 32;
const BEFORE_ALL = Number.MIN_SAFE_INTEGER;

/** For whoever walks through all of them: a loop within a loop costs less than a generator that is asked for each. */
export function factPortions(db: DatabaseSync, after = BEFORE_ALL): Generator<readonly FactRow[]> {
  const sql = 'SELECT seq, kind, cast_id, task_id, line FROM facts WHERE seq > ? ORDER BY seq LIMIT ?';
  return portions<FactRow>(db, sql, after, FACTS_AT_ONCE);
}

export function* factRows(db: DatabaseSync, after = BEFORE_ALL): Generator<FactRow> {
  for (const rows of factPortions(db, after)) yield* rows;
}

export function* textRows(db: DatabaseSync): Generator<TextRow> {
  const sql = 'SELECT id, digest, body FROM texts WHERE id > ? ORDER BY id LIMIT ?';
  for (const rows of portions<TextRow>(db, sql, BEFORE_ALL, TEXTS_AT_ONCE)) yield* rows;
}

/** The index of casts, cast by cast; put together by SQLite, because a row at a time costs far more. */
export function filedCasts(db: DatabaseSync): Iterator<FiledCast> {
  const statement = db.prepare(
    "SELECT cast_id, count(*), group_concat(block || ':' || seqs, ' ') FROM by_cast GROUP BY cast_id",
  );
  statement.setReturnArrays(true);
  return statement.iterate() as unknown as Iterator<FiledCast>;
}

function* portions<Row extends readonly [number, ...unknown[]]>(
  db: DatabaseSync,
  sql: string,
  after: number,
  max: number,
): Generator<readonly Row[]> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  for (let last = after; ; ) {
    const rows = statement.all(last, max) as unknown as Row[];
    yield rows;
    const end = rows.at(-1);
    if (!end || rows.length < max) return;
    last = end[0];
  }
}
