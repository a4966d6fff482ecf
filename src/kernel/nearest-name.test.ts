import { expect, test } from 'vitest';
import { nearestName } from './text.ts';

const KNOWN = ['maxTokens', 'maxCost', 'maxDurationMs', 'warnAtPercent', 'limits'];

test.each([
  ['maxTokens', 'maxTokens'],
  ['max_tokens', 'maxTokens'],
  ['MAXTOKENS', 'maxTokens'],
  ['maxToken', 'maxTokens'],
  ['maxDuration', 'maxDurationMs'],
  ['limit', 'limits'],
  ['lmits', 'limits'],
  ['ilmits', 'limits'],
  ['xyz', null],
  ['', null],
  ['wholly different', null],
  ['maxTokens'.repeat(10_000), null],
])('%.20s is nearest to %s', (name, nearest) => {
  expect(nearestName(name, KNOWN)).toBe(nearest);
});

test('two letters in the wrong order are one mistake', () => {
  expect(nearestName('onwer', ['owner', 'pid'])).toBe('owner');
});

test('of two that are equally near the first is named', () => {
  expect(nearestName('maxCast', ['maxCost', 'maxCase'])).toBe('maxCost');
});
