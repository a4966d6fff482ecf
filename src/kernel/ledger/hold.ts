// Holding the workspace: what is in progress goes on and may finish, and nothing new is handed out.
import { isText } from '../json.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import type { LedgerPen } from './pen.ts';
import type { RequestOf } from './request.ts';

export function holdLedger(pen: LedgerPen, { by, reason }: RequestOf<'ledger.hold'>): Verdict {
  const { hold } = pen.ledger;
  if (!isText(reason)) {
    return deny('MISSING_REQUIRED_INPUT', 'Holding the workspace needs a reason; say why.', { missing: ['reason'] });
  }
  if (hold)
    return deny('NOT_ALLOWED_NOW', `${hold.by} holds the workspace already: ${hold.reason}.`, { hold: { ...hold } });
  pen.write({ kind: 'ledger.held', by, reason });
  return allow('the workspace is held; nothing is handed out', { by, reason });
}

export function unholdLedger(pen: LedgerPen, { by, reason }: RequestOf<'ledger.unhold'>): Verdict {
  const { hold } = pen.ledger;
  if (!hold) return deny('NOT_ALLOWED_NOW', 'The workspace is not held.');
  pen.write({ kind: 'ledger.unheld', by, reason });
  return allow('the workspace is no longer held', { held: { ...hold } });
}
