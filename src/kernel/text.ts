// Measures, shortens and compares text. A cut never leaves half of a surrogate pair, because that cannot be stored.

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

/** Longer names are not compared: people do not type them, and comparing them is slow. */
const COMPARED_CHARS_MAX = 40;

/** The known name with the fewest letters changed, or null when none is near enough to be meant. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > COMPARED_CHARS_MAX) return null;
  const letters = fold(name);
  const changesMax = Math.max(1, Math.floor(letters.length / 3));
  const near = known
    .map((candidate) => ({ candidate, changes: changesBetween(letters, fold(candidate)) }))
    .filter(({ changes }) => changes <= changesMax)
    .sort((one, other) => one.changes - other.changes);
  return near[0]?.candidate ?? null;
}

/** Case and the marks between words are what is mistaken most. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[-_ .]/g, '');
}

/** How many letters must be put in, taken out, replaced or swapped with their neighbour to turn one name into the other. */
function changesBetween(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at++) {
    const next = [at];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[at - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = at > 1 && from[at - 1] === to[column - 2] && from[at - 2] === to[column - 1];
      const swapped = isSwapped ? (before[column - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}

const LONG = '(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])';
const SHORT = '(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)';
const FEBRUARY = '02-(?:0[1-9]|1\\d|2[0-8])';
const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';

/** Year, month and day with hyphens between. */
export const CALENDAR_DAY = `(?:\\d{4}-(?:${LONG}|${SHORT}|${FEBRUARY})|${LEAP_YEAR}-02-29)`;
/** The hours of a day; minutes and seconds. */
export const HOUR = '(?:[01]\\d|2[0-3])';
export const MINUTE = '[0-5]\\d';

const MOMENT = /^\d{4}-\d\d-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** The time of a moment such as 2026-12-01T09:00:00Z; null for another text, and for a day that does not exist. */
export function momentIn(text: string): number | null {
  const [, day] = MOMENT.exec(text) ?? [];
  // A day beyond the end of its month would be read as one of the next month.
  const isDay = day !== undefined && new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(day);
  const time = isDay ? Date.parse(text) : Number.NaN;
  return Number.isFinite(time) ? time : null;
}
