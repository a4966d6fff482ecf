// Checks the decisions of people in a log. Each carries a seal that only the user's key makes. An appended line is chained like any
// other, but has no such seal. Without the key, decisions cannot be checked, and a warning says so.
import { POLICY } from '../kernel/approval/outcomes.ts';
import type { ApprovalFact } from '../kernel/approval/request.ts';
import { applyApproval, approvalOf, factText, noApprovals } from '../kernel/approval/state.ts';
import type { StoredLine } from '../log/stored-line.ts';
import type { AuditFault } from './fault.ts';

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
