// Which long texts may be erased, and which erased texts a cast still needs. Erasable are texts of casts that have ended, by age or
// by digest; old foreign handoffs; and, by digest, texts of finished runs without a cast. Shared knowledge, approvals and the
// registry in force stay. The lines that name a text stay too, so the chain and every proof hold. A fact records each erasure.
import { type Evidence, type StoredRow, TEXTS_PER_FACT, type TextPlace } from '../engine/ports.ts';
import { apply } from '../kernel/apply.ts';
import type { Fact } from '../kernel/fact.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { isKnowledgeFact } from '../kernel/knowledge/state.ts';
import { isTaskStatus, isTerminal } from '../kernel/ledger/state.ts';
import { emptyState } from '../kernel/state.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { entryFromLine } from '../log/line.ts';
import { readStoredLine } from '../log/stored-line.ts';

export type ErasureRequest = {
  /** Casts that ended before this moment. */
  readonly before: string | null;
  /** Include failed and aborted casts. They cannot be continued afterwards. */
  readonly stopped: boolean;
  /** These texts, at any age. */
  readonly digests: readonly string[];
};

export type Erasure = { readonly digest: string; readonly from: readonly number[]; readonly bytes: number };

export type ErasurePlan = {
  readonly erasures: readonly Erasure[];
  /** The casts that lose texts. */
  readonly casts: readonly string[];
  /** Places where named texts stay, because their cast or task has not ended. */
  readonly kept: number;
  /** Named texts that are erased nowhere, and in how many places each stays. */
  readonly untouched: readonly { readonly digest: string; readonly kept: number }[];
};

const PLACES_AT_ONCE = 1_024;

const OVER: Readonly<Record<string, 'completed' | 'stopped'>> = {
  'cast.completed': 'completed',
  'cast.failed': 'stopped',
  'cast.aborted': 'stopped',
};

export async function planErasures(evidence: Evidence, request: ErasureRequest): Promise<ErasurePlan> {
  const over = await castsOver(evidence);
  const runs = await runsOver(evidence);
  const [inForce = 0] = (await evidence.rows({ after: 0, kinds: ['registry.loaded'] })).at(-1) ?? [];
  const old = new Set(
    [...over].filter(([, { at }]) => request.before !== null && at < request.before).map(([cast]) => cast),
  );
  const named = new Set(request.digests);
  const places = new Map<string, { from: number[]; bytes: number }>();
  const casts = new Set<string>();
  const kept = new Map<string, number>();
  for await (const [id, digest, bytes, cast, kind, at] of textPlaces(evidence)) {
    const seq = Math.floor(id / TEXTS_PER_FACT);
    const end = cast === null ? undefined : over.get(cast);
    // Shared knowledge outlives the cast that wrote it.
    const isItsOwn = !isKnowledgeFact({ kind });
    const isOld = isItsOwn && old.has(cast ?? '') && (end?.how === 'completed' || request.stopped);
    const isKept = seq === inForce || kind.startsWith('approval.');
    const isNoCasts = cast === null ? isItsOwn && !isKept : runs.has(cast);
    const isOldHandoff = kind === 'handoff.judged' && request.before !== null && at < request.before;
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
  const untouched = request.digests
    .filter((digest) => !places.has(digest))
    .map((digest) => ({ digest, kept: kept.get(digest) ?? 0 }));
  return { erasures, casts: [...casts], kept: [...kept.values()].reduce((sum, each) => sum + each, 0), untouched };
}

export function factOfErasure({ digest, from }: Erasure, reason: string): Fact {
  return { kind: 'blob.erased', digest, from, reason };
}

async function* textPlaces(evidence: Evidence): AsyncGenerator<TextPlace> {
  for (let after = 0; ; ) {
    const places = await evidence.textPlaces(after, PLACES_AT_ONCE);
    yield* places;
    const last = places.at(-1);
    if (!last) return;
    after = last[0];
  }
}

/** Runs without a cast in which every task has ended. */
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

/** The casts that have ended. */
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

// Erased texts that the state of a cast still holds. A text that only the history names is not needed to continue a cast.

/** An erased text: its digest, its place, and, if the log says so, when and by whom it was erased. */
type ErasedText = {
  readonly digest: string;
  readonly seq: number;
  readonly kind: string;
  readonly path: string;
  readonly erased: string | null;
  readonly by: string | null;
};

/** Refuses to continue a cast that needs an erased text. Null if it has every text. */
export async function refuseErased(evidence: Evidence, cast: string): Promise<Denied | null> {
  const [first, ...more] = await neededAndErased(evidence, cast);
  if (!first) return null;
  const { kind, path, seq, digest, erased, by } = first;
  const when = erased === null ? 'is missing' : `was erased at ${erased} by ${by}`;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  const which = `${path} of entry ${seq} (${kind}, ${digest.slice(0, 19)}…)`;
  const reason = `cast ${cast} cannot continue: it needs ${which}, which ${when}${others}; start a new cast with the same request`;
  return deny('TEXT_ERASED', reason, { cast, texts: [first, ...more] });
}

async function neededAndErased(evidence: Evidence, cast: string): Promise<readonly ErasedText[]> {
  const rows = await evidence.rows({ after: 0, cast });
  const texts: Texts = new Map();
  for (const [seq, , , , line] of rows) if (line.includes('"$blob"')) texts.set(seq, await evidence.textsOf(seq));
  const gone = rows.flatMap((row) => goneFrom(texts, row));
  if (gone.length === 0) return [];
  const held = stateOf(texts, rows);
  const needed = gone.filter(({ digest }) => held === null || held.includes(digest));
  return withErasures(evidence, needed);
}

/** By entry number, then by digest. */
type Texts = Map<number, ReadonlyMap<string, string>>;

type TextReference = Omit<ErasedText, 'erased' | 'by'>;

function goneFrom(texts: Texts, [seq, , , , line]: StoredRow): readonly TextReference[] {
  const there = texts.get(seq);
  const stored = there && readStoredLine(line);
  if (!stored) return [];
  return textReferences(stored.fact, '')
    .filter(({ digest }) => !there.has(digest))
    .map((place) => ({ ...place, seq, kind: stored.kind }));
}

function textReferences(value: Json, path: string): readonly { readonly digest: string; readonly path: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isObject(value) && typeof value.$blob === 'string') return [{ digest: value.$blob, path }];
  return Object.entries(value).flatMap(([name, member]) => {
    const isWrapping = name === '$json' || name === '$literal';
    return textReferences(member, isWrapping ? path : path === '' ? name : `${path}.${name}`);
  });
}

/** The state of the cast with digests in place of the missing texts, or null if it cannot be rebuilt. */
function stateOf(texts: Texts, rows: readonly StoredRow[]): string | null {
  const state = emptyState();
  try {
    for (const [seq, , , , line] of rows) {
      const there = texts.get(seq);
      // In quotes, because a text may be the JSON of a value.
      apply(
        state,
        entryFromLine(line, (digest) => there?.get(digest) ?? `"${digest}"`),
      );
    }
    return JSON.stringify(state);
  } catch {
    return null;
  }
}

/** Adds when and by whom, from the facts of erasure. */
async function withErasures(evidence: Evidence, needed: readonly TextReference[]): Promise<readonly ErasedText[]> {
  if (needed.length === 0) return [];
  const erasures = await evidence.rows({ after: 0, kinds: ['blob.erased'] });
  const facts = erasures.map(([, , , , line]) => JSON.parse(line) as { at: string; by: string; body: Json });
  return needed.map((place) => {
    const by = facts.find(
      ({ body }) =>
        isObject(body) && body.digest === place.digest && Array.isArray(body.from) && body.from.includes(place.seq),
    );
    return { ...place, erased: by?.at ?? null, by: by?.by ?? null };
  });
}
