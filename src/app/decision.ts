// Whether a decision is a person's. What every caller is asked, `perform` asks; an operation asks this itself where its proof
// depends on the cast, or where the log keeps the refusal.
import { type Actor, whyNotPerson } from '../access/actor.ts';
import { refusalToAgent } from '../access/rights.ts';
import type { Denied } from '../kernel/verdict.ts';
import type { OperationEntry } from './operation.ts';
import { OPERATIONS, type OperationName } from './operations/table.ts';

/** The refusal of a decision that is not shown to be a person's; null where it is. `cast` is the one it is about, and `may` what
 * only a person may, where the entry does not say it. */
export function refusalOfDecision(
  { program }: { readonly program: string },
  operation: OperationName,
  actor: Actor,
  cast: string | null = null,
  may?: string,
): Denied | null {
  const entry: OperationEntry = OPERATIONS[operation];
  const form = formOf(entry);
  const why = actor.proof ? actor.proof(form, cast, program) : whyNotPerson(actor, form, cast, program);
  return why === null ? null : refusalToAgent(may ?? entry.peopleOnly ?? 'decide', { operation }, why);
}

/** The form of the command line that the operation is: what needs a person is listed by that name. */
export function formOf({ name, cli }: OperationEntry): string {
  return typeof cli === 'string' ? cli : name.replaceAll('.', ' ');
}
