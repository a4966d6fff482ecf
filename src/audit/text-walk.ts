// Compares the texts beside the log with the digests in its lines. A text may be missing where a later fact says that it
// was erased, and nowhere else.
import { hash } from 'node:crypto';
import { type StoredText, TEXTS_PER_FACT } from '../engine/ports.ts';
import type { Json } from '../kernel/json.ts';
import type { StoredLine } from '../log/stored-line.ts';
import { FAULTS_MAX, type Fault, placeOfErased } from './fault.ts';

type Erasure = { readonly seq: number; readonly digest: string; readonly by: number };

export class TextWalk {
  readonly #report: (fault: Fault) => void;
  readonly #more: (after: number) => Promise<readonly StoredText[]>;
  /** Texts that are not there, by entry and digest, until a fact says that they were erased. */
  readonly #missing = new Set<string>();
  /** The same, of those that a fact erased. */
  readonly #erased = new Set<string>();
  /** Texts that are there although an entry erased them. */
  readonly #back: Erasure[] = [];
  /** Texts that are not where their line has them, and that an entry erased. */
  readonly #gone: Erasure[] = [];
  /** The texts that were read and not yet compared. */
  #rows: readonly StoredText[] = [];
  #index = 0;
  #last = Number.MIN_SAFE_INTEGER;
  #isEnd = false;
  #count = 0;

  /** `more` answers the next texts after an id; none when there are no more. */
  constructor(more: (after: number) => Promise<readonly StoredText[]>, report: (fault: Fault) => void) {
    this.#more = more;
    this.#report = report;
  }

  get count(): number {
    return this.#count;
  }

  get erased(): number {
    return this.#erased.size;
  }

  /** Whether all texts of the entry are here. If not, `readOn` gets more of them. */
  reaches(seq: number): boolean {
    return this.#isEnd || this.#last >= (seq + 1) * TEXTS_PER_FACT;
  }

  async readOn(): Promise<void> {
    const rows = await this.#more(this.#last);
    this.#isEnd = rows.length === 0;
    this.#rows = [...this.#rows.slice(this.#index), ...rows];
    this.#index = 0;
    this.#last = rows.at(-1)?.[0] ?? this.#last;
  }

  take(seq: number, line: StoredLine | null): void {
    const first = seq * TEXTS_PER_FACT;
    this.#skipTo(first);
    for (const [index, digest] of (line?.texts ?? []).entries()) this.#compare(seq, first + index, digest);
    if (line) this.#skipTo(first + TEXTS_PER_FACT);
    // The texts of a line that cannot be read belong to nobody, but the line is the fault.
    else while ((this.#next?.[0] ?? Number.POSITIVE_INFINITY) < first + TEXTS_PER_FACT) this.#advance();
    if (line?.kind === 'blob.erased') this.#erase(seq, line.fact.digest as Json, line.fact.from as Json);
  }

  /**
   * `broken` are the entries, in order, that are not what they were, or that are missing: one of them may be an erasure.
   * `isStored` answers whether a text is stored with an entry in any place.
   */
  async end(broken: readonly number[], isStored: (seq: number, digest: string) => Promise<boolean>): Promise<void> {
    for (; !this.#isEnd; await this.readOn()) this.#skipTo(Number.POSITIVE_INFINITY);
    this.#skipTo(Number.POSITIVE_INFINITY);
    for (const erasure of this.#gone) {
      if (this.#back.length < FAULTS_MAX && (await isStored(erasure.seq, erasure.digest))) this.#back.push(erasure);
    }
    for (const { seq, digest, by } of this.#back) {
      const at = placeOfErased(seq, broken, by);
      this.#fault(at, `the text ${digest} of entry ${seq} is there, though entry ${by} erased it`);
    }
    for (const place of this.#missing) {
      const [seq = '', digest = ''] = place.split(' ');
      const at = placeOfErased(Number(seq), broken);
      this.#fault(at, `the text ${digest} of entry ${seq} is not there, and nobody erased it`);
    }
  }

  #compare(seq: number, id: number, digest: string): void {
    this.#skipTo(id);
    const row = this.#next;
    if (row?.[0] !== id) {
      this.#missing.add(`${seq} ${digest}`);
      return;
    }
    this.#advance();
    if (row[1] !== digest) this.#fault(seq, `a text is filed under ${row[1]}, the line says ${digest}`);
    else if (`sha256:${hash('sha256', row[2], 'hex')}` !== digest) this.#fault(seq, `its text ${digest} was changed`);
  }

  #erase(by: number, digest: Json, from: Json): void {
    if (!Array.isArray(from) || typeof digest !== 'string') return;
    for (const seq of from.filter(Number.isSafeInteger)) {
      const place = `${seq} ${digest}`;
      if (this.#erased.has(place)) continue;
      this.#erased.add(place);
      const erasure = { seq: Number(seq), digest, by };
      if (this.#missing.delete(place)) this.#gone.push(erasure);
      else if (this.#back.length < FAULTS_MAX) this.#back.push(erasure);
    }
  }

  /** What lies before the next text that is due belongs to no line. */
  #skipTo(id: number): void {
    for (let next = this.#next; next && next[0] < id; next = this.#next) {
      this.#fault(Math.floor(next[0] / TEXTS_PER_FACT), `a text lies beside it that its line does not name`);
      this.#advance();
    }
  }

  get #next(): StoredText | undefined {
    return this.#rows[this.#index];
  }

  #advance(): void {
    this.#index += 1;
    this.#count += 1;
  }

  #fault(seq: number, reason: string): void {
    this.#report({ kind: 'BLOB_MISMATCH', seq, reason });
  }
}
