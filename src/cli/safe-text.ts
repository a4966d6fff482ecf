// Text for a terminal. Text of agents, files and utilities must not move the cursor, set colours, ring bells or turn the
// reading direction around.
import { cutTo } from './text-width.ts';

// Control characters other than tab and newline, and the marks that override the direction of text.
const UNSAFE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** The text with every character that would act replaced by one that is seen. */
export function safe(text: string): string {
  return text.replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : '\ufffd'));
}

/** The text on one line of at most `max` columns. */
export function oneLine(text: string, max = Number.POSITIVE_INFINITY): string {
  return cutTo(safe(text).replace(/\s+/g, ' ').trim(), max);
}
