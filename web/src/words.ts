// How the page writes times, sums and sizes, and how it writes texts of agents so that nothing in them can hide.

/** Characters that are not seen, or that change the direction of what follows. Tab and newline are no danger. */
const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;
/** What makes a picture of a sign. Behind a picture it hides nothing. */
const OF_PICTURES = /\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?\ufe0f?$/u;

export type Part = { readonly text: string; readonly isHidden: boolean };

/** The text in parts, each hidden character written out as `U+202E`. */
export function visible(text: string, { multiline = false } = {}): readonly Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const [char] = found;
    if (char === '\t' || (multiline && char === '\n')) continue;
    if (/[\ufe0e\ufe0f\u200d]/.test(char) && OF_PICTURES.test(text.slice(Math.max(0, found.index - 6), found.index)))
      continue;
    if (multiline && char === '\r' && text[found.index + 1] === '\n') continue;
    if (found.index > at) parts.push({ text: text.slice(at, found.index), isHidden: false });
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    parts.push({ text: `U+${code}`, isHidden: true });
    at = found.index + char.length;
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at), isHidden: false });
  return parts;
}

/** On one line, for a title or a tooltip. Spaces that follow each other are one. */
export function inLine(text: string): string {
  return visible(text.replace(/\s+/g, ' ').trim())
    .map((part) => part.text)
    .join('');
}

/** `6 min`, `1 h`, `3 d`; below a minute `42 s`. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3_600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400)
    return `${Math.floor(s / 3_600)} h${Math.floor((s % 3_600) / 60) >= 10 && s < 36_000 ? ` ${Math.floor((s % 3_600) / 60)} min` : ''}`;
  return `${Math.floor(s / 86_400)} d`;
}

/** `0:41`, `7:54`, `1:02:03`: a duration that counts. */
export function stopwatch(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const pad = (n: number) => String(n).padStart(2, '0');
  const [h, m] = [Math.floor(s / 3_600), Math.floor((s % 3_600) / 60)];
  return h > 0 ? `${h}:${pad(m)}:${pad(s % 60)}` : `${m}:${pad(s % 60)}`;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const SECONDS = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
const LONG_DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });

type When = string | number | Date;
export const clock = (at: When): string => CLOCK.format(new Date(at));
export const clockSeconds = (at: When): string => SECONDS.format(new Date(at));
export const day = (at: When): string => DAY.format(new Date(at)).replace(',', '');
export const longDay = (at: When): string => LONG_DAY.format(new Date(at)).replace(',', '');
export const isToday = (at: When): boolean => new Date(at).toDateString() === new Date().toDateString();
/** The time today, the day and the time otherwise. */
export const when = (at: When): string => (isToday(at) ? clock(at) : `${day(at)} ${clock(at)}`);
/** For a tooltip. */
export const exactly = (at: When): string => `${day(at)} ${clockSeconds(at)}`;

const WHOLE = new Intl.NumberFormat('en-US');
export const count = (n: number): string => WHOLE.format(n);
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

export function tokens(n: number): string {
  if (n < 1_000) return String(n);
  return n < 100_000
    ? `${(n / 1_000).toFixed(1).replace(/\.0$/, '')}k`
    : n < 1e6
      ? `${Math.round(n / 1_000)}k`
      : `${(n / 1e6).toFixed(1)}M`;
}

export function money(amount: number, currency = 'USD'): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 4 : 2;
  try {
    return new Intl.NumberFormat('en-US', {
      ...{ style: 'currency', currency, currencyDisplay: 'narrowSymbol' },
      ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
    }).format(amount);
  } catch {
    return `${amount.toFixed(digits)} ${currency}`;
  }
}

export function bytes(n: number): string {
  if (n < 1_000) return `${n} bytes`;
  return n < 1e6 ? `${(n / 1_000).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}

/** A long path, cut in the middle; the name of the file stays. */
export function shortPath(path: string, max = 40): string {
  if (path.length <= max) return path;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const head = path.slice(0, Math.max(0, max - name.length - 2));
  return `${head}…/${name}`;
}
