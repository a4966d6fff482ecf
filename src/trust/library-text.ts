// The canonical text of any value, as the library writes it.
import canonicalize from 'canonicalize';
import type { Json } from '../kernel/json.ts';

/** Undefined for what has none, such as a value with half a character in a string. */
export function libraryText(value: Json | object): string | undefined {
  try {
    return canonicalize(value);
  } catch {
    return undefined;
  }
}
