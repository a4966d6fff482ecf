import { expect, test } from 'vitest';
import type { CodeRow } from './codes/row.ts';
import { ANSWERS } from './codes.ts';

const ROWS: readonly (readonly [string, CodeRow])[] = Object.entries(ANSWERS);

test.each(ROWS)('%s says what it means, what causes it and what to do, each in words of its own', (_code, row) => {
  const { means, cause, fix } = row;
  for (const sentence of [means, cause, fix]) expect(sentence).toMatch(/^[\S](?:.*[^\s.])?$/);
  expect(new Set([means, cause, fix]).size).toBe(3);
  expect(cause.split(' ').length).toBeGreaterThanOrEqual(5);
});

test('no two codes have the same cause', () => {
  const causes = ROWS.map(([, { cause }]) => cause.toLowerCase());
  expect(causes.filter((cause, index) => causes.indexOf(cause) !== index)).toEqual([]);
});

test('no cause only says that something is wrong somewhere', () => {
  const generic =
    /\b(?:an error|an issue|invalid input|something (?:is|was|went) wrong|see (?:the )?(?:details|reason))\b/i;
  expect(ROWS.filter(([, { cause }]) => generic.test(cause)).map(([code]) => code)).toEqual([]);
});
