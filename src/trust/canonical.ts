// Digests of JSON values: SHA-256 over their canonical text (RFC 8785). The hash function comes from outside.
import type { Json } from '../kernel/json.ts';
import { type CanonicalTexts, canonicalTexts } from './canonical-text.ts';

/** Lower-case hex of the SHA-256 of exactly these bytes, or of the UTF-8 bytes of this text. */
export type Sha256 = (content: Uint8Array | string) => string;

/** Null for a value that has no canonical text, such as one with half a character in a string. */
export function digestOf(value: Json, sha256: Sha256): string | null {
  return digestsOf(canonicalTexts(value, null), sha256).whole;
}

/** The digests of a value and of one object inside it. */
export function digestsOf(
  texts: CanonicalTexts,
  sha256: Sha256,
): { readonly whole: string | null; readonly part: string | null } {
  const { whole, part } = texts;
  return {
    whole: whole === undefined ? null : sha256(whole),
    part: part === undefined ? null : sha256(part),
  };
}
