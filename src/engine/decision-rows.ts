// What deciding a batch looks up outside of the state: signs of life, links on disk, ids that are used once, and how long casts have
// run. The time comes from a clock that cannot be set. A driver measures its own casts; the last total is in the lease, for processes
// that decide about the cast without driving it.
import { approvalKeysNeeded, approvalKeysUsedBy, endKeysOf, isOfEnd } from '../kernel/approval/settle.ts';
import type { Approvals } from '../kernel/approval/state.ts';
import type { Cast } from '../kernel/cast/state.ts';
import type { Fact } from '../kernel/fact.ts';
import type { Input, Request } from '../kernel/input.ts';
import { isString } from '../kernel/json.ts';
import { isLedgerFact, type RequestOf } from '../kernel/ledger/fact.ts';
import { type LockTree, linksOfRoot, siteOf } from '../kernel/ledger/lock-tree.ts';
import { beatChanges, beatName, beatOf, lastSignAt } from '../kernel/ledger/move.ts';
import type { Links } from '../kernel/ledger/path.ts';
import { findTask, type Ledger, type Task, tasksOf } from '../kernel/ledger/state.ts';
import { keysUsedBy, trustKeysNeeded } from '../kernel/trust/decide.ts';
import { leaseIn, leaseName } from './lease.ts';
import type { Append, FindLinks, FoundRows, LeaseValues } from './ports.ts';

/** The fact with its changes of heartbeat records. */
export function withLeases(append: Append, ledger: Ledger): Append {
  const { fact, at, clock = at } = append;
  const leases = isLedgerFact(fact) ? beatChanges(ledger, fact, clock) : [];
  return leases.length === 0 ? append : { ...append, leases };
}

/** The heartbeat records that a request about a silent owner needs. */
export function recordsFor(request: Request, ledger: Ledger): readonly string[] {
  return fencesOf(request, ledger).map(({ fence }) => beatName(fence));
}

/** A request about silent owners, with the newest signs of life. Only their records have these. */
export function withHeartbeat(request: Request, ledger: Ledger, held: LeaseValues, now: number): Request {
  const beats = fencesOf(request, ledger).flatMap(({ id, fence }) => {
    const beat = beatOf(held(beatName(fence)));
    return beat ? [[id, lastSignAt(beat, now)] as const] : [];
  });
  if (request.kind === 'cast.recover') return { ...request, heard: Object.fromEntries(beats) };
  const [last] = beats;
  if (request.kind !== 'task.expire' || !last) return request;
  return { ...request, lastHeartbeatAt: Math.max(last[1], request.lastHeartbeatAt ?? 0) };
}

/** The claims that a request asks about. */
function fencesOf(request: Request, ledger: Ledger): readonly { readonly id: string; readonly fence: number }[] {
  if (request.kind === 'cast.recover') return tasksOf(ledger, request.cast).flatMap(claimOf);
  const found = request.kind === 'task.expire' ? findTask(ledger, request) : null;
  return found?.ok ? claimOf(found.task) : [];
}

function claimOf({ id, fence }: Task): { id: string; fence: number }[] {
  return fence === null ? [] : [{ id, fence }];
}

/** The requests about links that must come first. Empty if the ledger knows all links that matter to these facts. */
export function linksToLearn(facts: readonly Fact[], { links }: LockTree, find: FindLinks): RequestOf<'ledger.link'>[] {
  const pathsByRoot = new Map<string, Set<string>>();
  const pathsIn = (root: string) => {
    const paths = pathsByRoot.get(root) ?? new Set(Object.keys(linksOfRoot(links, root) ?? {}));
    pathsByRoot.set(root, paths);
    return paths;
  };
  const add = (root: string, path: string) => {
    pathsIn(root).add(path);
    const { tree, below } = siteOf(root);
    if (below !== '' && tree !== '/') pathsIn(tree).add(path === '.' ? below : `${below}/${path}`);
  };
  for (const fact of facts) {
    if (fact.kind === 'task.claimed') for (const { root, path } of fact.locks) add(root, path);
    // A removed link may have caused this refusal.
    if (fact.kind === 'task.refused' && fact.code === 'LOCK_CONFLICT' && isString(fact.details.root)) {
      add(fact.details.root, isString(fact.details.wanted) ? fact.details.wanted : '.');
    }
  }
  return [...pathsByRoot].flatMap(([root, paths]) => {
    const known = linksOfRoot(links, root) ?? {};
    const found = find(root, [...paths], known);
    return areSame(found, known) ? [] : [{ kind: 'ledger.link', root, links: found }];
  });
}

function areSame(a: Links, b: Links): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** The keys that deciding these requests may look up. An open approval may end as a consequence of any of them. */
export function onceKeysFor(requests: readonly Request[], approvals: Approvals): readonly string[] {
  const asked = requests.flatMap((request) => (request.kind === 'approval.request' ? [request.sealed.id] : []));
  const named = requests.flatMap((request) => keysNamedBy(request, approvals));
  return [...named, ...[...Object.keys(approvals), ...asked].flatMap(endKeysOf)];
}

function keysNamedBy(request: Request, approvals: Approvals): readonly string[] {
  return [...trustKeysNeeded(request), ...approvalKeysNeeded(request, approvals)];
}

/** Ids that are used once. The log knows those of earlier commits, and this class those of earlier inputs of the batch. */
export class OnceKeys {
  readonly #found: FoundRows['once'];
  readonly #batch = new Map<string, number>();
  #seq: number;

  /** `seq` is the number of the last entry before the batch. */
  constructor(found: FoundRows['once'], seq: number) {
    this.#found = found;
    this.#seq = seq;
  }

  /** The ids of a request that are used already. */
  usedFor(request: Request, approvals: Approvals): Pick<Input, 'used'> {
    const found = keysNamedBy(request, approvals).flatMap((key): [string, number][] => {
      const seq = this.#usedBy(key);
      return seq === null ? [] : [[key, seq]];
    });
    return found.length === 0 ? {} : { used: Object.fromEntries(found) };
  }

  /** The next fact of the batch, with the ids it uses up. */
  withKeys(append: Append): Append {
    this.#seq += 1;
    const all = [...keysUsedBy(append.fact), ...approvalKeysUsedBy(append.fact)];
    const keys = all.filter((key) => !isOfEnd(key) || this.#usedBy(key) === null);
    for (const key of keys) this.#batch.set(key, this.#seq);
    return keys.length === 0 ? append : { ...append, once: [...(append.once ?? []), ...keys] };
  }

  #usedBy(key: string): number | null {
    return this.#batch.get(key) ?? this.#found(key);
  }
}

export class RunningTime {
  readonly #ticks: () => number;
  /** By cast, the moment up to which its time is counted in the log. */
  readonly #countedTo = new Map<string, number>();

  constructor(ticks: () => number = () => performance.now()) {
    this.#ticks = ticks;
  }

  /** The cast is driven here from now on. `uncountedMs` it ran before, and no entry counts that yet. */
  start(cast: string, uncountedMs: number): void {
    this.#countedTo.set(cast, this.#ticks() - uncountedMs);
  }

  stop(cast: string): void {
    this.#countedTo.delete(cast);
  }

  /** How long a cast ran since its time was counted last; null where it is not driven here. */
  uncounted(cast: string): number | null {
    const countedTo = this.#countedTo.get(cast);
    return countedTo === undefined ? null : Math.max(0, Math.floor(this.#ticks() - countedTo));
  }

  batch(): Batch {
    return new Batch(this);
  }

  count(cast: string, ms: number): void {
    const countedTo = this.#countedTo.get(cast);
    if (countedTo !== undefined) this.#countedTo.set(cast, countedTo + ms);
  }
}

/** The times that the inputs of one commit count. They hold once the commit is on disk. */
class Batch {
  readonly #time: RunningTime;
  readonly #counted = new Map<string, number>();

  constructor(time: RunningTime) {
    this.#time = time;
  }

  /** What the driver of a cast says with its input. */
  own(cast: string): number | null {
    const ms = this.#time.uncounted(cast);
    return ms === null ? null : Math.max(0, ms - (this.#counted.get(cast) ?? 0));
  }

  /** What is known of any cast. */
  of({ id, clock }: Cast, held: LeaseValues): number | null {
    const own = this.own(id);
    if (own !== null) return own;
    const measured = leaseIn(held(leaseName(id)))?.elapsedMs;
    return measured === undefined ? null : Math.max(0, measured - clock.elapsedMs);
  }

  count(cast: string, ms: number): void {
    this.#counted.set(cast, (this.#counted.get(cast) ?? 0) + ms);
  }

  settle(): void {
    for (const [cast, ms] of this.#counted) this.#time.count(cast, ms);
  }
}
