// A line is canonical JSON whichever way its fact was written down, and gives the same entry back.
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fact } from '../kernel/fact.ts';
import { parseJson } from '../kernel/json.ts';
import { chain, entryFromLine, leafHash, NO_PREV } from './line.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 200, maxLength: 400 }),
  fc.constantFrom('half \ud800', '\udc00'.repeat(300), '"\\\u0000\u001f\u007f\u2028', '€'.repeat(86)),
);
const names = ['$blob', '$json', '$literal', 'half \udfff', '"', '\\', 'a\\', 'a"', 'a\n'];
const key = fc.oneof(
  fc.string(),
  fc.constantFrom(...names),
  fc.constantFrom('10', '9', '1', 'a', 'B', '__proto__', 'é', '😀', ''),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    // JSON has one zero.
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value')),
    fc.dictionary(key, tie('value')),
  ),
})).value;

test('ordered or not, with keys that look like numbers or not: the line is what RFC 8785 says', () => {
  fc.assert(
    fc.property(json, (data) => {
      const fact = { kind: 'cast.started', cast: 'c', data } as unknown as Fact;
      const { line, leaf, blobs, entry } = chain({ fact, by: 'test', at: 0, once: ['b', 'a'] }, 1, NO_PREV, '');
      expect(line).toBe(canonicalize(parseJson(line)));
      expect(leaf).toBe(leafHash(line));
      const texts = new Map(blobs.map(({ digest, text: body }) => [digest, body]));
      expect(entryFromLine(line, (digest) => texts.get(digest) ?? null)).toEqual(entry);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});

test('the leaf is the hash of a zero byte and the bytes of the line', () => {
  const bytes = Buffer.concat([Buffer.from([0]), Buffer.from('{"é":"€😀"}', 'utf8')]);
  expect(leafHash('{"é":"€😀"}')).toBe(createHash('sha256').update(bytes).digest('hex'));
});

test('facts of the same time have the same stamp, and a time that is none has no stamp', () => {
  const fact: Fact = { kind: 'cast.paused', cast: 'c', reason: '' };
  const stampAt = (at: number) => chain({ fact, by: 'test', at }, 1, NO_PREV, '').entry.at;
  expect([1_000, 1_000, 2_000, 1_000].map((at) => stampAt(at).slice(17, 19))).toEqual(['01', '01', '02', '01']);
  expect(() => stampAt(Number.NaN)).toThrow(RangeError);
});
