// Measures and shortens text. A cut never leaves half of a surrogate pair, because that cannot be stored.
// Shortening text without leaving half of a character behind: half a surrogate pair is no text and cannot be stored.

/** At most `max` UTF-16 units from the start, the ellipsis included. */
export function truncate(text: string, max: number): string {
  return text.length <= max ? text : `${first(text, max - 1)}…`;
}

/** The last `max` units at most. */
export function lastChars(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max;
  return text.slice(isLow(text.charCodeAt(start)) ? start + 1 : start);
}

/** As much of the start as takes at most so many bytes of UTF-8. */
export function firstBytes(text: string, bytesMax: number): string {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > bytesMax) break;
    end += code < 0x10000 ? 1 : 2;
  }
  return text.slice(0, end);
}

/** The same text with a replacement character for every half of one. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

function first(text: string, max: number): string {
  return text.slice(0, isHigh(text.charCodeAt(max - 1)) ? max - 1 : max);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The size of a text in UTF-8, counted without encoding it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(index + 1))) {
      bytes += 2; // Two units, four bytes.
      index++;
    } else bytes += 2; // A lone surrogate is encoded as the three bytes of U+FFFD.
  }
  return bytes;
}

/** Such as `1 file` or `2 files`. */
/** A short number for a text, so that the same text is known again. It proves nothing about who wrote it. */
export function fingerprint(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  return [high, low, text.length].map((part) => (part >>> 0).toString(36)).join('-');
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** The text on one line. A title with line breaks could otherwise pass for a heading of the brief. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
