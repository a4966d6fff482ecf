// Numbers as agents write them in their reports: as a number, as text, or as a yes or no.
import type { Json } from '../json.ts';

const NUMBER_CHARS_MAX = 64;
const DIGITS = /^[+-]?[0-9]+$/;
const NUMBER_CHARS = /^[0-9+\-.eE]+$/;

/** A whole number: fractions are cut off, except in text, where they are no whole number at all. */
export function integerOf(value: Json | undefined): number | null {
  if (typeof value === 'string' && !DIGITS.test(value.trim())) return null;
  const number = numberOf(value);
  return number === null ? null : finite(Math.trunc(number));
}

export function numberOf(value: Json | undefined): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') {
    const text = value.trim();
    if (text.length > NUMBER_CHARS_MAX || !NUMBER_CHARS.test(text)) return null;
    return finite(Number(text));
  }
  return typeof value === 'number' ? finite(value) : null;
}

// Adding zero turns minus zero, which would not come back from JSON as it was, into zero.
function finite(number: number): number | null {
  return Number.isFinite(number) ? number + 0 : null;
}
