import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conflictsAmong, covers, overlaps, PathIndex } from './path.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

test.each([
  ['core', 'core', true],
  ['core', 'core/x', true],
  ['core', 'core2', false],
  ['web', 'website', false],
  ['Web', 'web/src', false],
  ['web/*', 'web/a.ts', false],
  ['web/*', 'web', true],
  ['.', 'src/a.ts', true],
  ['.', '/opt', false],
  ['/', '/opt', true],
  ['/', 'src', true],
  ['/', '.', true],
  ['/opt', '/opt/x', true],
  ['/opt', 'opt/x', false],
])('%s and %s overlap: %s', (a, b, expected) => {
  expect([overlaps(a, b), overlaps(b, a)]).toEqual([expected, expected]);
});

test.each([
  ['src', 'src/a.ts', true],
  ['src/a.ts', 'src', false],
  ['src', 'src', true],
  ['.', '.', true],
  ['src', '.', false],
])('%s covers %s: %s', (outer, inner, expected) => {
  expect(covers(outer, inner)).toBe(expected);
});

test('three holders on a path, its child and its grandchild make three pairs in the order of the list', () => {
  const claims = ['d', 'd/e', 'd/e/f'].map((path, index) => ({ holder: `T-${index}`, path }));
  expect(conflictsAmong(claims)).toEqual({
    pairs: [
      [0, 1],
      [0, 2],
      [1, 2],
    ],
    truncated: false,
  });
});

test('a holder does not conflict with itself', () => {
  expect(
    conflictsAmong([
      { holder: 'T-1', path: 'web' },
      { holder: 'T-1', path: 'web/src' },
    ]).pairs,
  ).toEqual([]);
});

test('the list of pairs is cut off and says so', () => {
  const claims = Array.from({ length: 20_000 }, (_, index) => ({ holder: `T-${index}`, path: 'same' }));
  const { pairs, truncated } = conflictsAmong(claims);
  expect([pairs.length, truncated]).toEqual([1000, true]);
});

test('many claims of one holder below each other, and a very deep path, are quick', { timeout: 60_000 }, () => {
  const mine = Array.from({ length: 20_000 }, (_, index) => ({ holder: 'T-1', path: index % 2 ? 'd' : `d/${index}` }));
  const deep = { holder: 'T-2', path: Array.from({ length: 100_000 }, () => 'a').join('/') };
  const started = performance.now();
  expect(conflictsAmong([...mine, deep]).pairs).toEqual([]);
  expect(performance.now() - started).toBeLessThan(60_000);
});

const path = fc
  .tuple(fc.constantFrom('', '/'), fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 4 }))
  .map(([lead, parts]) => (parts.length === 0 ? lead || '.' : lead + parts.join('/')));

test('the tree finds exactly the pairs that comparing each with each finds', { timeout: 600_000 }, () => {
  const claim = fc.record({ holder: fc.constantFrom('T-1', 'T-2', 'T-3'), path });
  fc.assert(
    fc.property(fc.array(claim, { maxLength: 12 }), (claims) => {
      const expected = claims.flatMap((a, i) =>
        claims.flatMap((b, j) => (i < j && a.holder !== b.holder && overlaps(a.path, b.path) ? [[i, j]] : [])),
      );
      expect(conflictsAmong(claims).pairs).toEqual(expected);
    }),
    { numRuns: RUNS },
  );
});

test('the index finds the path that a walk through the list finds', { timeout: 600_000 }, () => {
  fc.assert(
    fc.property(fc.array(path, { maxLength: 8 }), path, (paths, asked) => {
      const expected = paths.findIndex((one) => overlaps(one, asked));
      expect(new PathIndex(paths).firstOverlap(asked)).toBe(expected === -1 ? null : expected);
    }),
    { numRuns: RUNS },
  );
});
