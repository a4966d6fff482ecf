// When a schedule is due: the five fields of cron (minute, hour, day of the month, month, day of the week) in a time zone. The
// rules about clocks: a local time that a zone leaves out in spring is due at the first moment after the gap, one that comes
// twice in autumn is due the first time only.

/** A day counts where both fields of days fit; where both are limited, where one of them fits, as cron has always had it. */
type Cron = {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  readonly anyDay: boolean;
  readonly anyWeekday: boolean;
};

type FieldRule = {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly words?: readonly string[];
};

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const;
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, words: MONTHS },
  { name: 'day of the week', min: 0, max: 7, words: WEEKDAYS },
] as const satisfies readonly FieldRule[];

const SHORT: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};

export const CRON_CHARS_MAX = 120;

type CronReading = { readonly ok: true; readonly cron: Cron } | { readonly ok: false; readonly reason: string };

/** Reads a line of cron, or says what is wrong with it. */
export function readCron(text: string): CronReading {
  const line = text.trim().toLowerCase();
  const parts = (SHORT[line] ?? line).split(/\s+/);
  if (text.length > CRON_CHARS_MAX || parts.length !== FIELDS.length) {
    const forms = Object.keys(SHORT).join(', ');
    const reason = `a schedule has five fields (minute, hour, day of the month, month, day of the week), such as "0 3 * * 1", or is one of ${forms}`;
    return { ok: false, reason };
  }
  const sets: (readonly number[])[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const found = valuesOf(parts[index] ?? '', field);
    if (typeof found === 'string') return { ok: false, reason: `the ${field.name} of "${text.trim()}" ${found}` };
    sets.push(found);
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = sets;
  const cron: Cron = {
    ...{ minutes, hours, days: new Set(days), months: new Set(months) },
    weekdays: new Set(weekdays.map((day) => day % 7)),
    anyDay: parts[2]?.startsWith('*') === true,
    anyWeekday: parts[4]?.startsWith('*') === true,
  };
  if (isNever(cron)) return { ok: false, reason: `"${text.trim()}" names a day that no month has` };
  return { ok: true, cron };
}

const PART = /^(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d{1,2}))?$/;

/** The values of one field in order, or what is wrong with it. */
function valuesOf(text: string, { min, max, words }: FieldRule): readonly number[] | string {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [, from = '', to, step] = PART.exec(part) ?? [];
    const isAll = from === '*';
    if (from === '' || (isAll && to !== undefined)) return `cannot be read at "${part}"`;
    const first = isAll ? min : numberIn(from, min, words);
    const last = isAll ? max : to !== undefined ? numberIn(to, min, words) : step !== undefined ? max : first;
    if (first === null || last === null || first < min || last > max || first > last)
      return `goes from ${min} to ${max}, and "${part}" does not fit`;
    const by = step === undefined ? 1 : Number(step);
    if (by === 0) return `has a step of 0 in "${part}"`;
    for (let value = first; value <= last; value += by) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}

function numberIn(word: string, min: number, words: readonly string[] = []): number | null {
  if (/^\d{1,2}$/.test(word)) return Number(word);
  const place = words.indexOf(word);
  return place < 0 ? null : place + min;
}

const DAYS_IN = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isNever({ days, months, anyWeekday }: Cron): boolean {
  if (!anyWeekday) return false;
  return ![...months].some((month) => [...days].some((day) => day <= (DAYS_IN[month - 1] ?? 0)));
}

const DAY_MS = 86_400_000;
/** The 29th of February is eight years away where a century leaves a leap year out. */
const DAYS_MAX = 8 * 366 + 1;

/** How far local time is ahead of universal time at a moment, in milliseconds. Only the caller knows time zones. */
export type Offsets = (at: number) => number;

/** The first moment after `after` at which it is due. A line that was read has one within eight years. */
export function nextDue(cron: Cron, offsetAt: Offsets, after: number): number {
  const local = new Date(after + offsetAt(after));
  const today = Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate());
  for (let days = 0; days < DAYS_MAX; days++) {
    const midnight = today + days * DAY_MS;
    if (!isOn(cron, new Date(midnight))) continue;
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const at = momentOf(midnight + (hour * 60 + minute) * 60_000, offsetAt);
        if (at > after) return at;
      }
    }
  }
  throw new Error('a schedule that was read is due some day');
}

function isOn({ days, months, weekdays, anyDay, anyWeekday }: Cron, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const [byDay, byWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return anyDay || anyWeekday ? byDay && byWeekday : byDay || byWeekday;
}

/** The moment of a local time. In a gap it is the end of the gap; where the time comes twice, the first one. */
function momentOf(local: number, offsetAt: Offsets): number {
  const [before, after] = [offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)];
  const candidates = [local - before, local - after].filter((at) => at + offsetAt(at) === local);
  if (candidates.length > 0) return Math.min(...candidates);
  // The clock jumps over this local time: the moment of the jump lies between the two readings.
  let [low, high] = [local - Math.max(before, after), local - Math.min(before, after)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}
