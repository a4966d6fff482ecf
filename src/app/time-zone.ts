// Local time, which the kernel does not know: the names of time zones, and how far each is ahead of universal time.
import type { Offsets } from '../kernel/quest/cron.ts';

/** Whether the name of a time zone is known here. */
export function isZone(zone: string): boolean {
  try {
    return zone.length <= 64 && new Intl.DateTimeFormat('en-US', { timeZone: zone }) !== null;
  } catch {
    return false;
  }
}

export function zoneHere(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export function offsetsOf(zone: string): Offsets {
  const format = new Intl.DateTimeFormat('en-US', {
    ...({ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
  });
  return (at) => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
  };
}
