// Walks the lines of a log in order and finds what is wrong with them: canonical form, numbers, chain, time. It sees one
// line at a time, so that a log of any length is checked in the same room.
import { readStoredLine, type StoredLine } from '../log/stored-line.ts';
import type { Fault, FaultKind } from './fault.ts';
import { leafOf } from './merkle.ts';

const NO_PREV = '0'.repeat(64);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export type Step = {
  readonly seq: number;
  readonly leaf: string;
  /** Null where the line cannot be read. */
  readonly line: StoredLine | null;
};

export class ChainWalk {
  readonly #report: (fault: Fault) => void;
  #seq = 0;
  #leaf = NO_PREV;
  #at = '';
  /** Whether the entry before is above suspicion: what follows a fault proves nothing about the one after it. */
  #isSound = true;
  /** An entry whose link to the one before does not hold: the one after it shows which of the two was changed. */
  #loose: number | null = null;
  /** The first entry of which something is wrong. */
  #firstFault: number | null = null;

  /** From the beginning, or from after an entry whose leaf is known. */
  constructor(report: (fault: Fault) => void, after = 0, leaf: string | null = null) {
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

  /** Takes the line that is stored under a number. */
  take(seq: number, text: string): Step {
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

  /** No more lines. `isVouchedFor` answers whether the tree of so many entries has a root that was signed. */
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
      this.#fault('TIME_BACKWARDS', line.seq, `its time ${line.at} lies before that of the entry before it`);
    else if (!TIME.test(line.at)) this.#fault('ENTRY_NOT_CANONICAL', line.seq, 'its time is none');
    else this.#isSound = true;
  }

  /** The entry after a loose one is here: if it is chained to the loose one, that one is as it was, and the one before is not. */
  #settle(next: StoredLine | null): void {
    if (this.#loose === null) return;
    const loose = this.#loose;
    this.#loose = null;
    const isAsItWas = next?.prev === this.#leaf;
    this.#broken(isAsItWas ? loose - 1 : loose);
    this.#isSound = isAsItWas;
  }

  #broken(seq: number): void {
    this.#fault('CHAIN_BROKEN', seq, 'it is not the entry that its neighbours are chained to');
  }

  #fault(kind: FaultKind, seq: number, reason: string): void {
    this.#isSound = false;
    this.#firstFault = Math.min(this.#firstFault ?? seq, seq);
    this.#report({ kind, seq, reason });
  }
}

function missing(due: number, found: number): string {
  if (found < due) return `number ${found} comes after number ${due - 1}`;
  return found === due + 1 ? 'the entry is missing' : `the entries ${due} to ${found - 1} are missing`;
}
