// Checks a chain of lines with code of its own, so that a fault it shared with the product could not hide.
import { createHash } from 'node:crypto';

export type StoredLine = { readonly seq: number; readonly line: string };

/** What is wrong with a log that should be whole; empty when nothing is. */
export function faultsOf(lines: readonly StoredLine[]): string[] {
  const faults: string[] = [];
  let prev = '0'.repeat(64);
  let at = '';
  const used = new Set<string>();
  for (const [index, { seq, line }] of lines.entries()) {
    const entry = JSON.parse(line) as { seq: number; prev: string; at: string; once?: string[] };
    if (seq !== index + 1 || entry.seq !== seq) faults.push(`${seq}: a gap, number ${index + 1} was due`);
    if (sortedJson(entry) !== line) faults.push(`${seq}: the line is not canonical`);
    if (entry.prev !== prev) faults.push(`${seq}: the chain is broken`);
    if (entry.at < at) faults.push(`${seq}: time runs backwards`);
    for (const key of entry.once ?? []) {
      if (used.has(key)) faults.push(`${seq}: the key ${key} was used before`);
      used.add(key);
    }
    prev = leafOf(line);
    at = entry.at;
  }
  return faults;
}

export function leafOf(line: string): string {
  return createHash('sha256')
    .update(Buffer.concat([Buffer.from([0]), Buffer.from(line, 'utf8')]))
    .digest('hex');
}

/** RFC 8785: members sorted by UTF-16 code units, no white space, numbers and texts as ECMAScript writes them. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return primitive(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${primitive(key)}:${sortedJson((value as Record<string, unknown>)[key])}`);
  return `{${members.join(',')}}`;
}

function primitive(value: unknown): string {
  if (typeof value === 'string' && !value.isWellFormed()) throw new Error('a line holds half a character');
  return JSON.stringify(value);
}
