// What a cast can no longer do without: texts that were erased and that the state of the cast still holds. A text that only
// the history names, such as what an agent once said word for word, is missed by nobody who carries the cast on.

import type { DatabaseSync } from 'node:sqlite';
import { apply } from '../kernel/apply.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { emptyState } from '../kernel/state.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { entryOf } from '../log/line.ts';
import { CastIndex, type Row } from '../log/sqlite/cast-index.ts';
import { openForReading } from '../log/sqlite/open-to-read.ts';
import { readStoredLine } from '../log/stored-line.ts';
import { TEXTS_PER_FACT } from './text-walk.ts';

/** A text that is gone: which one, where it stood, and, where the log says so, when it was erased and by whom. */
export type Gone = {
  readonly digest: string;
  readonly seq: number;
  readonly kind: string;
  readonly path: string;
  readonly erased: string | null;
  readonly by: string | null;
};

/** The refusal to carry a cast on whose texts are gone; null where it has all it needs. */
export function refuseErased(logFile: string, cast: string): Denied | null {
  const [first, ...more] = neededAndErased(logFile, cast);
  if (!first) return null;
  const { kind, path, seq, digest, erased, by } = first;
  const when = erased === null ? 'is gone' : `was erased at ${erased} by ${by}`;
  const others = more.length === 0 ? '' : `, beside ${more.length} more`;
  const which = `${path} of entry ${seq} (${kind}, ${digest.slice(0, 19)}…)`;
  const reason = `cast ${cast} cannot be carried on: ${which}, which it needs, ${when}${others}; start a new cast with the same request`;
  return deny('TEXT_ERASED', reason, { cast, texts: [first, ...more] });
}

export function neededAndErased(logFile: string, cast: string): readonly Gone[] {
  const db = openForReading(logFile);
  try {
    const rows = new CastIndex(db).read(cast, 0, -1);
    const gone = rows.flatMap((row) => goneFrom(db, row));
    if (gone.length === 0) return [];
    const held = stateOf(db, rows);
    const needed = gone.filter(({ digest }) => held === null || held.includes(digest));
    return withErasures(db, needed);
  } finally {
    db.close();
  }
}

type Place = Omit<Gone, 'erased' | 'by'>;

function goneFrom(db: DatabaseSync, { seq, line }: Row): readonly Place[] {
  if (!line.includes('"$blob"')) return [];
  const stored = readStoredLine(line);
  if (!stored) return [];
  const there = textsOf(db, seq);
  return placesIn(stored.fact, '')
    .filter(({ digest }) => !there.has(digest))
    .map((place) => ({ ...place, seq, kind: stored.kind }));
}

function placesIn(value: Json, path: string): readonly { readonly digest: string; readonly path: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isObject(value) && typeof value.$blob === 'string') return [{ digest: value.$blob, path }];
  return Object.entries(value).flatMap(([name, member]) => {
    const isWrapping = name === '$json' || name === '$literal';
    return placesIn(member, isWrapping ? path : path === '' ? name : `${path}.${name}`);
  });
}

/** The state of the cast with the digest in the place of each text that is gone; null where it cannot be told any more. */
function stateOf(db: DatabaseSync, rows: readonly Row[]): string | null {
  const state = emptyState();
  try {
    for (const { seq, line } of rows) {
      const there = line.includes('"$blob"') ? textsOf(db, seq) : null;
      // In quotes, because a text may be the JSON of a value.
      apply(
        state,
        entryOf(line, (digest) => there?.get(digest) ?? `"${digest}"`),
      );
    }
    return JSON.stringify(state);
  } catch {
    return null;
  }
}

function textsOf(db: DatabaseSync, seq: number): ReadonlyMap<string, string> {
  const rows = db.prepare('SELECT digest, body FROM texts WHERE id BETWEEN ? AND ?');
  const found = rows.all(seq * TEXTS_PER_FACT, (seq + 1) * TEXTS_PER_FACT - 1);
  return new Map(found.map(({ digest, body }) => [String(digest), String(body)]));
}

/** When and by whom, as the facts that erased them say. */
function withErasures(db: DatabaseSync, needed: readonly Place[]): readonly Gone[] {
  if (needed.length === 0) return [];
  const erasures = db.prepare("SELECT line FROM facts WHERE kind = 'blob.erased'").all();
  const facts = erasures.map(({ line }) => JSON.parse(String(line)) as { at: string; by: string; body: Json });
  return needed.map((place) => {
    const by = facts.find(
      ({ body }) =>
        isObject(body) && body.digest === place.digest && Array.isArray(body.from) && body.from.includes(place.seq),
    );
    return { ...place, erased: by?.at ?? null, by: by?.by ?? null };
  });
}
