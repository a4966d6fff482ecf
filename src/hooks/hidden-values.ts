// The values of variables in a line of shell: where they stand, so that a refusal can tell the line without them. Rather too
// much is hidden than too little: a value whose end cannot be found hides the rest of the line.

/** From where to before where. */
export type Range = readonly [start: number, end: number];

// A name, with the place in a list where it has one.
const NAME = /(?<![\w-])[A-Za-z_]\w*(?:\[[^\]\n]{0,64}\])?\+?=/g;

export function valuesIn(line: string): readonly Range[] {
  const ranges: Range[] = [];
  let end = 0;
  for (const { 0: name, index } of line.matchAll(NAME)) {
    const start = index + name.length;
    if (start < end) continue;
    end = endOfValue(line, start);
    if (end > start) ranges.push([start, end]);
  }
  return ranges;
}

/** A part of the line with three dots for every value, also for one that begins before it or ends behind it. */
export function withoutValues(line: string, ranges: readonly Range[], [from, to]: Range): string {
  let told = '';
  let at = from;
  for (const [start, end] of ranges) {
    if (end <= at || start >= to) continue;
    told += `${line.slice(at, Math.max(at, start))}...`;
    at = Math.min(end, to);
  }
  return told + line.slice(at, to);
}

/** The end of the word that begins there: behind everything that is quoted, escaped, calculated or in brackets. */
function endOfValue(line: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < line.length) {
    const char = line[at] ?? '';
    if (char === '\\') at = afterEscape(line, at);
    else if (char === "'") at = afterQuote(line, at, line[at - 1] === '$');
    else if (char === '"' || char === '`') at = afterQuote(line, at, true);
    else if (char === '(' || char === '{') {
      depth += 1;
      at += 1;
    } else if (depth === 0 && /[\s;&|()]/.test(char)) return at;
    else {
      if (depth > 0 && (char === ')' || char === '}')) depth -= 1;
      at += 1;
    }
  }
  return line.length;
}

/** A quote that is escaped, because the line is quoted itself, holds everything up to the next one like it. */
function afterEscape(line: string, at: number): number {
  const quote = line[at + 1];
  const end = quote === '"' || quote === "'" ? line.indexOf(`\\${quote}`, at + 2) : -1;
  return Math.min(end === -1 ? at + 2 : end + 2, line.length);
}

function afterQuote(line: string, start: number, hasEscapes: boolean): number {
  const quote = line[start];
  for (let at = start + 1; at < line.length; at += 1) {
    if (hasEscapes && line[at] === '\\') at += 1;
    // What is calculated within quotes has quotes of its own, and nobody can tell whose the next one is.
    else if (quote === '"' && /^\$[({]/.test(line.slice(at, at + 2))) return line.length;
    else if (line[at] === quote) return at + 1;
  }
  return line.length;
}
