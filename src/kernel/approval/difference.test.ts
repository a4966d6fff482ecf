// What a person decides by cannot hide anything: neither in characters nor behind what an agent calls it.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactly, inWords, requestText } from './difference.ts';
import type { SealedRequest } from './request.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

test.each([
  ['ls -la', 'ls -la', 'ls -la'],
  ['x\n  command  ls', 'x\\u{a}  command  ls', 'x command ls'],
  ['a\t\tb', 'a\\u{9}\\u{9}b', 'a b'],
  ['a\u200bb', 'a\\u{200b}b', 'a\\u{200b}b'],
  ['a\u2060\u00ad\u3164b', 'a\\u{2060}\\u{ad}\\u{3164}b', 'a\\u{2060}\\u{ad}\\u{3164}b'],
  ['a\u{e0041}b', 'a\\u{e0041}b', 'a\\u{e0041}b'],
  ['a\u202eb', 'a\\u{202e}b', 'a\\u{202e}b'],
  ['a\u00a0b', 'a\\u{a0}b', 'a b'],
  ['pr\u043ed', 'pr\\u{43e}d', 'pr\u043ed'],
  ['Grüße', 'Gr\\u{fc}\\u{df}e', 'Grüße'],
])('%j', (text, exact, words) => {
  expect([exactly(text), inWords(text)]).toEqual([exact, words]);
});

const sealed = (operation: string, ...displays: string[]) =>
  ({ operation, commands: displays.map((display) => ({ display })) }) as unknown as SealedRequest;

test('a wish is told by what was sealed', () => {
  expect(requestText(sealed('list the folder', 'rm prod'))).toBe('rm prod');
  expect(requestText(sealed('list the folder', 'rm a', 'rm b'))).toBe('2 commands: (1) rm a (2) rm b');
  expect(requestText(sealed('write\nto ann'))).toBe('permission in words: write to ann');
  expect(requestText(sealed('', 'x'.repeat(5_000)))).toMatch(/…$/);
});

test('whatever the text, what is shown stands on one line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(exactly(text)).toMatch(/^[\x20-\x7e]*$/);
      expect(inWords(text)).not.toMatch(/[\p{Cc}\p{Cf}\n\t]/u);
    }),
    { numRuns: RUNS },
  );
});
