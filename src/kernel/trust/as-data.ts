// Text that came from agents is quoted in a brief, so that a prompt can tell it from its own instructions.

/** What would end the quotation, or a reader could take for its end, is written so that it does not. */
export function asData(text: string): string {
  return `<data>\n${escaped(text)}\n</data>`;
}

/** Escaping twice is the same as escaping once. */
export function escaped(text: string): string {
  return text.replace(/<(?=\s*\/\s*data)/gi, '<\\');
}

const TITLE_CHARS_MAX = 80;

/** A title that may stand outside of a quotation: one short line that can neither open nor close anything. */
export function asTitle(text: string): string {
  const line = text.replace(/[<>\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > TITLE_CHARS_MAX
    ? `${line.slice(0, TITLE_CHARS_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`
    : line;
}
