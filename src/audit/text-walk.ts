// Compares the texts beside the log with the digests in its lines. A text may be missing where a later fact says that it
// was erased, and nowhere else.
import { hash } from 'node:crypto';
import type { Json } from '../kernel/json.ts';
import type { StoredLine } from '../log/stored-line.ts';
import { FAULTS_MAX, type Fault, placeOfErased } from './fault.ts';

export type TextRow = readonly [id: number, digest: string, body: string];

/** Room for this many texts per fact in the key of a text. */
export const TEXTS_PER_FACT = 2 ** 20;

export class TextWalk {
  readonly #report: (fault: Fault) => void;
  readonly #rows: Iterator<TextRow>;
  /** Texts that are not there, by entry and digest, until a fact says that they were erased. */
  readonly #missing = new Set<string>();
  /** The same, of those that a fact erased. */
  readonly #erased = new Set<string>();
  /** Texts that are there although an entry erased them. */
  readonly #back: { readonly seq: number; readonly digest: string; readonly by: number }[] = [];
  readonly #isStored: (seq: number, digest: string) => boolean;
  #next: TextRow | null;
  #count = 0;

  constructor(
    rows: Iterator<TextRow>,
    isStored: (seq: number, digest: string) => boolean,
    report: (fault: Fault) => void,
  ) {
    this.#rows = rows;
    this.#isStored = isStored;
    this.#report = report;
    this.#next = this.#advance();
  }

  get count(): number {
    return this.#count;
  }

  get erased(): number {
    return this.#erased.size;
  }

  take(seq: number, line: StoredLine | null): void {
    const first = seq * TEXTS_PER_FACT;
    this.#skipTo(first);
    for (const [index, digest] of (line?.texts ?? []).entries()) this.#compare(seq, first + index, digest);
    if (line) this.#skipTo(first + TEXTS_PER_FACT);
    // The texts of a line that cannot be read belong to nobody, but the line is the fault.
    else while (this.#next && this.#next[0] < first + TEXTS_PER_FACT) this.#next = this.#advance();
    if (line?.kind === 'blob.erased') this.#erase(seq, line.fact.digest as Json, line.fact.from as Json);
  }

  /** `broken` are the entries, in order, that are not what they were, or that are missing: one of them may be an erasure. */
  end(broken: readonly number[]): void {
    this.#skipTo(Number.POSITIVE_INFINITY);
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
    this.#next = this.#advance();
    if (row[1] !== digest) this.#fault(seq, `a text is filed under ${row[1]}, the line says ${digest}`);
    else if (`sha256:${hash('sha256', row[2], 'hex')}` !== digest) this.#fault(seq, `its text ${digest} was changed`);
  }

  #erase(by: number, digest: Json, from: Json): void {
    if (!Array.isArray(from) || typeof digest !== 'string') return;
    for (const seq of from.filter(Number.isSafeInteger)) {
      const place = `${seq} ${digest}`;
      if (this.#erased.has(place)) continue;
      this.#erased.add(place);
      const isGone = this.#missing.delete(place) && !this.#isStored(Number(seq), digest);
      if (!isGone && this.#back.length < FAULTS_MAX) this.#back.push({ seq: Number(seq), digest, by });
    }
  }

  /** What lies before the next text that is due belongs to no line. */
  #skipTo(id: number): void {
    while (this.#next && this.#next[0] < id) {
      this.#fault(Math.floor(this.#next[0] / TEXTS_PER_FACT), `a text lies beside it that its line does not name`);
      this.#next = this.#advance();
    }
  }

  #advance(): TextRow | null {
    const { done, value } = this.#rows.next();
    if (done) return null;
    this.#count += 1;
    return value;
  }

  #fault(seq: number, reason: string): void {
    this.#report({ kind: 'BLOB_MISMATCH', seq, reason });
  }
}
