// How many attempts a runner has at once in a workspace, and how many it began lately. Kept outside the chain, in one small
// value by runner, because it is about who works now: the place of a process that has ended counts for nothing.
import type { Slot } from '../kernel/cast/packet.ts';
import { type Driver, isSame, sightOf } from './driver.ts';
import { LEASE_MS } from './lease.ts';

const MINUTE_MS = 60_000;
/** Nobody tells when a place gets free, so it is looked for now and then. */
const LOOK_AGAIN_MS = 1_000;

/** `until` counts where the driver cannot be looked at; who holds a slot renews it by asking again. */
export type Holder = { readonly driver: Driver; readonly key: string; readonly until?: number };

type Taken = { readonly held: readonly Holder[]; readonly startedAt: readonly number[] };

type Grant = {
  readonly value: string;
  /** 0 when the place was given, else how long to wait before asking again. */
  readonly waitMs: number;
};

export function slotName({ runner }: Pick<Slot, 'runner'>): string {
  return `slots:${runner}`;
}

/** Asks for a place. What runs already, from before a crash, gets one whatever the limits say. */
export function grantSlot(value: string | null, slot: Slot, holder: Holder, now: number, isForced = false): Grant {
  const { held, startedAt } = takenIn(value, now);
  const others = held.filter((one) => !isHeldBy(one, holder));
  const { maxConcurrent, perMinute } = slot;
  const isFull = maxConcurrent !== null && others.length >= maxConcurrent;
  const oldest = startedAt[startedAt.length - (perMinute ?? Number.POSITIVE_INFINITY)];
  if (!isForced && (isFull || oldest !== undefined)) {
    const waitMs = isFull ? LOOK_AGAIN_MS : Math.max(1, (oldest ?? now) + MINUTE_MS - now);
    return { value: JSON.stringify({ held: others, startedAt }), waitMs };
  }
  const begun = isForced ? startedAt : [...startedAt, now];
  const granted = { ...holder, until: now + LEASE_MS };
  return { value: JSON.stringify({ held: [...others, granted], startedAt: begun }), waitMs: 0 };
}

export function withoutHolder(value: string | null, holder: Holder, now: number): string {
  const { held, startedAt } = takenIn(value, now);
  return JSON.stringify({ held: held.filter((one) => !isHeldBy(one, holder)), startedAt });
}

function takenIn(value: string | null, now: number): Taken {
  const { held, startedAt } = value === null ? { held: [], startedAt: [] } : (JSON.parse(value) as Taken);
  return {
    held: held.filter((holder) => isHeld(holder, now)),
    // A little ahead of ours is who looked at the clock after us and was let in before us. Far ahead is what a clock wrote
    // that has been set back since.
    startedAt: startedAt.filter((at) => Math.abs(now - at) < MINUTE_MS).sort((a, b) => a - b),
  };
}

function isHeld({ driver, until = 0 }: Holder, now: number): boolean {
  const sight = sightOf(driver);
  // An end further ahead than a lease lasts was written by a clock that was set back since.
  return sight === 'unseen' ? until > now && until <= now + 2 * LEASE_MS : sight === 'runs';
}

function isHeldBy(one: Holder, other: Holder): boolean {
  return one.key === other.key && isSame(one.driver, other.driver);
}
