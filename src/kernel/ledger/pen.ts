// The pen of the ledger's rules. A fact is applied as it is written, so that later rules of the same decision see it.
import type { Denied } from '../verdict.ts';
import type { Asked, LedgerFact } from './fact.ts';
import { namingCast, type Standing } from './holder.ts';
import type { Ledger, Task } from './state.ts';
import type { Soundness } from './waiting.ts';

export type LedgerPen = {
  readonly ledger: Ledger;
  readonly at: number;
  /** Which runs hold together, where the ledger at hand does not hold all of them. */
  readonly isSound?: Soundness;
  /** The cast whose run it is, where nothing of it runs; null for any other run. */
  standing?(run: string): Standing | null;
  write(fact: LedgerFact): void;
};

/** Writes the refusal down, and answers with it. */
export function refuse(pen: LedgerPen, asked: Asked, name: { run?: string; task: string }, given: Denied): Denied {
  const refusal = namingCast(given, (run) => pen.standing?.(run) ?? null);
  const { code, reason, details } = refusal;
  pen.write({ kind: 'task.refused', run: name.run ?? '', task: name.task, asked, code, reason, details });
  return refusal;
}

export function refuseTask(pen: LedgerPen, asked: Asked, { run, id }: Task, refusal: Denied): Denied {
  return refuse(pen, asked, { run, task: id }, refusal);
}
