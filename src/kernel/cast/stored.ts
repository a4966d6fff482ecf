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
  const members = value as Readonly<Record<string, unknown>>;
  const form: Record<string, unknown> = {};
  let isRenamed = false;
  const keys = Object.keys(members);
  if (!isSorted(keys)) keys.sort();
  for (const key of keys) {
    const member = members[key];
    if (member === undefined) continue;
    const name = wellFormed(key);
    isRenamed ||= name !== key;
    define(form, name, inForm(member));
  }
  // A name that was mended may stand in another place.
  return isRenamed ? inForm(form) : form;
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++)
    if ((keys[index] as string) < (keys[index - 1] as string)) return false;
  return true;
}

/** A member named `__proto__` is a member like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
