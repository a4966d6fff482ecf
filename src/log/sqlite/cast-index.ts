// The two indexes by cast. `CastIndex` finds the facts of a cast. An index that every fact joined at once would touch one page for
// each cast of a commit, and fifty casts in turn would write more index than facts. So the log is cut into blocks of a fixed length.
// A full block joins the index with one row for each of its casts; the last block is searched. `CastsTable` has one row for each
// cast, written in the commit of the facts it is made from. The row is the summary of the cast; its long texts are stored by digest,
// so that an erased text leaves no copy.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { type CastQuery, TEXTS_PER_FACT } from '../../engine/ports.ts';
import { type CastSummary, foldSummary, SUMMARY_KINDS } from '../../kernel/cast/summary.ts';
import type { Fact } from '../../kernel/fact.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { hydrate } from '../line.ts';

export type Row = { readonly seq: number; readonly line: string };

/** The number of facts in a block. Block N holds the facts N·BLOCK + 1 to (N+1)·BLOCK. */
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

  /** Adds the blocks that became full, within the transaction that appended the facts after `before` up to `head`. */
  keepUp(before: number, head: number): void {
    for (let block = fullBlocks(before); block < fullBlocks(head); block++) this.#statements.file.run(block);
  }

  /** At most `max` facts of the cast, or all if it is negative. */
  read(cast: string, after: number, max: number): readonly Row[] {
    // The number of full blocks is read first. A block that becomes full meanwhile is searched, too.
    const blocks = fullBlocks((this.#statements.head.get() as { seq: number | null }).seq ?? 0);
    const filed = this.#filed(cast, after, blocks, max);
    if (filed.length === max) return filed;
    const left = max < 0 ? max : max - filed.length;
    const last = this.#statements.last.all(Math.max(after, blocks * BLOCK), cast, left) as Row[];
    return filed.length === 0 ? last : [...filed, ...last];
  }

  #filed(cast: string, after: number, blocks: number, max: number): Row[] {
    const rows: Row[] = [];
    for (const { seqs } of this.#statements.places.iterate(cast, fullBlocks(after), blocks)) {
      for (const seq of placesIn(seqs)) {
        if (rows.length === max) return rows;
        // A missing line becomes a fault when it is parsed.
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

/** The number of full blocks in a log of so many facts. */
function fullBlocks(facts: number): number {
  return Math.floor(facts / BLOCK);
}

/** How the kinds of lifecycle facts begin. */
export const LIFECYCLE = 'cast.';

/** SQLite uses the index only for a query with exactly this condition. */
export const IS_LIFECYCLE = `kind >= 'cast.' AND kind < 'cast/'`;

/** SQLite uses the index only for a query with exactly this condition. */
const IS_OPEN = `status IN ('paused', 'running', 'waiting')`;

/** `started` and `changed` are the numbers of the first and the last entry that the row is made from. */
export const CASTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS casts (
    cast_id TEXT PRIMARY KEY,
    started INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    status TEXT NOT NULL,
    body TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS casts_by_start ON casts (started);
  CREATE INDEX IF NOT EXISTS casts_open ON casts (started) WHERE ${IS_OPEN};
`;

/** A row, with the long texts of its summary still by digest. */
export type CastRow = { readonly started: number; readonly changed: number; readonly summary: CastSummary };

type Stored = { cast_id: string; started: number; changed: number; status: string; body: string };

const CHANGES = `${IS_LIFECYCLE} AND kind IN (${SUMMARY_KINDS.map((kind) => `'${kind}'`).join(', ')})`;

export class CastsTable {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  static isIn(db: DatabaseSync): boolean {
    return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'casts'").get() !== undefined;
  }

  /** Adds a line that is being appended. */
  take(seq: number, kind: string, cast: string | null, line: string): void {
    if (cast === null || !SUMMARY_KINDS.includes(kind)) return;
    const [found] = this.#all('SELECT * FROM casts WHERE cast_id = ?', cast);
    const before = found && { ...found, summary: JSON.parse(found.body) as CastSummary };
    const row = castRow(before, seq, line);
    if (row) this.#write(row);
  }

  read({ limit, cast, prefix, isOpen, status, before }: CastQuery): readonly CastSummary[] {
    const conditions: [string, ...SQLInputValue[]][] = [];
    if (cast !== undefined) conditions.push(['cast_id = ?', cast]);
    // The prefix with the last character of Unicode follows every name that begins with the prefix.
    if (prefix !== undefined) conditions.push(['cast_id >= ? AND cast_id < ?', prefix, `${prefix}\u{10ffff}`]);
    if (isOpen !== undefined) conditions.push([isOpen ? IS_OPEN : `NOT (${IS_OPEN})`]);
    if (status !== undefined) conditions.push(['status = ?', status]);
    if (before !== undefined) conditions.push(['started < (SELECT started FROM casts WHERE cast_id = ?)', before]);
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(([text]) => text).join(' AND ')}`;
    const values = conditions.flatMap(([, ...each]) => each);
    const rows = this.#all(`SELECT * FROM casts ${where} ORDER BY started DESC LIMIT ?`, ...values, limit ?? -1);
    return rows.reverse().map((row) => this.#summary(row));
  }

  count(): number {
    return Number(this.#statement('SELECT count(*) AS count FROM casts').get()?.count);
  }

  /** Whether the table exists and has the newest change. An earlier version of baton does not write to it. */
  isCurrent(): boolean {
    if (!CastsTable.isIn(this.#db)) return false;
    const newest = this.#db
      .prepare(
        `SELECT f.seq, f.cast_id, c.changed FROM facts f LEFT JOIN casts c ON c.cast_id = f.cast_id
         WHERE f.seq = (SELECT seq FROM facts WHERE ${CHANGES} ORDER BY seq DESC LIMIT 1)`,
      )
      .get() as { seq: number; cast_id: string; changed: number | null } | undefined;
    if (!newest) return true;
    if (newest.changed !== null) return newest.changed >= newest.seq;
    // A cast that never started has no row.
    const started = `SELECT 1 FROM facts WHERE ${IS_LIFECYCLE} AND kind = 'cast.started' AND cast_id = ? LIMIT 1`;
    return this.#db.prepare(started).get(newest.cast_id) === undefined;
  }

  /** Makes the table from the lines, within a transaction. */
  fill(): void {
    this.#db.exec(`DROP TABLE IF EXISTS casts; ${CASTS_SCHEMA}`);
    const casts = new Map<string, CastRow>();
    const lines = this.#db.prepare(`SELECT seq, cast_id, line FROM facts WHERE ${CHANGES} ORDER BY seq`);
    for (const { seq, cast_id, line } of lines.iterate() as Iterable<{ seq: number; cast_id: string; line: string }>) {
      const row = castRow(casts.get(cast_id), seq, line);
      if (row) casts.set(cast_id, row);
    }
    for (const row of casts.values()) this.#write(row);
  }

  #write(row: CastRow): void {
    const { cast_id, started, changed, status, body } = storedCast(row);
    const sql = 'INSERT OR REPLACE INTO casts (cast_id, started, changed, status, body) VALUES (?, ?, ?, ?, ?)';
    this.#statement(sql).run(cast_id, started, changed, status, body);
  }

  /** The texts belong to the two entries that the row is made from. */
  #summary({ started, changed, body }: Stored): CastSummary {
    const summary = JSON.parse(body) as JsonObject;
    if (!body.includes('"$blob"')) return summary as unknown as CastSummary;
    const sql = 'SELECT body FROM texts WHERE id BETWEEN ? AND ? AND digest = ?';
    const textOf = (digest: string) => {
      for (const seq of [started, changed]) {
        const first = seq * TEXTS_PER_FACT;
        const found = this.#statement(sql).get(first, first + TEXTS_PER_FACT - 1, digest);
        if (found) return String(found.body);
      }
      return null;
    };
    return hydrate(summary as Json, textOf) as unknown as CastSummary;
  }

  #all(sql: string, ...values: readonly SQLInputValue[]): Stored[] {
    return this.#statement(sql).all(...values) as unknown as Stored[];
  }

  #statement(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The row after a line of the same cast. An unreadable line changes nothing here; the audit reports it. */
function castRow(before: CastRow | undefined, seq: number, line: string): CastRow | undefined {
  try {
    const { at, kind, cast, body } = JSON.parse(line) as { at: string; kind: string; cast: string; body: JsonObject };
    return rowAfter(before, seq, at, { kind, cast, ...body });
  } catch {
    return before;
  }
}

/** The long texts of `fact` are still by digest. */
export function rowAfter(before: CastRow | undefined, seq: number, at: string, fact: JsonObject): CastRow | undefined {
  const summary = foldSummary(before?.summary, { at, fact: fact as unknown as Fact });
  if (!summary || summary === before?.summary) return before;
  return { started: fact.kind === 'cast.started' ? seq : (before?.started ?? seq), changed: seq, summary };
}

export function storedCast({ started, changed, summary }: CastRow): Stored {
  return { cast_id: summary.cast, started, changed, status: summary.status, body: JSON.stringify(summary) };
}
