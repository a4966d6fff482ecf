// What may be erased: long texts of casts that are over, by age or by digest. The lines that name them stay, so that the chain
// and every proof hold; what goes is said in the log by a fact for each text.
import type { DatabaseSync } from 'node:sqlite';
import type { Fact } from '../kernel/fact.ts';
import { isKnowledgeFact } from '../kernel/knowledge/fact.ts';
import { readStoredLine } from './stored-line.ts';
import { TEXTS_PER_FACT } from './text-walk.ts';

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
  /** Places of the named texts that are kept, because their cast is not over. */
  readonly kept: number;
};

const OVER: Readonly<Record<string, 'completed' | 'stopped'>> = {
  'cast.completed': 'completed',
  'cast.failed': 'stopped',
  'cast.aborted': 'stopped',
};

export function planErasures(db: DatabaseSync, wish: Wish): Plan {
  const over = castsOver(db);
  const old = new Set([...over].filter(([, { at }]) => wish.before !== null && at < wish.before).map(([cast]) => cast));
  const named = new Set(wish.digests);
  const places = new Map<string, { from: number[]; bytes: number }>();
  const casts = new Set<string>();
  let kept = 0;
  // The seq is the upper part of a text's key.
  const rows = db.prepare(
    `SELECT t.id / ${TEXTS_PER_FACT} AS seq, t.digest, length(CAST(t.body AS BLOB)) AS bytes, f.cast_id, f.kind FROM texts t
     JOIN facts f ON f.seq = t.id / ${TEXTS_PER_FACT} ORDER BY t.id`,
  );
  for (const row of rows.iterate() as Iterable<{
    seq: number;
    digest: string;
    bytes: number;
    cast_id: string | null;
    kind: string;
  }>) {
    const end = row.cast_id === null ? undefined : over.get(row.cast_id);
    // What a cast wrote to the shared knowledge outlives it.
    const isItsOwn = !isKnowledgeFact(row);
    const isOld = isItsOwn && old.has(row.cast_id ?? '') && (end?.how === 'completed' || wish.stopped);
    if (named.has(row.digest) && !end) kept += 1;
    if (!end || !(isOld || named.has(row.digest))) continue;
    casts.add(row.cast_id ?? '');
    const place = places.get(row.digest) ?? { from: [], bytes: 0 };
    places.set(row.digest, place);
    if (place.from.at(-1) !== row.seq) place.from.push(row.seq);
    place.bytes += row.bytes;
  }
  const erasures = [...places].map(([digest, { from, bytes }]) => ({ digest, from, bytes }));
  return { erasures, casts: [...casts], kept };
}

export function factOfErasure({ digest, from }: Erasure, reason: string): Fact {
  return { kind: 'blob.erased', digest, from, reason };
}

/** The casts whose last word about themselves is that they are over. */
function castsOver(
  db: DatabaseSync,
): ReadonlyMap<string, { readonly how: 'completed' | 'stopped'; readonly at: string }> {
  const over = new Map<string, { how: 'completed' | 'stopped'; at: string }>();
  const lifecycle = "SELECT kind, cast_id, line FROM facts WHERE kind >= 'cast.' AND kind < 'cast/' ORDER BY seq";
  for (const { kind, cast_id, line } of db.prepare(lifecycle).iterate()) {
    const how = OVER[String(kind)];
    if (how) over.set(String(cast_id), { how, at: readStoredLine(String(line))?.at ?? '' });
    else over.delete(String(cast_id));
  }
  return over;
}
