// Times as the contract writes them: ISO 8601 with a date and a time of day. Without an offset a time is UTC.
import { CALENDAR_DAY, HOUR, MINUTE } from '../calendar-day.ts';

const FORM =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$/;

const UNZONED = `^${CALENDAR_DAY}[Tt ]${HOUR}:${MINUTE}(?::${MINUTE}(?:[.,]\\d{1,9})?)?`;
/** The same forms for schemas, which cannot count days. */
export const TIME_PATTERN = `${UNZONED}(?:[Zz]|[+\\-]${HOUR}:?${MINUTE})?$`;
/** Of these, the times that are in UTC. */
export const UTC_TIME_PATTERN = `${UNZONED}(?:[Zz]|[+\\-]00:?00)?$`;

export type Instant = { readonly seconds: number; readonly isUtc: boolean };

/** The instant in whole seconds since 1970, or null when the text names none. */
export function readInstant(text: string): Instant | null {
  const match = FORM.exec(text);
  if (!match) return null;
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const [offsetHour, offsetMinute] = [part(9), part(10)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day); // Unlike Date.UTC this takes the years 0 to 99 as they are.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const offset = (match[8] === '-' ? -1 : 1) * (offsetHour * 3600 + offsetMinute * 60);
  return { seconds: date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset, isUtc: offset === 0 };
}

export function isUtcTimestamp(value: unknown): value is string {
  return typeof value === 'string' && readInstant(value)?.isUtc === true;
}
