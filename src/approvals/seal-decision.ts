// The seal of a person's decision, made with the user's key when it is said and compared before anything runs under it. What
// is appended to the log without the key has none.
import type { ApprovalRequest, SealedDecision } from '../kernel/approval/request.ts';
import { type Approval, decisionText, grantText, lastRounds, lostUses } from '../kernel/approval/state.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import type { SealKey } from './seal-key.ts';

type Choice = Pick<Extract<ApprovalRequest, { kind: 'approval.decide' }>, 'choice' | 'again' | 'gone'>;
type Sealing = Pick<Extract<ApprovalRequest, { kind: 'approval.decide' }>, 'sealing' | 'isUnsealed'>;

export function sealDecision(
  approval: Approval,
  { choice, again, gone }: Choice,
  { by, now, key }: { readonly by: string; readonly now: number; readonly key: SealKey },
): Sealing | Denied {
  const { id, sealed, grant } = approval;
  if (sealed.keyId !== key.id) {
    // A no counts without a seal; a yes under another key would run nothing.
    if (choice === 'reject') return {};
    const reason = `${id} was sealed with another key (${sealed.keyId}) than yours (${key.id}), so your yes would not count. Decide as the user, and with the BATON_CONFIG, that it was asked with, or have it asked for again`;
    return deny('DECISION_UNSEALED', reason, { approval: id });
  }
  if (choice === 'reject') {
    const text = decisionText(approval, { verdict: 'rejected', by, until: null });
    return { sealing: { until: now, decision: sealedText(text, key) } };
  }
  const isUnsealed = grant !== null && sealedGrant(approval, key)?.mac !== grant.mac;
  const lost = grant && again ? lostUses(approval, gone) : [];
  const rounds = lost.length > 0 ? { again: lastRounds(approval, lost) } : {};
  const until = now + sealed.grantMs;
  const text = decisionText(approval, { verdict: 'approved', by, until, ...rounds });
  return { sealing: { until, decision: sealedText(text, key) }, ...(isUnsealed ? { isUnsealed } : {}) };
}

/** The decision about an approval as its seal has to be; null where there is none. */
export function sealedGrant(approval: Approval, key: SealKey): SealedDecision | null {
  const text = grantText(approval);
  return text === null ? null : sealedText(text, key);
}

export function sealedText(text: string, key: SealKey): SealedDecision {
  return { text, mac: key.seal('decision', text) };
}
