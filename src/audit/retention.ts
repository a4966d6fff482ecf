// What may be erased: long texts of casts that are over, by age or by digest; foreign handoffs likewise, which belong to no
// cast; and by digest whatever else is over, such as the tasks of a run by hand. What the workspace knows outlives the casts
// that wrote it, an approval may still be open, and a registry is in force until the next one: all of them stay. The lines that name a text stay too, so that the chain and
// every proof hold; what goes is said in the log by a fact for each text.
import { type Evidence, TEXTS_PER_FACT, type TextPlace } from '../engine/ports.ts';
import type { Fact } from '../kernel/fact.ts';
import { isKnowledgeFact } from '../kernel/knowledge/state.ts';
import { isTaskStatus, isTerminal } from '../kernel/ledger/state.ts';
import { readStoredLine } from '../log/stored-line.ts';

export type Wish = {
  /** Casts that have stood since before this moment. */
  readonly before: string | null;
  /** Failed and aborted casts too; they cannot be carried on afterwards. */
  readonly stopped: boolean;
  /** These texts, whatever their age. */
  readonly digests: readonly string[];
};

export type Erasure = { readonly digest: string; readonly from: readonly number[]; readonly bytes: number };

export type Plan = {
  readonly erasures: readonly Erasure[];
  /** The casts that lose texts. */
  readonly casts: readonly string[];
  /** Places of the named texts that are kept, because what they belong to is not over. */
  readonly kept: number;
  /** Those of the named texts that are nowhere erased, and in how many places each is kept. */
  readonly untouched: readonly { readonly digest: string; readonly kept: number }[];
};

const PLACES_AT_ONCE = 1_024;

const OVER: Readonly<Record<string, 'completed' | 'stopped'>> = {
  'cast.completed': 'completed',
  'cast.failed': 'stopped',
  'cast.aborted': 'stopped',
};

export async function planErasures(evidence: Evidence, wish: Wish): Promise<Plan> {
  const over = await castsOver(evidence);
  const runs = await runsOver(evidence);
  const [inForce = 0] = (await evidence.rows({ after: 0, kinds: ['registry.loaded'] })).at(-1) ?? [];
  const old = new Set([...over].filter(([, { at }]) => wish.before !== null && at < wish.before).map(([cast]) => cast));
  const named = new Set(wish.digests);
  const places = new Map<string, { from: number[]; bytes: number }>();
  const casts = new Set<string>();
  const kept = new Map<string, number>();
  for await (const [id, digest, bytes, cast, kind, at] of placesIn(evidence)) {
    const seq = Math.floor(id / TEXTS_PER_FACT);
    const end = cast === null ? undefined : over.get(cast);
    // What a cast wrote to the shared knowledge outlives it.
    const isItsOwn = !isKnowledgeFact({ kind });
    const isOld = isItsOwn && old.has(cast ?? '') && (end?.how === 'completed' || wish.stopped);
    const isKept = seq === inForce || kind.startsWith('approval.');
    const isNoCasts = cast === null ? isItsOwn && !isKept : runs.has(cast);
    const isOldHandoff = kind === 'handoff.judged' && wish.before !== null && at < wish.before;
    const isOver = end !== undefined || isNoCasts;
    if (named.has(digest) && !isOver) kept.set(digest, (kept.get(digest) ?? 0) + 1);
    if (!isOver || !(isOld || isOldHandoff || named.has(digest))) continue;
    if (end && cast !== null) casts.add(cast);
    const place = places.get(digest) ?? { from: [], bytes: 0 };
    places.set(digest, place);
    if (place.from.at(-1) !== seq) place.from.push(seq);
    place.bytes += bytes;
  }
  const erasures = [...places].map(([digest, { from, bytes }]) => ({ digest, from, bytes }));
  const untouched = wish.digests
    .filter((digest) => !places.has(digest))
    .map((digest) => ({ digest, kept: kept.get(digest) ?? 0 }));
  return { erasures, casts: [...casts], kept: [...kept.values()].reduce((sum, each) => sum + each, 0), untouched };
}

export function factOfErasure({ digest, from }: Erasure, reason: string): Fact {
  return { kind: 'blob.erased', digest, from, reason };
}

async function* placesIn(evidence: Evidence): AsyncGenerator<TextPlace> {
  for (let after = 0; ; ) {
    const places = await evidence.textPlaces(after, PLACES_AT_ONCE);
    yield* places;
    const last = places.at(-1);
    if (!last) return;
    after = last[0];
  }
}

/** The runs that no cast made and all of whose tasks have come to their end. */
async function runsOver(evidence: Evidence): Promise<ReadonlySet<string>> {
  const open = new Map<string, Set<string>>();
  const ofCasts = new Set((await evidence.rows({ after: 0, kinds: ['cast.started'] })).map(([, , cast]) => cast));
  for (const [, , run, task, line] of await evidence.rows({ after: 0, kinds: ['task.created', 'task.moved'] })) {
    if (run === null || ofCasts.has(run)) continue;
    const tasks = open.get(run) ?? new Set<string>();
    open.set(run, tasks);
    const status = readStoredLine(line)?.fact.to;
    if (isTaskStatus(status) && isTerminal(status)) tasks.delete(String(task));
    else tasks.add(String(task));
  }
  return new Set([...open].filter(([, tasks]) => tasks.size === 0).map(([run]) => run));
}

/** The casts whose last word about themselves is that they are over. */
async function castsOver(
  evidence: Evidence,
): Promise<ReadonlyMap<string, { readonly how: 'completed' | 'stopped'; readonly at: string }>> {
  const over = new Map<string, { how: 'completed' | 'stopped'; at: string }>();
  for (const [, kind, cast, , line] of await evidence.rows({ after: 0, kindPrefix: 'cast.' })) {
    const how = OVER[kind];
    if (how) over.set(String(cast), { how, at: readStoredLine(line)?.at ?? '' });
    else over.delete(String(cast));
  }
  return over;
}
