// Compares the indexes with the lines: the columns next to each line, the keys that may be used once, and, at the end, the indexes by
// cast. The chain may be whole while an index hides a fact. The walk keeps only the numbers of the facts, eight bytes each.
import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ReadLine, StorageFault, StoredRow } from '../../engine/ports.ts';
import { SUMMARY_KINDS } from '../../kernel/cast/summary.ts';
import type { Fact } from '../../kernel/fact.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { filedUnder } from '../filed-under.ts';
import { BLOCK, type CastRow, CastsTable, placesIn, rowAfter, storedCast } from './cast-index.ts';

/** The index of one cast: the number of its rows, and all of them as `block:seqs`, separated by spaces. */
type FiledCast = readonly [cast: string, rows: number, text: string | null];

export class IndexWalk {
  readonly #report: (fault: StorageFault) => void;
  readonly #db: DatabaseSync;
  readonly #once: StatementSync;
  /** The facts of each cast, by their numbers. */
  readonly #casts = new Map<string, number[]>();
  readonly #rows = new Map<string, CastRow>();
  #head = 0;
  #keys = 0;

  constructor(db: DatabaseSync, report: (fault: StorageFault) => void) {
    this.#db = db;
    this.#report = report;
    this.#once = db.prepare('SELECT seq FROM once WHERE key = ?');
  }

  take([seq, kind, cast, task]: StoredRow, line: ReadLine | null): void {
    if (line) this.#columns(seq, line.fact, kind, cast, task);
    for (const key of line?.once ?? []) this.#key(seq, key);
    this.#head = seq;
    if (cast === null) return;
    if (line) this.#summarize(seq, cast, line);
    const own = this.#casts.get(cast);
    if (own) own.push(seq);
    else this.#casts.set(cast, [seq]);
  }

  /** No more lines. Unused keys in the register can be found only if no line is missing. */
  end(isWhole: boolean): void {
    if (isWhole && Number(this.#db.prepare('SELECT count(*) AS n FROM once').get()?.n) !== this.#keys) this.#oddKeys();
    this.#compareCasts();
    if (isWhole) this.#compareSummaries();
  }

  #columns(seq: number, fact: JsonObject, kind: string, cast: string | null, task: string | null): void {
    const filed = filedUnder(fact as unknown as Fact);
    this.#compare(seq, 'kind', kind, filed.kind);
    this.#compare(seq, 'cast', cast, byDigest(fact.cast ?? fact.run, cast) ?? filed.cast);
    this.#compare(seq, 'task', task, byDigest(fact.task, task) ?? filed.task);
  }

  #compare(seq: number, what: string, found: string | null, due: string | null): void {
    if (found !== due) this.#fault(seq, `it is filed under the ${what} ${found}, its line says ${due}`);
  }

  #key(seq: number, key: string): void {
    this.#keys += 1;
    const noted = this.#once.get(key)?.seq;
    if (noted === seq) return;
    const reason =
      noted === undefined
        ? `the key ${key} it used up is not noted`
        : `the key ${key} it used up is noted for entry ${noted}`;
    this.#report({ kind: 'ONCE_MISMATCH', seq, reason });
    if (noted === undefined) this.#keys -= 1;
  }

  /** Compares the numbers of each cast's facts with the index. */
  #compareCasts(): void {
    const filed = filedCasts(this.#db);
    for (let next = filed.next(); !next.done; next = filed.next()) {
      const [cast, rows, text] = next.value;
      const due = blocksOf(this.#casts.get(cast) ?? [], this.#head);
      if (rows !== due.length || text !== due.join(' ')) this.#compareRows(cast, due);
      this.#casts.delete(cast);
    }
    for (const [cast, seqs] of this.#casts) this.#compareRows(cast, blocksOf(seqs, this.#head));
  }

  #summarize(seq: number, cast: string, { at, fact }: ReadLine): void {
    if (!SUMMARY_KINDS.includes(String(fact.kind))) return;
    const row = rowAfter(this.#rows.get(cast), seq, at, fact);
    if (row) this.#rows.set(cast, row);
  }

  /** An earlier version has no index of casts. */
  #compareSummaries(): void {
    if (!CastsTable.isIn(this.#db)) return;
    const due = new Map(Array.from(this.#rows.values(), (row) => [row.summary.cast, storedCast(row)]));
    for (const row of this.#db.prepare('SELECT * FROM casts').iterate()) {
      const expected = due.get(String(row.cast_id));
      due.delete(String(row.cast_id));
      const isSame = expected && Object.entries(expected).every(([name, value]) => row[name] === value);
      // A row that a later entry changed shows that the end of the log was cut off.
      const isBeyond = Number(row.changed) > this.#head;
      if (!isSame)
        this.#oddSummary(String(row.cast_id), isBeyond ? this.#head + 1 : (expected?.changed ?? Number(row.started)));
    }
    for (const { cast_id, changed } of due.values()) this.#oddSummary(cast_id, changed);
  }

  #oddSummary(cast: string, seq: number): void {
    this.#fault(
      Math.min(seq, this.#head + 1),
      `the list of casts says something else of the cast ${cast} than its facts`,
    );
  }

  /** The index of the cast is wrong. Finds out where, block by block. */
  #compareRows(cast: string, blocks: readonly string[]): void {
    const left = new Map(blocks.map((block) => block.split(':', 2) as [string, string]));
    for (const { block, seqs } of this.#db.prepare('SELECT block, seqs FROM by_cast WHERE cast_id = ?').iterate(cast)) {
      const due = left.get(String(block));
      if (due === undefined) this.#notDue(cast, Number(block), placesIn(seqs));
      else if (due !== seqs) this.#differs(cast, placesIn(due), placesIn(seqs));
      left.delete(String(block));
    }
    for (const seqs of left.values()) this.#differs(cast, placesIn(seqs), []);
  }

  #differs(cast: string, due: readonly number[], noted: readonly number[]): void {
    const odd = due.find((seq) => !noted.includes(seq)) ?? noted.find((seq) => !due.includes(seq)) ?? due[0];
    this.#fault(odd ?? 1, `the index of the cast ${cast} is not what the lines say`);
  }

  /** A block that the log does not fill, so the fault is at its end; or a block without facts of the cast. */
  #notDue(cast: string, block: number, seqs: readonly number[]): void {
    const [first = 1] = seqs;
    const isBeyond = (block + 1) * BLOCK > this.#head && seqs.every((seq) => Math.floor((seq - 1) / BLOCK) === block);
    const seq = isBeyond ? this.#head + 1 : Number.isSafeInteger(first) ? first : 1;
    this.#fault(seq, `the index of the cast ${cast} has a block that is not due`);
  }

  #oddKeys(): void {
    const lineOf = this.#db.prepare('SELECT line FROM facts WHERE seq = ?');
    for (const { key, seq } of this.#db.prepare('SELECT key, seq FROM once').iterate()) {
      const line = String(lineOf.get(Number(seq))?.line ?? '');
      if (!line.includes(JSON.stringify(String(key)))) {
        this.#report({
          kind: 'ONCE_MISMATCH',
          seq: Number(seq),
          reason: `the key ${key} is noted for it, and its line does not use it up`,
        });
      }
    }
  }

  #fault(seq: number, reason: string): void {
    this.#report({ kind: 'INDEX_MISMATCH', seq, reason });
  }
}

/** The index, cast by cast. SQLite joins the rows, because one row at a time costs far more. */
function filedCasts(db: DatabaseSync): Iterator<FiledCast> {
  const statement = db.prepare(
    "SELECT cast_id, count(*), group_concat(block || ':' || seqs, ' ') FROM by_cast GROUP BY cast_id",
  );
  statement.setReturnArrays(true);
  return statement.iterate() as unknown as Iterator<FiledCast>;
}

/** A long id is stored by its digest. The column holds it in full. */
function byDigest(value: unknown, column: string | null): string | null {
  if (!isObject(value) || typeof value.$blob !== 'string' || column === null) return null;
  return `sha256:${hash('sha256', column, 'hex')}` === value.$blob ? column : '(another one)';
}

/** The full blocks of these facts, each as its number and its facts: `0:1,5,9`. */
function blocksOf(seqs: readonly number[], head: number): readonly string[] {
  const blocks: string[] = [];
  const end = head - (head % BLOCK);
  let text = '';
  let last = -1;
  for (const seq of seqs) {
    if (seq > end) break;
    const block = Math.floor((seq - 1) / BLOCK);
    if (block === last) text += `,${seq}`;
    else {
      if (last !== -1) blocks.push(text);
      text = `${block}:${seq}`;
      last = block;
    }
  }
  if (last !== -1) blocks.push(text);
  return blocks;
}
