// The one form of time an envelope may carry, and whether it is fresh. The form is the part of ISO 8601 that names an
// instant without doubt: full date, full time, an offset. Instants are exact to the last digit.
import { CALENDAR_DAY, HOUR, MINUTE } from '../dialects/calendar-day.ts';
import type { Problem } from '../kernel/trust/problem.ts';

const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
/** The same form for schemas, which cannot count days. */
export const TIMESTAMP_PATTERN = `^${CALENDAR_DAY}T${HOUR}:${MINUTE}:${MINUTE}(?:\\.\\d{1,9})?(?:Z|[+\\-]${HOUR}:${MINUTE})$`;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
/** About 30,000 years: more than any two timestamps of four-digit years lie apart. */
const SECONDS_MAX = 1e12;

/** Seconds since 1970, which may be negative, and nanoseconds after them, which may not. */
export type Instant = { readonly seconds: number; readonly nanos: number };
type Window = { readonly now: Instant; readonly maxAgeS: number; readonly maxSkewS: number };

/** The instant a timestamp names, or null when it is not in the form. */
export function readInstant(text: string): Instant | null {
  if (!FORM.test(text)) return null;
  // In the form everything up to the seconds, and the offset at the end, has a fixed place.
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const isUtc = text.endsWith('Z');
  const zone = text.length - (isUtc ? 1 : 6);
  const offsetHour = isUtc ? 0 : twoDigits(text, zone + 1);
  const offsetMinute = isUtc ? 0 : twoDigits(text, zone + 4);
  if (offsetHour > 23 || offsetMinute > 59) return null;
  const offset = (text[zone] === '-' ? -1 : 1) * (offsetHour * 3600 + offsetMinute * 60);
  const seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
  return { seconds, nanos: zone === 19 ? 0 : Number(text.slice(20, zone).padEnd(9, '0')) };
}

let clock: { readonly text: string; readonly instant: Instant | null } = { text: '', instant: null };

/** The same for the verifier's own time, which many envelopes are held against. */
export function readClock(text: string): Instant | null {
  if (text !== clock.text) clock = { text, instant: readInstant(text) };
  return clock.instant;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

/** Whether the envelope was made neither too long ago nor in the future; both edges still count as fresh. */
export function checkFreshness(timestamp: string, window: Window): Problem[] {
  const instant = readInstant(timestamp);
  if (instant === null) return checkTimestampForm(timestamp);
  if (isLonger(instant, window.now, window.maxAgeS)) {
    return [problem('TIMESTAMP_STALE', `the envelope is more than ${window.maxAgeS} s old; send a new one`)];
  }
  if (isLonger(window.now, instant, window.maxSkewS)) {
    return [
      problem('TIMESTAMP_FUTURE', `the envelope is more than ${window.maxSkewS} s ahead of the verifier's clock`),
    ];
  }
  return [];
}

export function checkTimestampForm(timestamp: string): Problem[] {
  if (readInstant(timestamp) !== null) return [];
  return [
    problem(
      'TIMESTAMP_INVALID',
      'the timestamp must be a real date and time with an offset, like 2026-02-11T00:45:02Z',
    ),
  ];
}

function problem(code: Problem['code'], message: string): Problem {
  return { code, pointer: '/timestamp', message };
}

/** Whether more than this many seconds lie between two instants. Seconds and the rest of one apart stay exact. */
function isLonger(from: Instant, to: Instant, secondsMax: number): boolean {
  const bounded = Math.min(Math.max(secondsMax, 0), SECONDS_MAX);
  const whole = Math.floor(bounded);
  const seconds = to.seconds - from.seconds - whole;
  if (seconds > 1 || seconds < -1) return seconds > 0;
  return seconds * 1e9 + to.nanos - from.nanos > Math.round((bounded - whole) * 1e9);
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
}

// Counts in years that begin in March, so that the leap day is the last of its year. `Date.UTC` would read the
// years 0 to 99 as 1900 to 1999.
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
