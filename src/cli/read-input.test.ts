import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type InputLine, linesIn } from './read-input.ts';

const MAX = 20;

async function lines(chunks: readonly (string | readonly number[])[], max = MAX): Promise<readonly InputLine[]> {
  return read(
    chunks.map((chunk) => Buffer.from(chunk as string)),
    max,
  );
}

async function read(chunks: readonly Buffer[], max: number): Promise<readonly InputLine[]> {
  async function* stream() {
    yield* chunks;
  }
  const found: InputLine[] = [];
  for await (const line of linesIn(stream(), max)) found.push(line);
  return found;
}

const told = (line: InputLine) => ('text' in line ? line.text : 'bytes' in line ? [...line.bytes] : 'too long');

test.each<[string, (string | number[])[], (string | number[])[]]>([
  ['nothing', [], []],
  ['one line without an end', ['a'], ['a']],
  ['an empty last line', ['a\n'], ['a']],
  ['empty lines', ['\n\na\n\n'], ['', '', 'a', '']],
  ['a line in pieces', ['a', 'b\nc', '', 'd'], ['ab', 'cd']],
  ['a line feed of its own', ['a', '\n', 'b'], ['a', 'b']],
  ['other separators', ['a\u2028b\u2029c\u0085d\re\nf'], ['a\u2028b\u2029c\u0085d\re', 'f']],
  ['a carriage return', ['a\r\nb\r\n'], ['a\r', 'b\r']],
  ['a mark at the beginning of each', ['\ufeffa\n\ufeffb'], ['\ufeffa', '\ufeffb']],
  ['a character in two pieces', [[0xc3], [0xa4, 0x0a, 0x62]], ['ä', 'b']],
  ['a byte that is no text', [[0x61, 0x0a, 0xff, 0x0a, 0x62, 0x0a]], ['a', [0xff], 'b']],
  ['half a character at the end', ['a\n', [0xc3]], ['a', [0xc3]]],
  ['half a character before a line feed', ['a\n', [0xc3, 0x0a, 0xa4]], ['a', [0xc3], [0xa4]]],
  ['a surrogate written as bytes', [[0xed, 0xa0, 0x80]], [[0xed, 0xa0, 0x80]]],
  ['as long as a line may be', ['x'.repeat(MAX), '\nb'], ['x'.repeat(MAX), 'b']],
  ['too long, in one piece', [`a\n${'x'.repeat(MAX + 1)}\nb\n`], ['a', 'too long', 'b']],
  ['too long, in pieces', ['x'.repeat(MAX), 'x', 'x', 'x\nb'], ['too long', 'b']],
  ['too long, and not ended', ['a\n', 'x'.repeat(MAX), 'x'], ['a', 'too long']],
  ['too long by its last piece', ['x'.repeat(MAX), 'x\n', 'b'], ['too long', 'b']],
])('%s', async (_, chunks, expected) => {
  expect((await lines(chunks)).map(told)).toEqual(expected);
});

test('of a line without an end no more is kept than a line may have', async () => {
  let most = 0;
  const piece = Buffer.alloc(64 * 1024, 'x');
  async function* endless() {
    for (let count = 0; count < 4_096; count++) {
      // Each piece is one of its own, as a stream would bring it.
      yield Buffer.from(piece);
      if (count % 256 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    yield Buffer.from('\nafter\n');
  }
  const before = process.memoryUsage().arrayBuffers;
  const found: InputLine[] = [];
  for await (const line of linesIn(endless(), 1024 * 1024)) found.push(line);
  expect(found.map(told)).toEqual(['too long', 'after']);
  expect(most - before).toBeLessThan(200 * 1024 * 1024);
});

test('however the bytes arrive, the lines are the same, one for each', async () => {
  const byte = fc.oneof({ weight: 3, arbitrary: fc.constant(0x0a) }, fc.integer({ min: 0, max: 255 }));
  const bytes = fc.uint8Array({ maxLength: 80 }).chain((some) => fc.array(byte).map((more) => [...some, ...more]));
  const cuts = fc.array(fc.nat({ max: 160 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(bytes, cuts, async (all, places) => {
      const whole = Buffer.from(all);
      const at = [0, ...places.filter((place) => place < whole.length).sort((a, b) => a - b), whole.length];
      const pieces = at.slice(1).map((end, index) => whole.subarray(at[index], end));
      const found = (await read(pieces, MAX)).map(told);
      const parts = split(whole);
      expect(found).toHaveLength(parts.length);
      for (const [index, part] of parts.entries()) {
        const text = part.toString('utf8');
        const isText = Buffer.from(text).equals(part);
        expect(found[index]).toEqual(part.length > MAX ? 'too long' : isText ? text : [...part]);
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});

/** The naive way. An end of line is no beginning of another. */
function split(bytes: Buffer): readonly Buffer[] {
  const found: Buffer[] = [];
  let line: number[] = [];
  for (const byte of bytes) {
    if (byte !== 0x0a) line.push(byte);
    else {
      found.push(Buffer.from(line));
      line = [];
    }
  }
  return line.length > 0 ? [...found, Buffer.from(line)] : found;
}
