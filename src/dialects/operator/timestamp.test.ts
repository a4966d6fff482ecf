import { expect, test } from 'vitest';
import { mismatches } from '../../kernel/fields.ts';
import { WORKLOG_ENTRY } from './contract.ts';
import { instantOf } from './findings.ts';

test.each([
  ['1970-01-01T00:00:00Z', 0],
  ['1970-01-01T00:01', 60],
  ['1970-01-01 00:00:01.999Z', 1],
  ['1970-01-01T03:00:00+03:00', 0],
  ['1969-12-31T19:00:00-0500', 0],
  ['2024-02-29T00:00:00Z', 1_709_164_800],
])('%s is %i s after 1970', (text, seconds) => {
  expect(instantOf(text)).toBe(seconds);
});

test.each([
  '',
  'now',
  '2026-02-11',
  '2026-02-30T00:00:00Z',
  '2025-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01T00:00:00+24:00',
  '2026-01-01T00:00:00Z\n',
  ' 2026-01-01T00:00:00Z',
])('%j names no instant', (text) => {
  expect(instantOf(text)).toBeNull();
});

test('a time with another offset is an instant, but not written in UTC', () => {
  const { timestamp } = WORKLOG_ENTRY.fields;
  const isUtc = (time: unknown) => timestamp !== undefined && mismatches(time, timestamp).length === 0;
  expect(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00'].every(isUtc)).toBe(true);
  expect(['2026-01-01T00:00:00+01:00', 5, null].some(isUtc)).toBe(false);
});

test('the years 0 to 99 are not those of the last century', () => {
  expect(instantOf('0099-01-01T00:00:00Z')).toBeLessThan(-59_000_000_000);
});
