// How the ledger compares paths. What is held stays held; from now on claims are compared the new way.
import { allow, type Verdict } from '../verdict.ts';
import type { LedgerPen } from './pen.ts';
import type { RequestOf } from './request.ts';

export function configureLedger(pen: LedgerPen, { foldCase }: RequestOf<'ledger.configure'>): Verdict {
  const how = foldCase ? 'paths that differ in capitals only are the same' : 'capitals are told apart';
  if (pen.ledger.locks.foldCase === foldCase) return allow(how, { foldCase });
  pen.write({ kind: 'ledger.configured', foldCase });
  return allow(`from now on ${how}`, { foldCase });
}
