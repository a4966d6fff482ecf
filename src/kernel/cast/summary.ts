// A cast in short, folded from its facts: its status, and how many of its items came to which end. Lists, the closing lines,
// `show` and `why` read these records instead of the whole cast.
import type { Entry } from '../fact.ts';
import type { Rules } from '../graph/config.ts';
import type { CastStatus, Item } from './state.ts';

export type CastSummary = {
  readonly cast: string;
  readonly status: CastStatus;
  readonly code: string | null;
  readonly reason: string;
  readonly loadout: string;
  readonly request: string;
  /** The folder in which it works, as locks name it; without one it works in the workspace itself. */
  readonly root?: string;
  /** The quest that it does. */
  readonly quest?: string;
  readonly startedAt: string;
  readonly changedAt: string;
  /** The end of the permission that it waits for. */
  readonly until?: number;
  /** How long it ran until it stopped last, and since when it runs now; null while it does not run. */
  readonly clock: { readonly elapsedMs: number; readonly since: number | null };
};

/** The status of a cast after a fact of this kind. */
export const STATUS_AFTER = {
  'cast.started': 'running',
  'cast.completed': 'completed',
  'cast.failed': 'failed',
  'cast.waiting': 'waiting',
  'cast.aborted': 'aborted',
  'cast.paused': 'paused',
  'cast.resumed': 'running',
  'cast.recast': 'running',
} as const satisfies Record<string, CastStatus>;

/** The kinds of facts that change a summary. */
export const SUMMARY_KINDS: readonly string[] = Object.keys(STATUS_AFTER);

/** The summary after a fact of the same cast; undefined where the cast has not started. */
export function foldSummary(
  before: CastSummary | undefined,
  { at, fact }: Pick<Entry, 'at' | 'fact'>,
): CastSummary | undefined {
  if (fact.kind === 'cast.started') {
    const { cast, loadout, request, root, quest } = fact;
    return {
      ...{ cast, status: 'running', code: null, reason: '', loadout, request },
      ...(root === undefined ? {} : { root }),
      ...(quest === undefined ? {} : { quest }),
      ...{ startedAt: at, changedAt: at, clock: { elapsedMs: 0, since: Date.parse(at) } },
    };
  }
  const status = STATUS_AFTER[fact.kind as keyof typeof STATUS_AFTER];
  if (!before || !status) return before;
  const code = 'code' in fact ? fact.code : fact.kind === 'cast.aborted' ? 'ABORTED' : null;
  const { until: _ended, ...kept } = before;
  const until = fact.kind === 'cast.waiting' && fact.until !== undefined ? { until: fact.until } : {};
  const reason = 'reason' in fact ? fact.reason : '';
  const measured = 'elapsedMs' in fact ? fact.elapsedMs : undefined;
  const clock = clockAfter(before.clock, status === 'running', Date.parse(at), measured);
  return { ...kept, status, code, reason, changedAt: at, ...until, clock };
}

function clockAfter(
  { elapsedMs, since }: CastSummary['clock'],
  isRunning: boolean,
  at: number,
  measured: number | undefined,
): CastSummary['clock'] {
  if (isRunning) return { elapsedMs, since: since ?? at };
  const passed = since === null ? 0 : Math.max(0, at - since);
  return { elapsedMs: measured ?? elapsedMs + passed, since: null };
}

/** How many items of a cast came to each end. */
export type ItemCounts = {
  readonly total: number;
  /** Advanced by a member of their loop. */
  readonly done: number;
  /** Advanced by `advance.when: "not_satisfied"`. */
  readonly skipped: number;
  /** Given up because an edge led out of their loop. */
  readonly leftEarly: number;
  /** Taken out by a person. */
  readonly leftOut: number;
  /** Put off until a person decides. */
  readonly parked: number;
  readonly open: number;
};

type Fate = Exclude<keyof ItemCounts, 'total'>;

/** Null where the cast has no items. */
export function countItems(record: ItemsRecord): ItemCounts | null {
  const fates = fatesOf(record).map(({ fate }) => fate);
  if (fates.length === 0) return null;
  const count = (fate: Fate) => fates.filter((each) => each === fate).length;
  return {
    total: fates.length,
    done: count('done'),
    skipped: count('skipped'),
    leftEarly: count('leftEarly'),
    leftOut: count('leftOut'),
    parked: count('parked'),
    open: count('open'),
  };
}

/** What became of each item, by its task: in the ledger a skipped one is done. */
export function itemFates(record: ItemsRecord): ReadonlyMap<string, Fate> {
  return new Map(fatesOf(record).map(({ task, fate }) => [task, fate]));
}

/** Such as `2 of 4 items done, 1 skipped, 1 open`. */
export function itemsText({ total, done, skipped, leftEarly, leftOut, parked, open }: ItemCounts): string {
  const others = { skipped, 'left early': leftEarly, 'left out': leftOut, parked, open };
  const named = Object.entries(others).flatMap(([name, count]) => (count === 0 ? [] : [`, ${count} ${name}`]));
  return `${done} of ${total} item${total === 1 ? '' : 's'} done${named.join('')}`;
}

type Place = { readonly task: string; fate: Fate };

/** The items of a cast, as its entries tell them one after the other. */
export type ItemsRecord = {
  readonly lists: Map<string, Place[]>;
  /** Of a replaced list only done and skipped items count: the rest was planned again. */
  readonly replaced: Place[];
  /** Of each item the turn that began last: only that one can end it, and a cast may have any number of turns. */
  readonly turns: Map<number, { readonly socket: string; readonly item: Item | null }>;
  readonly lastTurn: Map<string, number>;
  /** What a person or an edge gave up. */
  readonly given: Map<string, Fate>;
};

export function noItems(): ItemsRecord {
  return { lists: new Map(), replaced: [], turns: new Map(), lastTurn: new Map(), given: new Map() };
}

/** `rules` are those of the cast. */
export function foldItem(record: ItemsRecord, fact: Entry['fact'], rules: Rules | null): void {
  const { lists, replaced, turns, given } = record;
  if (fact.kind === 'items.planned' && fact.cursor !== null) {
    const places = fact.tasks.map((task): Place => ({ task, fate: 'open' }));
    lists.set(fact.cursor, [...(lists.get(fact.cursor) ?? []), ...places]);
  } else if (fact.kind === 'turn.started') {
    const { turn, socket, item } = fact;
    const of = item === null ? '' : `${item.cursorKey} ${item.key}`;
    turns.delete(record.lastTurn.get(of) ?? -1);
    record.lastTurn.set(of, turn);
    turns.set(turn, { socket, item });
  } else if (fact.kind === 'cursor.advanced' && fact.item !== null) {
    const turn = turns.get(fact.turn);
    // Side by side the cursor counts and does not point.
    const index = turn?.item?.key === fact.item ? turn.item.index : fact.to - 1;
    const place = lists.get(fact.cursor)?.[index];
    const isSkipped = rules?.graph.sockets[turn?.socket ?? '']?.advance?.when === 'not_satisfied';
    if (place) place.fate = isSkipped ? 'skipped' : 'done';
  } else if (fact.kind === 'cursor.reset') {
    replaced.push(...(lists.get(fact.cursor) ?? []).filter(({ fate }) => fate !== 'open'));
    lists.delete(fact.cursor);
  } else if (fact.kind === 'item.parked') given.set(fact.task, 'parked');
  else if (fact.kind === 'item.retried') given.delete(fact.task);
  else if (fact.kind === 'task.moved' && (fact.to === 'canceled' || fact.to === 'failed')) {
    given.set(fact.task, fact.code === 'LEFT_EARLY' ? 'leftEarly' : 'leftOut');
  }
}

/** Every item once. */
function fatesOf({ lists, replaced, given }: ItemsRecord): readonly Place[] {
  const places = [...replaced, ...[...lists.values()].flat()];
  return places.map(({ task, fate }) => ({ task, fate: given.get(task) ?? fate }));
}
