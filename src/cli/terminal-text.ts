// Text for a terminal: made safe, and cut and wrapped to its width. Text of agents, files and utilities must not move the cursor,
// set colours, ring bells or turn the reading direction around. Colours (`ESC [ … m`) take no room.

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

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for our own colours.
const ESCAPES = /\x1b\[[0-9;]*m/g;
const NO_ROOM = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** Blocks of characters that take two columns: East Asian scripts, full-width forms, pictures. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
];

export function widthOf(text: string): number {
  let width = 0;
  for (const char of text.replace(ESCAPES, '')) width += widthOfChar(char);
  return width;
}

function widthOfChar(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (NO_ROOM.test(char)) return 0;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** The text in at most `max` columns; what was cut off is an ellipsis. The text has no colours yet. */
export function cutTo(text: string, max: number): string {
  if (widthOf(text) <= max) return text;
  return `${startOf(text, Math.max(0, max - 1))}…`;
}

/** The end of the text in at most `max` columns. */
export function lastColumns(text: string, max: number): string {
  if (widthOf(text) <= max) return text;
  const chars = [...text];
  let width = 1;
  let from = chars.length;
  while (from > 0 && width + widthOfChar(chars[from - 1] ?? '') <= max) {
    from -= 1;
    width += widthOfChar(chars[from] ?? '');
  }
  return `…${chars.slice(from).join('')}`;
}

function startOf(text: string, columns: number): string {
  let width = 0;
  let kept = '';
  for (const char of text) {
    width += widthOfChar(char);
    if (width > columns) break;
    kept += char;
  }
  return kept;
}

export function padTo(text: string, columns: number): string {
  return `${text}${' '.repeat(Math.max(0, columns - widthOf(text)))}`;
}

/** A word, or a command between backticks, which is not torn apart where it fits on a line. */
const WORDS = /`[^`]{1,100}`[^\s`]*|\S+/g;

/** The line in pieces of at most `columns`, cut between words. Later pieces begin `hang` columns in: below the text of the first. */
export function wrap(line: string, columns: number, hang = hangOf(line, columns)): string[] {
  if (columns <= 0 || widthOf(line) <= columns) return [line];
  const indent = Math.min(hang, Math.floor(columns / 2));
  const pieces: string[] = [];
  let piece = line.slice(0, indentOf(line));
  let isEmpty = true;
  const next = () => {
    pieces.push(piece.trimEnd());
    piece = ' '.repeat(indent);
    isEmpty = true;
  };
  let end = piece.length;
  for (const { 0: word, index } of line.slice(piece.length).matchAll(WORDS)) {
    const at = indentOf(line) + index;
    const gap = isEmpty ? '' : line.slice(end, at);
    end = at + word.length;
    if (widthOf(piece) + widthOf(gap) + widthOf(word) <= columns) piece += gap + word;
    else {
      if (!isEmpty) next();
      let rest = word;
      while (widthOf(piece) + widthOf(rest) > columns) {
        const part = startOf(rest, columns - widthOf(piece)) || (rest[0] ?? '');
        piece += part;
        rest = rest.slice(part.length);
        next();
      }
      piece += rest;
    }
    isEmpty = false;
  }
  if (!isEmpty || pieces.length === 0) pieces.push(piece);
  return pieces;
}

/** A label and the gap behind it. A sentence that has ended is no label. */
const LABEL = /^\s*[^\s.!?:;]+(?: [^\s.!?:;]+)*\s{2,}(?=\S)/;

/** Where the text of a line begins: behind its label, if that leaves room for the text, else behind its indent. */
function hangOf(line: string, columns: number): number {
  const label = widthOf(LABEL.exec(line)?.[0] ?? '');
  return label > 0 && label <= columns / 2 ? label : indentOf(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
