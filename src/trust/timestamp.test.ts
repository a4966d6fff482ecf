import { expect, test } from 'vitest';
import { checkFreshness, type Instant, readInstant } from './lineage.ts';

const EPOCH: Instant = { seconds: 0, nanos: 0 };

function nanoseconds(text: string): bigint | null {
  const instant = readInstant(text);
  return instant && BigInt(instant.seconds) * 1_000_000_000n + BigInt(instant.nanos);
}

test.each([
  ['1970-01-01T00:00:00Z', 0n],
  ['1969-12-31T23:59:59Z', -1_000_000_000n],
  ['2026-02-11T00:45:02Z', 1_770_770_702_000_000_000n],
  ['2026-02-11T02:45:02+02:00', 1_770_770_702_000_000_000n],
  ['2026-02-10T19:15:02-05:30', 1_770_770_702_000_000_000n],
  ['2026-02-11T00:45:02.000000001Z', 1_770_770_702_000_000_001n],
  ['2026-02-11T00:45:02.5Z', 1_770_770_702_500_000_000n],
  ['2024-02-29T00:00:00Z', 1_709_164_800_000_000_000n],
  ['2000-02-29T00:00:00Z', 951_782_400_000_000_000n],
  ['0000-01-01T00:00:00Z', -62_167_219_200_000_000_000n],
  ['2026-02-30T00:00:00Z', null],
  ['2025-02-29T00:00:00Z', null],
  ['1900-02-29T00:00:00Z', null],
  ['2026-04-31T00:00:00Z', null],
  ['2026-00-10T00:00:00Z', null],
  ['2026-13-10T00:00:00Z', null],
  ['2026-01-00T00:00:00Z', null],
  ['2026-02-11T24:00:00Z', null],
  ['2026-02-11T23:60:00Z', null],
  ['2026-02-11T23:59:60Z', null],
  ['2026-02-11T00:45:02', null],
  ['2026-02-11', null],
  ['20260211T004502Z', null],
  ['2026-W07-3T00:45:02Z', null],
  ['2026-042T00:45:02Z', null],
  ['2026-02-11T00:45:02,5Z', null],
  ['2026-02-11T00:45:02.Z', null],
  ['2026-02-11T00:45:02.1234567890Z', null],
  ['2026-02-11t00:45:02Z', null],
  ['2026-02-11T00:45:02z', null],
  ['2026-02-11 00:45:02Z', null],
  ['2026-02-11T00:45:02+2:00', null],
  ['2026-02-11T00:45:02+24:00', null],
  ['2026-02-11T00:45:02+02:60', null],
  ['2026-02-11T00:45:02Z\n', null],
  ['', null],
])('%j is the instant %s', (text, instant) => {
  expect(nanoseconds(text)).toBe(instant);
});

test('agrees with Date for every month of four centuries', () => {
  for (let month = 0; month < 12 * 400; month++) {
    const date = new Date(Date.UTC(1800, month, 1 + (month % 28), 1, 2, 3));
    expect(nanoseconds(date.toISOString())).toBe(BigInt(date.getTime()) * 1_000_000n);
  }
});

test.each([
  ['2026-02-11T00:40:00Z', []],
  ['2026-02-11T00:39:59.999999999Z', ['TIMESTAMP_STALE']],
  ['2026-02-11T00:46:00Z', []],
  ['2026-02-11T00:46:00.000000001Z', ['TIMESTAMP_FUTURE']],
  ['yesterday', ['TIMESTAMP_INVALID']],
])('at 00:45 with 300 s and 60 s, %s is %j', (timestamp, codes) => {
  const now = readInstant('2026-02-11T00:45:00Z') ?? EPOCH;
  expect(checkFreshness(timestamp, { now, maxAgeS: 300, maxSkewS: 60 }).map(({ code }) => code)).toEqual(codes);
});

test('no window is too large', () => {
  const window = { now: readInstant('9999-12-31T23:59:59Z') ?? EPOCH, maxAgeS: Number.MAX_VALUE, maxSkewS: 0.1 };
  expect(checkFreshness('0000-01-01T00:00:00Z', window)).toEqual([]);
});
