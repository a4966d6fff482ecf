// Digests of JSON values: SHA-256 over their canonical text (RFC 8785). The hash function comes from outside.
import type { Json } from '../../kernel/json.ts';
import { canonicalTexts } from './canonical-text.ts';

/** Lower-case hex of the SHA-256 of exactly these bytes, or of the UTF-8 bytes of this text. */
export type Sha256 = (content: Uint8Array | string) => string;

/** Null for a value that has no canonical text, such as one with half a character in a string. */
export function digestOf(value: Json, sha256: Sha256): string | null {
  return digestsOf(value, null, sha256).whole;
}

/**
 * The digests of a value and of one object somewhere inside it, for little more than the price of one. `isVerbatim` is
 * what parsing the value found out about its texts.
 */
export function digestsOf(
  value: Json,
  part: object | null,
  sha256: Sha256,
  isVerbatim = false,
): { readonly whole: string | null; readonly part: string | null } {
  const texts = canonicalTexts(value, part, isVerbatim);
  const digest = (text: string | undefined) => (text === undefined ? null : sha256(text));
  return { whole: digest(texts.whole), part: digest(texts.part) };
}
