// The log in memory, for simulations and tests. It keeps lines, as the one on disk does, so that what is read back went
// through the same form.
import type { Append, Head, Log, Query, Snapshot } from '../engine/ports.ts';
import type { Entry } from '../kernel/fact.ts';
import { chain, entryOf, leafHash, NO_PREV } from './line.ts';

export class MemoryLog implements Log {
  readonly #lines: string[] = [];
  readonly #blobs = new Map<string, string>();
  readonly #leases = new Map<string, string>();
  readonly #watchers = new Set<() => void>();
  #snapshot: Snapshot | null = null;
  #lastAt = '';

  async commit(after: number, decide: (tail: readonly Entry[]) => readonly Append[]): Promise<readonly Entry[]> {
    const appends = decide(this.#entries(after));
    let prev = this.#leaf();
    let lastAt = this.#lastAt;
    const lines = appends.map((append, index) => {
      const line = chain(append, this.#lines.length + index + 1, prev, lastAt);
      prev = line.leaf;
      lastAt = line.entry.at;
      return line;
    });
    for (const { line, blobs } of lines) {
      this.#lines.push(line);
      for (const { digest, text } of blobs) this.#blobs.set(digest, text);
    }
    this.#lastAt = lastAt;
    if (lines.length > 0) for (const changed of this.#watchers) changed();
    return lines.map(({ entry }) => entry);
  }

  async read({ after, limit, cast }: Query): Promise<readonly Entry[]> {
    const entries = this.#entries(after).filter(
      (entry) => cast === undefined || ('cast' in entry.fact && entry.fact.cast === cast),
    );
    return entries.slice(0, limit ?? entries.length);
  }

  async lifecycle(after: number): Promise<readonly Entry[]> {
    return this.#entries(after).filter((entry) => entry.fact.kind.startsWith('cast.'));
  }

  async head(): Promise<Head> {
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

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    if (snapshot.through >= (this.#snapshot?.through ?? 0)) this.#snapshot = snapshot;
  }

  async lease(name: string, change: (held: string | null) => string | null): Promise<string | null> {
    const value = change(this.#leases.get(name) ?? null);
    if (value === null) this.#leases.delete(name);
    else this.#leases.set(name, value);
    return value;
  }

  async close(): Promise<void> {
    this.#watchers.clear();
  }

  #leaf(): string {
    const last = this.#lines.at(-1);
    return last === undefined ? NO_PREV : leafHash(last);
  }

  #entries(after: number): Entry[] {
    return this.#lines.slice(after).map((line) => entryOf(line, (digest) => this.#blobs.get(digest) ?? null));
  }
}
