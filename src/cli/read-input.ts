// Reads for a command: a file, standard input where the name is a dash, its lines, and answers of the person at the terminal.
import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { readBytesOf, readText } from '../workspace/load-config.ts';
import { type Call, UsageError } from './command.ts';
import { oneLine, safe, wrap } from './terminal-text.ts';

const INPUT_BYTES_MAX = 16 * 1024 * 1024;

export async function readInput(call: Call, name: string): Promise<string> {
  return name === '-' ? standardInput() : readText(resolve(call.cwd, name));
}

/** The same before anything was made of it. */
export async function readBytes(call: Call, name: string): Promise<Buffer> {
  return name === '-' ? standardBytes() : readBytesOf(resolve(call.cwd, name));
}

async function standardInput(): Promise<string> {
  return (await standardBytes()).toString('utf8');
}

async function standardBytes(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes > INPUT_BYTES_MAX) throw new UsageError(`standard input is larger than ${INPUT_BYTES_MAX} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

// Lines end at a line feed and nowhere else: other separators may be in a JSON string. Chunks are decoded whole; only where one
// is not UTF-8 are its lines decoded one by one.
export type InputLine =
  | { readonly text: string }
  /** It is not UTF-8; these are its bytes. */
  | { readonly bytes: Buffer }
  /** It has more bytes than a line may have, and they were not kept. */
  | { readonly tooLong: true };

const LINE_FEED = 0x0a;

/** The lines in their order. No more of an unfinished line is kept than a line may have. */
export async function* linesIn(input: AsyncIterable<Buffer | string>, bytesMax: number): AsyncGenerator<InputLine> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const given of input) {
    const chunk = typeof given === 'string' ? Buffer.from(given) : given;
    const first = chunk.indexOf(LINE_FEED);
    const isOver = length > bytesMax;
    if (first >= 0) {
      yield lineOf(isOver ? [] : [...begun, chunk.subarray(0, first)], length + first, bytesMax);
      const last = chunk.lastIndexOf(LINE_FEED);
      if (last > first) yield* wholeLines(chunk.subarray(first + 1, last), bytesMax);
      begun = [];
      length = 0;
    }
    const rest = chunk.subarray(first < 0 ? 0 : chunk.lastIndexOf(LINE_FEED) + 1);
    length += rest.length;
    if (length > bytesMax) begun = [];
    else if (rest.length > 0) begun.push(rest);
  }
  if (length > 0) yield lineOf(begun, length, bytesMax);
}

/** Lines that lie in one piece, without the line feed after the last one. */
function* wholeLines(bytes: Buffer, bytesMax: number): Generator<InputLine> {
  if (bytes.length <= bytesMax && isUtf8(bytes)) {
    for (const text of bytes.toString('utf8').split('\n')) yield { text };
    return;
  }
  for (let from = 0; from <= bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, from);
    const line = bytes.subarray(from, end < 0 ? bytes.length : end);
    yield lineOf([line], line.length, bytesMax);
    from = end < 0 ? bytes.length + 1 : end + 1;
  }
}

function lineOf(parts: readonly Buffer[], length: number, bytesMax: number): InputLine {
  if (length > bytesMax) return { tooLong: true };
  const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { bytes };
}

/** A question is cut between its words, with room for the answer. */
function asked(question: string): string {
  const columns = Math.max(0, (process.stderr.columns ?? 0) - ' [y/N] yes'.length);
  return wrap(safe(question), columns).join('\n');
}

/** Whether a person is at a terminal who can be asked. */
export function hasPerson(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks the person at the terminal. Without a terminal the answer is no. */
export async function confirm(question: string): Promise<boolean> {
  if (!hasPerson()) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${asked(question)} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/** One of several, by its number or name. The first one without a terminal, and after an empty line. */
export async function choose(
  question: string,
  of: readonly [string, ...string[]],
  means: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [first] = of;
  if (!hasPerson()) return first;
  const width = Math.max(...of.map((name) => name.length));
  const columns = process.stderr.columns ?? 0;
  const rows = of.flatMap((name, at) => {
    const row = `  ${at + 1}  ${name.padEnd(width)}  ${means[name] ?? ''}`.trimEnd();
    return wrap(row, columns, width + '  1    '.length);
  });
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    let text = safe(`${question}\n${rows.join('\n')}\n[${first}] `);
    for (;;) {
      const answer = await terminal.question(text);
      const word = answer.trim();
      if (word === '') return first;
      const found = of.find((name, at) => name === word || String(at + 1) === word);
      if (found !== undefined) return found;
      text = `${oneLine(word, 40)} is none of them: say a number from 1 to ${of.length}, or a name. [${first}] `;
    }
  } finally {
    terminal.close();
  }
}
