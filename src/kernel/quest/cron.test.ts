import { describe, expect, test } from 'vitest';
import { isZone, offsetsOf } from '../../app/time-zone.ts';
import { nextDue, readCron } from './cron.ts';

function next(line: string, zone: string, after: string): string {
  const reading = readCron(line);
  if (!reading.ok) throw new Error(reading.reason);
  return new Date(nextDue(reading.cron, offsetsOf(zone), Date.parse(after))).toISOString();
}

describe('a line of cron', () => {
  test.each([
    ['0 3 * * *', 'UTC', '2026-05-01T02:59:59Z', '2026-05-01T03:00:00.000Z'],
    ['0 3 * * *', 'UTC', '2026-05-01T03:00:00Z', '2026-05-02T03:00:00.000Z'],
    ['*/15 9-17 * * mon-fri', 'UTC', '2026-05-01T17:45:00Z', '2026-05-04T09:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2026-05-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    ['0 0 13 * 5', 'UTC', '2026-05-01T00:00:00Z', '2026-05-08T00:00:00.000Z'],
    ['0 12 * * 7', 'UTC', '2026-05-01T00:00:00Z', '2026-05-03T12:00:00.000Z'],
    ['5,35 * * * *', 'UTC', '2026-05-01T00:05:00Z', '2026-05-01T00:35:00.000Z'],
    ['@monthly', 'UTC', '2026-12-31T23:59:00Z', '2027-01-01T00:00:00.000Z'],
    ['0 3 * * *', 'Europe/Berlin', '2026-01-10T00:00:00Z', '2026-01-10T02:00:00.000Z'],
    ['0 3 * * *', 'Asia/Kolkata', '2026-01-10T00:00:00Z', '2026-01-10T21:30:00.000Z'],
    ['0 20 * * *', 'America/Los_Angeles', '2026-01-10T05:00:00Z', '2026-01-11T04:00:00.000Z'],
  ])('%s in %s after %s is due at %s', (line, zone, after, due) => {
    expect(next(line, zone, after)).toBe(due);
  });

  test.each([
    [
      'a local time that is left out is due when the gap ends',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'and on the next day at its time again',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00.000Z',
    ],
    [
      'a local time that comes twice is due the first time',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    ['and not the second time', '30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00.000Z'],
    ['a gap of half an hour', '15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T10:00:00Z', '2026-10-03T15:30:00.000Z'],
  ])('%s', (_what, line, zone, after, due) => {
    expect(next(line, zone, after)).toBe(due);
  });

  test.each([
    ['0 3 * *', 'five fields'],
    ['60 3 * * *', 'the minute of "60 3 * * *" goes from 0 to 59'],
    ['0 24 * * *', 'the hour'],
    ['0 3 31 2 *', 'a day that no month has'],
    ['*/0 * * * *', 'a step of 0'],
    ['0 3 * * funday', 'the day of the week'],
    ['5-1 * * * *', 'the minute'],
    ['0 0 1 1 * rm -rf', 'five fields'],
    ['a'.repeat(200), 'five fields'],
  ])('%s is refused: %s', (line, why) => {
    const reading = readCron(line);
    expect(reading.ok ? 'read' : reading.reason).toContain(why);
  });

  test('knows time zones by their names', () => {
    expect(['UTC', 'Europe/Berlin', 'Mars/Base', ''].map(isZone)).toEqual([true, true, false, false]);
  });
});
