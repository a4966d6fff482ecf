// What a cast can no longer do without: texts that were erased and that the state of the cast still holds. A text that only
// the history names, such as what an agent once said word for word, is missed by nobody who carries the cast on.
import type { Evidence, StoredRow } from '../engine/ports.ts';
import { apply } from '../kernel/apply.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { emptyState } from '../kernel/state.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { entryOf } from '../log/line.ts';
import { readStoredLine } from '../log/stored-line.ts';

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
export async function refuseErased(evidence: Evidence, cast: string): Promise<Denied | null> {
  const [first, ...more] = await neededAndErased(evidence, cast);
  if (!first) return null;
  const { kind, path, seq, digest, erased, by } = first;
  const when = erased === null ? 'is gone' : `was erased at ${erased} by ${by}`;
  const others = more.length === 0 ? '' : `, beside ${more.length} more`;
  const which = `${path} of entry ${seq} (${kind}, ${digest.slice(0, 19)}…)`;
  const reason = `cast ${cast} cannot be carried on: ${which}, which it needs, ${when}${others}; start a new cast with the same request`;
  return deny('TEXT_ERASED', reason, { cast, texts: [first, ...more] });
}

export async function neededAndErased(evidence: Evidence, cast: string): Promise<readonly Gone[]> {
  const rows = await evidence.rows({ after: 0, cast });
  const texts: Texts = new Map();
  for (const [seq, , , , line] of rows) if (line.includes('"$blob"')) texts.set(seq, await evidence.textsOf(seq));
  const gone = rows.flatMap((row) => goneFrom(texts, row));
  if (gone.length === 0) return [];
  const held = stateOf(texts, rows);
  const needed = gone.filter(({ digest }) => held === null || held.includes(digest));
  return withErasures(evidence, needed);
}

/** By the number of the entry, then by digest. */
type Texts = Map<number, ReadonlyMap<string, string>>;

type Place = Omit<Gone, 'erased' | 'by'>;

function goneFrom(texts: Texts, [seq, , , , line]: StoredRow): readonly Place[] {
  const there = texts.get(seq);
  const stored = there && readStoredLine(line);
  if (!stored) return [];
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
function stateOf(texts: Texts, rows: readonly StoredRow[]): string | null {
  const state = emptyState();
  try {
    for (const [seq, , , , line] of rows) {
      const there = texts.get(seq);
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

/** When and by whom, as the facts that erased them say. */
async function withErasures(evidence: Evidence, needed: readonly Place[]): Promise<readonly Gone[]> {
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
