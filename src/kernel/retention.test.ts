// Spans, texts that cannot go, and worktrees that stay.
import { expect, test } from 'vitest';
import { type CastEnd, refusalOfUntouched, spanMs, whyWorktreeStays } from './retention.ts';

test.each<[string, number | null]>([
  ['5m', 300_000],
  ['12h', 43_200_000],
  ['30d', 2_592_000_000],
  ['8w', 4_838_400_000],
  ['', null],
  ['30', null],
  ['-1d', null],
  ['1y', null],
  ['1234567d', null],
])('the span %j', (text, ms) => {
  expect(spanMs(text)).toBe(ms);
});

test.each<[number | null, string | null]>([
  [null, null],
  [0, 'BAD_USAGE'],
  [2, 'NOT_ALLOWED_NOW'],
])('a named text that is kept %s times', (kept, code) => {
  const untouched = kept === null ? [] : [{ digest: 'sha256:1', kept }];
  expect(refusalOfUntouched(untouched)?.code ?? null).toBe(code);
});

const over = (status: string): CastEnd => ({ status, isOver: true, isDriven: false });

test.each<[string, CastEnd | null, boolean, string | null]>([
  ['unknown', null, false, null],
  ['running', { ...over('running'), isOver: false }, true, 'its cast is running'],
  ['driven', { ...over('failed'), isDriven: true }, true, 'its cast is failed'],
  ['completed', over('completed'), false, null],
  ['failed', over('failed'), false, 'with --stopped it goes'],
  ['failed, and stopped ones are meant too', over('failed'), true, null],
])('the worktree of a cast that is %s', (_, cast, stopped, words) => {
  const why = whyWorktreeStays(cast, stopped);
  if (words === null) expect(why).toBeNull();
  else expect(why).toContain(words);
});
