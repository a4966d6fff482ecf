// Checks the lines of a log in order: canonical form, numbers, chain and time. It sees one line at a time, so a log of any
// length needs the same memory.
import { readStoredLine, type StoredLine } from '../log/stored-line.ts';
import type { AuditFault, AuditFaultKind } from './fault.ts';
import { leafOf } from './merkle.ts';

const NO_PREV = '0'.repeat(64);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

type ChainStep = {
  readonly seq: number;
  readonly leaf: string;
  /** Null if the line cannot be read. */
  readonly line: StoredLine | null;
};

export class ChainWalk {
  readonly #report: (fault: AuditFault) => void;
  #seq = 0;
  #leaf = NO_PREV;
  #at = '';
  /** Whether the entry before is sound. After a fault, the next entry proves nothing. */
  #isSound = true;
  /** An entry whose link to the one before is broken. The next entry shows which of the two was changed. */
  #loose: number | null = null;
  /** The first entry with a fault. */
  #firstFault: number | null = null;

  /** Starts at the beginning, or after an entry with a known leaf. */
  constructor(report: (fault: AuditFault) => void, after = 0, leaf: string | null = null) {
    this.#report = report;
    this.#seq = after;
    this.#leaf = leaf ?? NO_PREV;
  }

  get seq(): number {
    return this.#seq;
  }

  get leaf(): string {
    return this.#leaf;
  }

  get firstFault(): number | null {
    return this.#firstFault;
  }

  /** Takes the line stored under a number. */
  take(seq: number, text: string): ChainStep {
    const leaf = leafOf(text);
    const line = readStoredLine(text);
    const due = this.#seq + 1;
    this.#settle(line);
    if (seq !== due) this.#fault('SEQ_GAP', Math.min(due, seq), missing(due, seq));
    else if (!line) this.#fault('ENTRY_NOT_CANONICAL', seq, 'the line is not the canonical form of an entry');
    else if (line.seq !== seq) this.#fault('SEQ_GAP', seq, `the line in its place has number ${line.seq}`);
    else this.#compare(line);
    this.#seq = seq;
    this.#leaf = leaf;
    if (line) this.#at = line.at;
    return { seq, leaf, line };
  }

  /** Ends the walk. `isVouchedFor` says whether the tree of so many entries has a signed root. */
  end(isVouchedFor: (size: number) => boolean): void {
    const loose = this.#loose;
    if (loose !== null) this.#broken(isVouchedFor(loose - 1) ? loose : loose - 1);
    this.#loose = null;
  }

  #compare(line: StoredLine): void {
    const isLinked = line.prev === this.#leaf;
    if (!isLinked && this.#isSound && line.seq === 1) this.#broken(1);
    else if (!isLinked && this.#isSound) {
      this.#loose = line.seq;
      this.#isSound = false;
      this.#firstFault ??= line.seq - 1;
    } else if (isLinked && line.at < this.#at)
      this.#fault('TIME_BACKWARDS', line.seq, `its time ${line.at} is before the time of the previous entry`);
    else if (!TIME.test(line.at)) this.#fault('ENTRY_NOT_CANONICAL', line.seq, 'its time is invalid');
    else this.#isSound = true;
  }

  /** If the next entry is chained to the loose one, the loose one is intact and the one before it was changed. */
  #settle(next: StoredLine | null): void {
    if (this.#loose === null) return;
    const loose = this.#loose;
    this.#loose = null;
    const isAsItWas = next?.prev === this.#leaf;
    this.#broken(isAsItWas ? loose - 1 : loose);
    this.#isSound = isAsItWas;
  }

  #broken(seq: number): void {
    this.#fault('CHAIN_BROKEN', seq, 'its neighbours are chained to a different entry');
  }

  #fault(kind: AuditFaultKind, seq: number, reason: string): void {
    this.#isSound = false;
    this.#firstFault = Math.min(this.#firstFault ?? seq, seq);
    this.#report({ kind, seq, reason });
  }
}

function missing(due: number, found: number): string {
  if (found < due) return `number ${found} comes after number ${due - 1}`;
  return found === due + 1 ? 'the entry is missing' : `the entries ${due} to ${found - 1} are missing`;
}
