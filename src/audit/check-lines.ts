// Checks the lines of a log one by one, so a log of any length needs the same memory. `ChainWalk` checks canonical form, numbers,
// chain and time. `DecisionWalk` checks the decisions of people: each carries a seal that only the user's key makes. An appended line
// is chained like any other, but has no such seal. Without the key, decisions cannot be checked, and a warning says so.

import { POLICY } from '../kernel/approval/outcomes.ts';
import type { ApprovalFact } from '../kernel/approval/request.ts';
import { applyApproval, approvalOf, factText, noApprovals } from '../kernel/approval/state.ts';
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

/** The key that seals the decisions of this user. */
export type DecisionKey = { readonly id: string; macOf(text: string): string };

type Decided = Extract<ApprovalFact, { kind: 'approval.approved' | 'approval.rejected' }>;
/** Why a decision may not be a person's. */
type Doubt = 'forged' | 'without a seal' | 'under another key';

export class DecisionWalk {
  readonly #report: (fault: AuditFault) => void;
  readonly #key: DecisionKey | null;
  readonly #approvals = noApprovals();
  readonly #known = new Set<string>();
  readonly #unchecked: Record<Exclude<Doubt, 'forged'>, number[]> = { 'without a seal': [], 'under another key': [] };
  /** Whether this part of the log is from a version that seals decisions. Then an approval without a seal is forged. */
  #areSealed = false;
  #checked = 0;

  constructor(key: DecisionKey | null, report: (fault: AuditFault) => void) {
    this.#key = key;
    this.#report = report;
  }

  take(seq: number, line: StoredLine | null): void {
    if (!line?.kind.startsWith('approval.')) return;
    const fact = line.fact as unknown as ApprovalFact;
    try {
      if (fact.kind === 'approval.requested') this.#requested(seq, fact);
      if (fact.kind === 'approval.approved' || fact.kind === 'approval.rejected') this.#decided(seq, fact);
      applyApproval(this.#approvals, fact, Date.parse(line.at));
    } catch {
      this.#report({ kind: 'DECISION_FORGED', seq, reason: 'its approval cannot be read' });
    }
  }

  get checked(): number {
    return this.#checked;
  }

  /** What could not be checked: one warning per reason, at its first entry. */
  warnings(): readonly AuditFault[] {
    const why = {
      'without a seal': 'have no seal: they are older than sealed decisions, and nothing runs under them any more',
      'under another key': 'could not be checked: their key is not here',
    };
    return Object.entries(this.#unchecked).flatMap(([doubt, [seq, ...more]]) => {
      if (seq === undefined) return [];
      const reason = `decisions from here on ${why[doubt as keyof typeof why]} (${more.length + 1})`;
      return [{ kind: 'DECISION_UNCHECKED', seq, reason }];
    });
  }

  /** A repeated request would restore an approval that a person had withdrawn. */
  #requested(seq: number, { id, sealed }: Extract<ApprovalFact, { kind: 'approval.requested' }>): void {
    if (sealed.plainEnv) this.#areSealed = true;
    if (this.#known.has(id)) {
      const reason = `${id} was already requested, and no id is used twice: baton did not write this`;
      this.#report({ kind: 'DECISION_FORGED', seq, reason });
    }
    this.#known.add(id);
  }

  #decided(seq: number, fact: Decided): void {
    const doubt = this.#doubtAbout(fact);
    if (fact.mac !== undefined) this.#areSealed = true;
    if (doubt === 'forged') {
      const choice = fact.kind === 'approval.approved' ? 'approval' : 'rejection';
      const reason = `the ${choice} of ${fact.id} is not sealed with the user's key: no person gave it to baton`;
      this.#report({ kind: 'DECISION_FORGED', seq, reason });
    } else if (doubt) this.#unchecked[doubt].push(seq);
    else this.#checked += 1;
  }

  #doubtAbout(fact: Decided): Doubt | null {
    const approval = approvalOf(this.#approvals, fact.id);
    // A rejection relayed after the approval ended has no effect.
    if (!approval && fact.kind === 'approval.rejected' && fact.relayed) return null;
    if (!this.#key) return 'under another key';
    if (!approval) return 'forged';
    if (fact.by === POLICY && fact.kind === 'approval.rejected') return approval.sealed.refusal ? null : 'forged';
    if (fact.mac === undefined) {
      return this.#areSealed && fact.kind === 'approval.approved' ? 'forged' : 'without a seal';
    }
    if (approval.sealed.keyId !== this.#key.id) return 'under another key';
    return this.#key.macOf(factText(approval, fact)) === fact.mac ? null : 'forged';
  }
}
