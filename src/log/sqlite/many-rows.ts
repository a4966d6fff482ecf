// Inserting many rows: several rows for each statement, because half of what a row costs is the call.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Rows of a statement that takes many. */
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

  /** It is written at the latest with `flush`. */
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

  /** Forgets what was added and not written, where the transaction is given up. */
  drop(): void {
    this.#values.length = 0;
  }
}
