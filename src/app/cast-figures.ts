// The figures of a cast for a list: how many of its items are done, at which step it is, what it has cost. They are counted from
// its facts, and what was counted is kept, so that a list that is looked at often reads only what is new.
import { setImmediate as pass } from 'node:timers/promises';
import type { Store } from '../engine/store.ts';
import { countItems, foldItem, type ItemsRecord, noItems } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Rules } from '../kernel/graph/config.ts';
import type { Listed } from './name-cast.ts';
import { socketName, socketNames, withSocketNames } from './views/socket-names.ts';

export type CastFigures = {
  readonly items?: { readonly done: number; readonly total: number };
  /** The name of the socket of its newest turn that is not over. */
  readonly step?: string;
  readonly cost: number;
  /** The reason of the cast, with the names of sockets in place of their ids. */
  readonly why?: string;
};

type Counted = {
  /** What the list knew of the cast when it was counted. */
  changedAt: string;
  seq: number;
  rules: Rules | null;
  readonly items: ItemsRecord;
  /** By turn, the name of its socket; only turns that are not over. */
  readonly steps: Map<number, string>;
  cost: number;
};

const CASTS_MAX = 2_000;
const known = new WeakMap<object, Map<string, Counted>>();

export async function castFigures(
  store: Pick<Store, 'read'>,
  { cast, status, changedAt, reason }: Listed,
): Promise<CastFigures> {
  const counts = known.get(store) ?? new Map<string, Counted>();
  known.set(store, counts);
  const counted: Counted = counts.get(cast) ?? {
    ...{ changedAt: '', seq: 0, rules: null, cost: 0 },
    ...{ items: noItems(), steps: new Map() },
  };
  const isOver = status === 'completed' || status === 'failed' || status === 'aborted';
  if (!isOver || counted.changedAt !== changedAt) {
    const entries = await store.read({ after: counted.seq, cast, texts: 'digest' });
    for (const entry of entries) count(counted, entry);
    counted.changedAt = changedAt;
    // A long list must not hold up everybody else.
    await pass();
  }
  counts.delete(cast);
  counts.set(cast, counted);
  const [oldest] = counts.keys();
  if (counts.size > CASTS_MAX && oldest !== undefined) counts.delete(oldest);
  const items = countItems(counted.items);
  const step = isOver ? undefined : [...counted.steps.values()].at(-1);
  return {
    ...(items === null ? {} : { items: { done: items.done, total: items.total } }),
    ...(step === undefined ? {} : { step }),
    ...(counted.rules && reason !== '' ? { why: withSocketNames(reason, socketNames(counted.rules)) } : {}),
    cost: counted.cost,
  };
}

function count(counted: Counted, { seq, fact }: Entry): void {
  // Another look may have read the same entries meanwhile.
  if (seq <= counted.seq) return;
  counted.seq = seq;
  if (fact.kind === 'cast.started') counted.rules = fact.rules;
  foldItem(counted.items, fact, counted.rules);
  counted.cost += usageIn(fact)?.cost ?? 0;
  if (fact.kind === 'turn.started') {
    const { socket } = fact;
    const name = counted.rules ? socketName(counted.rules, socket) : socket;
    counted.steps.set(fact.turn, fact.item ? `${name}, item ${fact.item.index + 1}` : name);
  } else if (fact.kind === 'turn.accepted' || fact.kind === 'turn.dropped' || fact.kind === 'item.parked')
    counted.steps.delete(fact.turn);
}

/** What an attempt used. An answer that is still looked at is told again at its end. */
export function usageIn(fact: Entry['fact']) {
  return 'usage' in fact && 'attempt' in fact && fact.kind !== 'attempt.answered' ? fact.usage : null;
}
