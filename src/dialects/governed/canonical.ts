// Digests of JSON values: SHA-256 over their canonical text (RFC 8785). The hash function comes from outside.
import canonicalize from 'canonicalize';
import type { Json } from '../../kernel/json.ts';

/** Lower-case hex of the SHA-256 of exactly these bytes. */
export type Sha256 = (bytes: Uint8Array) => string;

/** Null for a value that has no canonical text, such as one with half a character in a string. */
export function digestOf(value: Json, sha256: Sha256): string | null {
  try {
    const text = canonicalize(value);
    return text === undefined ? null : sha256(new TextEncoder().encode(text));
  } catch {
    return null;
  }
}
