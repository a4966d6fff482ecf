// A value as the log will give it back. The log keeps no order of members, no half of a character (a lone surrogate, which
// any text an agent escaped may hold) and no negative zero. What is decided must not depend on them, and a cast that is read
// back must be told from nothing by its state: so facts are brought into this form before they are applied.
import { wellFormed } from './cut.ts';

export function stored<T>(value: T): T {
  return inForm(value) as T;
}

function inForm(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inForm);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const named = members.map(([key, member]) => [wellFormed(key), inForm(member)] as const);
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}
