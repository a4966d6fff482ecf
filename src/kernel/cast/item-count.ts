// How many items of a cast came to what end, told from its facts. All who count items ask here: the closing lines, `show`
// and `why`.
import type { Entry } from '../fact.ts';
import type { Rules } from '../graph/config.ts';
import type { Item } from '../state.ts';

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
    open: count('open'),
  };
}

/** What became of each item, by its task: in the ledger a skipped one is done. */
export function itemFates(record: ItemsRecord): ReadonlyMap<string, Fate> {
  return new Map(fatesOf(record).map(({ task, fate }) => [task, fate]));
}

/** Such as `2 of 4 items done, 1 skipped, 1 open`. */
export function itemsText({ total, done, skipped, leftEarly, leftOut, open }: ItemCounts): string {
  const others = { skipped, 'left early': leftEarly, 'left out': leftOut, open };
  const named = Object.entries(others).flatMap(([name, count]) => (count === 0 ? [] : [`, ${count} ${name}`]));
  return `${done} of ${total} item${total === 1 ? '' : 's'} done${named.join('')}`;
}

type Place = { readonly task: string; fate: Fate };

/** The items of a cast, as its entries tell them one after the other. */
export type ItemsRecord = {
  readonly lists: Map<string, Place[]>;
  /** Of a list that another list replaced, only what was done or skipped counts: the rest was planned anew. */
  readonly replaced: Place[];
  readonly turns: Map<number, { readonly socket: string; readonly item: Item | null }>;
  /** What a person or an edge gave up. */
  readonly given: Map<string, Fate>;
};

export function noItems(): ItemsRecord {
  return { lists: new Map(), replaced: [], turns: new Map(), given: new Map() };
}

/** `rules` are those of the cast. */
export function foldItem(record: ItemsRecord, fact: Entry['fact'], rules: Rules | null): void {
  const { lists, replaced, turns, given } = record;
  if (fact.kind === 'items.planned' && fact.cursor !== null) {
    const places = fact.tasks.map((task): Place => ({ task, fate: 'open' }));
    lists.set(fact.cursor, [...(lists.get(fact.cursor) ?? []), ...places]);
  } else if (fact.kind === 'turn.started') turns.set(fact.turn, fact);
  else if (fact.kind === 'cursor.advanced' && fact.item !== null) {
    const turn = turns.get(fact.turn);
    // Side by side the cursor counts and does not point.
    const index = turn?.item?.key === fact.item ? turn.item.index : fact.to - 1;
    const place = lists.get(fact.cursor)?.[index];
    const isSkipped = rules?.graph.sockets[turn?.socket ?? '']?.advance?.when === 'not_satisfied';
    if (place) place.fate = isSkipped ? 'skipped' : 'done';
  } else if (fact.kind === 'cursor.reset') {
    replaced.push(...(lists.get(fact.cursor) ?? []).filter(({ fate }) => fate !== 'open'));
    lists.delete(fact.cursor);
  } else if (fact.kind === 'task.moved' && (fact.to === 'canceled' || fact.to === 'failed')) {
    given.set(fact.task, fact.code === 'LEFT_EARLY' ? 'leftEarly' : 'leftOut');
  }
}

/** Every item once. */
function fatesOf({ lists, replaced, given }: ItemsRecord): readonly Place[] {
  const places = [...replaced, ...[...lists.values()].flat()];
  return places.map(({ task, fate }) => ({ task, fate: given.get(task) ?? fate }));
}
