// The log in memory, for simulations and tests. It keeps lines like the one on disk, so that entries go through the same form.
import {
  type CastQuery,
  type Commit,
  type Evidence,
  type IndexCheck,
  type Lease,
  type LeaseChange,
  type LeaseValues,
  type Log,
  type LogHead,
  type Part,
  type Query,
  type RowQuery,
  type Snapshot,
  type SnapshotParts,
  type StorageFault,
  type StoredRow,
  type StoredText,
  TEXTS_PER_FACT,
  type TextPlace,
} from '../engine/ports.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Entry } from '../kernel/fact.ts';
import { fetchLeases, fetchRows, filedUnder, fits, selectCasts } from './filed-under.ts';
import {
  awayOf,
  BEGINNING_CHARS,
  chain,
  entryFromLine,
  escapedKey,
  type LogLine,
  leafHash,
  NO_PREV,
  onceKey,
  usedTwice,
} from './line.ts';

export class MemoryLog implements Log {
  readonly #lines: string[] = [];
  /** By entry and digest: the text, and its position among the texts of the entry. */
  readonly #blobs = new Map<string, { readonly text: string; readonly index: number }>();
  readonly #once = new Map<string, number>();
  readonly #leases = new Map<string, string>();
  readonly #watchers = new Set<() => void>();
  #snapshot: Snapshot | null = null;
  #parts: ReadonlyMap<string, Part> = new Map();
  #lastAt = '';
  /** Ends when the exclusive reader is done. */
  #alone: Promise<void> | null = null;

  async commit(after: number, { wanted, decide }: Commit): Promise<readonly Entry[]> {
    while (this.#alone) await this.#alone;
    const tail = this.#entries(after);
    const found = fetchRows(wanted?.(tail) ?? { once: [], leases: [] }, {
      once: (key) => this.#once.get(onceKey(key)) ?? null,
      lease: (name) => this.#leases.get(name) ?? null,
    });
    const appends = decide(tail, found);
    let prev = this.#leaf();
    let lastAt = this.#lastAt;
    const lines = appends.map((append, index) => {
      const line = chain(append, this.#lines.length + index + 1, prev, lastAt);
      prev = line.leaf;
      lastAt = line.entry.at;
      return line;
    });
    const used = this.#newKeys(lines);
    for (const { line, blobs, entry } of lines) {
      this.#lines.push(line);
      for (const [index, { digest, text }] of blobs.entries())
        this.#blobs.set(`${entry.seq} ${digest}`, { text, index });
      if (entry.fact.kind === 'blob.erased') this.#erase(entry.fact);
    }
    for (const [key, seq] of used) this.#once.set(key, seq);
    for (const { leases = [] } of appends) for (const { name, value } of leases) this.#setLease(name, value);
    this.#lastAt = lastAt;
    if (lines.length > 0) for (const changed of this.#watchers) changed();
    return lines.map(({ entry }) => entry);
  }

  async read(query: Query): Promise<readonly Entry[]> {
    return this.#entries(query.after, query)
      .filter(({ fact }) => fits(query, fact))
      .slice(0, query.limit);
  }

  async casts(query: CastQuery): Promise<readonly CastSummary[]> {
    return selectCasts(await this.read({ after: 0, kindPrefix: 'cast.' }), query);
  }

  async castCount(): Promise<number> {
    return (await this.casts({})).length;
  }

  async head(): Promise<LogHead> {
    return { seq: this.#lines.length, hash: this.#leaf() };
  }

  async lines(after: number, limit: number): Promise<readonly { seq: number; line: string }[]> {
    return this.#lines.slice(after, after + limit).map((line, index) => ({ seq: after + index + 1, line }));
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  async snapshot(): Promise<Snapshot | null> {
    return this.#snapshot;
  }

  snapshotPart(digest: string): string | null {
    return this.#parts.get(digest)?.body ?? null;
  }

  async saveSnapshot(snapshot: Snapshot, below?: SnapshotParts): Promise<void> {
    if (snapshot.through < (this.#snapshot?.through ?? 0)) return;
    const kept = new Map<string, Part>();
    const trail = [...(below?.children ?? [])];
    for (let digest = trail.pop(); digest !== undefined; digest = trail.pop()) {
      const part = below?.parts.get(digest) ?? this.#parts.get(digest);
      if (!part) throw new Error('a part that the snapshot names is not there any more');
      if (!kept.has(digest)) trail.push(...part.children);
      kept.set(digest, part);
    }
    this.#snapshot = snapshot;
    this.#parts = kept;
  }

  async lease(name: string, change: (held: string | null) => string | null): Promise<string | null> {
    const value = change(this.#leases.get(name) ?? null);
    this.#setLease(name, value);
    return value;
  }

  async changeLeases(names: readonly string[], change: (held: LeaseValues) => readonly LeaseChange[]): Promise<void> {
    const values = fetchLeases(names, (name) => this.#leases.get(name) ?? null);
    for (const { name, value } of change(values)) this.#setLease(name, value);
  }

  async leases(prefix: string): Promise<readonly Lease[]> {
    const found = [...this.#leases].filter(([name]) => name.startsWith(prefix));
    return found.map(([name, value]) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async firstGap(): Promise<number | null> {
    return null;
  }

  async evidence(): Promise<Evidence> {
    const rows = this.#entries(0).map(({ seq, fact }): StoredRow => {
      const { kind, cast, task } = filedUnder(fact);
      return [seq, kind, cast, task, this.#lines[seq - 1] ?? ''];
    });
    const texts = Array.from(this.#blobs, ([place, { text, index }]): StoredText => {
      const [seq, digest = ''] = place.split(' ');
      return [Number(seq) * TEXTS_PER_FACT + index, digest, text];
    });
    return new MemoryEvidence(
      rows,
      texts.sort(([a], [b]) => a - b),
      this.#snapshot,
    );
  }

  async alone<T>(work: (log: Log) => Promise<T>): Promise<T> {
    while (this.#alone) await this.#alone;
    const done = work(this);
    this.#alone = done.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await done;
    } finally {
      this.#alone = null;
    }
  }

  async overwriteErased(): Promise<void> {}

  async close(): Promise<void> {
    this.#watchers.clear();
  }

  #erase({ digest, from }: { readonly digest: string; readonly from: readonly number[] }): void {
    for (const seq of from) {
      const text = this.#blobs.get(`${seq} ${digest}`)?.text;
      const bodies = [this.#snapshot, ...this.#parts.values()];
      if (text !== undefined && bodies.some((each) => each?.body.includes(escapedKey(text)))) {
        this.#snapshot = null;
        this.#parts = new Map();
      }
      this.#blobs.delete(`${seq} ${digest}`);
    }
  }

  #setLease(name: string, value: string | null): void {
    if (value === null) this.#leases.delete(name);
    else this.#leases.set(name, value);
  }

  #leaf(): string {
    const last = this.#lines.at(-1);
    return last === undefined ? NO_PREV : leafHash(last);
  }

  /** The keys that these lines use up. Throws if one is used already. */
  #newKeys(lines: readonly LogLine[]): Map<string, number> {
    const keys = new Map<string, number>();
    for (const { entry } of lines) {
      for (const key of entry.once ?? []) {
        const before = this.#once.get(key) ?? keys.get(key);
        if (before !== undefined) throw usedTwice(key, before);
        keys.set(key, entry.seq);
      }
    }
    return keys;
  }

  #entries(after: number, query: Query = { after }): Entry[] {
    return this.#lines.slice(after).map((line, index) => {
      const textOf = (digest: string) => this.#blobs.get(`${after + index + 1} ${digest}`)?.text ?? null;
      return entryFromLine(
        line,
        textOf,
        awayOf(query, (digest) => textOf(digest)?.slice(0, BEGINNING_CHARS) ?? null),
      );
    });
  }
}

/** It has no indexes of its own, so none can be wrong. */
class MemoryEvidence implements Evidence {
  readonly #rows: readonly StoredRow[];
  readonly #texts: readonly StoredText[];
  readonly #snapshot: Snapshot | null;

  constructor(rows: readonly StoredRow[], texts: readonly StoredText[], snapshot: Snapshot | null) {
    this.#rows = rows;
    this.#texts = texts;
    this.#snapshot = snapshot;
  }

  async rows({ after, limit, cast, kinds, kindPrefix, holds }: RowQuery): Promise<readonly StoredRow[]> {
    const isFound = ([seq, kind, its, , line]: StoredRow) =>
      seq > after &&
      (cast === undefined || its === cast) &&
      (kinds === undefined || kinds.includes(kind)) &&
      (kindPrefix === undefined || kind.startsWith(kindPrefix)) &&
      (holds === undefined || line.includes(holds));
    return this.#rows.filter(isFound).slice(0, limit);
  }

  async texts(after: number, limit: number): Promise<readonly StoredText[]> {
    return this.#texts.filter(([id]) => id > after).slice(0, limit);
  }

  async textsOf(seq: number): Promise<ReadonlyMap<string, string>> {
    const own = this.#texts.filter(([id]) => Math.floor(id / TEXTS_PER_FACT) === seq);
    return new Map(own.map(([, digest, text]) => [digest, text]));
  }

  async textPlaces(after: number, limit: number): Promise<readonly TextPlace[]> {
    return (await this.texts(after, limit)).flatMap(([id, digest, text]): TextPlace[] => {
      const row = this.#rows[Math.floor(id / TEXTS_PER_FACT) - 1];
      if (!row) return [];
      const [, kind, cast, , line] = row;
      const at = cast === null ? String(JSON.parse(line).at) : '';
      return [[id, digest, Buffer.byteLength(text), cast, kind, at]];
    });
  }

  async snapshots(): Promise<readonly Snapshot[]> {
    return this.#snapshot ? [this.#snapshot] : [];
  }

  async changedLayout(): Promise<string | null> {
    return null;
  }

  checkIndexes(): IndexCheck {
    return { take: async () => undefined, end: async () => undefined };
  }

  async faults(): Promise<readonly StorageFault[]> {
    return [];
  }

  async close(): Promise<void> {}
}
