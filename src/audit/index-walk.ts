// Compares what facts are found by with the lines themselves, on the way through them: the columns beside each line, the
// blocks of the index of casts, and the register of keys that may be used once. The chain may be whole and a fact still
// be hidden from whoever looks for it.
import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Fact as StoredFact } from '../kernel/fact.ts';
import { isObject } from '../kernel/json.ts';
import { BLOCK, placesIn } from '../log/cast-index.ts';
import { filedUnder } from '../log/filed-under.ts';
import type { Fault } from './fault.ts';
import type { StoredLine } from './stored-line.ts';
import { type Filed, filedCasts } from './stored-rows.ts';

export class IndexWalk {
  readonly #report: (fault: Fault) => void;
  readonly #db: DatabaseSync;
  readonly #once: StatementSync;
  /** The index of casts, block by block. */
  readonly #filed: Iterator<Filed>;
  #next: Filed | null;
  /** The facts of each cast in the block that is being walked through. */
  readonly #block = new Map<string, number[]>();
  #keys = 0;

  constructor(db: DatabaseSync, report: (fault: Fault) => void) {
    this.#db = db;
    this.#report = report;
    this.#once = db.prepare('SELECT seq FROM once WHERE key = ?');
    this.#filed = filedCasts(db);
    this.#next = this.#advance();
  }

  take(seq: number, line: StoredLine | null, kind: string, cast: string | null, task: string | null): void {
    if (line) this.#columns(seq, line.fact, kind, cast, task);
    for (const key of line?.once ?? []) this.#key(seq, key);
    if (cast !== null) {
      const own = this.#block.get(cast);
      if (own) own.push(seq);
      else this.#block.set(cast, [seq]);
    }
    if (seq % BLOCK === 0) this.#closeBlock(seq / BLOCK - 1);
  }

  end(): void {
    if (Number(this.#db.prepare('SELECT count(*) AS n FROM once').get()?.n) !== this.#keys) this.#oddKeys();
    for (; this.#next; this.#next = this.#advance()) this.#oddBlock(this.#next);
  }

  #columns(seq: number, fact: StoredLine['fact'], kind: string, cast: string | null, task: string | null): void {
    const filed = filedUnder(fact as unknown as StoredFact);
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

  #closeBlock(block: number): void {
    for (; this.#next && this.#next[0] <= block; this.#next = this.#advance()) {
      const [its, cast, seqs] = this.#next;
      const due = this.#block.get(cast);
      if (its < block || !due) this.#oddBlock(this.#next);
      else if (due.join(',') !== seqs) this.#differs(cast, due, placesIn(seqs));
      this.#block.delete(cast);
    }
    for (const [cast, seqs] of this.#block) this.#differs(cast, seqs, []);
    this.#block.clear();
  }

  #differs(cast: string, due: readonly number[], noted: readonly number[]): void {
    const odd = due.find((seq) => !noted.includes(seq)) ?? noted.find((seq) => !due.includes(seq)) ?? due[0];
    this.#fault(odd ?? 1, `the index of the cast ${cast} is not what the lines say`);
  }

  /** A block that is not full, or of a cast that has nothing in it. */
  #oddBlock([, cast, seqs]: Filed): void {
    const [first] = placesIn(seqs);
    const seq = Number.isSafeInteger(first) ? (first as number) : 1;
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

  #advance(): Filed | null {
    const { done, value } = this.#filed.next();
    return done ? null : value;
  }

  #fault(seq: number, reason: string): void {
    this.#report({ kind: 'INDEX_MISMATCH', seq, reason });
  }
}

/** A long id is stored by its digest; the column holds it in full, and only the right one has the digest. */
function byDigest(value: unknown, column: string | null): string | null {
  if (!isObject(value) || typeof value.$blob !== 'string' || column === null) return null;
  return `sha256:${hash('sha256', column, 'hex')}` === value.$blob ? column : '(another one)';
}
