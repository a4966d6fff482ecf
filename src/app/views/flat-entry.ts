// An entry with the members of its fact beside its own, as scripts like to filter them.
import type { Entry, Fact } from '../../kernel/fact.ts';

export type LoggedFact = Omit<Entry, 'fact'> & Fact & { readonly leaf?: string };

export function flat({ v, seq, at, clock, ranMs, prev, by, fact }: Entry, leaf?: string): LoggedFact {
  const time = { at, ...(clock === undefined ? {} : { clock }), ...(ranMs === undefined ? {} : { ranMs }) };
  return { seq, ...time, by, v, prev, ...(leaf === undefined ? {} : { leaf }), ...fact };
}
