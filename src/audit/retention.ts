// What may be erased: long texts of casts that are over, by age or by digest; foreign handoffs likewise, which belong to no
// cast; and by digest whatever else is over, such as the tasks of a run by hand. What the workspace knows outlives the casts
// that wrote it, an approval may still be open, and a registry is in force until the next one: all of them stay. The lines that name a text stay too, so that the chain and
// every proof hold; what goes is said in the log by a fact for each text.
import type { DatabaseSync } from 'node:sqlite';
import type { Fact } from '../kernel/fact.ts';
import { isKnowledgeFact } from '../kernel/knowledge/fact.ts';
import { isTaskStatus, isTerminal } from '../kernel/ledger/transition.ts';
import { readStoredLine } from '../log/stored-line.ts';
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
  /** Places of the named texts that are kept, because what they belong to is not over. */
  readonly kept: number;
  /** Those of the named texts that are nowhere erased, and in how many places each is kept. */
  readonly untouched: readonly { readonly digest: string; readonly kept: number }[];
};

const OVER: Readonly<Record<string, 'completed' | 'stopped'>> = {
  'cast.completed': 'completed',
  'cast.failed': 'stopped',
  'cast.aborted': 'stopped',
};

export function planErasures(db: DatabaseSync, wish: Wish): Plan {
  const over = castsOver(db);
  const runs = runsOver(db);
  const inForce = Number(
    db.prepare("SELECT max(seq) AS seq FROM facts WHERE kind = 'registry.loaded'").get()?.seq ?? 0,
  );
  const old = new Set([...over].filter(([, { at }]) => wish.before !== null && at < wish.before).map(([cast]) => cast));
  const named = new Set(wish.digests);
  const places = new Map<string, { from: number[]; bytes: number }>();
  const casts = new Set<string>();
  const kept = new Map<string, number>();
  // The seq is the upper part of a text's key.
  const rows = db.prepare(
    `SELECT t.id / ${TEXTS_PER_FACT} AS seq, t.digest, length(CAST(t.body AS BLOB)) AS bytes, f.cast_id, f.kind,
     iif(f.cast_id IS NULL, f.line ->> '$.at', '') AS at FROM texts t
     JOIN facts f ON f.seq = t.id / ${TEXTS_PER_FACT} ORDER BY t.id`,
  );
  for (const row of rows.iterate() as Iterable<{
    seq: number;
    digest: string;
    bytes: number;
    cast_id: string | null;
    kind: string;
    at: string;
  }>) {
    const end = row.cast_id === null ? undefined : over.get(row.cast_id);
    // What a cast wrote to the shared knowledge outlives it.
    const isItsOwn = !isKnowledgeFact(row);
    const isOld = isItsOwn && old.has(row.cast_id ?? '') && (end?.how === 'completed' || wish.stopped);
    const isKept = row.seq === inForce || row.kind.startsWith('approval.');
    const isNoCasts = row.cast_id === null ? isItsOwn && !isKept : runs.has(row.cast_id);
    const isOldHandoff = row.kind === 'handoff.judged' && wish.before !== null && row.at < wish.before;
    const isOver = end !== undefined || isNoCasts;
    if (named.has(row.digest) && !isOver) kept.set(row.digest, (kept.get(row.digest) ?? 0) + 1);
    if (!isOver || !(isOld || isOldHandoff || named.has(row.digest))) continue;
    if (end && row.cast_id !== null) casts.add(row.cast_id);
    const place = places.get(row.digest) ?? { from: [], bytes: 0 };
    places.set(row.digest, place);
    if (place.from.at(-1) !== row.seq) place.from.push(row.seq);
    place.bytes += row.bytes;
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

/** The runs that no cast made and all of whose tasks have come to their end. */
function runsOver(db: DatabaseSync): ReadonlySet<string> {
  const open = new Map<string, Set<string>>();
  const moves = `SELECT cast_id, task_id, line ->> '$.body.to' AS status FROM facts
    WHERE kind IN ('task.created', 'task.moved') AND cast_id NOT IN (SELECT cast_id FROM facts WHERE kind = 'cast.started')
    ORDER BY seq`;
  for (const { cast_id, task_id, status } of db.prepare(moves).iterate()) {
    const tasks = open.get(String(cast_id)) ?? new Set<string>();
    open.set(String(cast_id), tasks);
    if (isTaskStatus(status) && isTerminal(status)) tasks.delete(String(task_id));
    else tasks.add(String(task_id));
  }
  return new Set([...open].filter(([, tasks]) => tasks.size === 0).map(([run]) => run));
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
