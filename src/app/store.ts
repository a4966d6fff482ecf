// The one way to the log of a workspace. Reading goes straight to the log; the rules and dialects are loaded when something
// is to be decided or followed, so that a short command starts fast.
import type { Change, Door, LocalDoor } from '../engine/door.ts';
import type { Driver } from '../engine/driver.ts';
import type { Sign } from '../engine/heartbeat.ts';
import type { CastLease, Driving } from '../engine/lease.ts';
import type { Outage } from '../engine/outage.ts';
import type { CastQuery, Head, Log, Query } from '../engine/ports.ts';
import type { Holder } from '../engine/slots.ts';
import type { StateAtHead } from '../engine/state-at-head.ts';
import { missingEntry } from '../engine/storage-error.ts';
import type { Approval } from '../kernel/approval/state.ts';
import type { Slot } from '../kernel/cast/packet.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Request } from '../kernel/input.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { Cast } from '../kernel/state.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Standing } from './standing.ts';

export class Store implements Door {
  /** For what reads or writes the log itself: audit, retention, worklog files, signs of life. */
  readonly log: Log;
  readonly #log: Log;
  readonly #dir: string;
  #desk: Promise<LocalDoor> | null = null;
  #here: Promise<StateAtHead> | null = null;
  #isWhole = false;

  /** `dir` is the folder of the workspace. */
  constructor(log: Log, dir: string) {
    this.log = log;
    this.#log = log;
    this.#dir = dir;
  }

  read(query: Query): Promise<readonly Entry[]> {
    return this.#log.read(query);
  }

  /** The stored text of entries, exactly as it was hashed. */
  lines(after: number, limit: number): ReturnType<Log['lines']> {
    return this.#log.lines(after, limit);
  }

  async lifecycle(): Promise<readonly Entry[]> {
    await this.#checkWhole();
    return this.#log.lifecycle(0);
  }

  async casts(query: CastQuery): Promise<readonly CastSummary[]> {
    await this.#checkWhole();
    return this.#log.casts(query);
  }

  castCount(): Promise<number> {
    return this.#log.castCount();
  }

  head(): Promise<Head> {
    return this.#log.head();
  }

  /** The cast as its own facts tell it. */
  async cast(id: string): Promise<Cast | null> {
    await this.#checkWhole();
    const [{ apply }, { emptyState }] = await Promise.all([import('../kernel/apply.ts'), import('../kernel/state.ts')]);
    const state = emptyState();
    for (const entry of await this.read({ after: 0, cast: id })) apply(state, entry);
    return state.casts[id] ?? null;
  }

  /** What holds for the whole workspace, as the newest snapshot and the facts since then tell it. */
  async standing(): Promise<Standing> {
    await this.#checkWhole();
    const { standingIn } = await import('./standing.ts');
    return standingIn(this.#log);
  }

  /** The approvals of which something began, and nobody knows how it ended. */
  async cutOff(): Promise<readonly Approval[]> {
    await this.#checkWhole();
    const { approvalsIn, cutOff } = await import('../approvals/open-approvals.ts');
    return cutOff(await approvalsIn(this.#log));
  }

  /** A copy of the whole ledger. Its cost grows with the ledger: whoever needs little of it looks. */
  ledger(run?: string): Promise<Ledger> {
    return this.look((ledger) => JSON.parse(JSON.stringify(ledger)) as Ledger, run);
  }

  /**
   * What `look` finds in the ledger at the head of the log. Only the tasks and runs that it asks for are read. It must not
   * keep or change anything of the ledger. A run in which nothing is open any more is there when it is named.
   */
  async look<T>(look: (ledger: Ledger) => T, run?: string): Promise<T> {
    if (this.#desk) return (await this.#desk).look(({ ledger }) => look(ledger), run);
    return (await this.#state()).look(({ ledger }) => look(ledger), run);
  }

  async submit(request: Request, by: string): Promise<Verdict> {
    return (await this.#atDesk()).submit(request, by);
  }

  async follow(cast: string, withEntries: boolean, listener: (change: Change) => void): Promise<() => void> {
    return (await this.#atDesk()).follow(cast, withEntries, listener);
  }

  async takeCast(cast: string, driver: Driver, over?: number): Promise<CastLease> {
    return (await this.#atDesk()).takeCast(cast, driver, over);
  }

  async beat(sign: Sign): Promise<boolean> {
    return (await this.#atDesk()).beat(sign);
  }

  async releaseCast(cast: string, driver: Driver): Promise<void> {
    return (await this.#atDesk()).releaseCast(cast, driver);
  }

  async driverOf(cast: string): Promise<Driving | null> {
    const { drivingIn } = await import('../engine/lease.ts');
    return drivingIn(this.#log, cast, Date.now());
  }

  async lostCast(cast: string): Promise<Denied | null> {
    return (await this.#atDesk()).lostCast(cast);
  }

  async takeSlot(slot: Slot, holder: Holder, now: number, isForced: boolean): Promise<number> {
    return (await this.#atDesk()).takeSlot(slot, holder, now, isForced);
  }

  async releaseSlot(slot: Slot, holder: Holder, now: number): Promise<void> {
    return (await this.#atDesk()).releaseSlot(slot, holder, now);
  }

  async admit(runner: string, holder: Holder, now: number): ReturnType<Door['admit']> {
    return (await this.#atDesk()).admit(runner, holder, now);
  }

  async noteRunner(...args: Parameters<Door['noteRunner']>): Promise<void> {
    return (await this.#atDesk()).noteRunner(...args);
  }

  /** The runners that are down. */
  async outages(now: number): Promise<readonly Outage[]> {
    const { OUTAGES, outageIn } = await import('../engine/outage.ts');
    return (await this.#log.leases(OUTAGES)).flatMap(({ value }) => outageIn(value, now) ?? []);
  }

  async close(): Promise<void> {
    if (this.#desk) await (await this.#desk).close();
    else await this.#log.close();
  }

  /** Facts are looked at one by one here: what a missing one would have told is told wrongly, so nothing is told. */
  async #checkWhole(): Promise<void> {
    if (this.#isWhole) return;
    const gap = await this.#log.firstGap();
    if (gap !== null) throw missingEntry(gap);
    this.#isWhole = true;
  }

  #atDesk(): Promise<LocalDoor> {
    this.#desk ??= this.#state().then((here) => openDesk(this.#log, this.#dir, here));
    return this.#desk;
  }

  /** Kept for the next question: then only what was appended since is read. */
  #state(): Promise<StateAtHead> {
    this.#here ??= import('../engine/state-at-head.ts').then(({ StateAtHead }) => new StateAtHead(this.#log));
    return this.#here;
  }
}

async function openDesk(log: Log, dir: string, here: StateAtHead): Promise<LocalDoor> {
  const [{ Desk }, { LocalDoor }, { dialects }, { findLinksBelow }] = await Promise.all([
    import('../engine/desk.ts'),
    import('../engine/door.ts'),
    import('../dialects/index.ts'),
    import('../workspace/find-links.ts'),
  ]);
  return new LocalDoor(await Desk.open(log, dialects, { findLinks: findLinksBelow(dir), here }));
}
