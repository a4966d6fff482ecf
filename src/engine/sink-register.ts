// How far each sink of events has come, and which process delivers to it: rows of the register, next to the chain. One process at a
// time delivers to a sink, so that its events keep their order. What it has delivered it records at once; a process that is killed
// between the two delivers one event twice, with the same id.
import { type Driver, isSameProcess, LEASE_MS, sightOf } from './lease.ts';
import type { Log } from './ports.ts';

export type SinkState = {
  /** The last entry that it has, or that is nothing for it. */
  readonly after: number;
  /** How often the next event failed in a row, when it is tried again, and why it failed. */
  readonly tries: number;
  readonly nextAt: number;
  readonly why: string;
  /** Its bound was passed, and the log says so. */
  readonly isStalled: boolean;
};

export type SinkRow = SinkState & {
  readonly holder: Driver | null;
  /** By the clock of the store. */
  readonly until: number;
};

const PREFIX = 'sink:';

export async function takeSink(log: Pick<Log, 'lease' | 'head'>, sink: string, driver: Driver, now: number) {
  const { seq } = await log.head();
  let taken: SinkRow | null = null;
  await log.lease(PREFIX + sink, (value) => {
    const row = value === null ? { after: seq, ...FRESH } : (JSON.parse(value) as SinkRow);
    taken = null;
    if (row.holder && !isSameProcess(row.holder, driver) && livesOn(row, row.holder, now)) return value;
    taken = { ...row, holder: driver, until: now + LEASE_MS };
    return JSON.stringify(taken);
  });
  return taken as SinkRow | null;
}

const FRESH = { tries: 0, nextAt: 0, why: '', isStalled: false, holder: null, until: 0 } as const;

function livesOn({ until }: SinkRow, holder: Driver, now: number): boolean {
  const sight = sightOf(holder);
  return sight === 'unknown' ? until > now : sight === 'runs';
}

export async function moveSink(
  log: Pick<Log, 'lease'>,
  sink: string,
  driver: Driver,
  state: SinkState,
  now: number,
  releases: boolean,
): Promise<boolean> {
  let isOurs = false;
  await log.lease(PREFIX + sink, (value) => {
    const row = value === null ? null : (JSON.parse(value) as SinkRow);
    isOurs = row?.holder != null && isSameProcess(row.holder, driver);
    if (!isOurs) return value;
    return JSON.stringify({ ...state, holder: releases ? null : driver, until: releases ? 0 : now + LEASE_MS });
  });
  return isOurs;
}

export async function sinksIn(log: Pick<Log, 'leases'>): Promise<Readonly<Record<string, SinkRow>>> {
  const rows = await log.leases(PREFIX);
  return Object.fromEntries(rows.map(({ name, value }) => [name.slice(PREFIX.length), JSON.parse(value) as SinkRow]));
}
