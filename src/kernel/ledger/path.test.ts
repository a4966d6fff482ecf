import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalPath } from './path.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

test.each([
  ['pkg\\core\\io.ts', 'pkg/core/io.ts'],
  ['a//b///c/', 'a/b/c'],
  ['a/b//', 'a/b'],
  ['./pkg/./core', 'pkg/core'],
  ['  src/api.ts\n', 'src/api.ts'],
  ['.', '.'],
  ['./', '.'],
  ['pkg/../core', 'core'],
  ['pkg/..', '.'],
  ['a/b/../../c', 'c'],
  ['/', '/'],
  ['///opt', '/opt'],
  ['//opt', '/opt'],
  ['/../x', '/x'],
  ['/a/..', '/'],
  ['Pkg', 'Pkg'],
  ['pkg/*.ts', 'pkg/*.ts'],
  ['a b/c', 'a b/c'],
  ['...', '...'],
])('%j has the normal form %s', (raw, path) => {
  expect(normalPath(raw)).toEqual({ ok: true, path });
});

test.each([
  ['', 'empty'],
  [' \t ', 'empty'],
  ['//', 'empty'],
  ['\\\\', 'empty'],
  ['////', 'empty'],
  ['a\0b', 'nul'],
  ['..', 'escapes'],
  ['../core', 'escapes'],
  ['a/../../b', 'escapes'],
  ['scope\\..\\..\\x', 'escapes'],
])('%j is refused: %s', (raw, fault) => {
  expect(normalPath(raw)).toEqual({ ok: false, fault });
});

test('a normal form is its own normal form, and holds no empty, . or .. segment', { timeout: 600_000 }, () => {
  const piece = fc.constantFrom('a', 'b c', '.', '..', '', '...', 'é', '*', '\\', '/', ' ');
  const path = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('/')),
  );
  fc.assert(
    fc.property(path, (raw) => {
      const once = normalPath(raw);
      if (!once.ok) return;
      // White space inside the path may end up at its rim, where a second pass would trim it.
      if (once.path === once.path.trim()) expect(normalPath(once.path)).toEqual(once);
      const segments = once.path.replace(/^\//, '').split('/');
      if (once.path !== '/' && once.path !== '.') expect(segments.some((part) => /^\.{0,2}$/.test(part))).toBe(false);
    }),
    { numRuns: RUNS },
  );
});
