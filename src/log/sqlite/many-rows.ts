// Inserts several rows with each statement, because half the cost of a row is the call.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Rows of one statement. */
const ROWS = 16;

export class ManyRows {
  readonly #one: StatementSync;
  readonly #many: StatementSync;
  readonly #width: number;
  #values: SQLInputValue[] = [];

  constructor(db: DatabaseSync, table: string, columns: readonly string[]) {
    const row = `(${columns.map(() => '?').join(', ')})`;
    const into = `INSERT INTO ${table} (${columns.join(', ')}) VALUES`;
    this.#width = columns.length;
    this.#one = db.prepare(`${into} ${row}`);
    this.#many = db.prepare(`${into} ${Array(ROWS).fill(row).join(', ')}`);
  }

  /** Written with `flush` at the latest. */
  add(...row: SQLInputValue[]): void {
    this.#values.push(...row);
    if (this.#values.length < ROWS * this.#width) return;
    this.#many.run(...this.#values);
    this.#values.length = 0;
  }

  flush(): void {
    for (let from = 0; from < this.#values.length; from += this.#width) {
      this.#one.run(...this.#values.slice(from, from + this.#width));
    }
    this.#values.length = 0;
  }

  /** Drops rows that were not written yet, for a rolled back transaction. */
  drop(): void {
    this.#values.length = 0;
  }
}
