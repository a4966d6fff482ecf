// A line is canonical JSON whichever way it was written.
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fact } from '../kernel/fact.ts';
import { chain, NO_PREV } from './line.ts';

const key = fc.oneof(fc.string(), fc.constantFrom('10', '9', '1', 'a', 'B', '__proto__', 'é', '😀', ''));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
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
      const { line } = chain({ fact, by: 'test', at: 0 }, 1, NO_PREV, '');
      expect(line).toBe(canonicalize(JSON.parse(line)));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 1000) },
  );
});
