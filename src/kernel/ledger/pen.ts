// The pen of the ledger's rules. A fact is applied as it is written, so that later rules of the same decision see it.
import type { Denied } from '../verdict.ts';
import type { Asked, LedgerFact } from './fact.ts';
import type { Ledger, Task } from './state.ts';

export type LedgerPen = {
  readonly ledger: Ledger;
  readonly at: number;
  write(fact: LedgerFact): void;
};

/** Writes the refusal down, and answers with it. */
export function refuse(pen: LedgerPen, asked: Asked, name: { run?: string; task: string }, refusal: Denied): Denied {
  const { code, reason, details } = refusal;
  pen.write({ kind: 'task.refused', run: name.run ?? '', task: name.task, asked, code, reason, details });
  return refusal;
}

export function refuseTask(pen: LedgerPen, asked: Asked, { run, id }: Task, refusal: Denied): Denied {
  return refuse(pen, asked, { run, task: id }, refusal);
}
