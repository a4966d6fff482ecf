// The file of a log as evidence. It is opened to read, in one transaction, so that all tables show the same moment. Rows are read in
// pages: one row at a time costs several times as much, and all at once needs memory for all of them.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  type Evidence,
  type IndexCheck,
  type RowQuery,
  type Snapshot,
  StorageError,
  type StorageFault,
  type StoredRow,
  type StoredText,
  TEXTS_PER_FACT,
  type TextPlace,
} from '../../engine/ports.ts';
import { CastIndex, IS_LIFECYCLE, LIFECYCLE } from './cast-index.ts';
import { asStorageError, isDamage } from './fault.ts';
import { IndexWalk } from './index-walk.ts';
import { openDatabase, openForReading } from './open.ts';

const ROW = 'SELECT seq, kind, cast_id, task_id, line FROM facts';

export class SqliteEvidence implements Evidence {
  readonly #file: string;
  readonly #statements = new Map<string, StatementSync>();
  #db: DatabaseSync | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  async rows({ after, limit = -1, cast, kinds, kindPrefix, holds }: RowQuery): Promise<readonly StoredRow[]> {
    return this.#ask((db) => {
      const isOfCastAlone = cast !== undefined && [kinds, kindPrefix, holds].every((part) => part === undefined);
      if (isOfCastAlone) return this.#rowsOf(db, cast, after, limit);
      const conditions: [string, ...SQLInputValue[]][] = [['seq > ?', after]];
      if (cast !== undefined) conditions.push(['cast_id = ?', cast]);
      if (kinds !== undefined) conditions.push([`kind IN (${kinds.map(() => '?').join(', ')})`, ...kinds]);
      // The index of the lifecycle needs exactly this condition.
      if (kindPrefix === LIFECYCLE) conditions.push([IS_LIFECYCLE]);
      else if (kindPrefix !== undefined) conditions.push(['substr(kind, 1, length(?)) = ?', kindPrefix, kindPrefix]);
      if (holds !== undefined) conditions.push(['instr(line, ?) > 0', holds]);
      const sql = `${ROW} WHERE ${conditions.map(([text]) => text).join(' AND ')} ORDER BY seq LIMIT ?`;
      return this.#all<StoredRow>(db, sql, ...conditions.flatMap(([, ...values]) => values), limit);
    });
  }

  async texts(after: number, limit: number): Promise<readonly StoredText[]> {
    const sql = 'SELECT id, digest, body FROM texts WHERE id > ? ORDER BY id LIMIT ?';
    return this.#ask((db) => this.#all<StoredText>(db, sql, after, limit));
  }

  async textsOf(seq: number): Promise<ReadonlyMap<string, string>> {
    const first = seq * TEXTS_PER_FACT;
    const sql = 'SELECT digest, body FROM texts WHERE id BETWEEN ? AND ? ORDER BY id';
    return this.#ask((db) => new Map(this.#all<[string, string]>(db, sql, first, first + TEXTS_PER_FACT - 1)));
  }

  async textPlaces(after: number, limit: number): Promise<readonly TextPlace[]> {
    // The number of the entry is the upper part of a text's id.
    const sql = `SELECT t.id, t.digest, length(CAST(t.body AS BLOB)), f.cast_id, f.kind,
      iif(f.cast_id IS NULL, f.line ->> '$.at', '') FROM texts t
      JOIN facts f ON f.seq = t.id / ${TEXTS_PER_FACT} WHERE t.id > ? ORDER BY t.id LIMIT ?`;
    return this.#ask((db) => this.#all<TextPlace>(db, sql, after, limit));
  }

  async snapshots(): Promise<readonly Snapshot[]> {
    const sql = 'SELECT through, digest, body FROM snapshots ORDER BY through';
    return this.#ask((db) =>
      this.#all<[number, string, string]>(db, sql).map(([through, digest, body]) => ({ through, digest, body })),
    );
  }

  /** Another table, a view in place of a table, or a trigger could show an auditor other data than everybody else sees. */
  async changedLayout(): Promise<string | null> {
    return this.#ask((db) => {
      const ours = openDatabase(':memory:');
      const found = partsOf(db);
      const due = partsOf(ours);
      ours.close();
      const missing = due.filter((part) => !found.includes(part) && !ADDED_LATER.test(part));
      const odd = found.find((part) => !due.includes(part)) ?? missing[0];
      if (odd === undefined) return null;
      const [type = '', name = ''] = odd.split(' ');
      return `the ${type} ${name} is not as baton makes it`;
    });
  }

  checkIndexes(report: (fault: StorageFault) => void): IndexCheck {
    let walk: IndexWalk | null = null;
    return {
      take: async (rows, lines) =>
        this.#ask((db) => {
          walk ??= new IndexWalk(db, report);
          for (const [index, row] of rows.entries()) walk.take(row, lines[index] ?? null);
        }),
      end: async (isWhole) =>
        this.#ask((db) => {
          walk ??= new IndexWalk(db, report);
          walk.end(isWhole);
        }),
    };
  }

  async faults(): Promise<readonly StorageFault[]> {
    return this.#ask((db) =>
      this.#all<[string]>(db, 'PRAGMA integrity_check(10)').flatMap(([found]): StorageFault[] => {
        if (found === 'ok') return [];
        const [, row] = /\brow (\d+)/.exec(found) ?? [];
        const isIndex = row !== undefined && /facts_/.test(found);
        return [{ kind: isIndex ? 'INDEX_MISMATCH' : 'FILE_DAMAGED', seq: isIndex ? Number(row) : 1, reason: found }];
      }),
    );
  }

  async close(): Promise<void> {
    if (this.#db?.isOpen) this.#db.close();
  }

  #rowsOf(db: DatabaseSync, cast: string, after: number, limit: number): readonly StoredRow[] {
    return new CastIndex(db)
      .read(cast, after, limit)
      .flatMap(({ seq }) => this.#all<StoredRow>(db, `${ROW} WHERE seq = ?`, seq));
  }

  #all<Row extends readonly unknown[]>(
    db: DatabaseSync,
    sql: string,
    ...values: readonly SQLInputValue[]
  ): readonly Row[] {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement.all(...values) as unknown as Row[];
  }

  #ask<T>(look: (db: DatabaseSync) => T): T {
    this.#db ??= this.#open();
    try {
      return look(this.#db);
    } catch (error) {
      if (!isDamage(error)) throw asStorageError(error, this.#file);
      throw new StorageError('STORAGE_FAILED', (error as Error).message, { cause: error, isDamage: true });
    }
  }

  #open(): DatabaseSync {
    try {
      const db = openForReading(this.#file);
      db.exec('BEGIN');
      return db;
    } catch (error) {
      throw isDamage(error)
        ? new StorageError('STORAGE_FAILED', (error as Error).message, { cause: error, isDamage: true })
        : asStorageError(error, this.#file);
    }
  }
}

/** A log of an earlier version has none of these. */
const ADDED_LATER = /^(?:table|index) \S*(?:snapshot_parts|casts)/;

function partsOf(db: DatabaseSync): readonly string[] {
  return db
    .prepare("SELECT type || ' ' || name || ' ' || coalesce(sql, '') AS what FROM sqlite_schema ORDER BY name")
    .all()
    .map(({ what }) => String(what).replace(/\s+/g, ' '));
}

/** Opens the file of a log as evidence and closes it after use. */
export async function withEvidence<T>(file: string, look: (evidence: Evidence) => Promise<T>): Promise<T> {
  const evidence = new SqliteEvidence(file);
  try {
    return await look(evidence);
  } finally {
    await evidence.close();
  }
}
