// A person's decision in the one form that is sealed with the user's key. The seal is made and checked outside, where the
// key is; here is what it covers, so that both sides and an auditor mean the same.
import { canonicalJson } from '../json.ts';
import type { ApprovalFact } from './fact.ts';
import type { SealedRequest } from './request.ts';
import { type Approval, lastRounds } from './state.ts';

/** A decision and its seal, as it is made outside. */
export type SealedDecision = {
  /** The canonical form of the decision. */
  readonly text: string;
  readonly mac: string;
};

type Terms = {
  readonly verdict: 'approved' | 'rejected';
  readonly by: string;
  /** Null for a no. */
  readonly until: number | null;
  /** The commands that may run once more. A decision cannot be used for a later round, so each is sealed with its round. */
  readonly again?: readonly (readonly [index: number, round: number])[];
};

/** What the seal of a decision covers. */
export function decisionText({ id, sealed }: Pick<Approval, 'id' | 'sealed'>, terms: Terms): string {
  const { verdict, by, until, again = [] } = terms;
  return canonicalJson({ v: 1, id, verdict, by, until, again: again.map((one) => [...one]), seal: sealsOf(sealed) });
}

/** The decision that a grant in the state goes back to. */
export function grantText(approval: Approval): string | null {
  const { grant } = approval;
  if (!grant) return null;
  const { by, until, again } = grant;
  return decisionText(approval, { verdict: 'approved', by, until, ...(again ? { again } : {}) });
}

/** The decision that a fact writes down about an approval, which is as it was before the fact. */
export function factText(
  approval: Approval,
  fact: Extract<ApprovalFact, { kind: 'approval.approved' | 'approval.rejected' }>,
): string {
  const { by } = fact;
  if (fact.kind === 'approval.rejected') return decisionText(approval, { verdict: 'rejected', by, until: null });
  const again = fact.relayed ? approval.grant?.again : lastRounds(approval, fact.again);
  return decisionText(approval, { verdict: 'approved', by, until: fact.until, ...(again ? { again } : {}) });
}

/** Whether the seal that was made outside is about the grant in the state, and is the one that is stored with it. */
export function isGrantSealed(approval: Approval, expected: SealedDecision | null | undefined): boolean {
  const mac = approval.grant?.mac;
  return mac !== undefined && expected?.mac === mac && expected.text === grantText(approval);
}

/** A permission in words has no command; its fingerprint covers the words. */
function sealsOf({ commands, fingerprint }: SealedRequest): readonly string[] {
  return commands.length === 0 ? [fingerprint] : commands.map(({ seal }) => seal);
}
