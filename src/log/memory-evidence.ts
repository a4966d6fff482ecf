// The log in memory as evidence. It has no indexes of its own, so nothing can be wrong with them.
import {
  type Evidence,
  type IndexCheck,
  type RowQuery,
  type Snapshot,
  type StorageFault,
  type StoredRow,
  type StoredText,
  TEXTS_PER_FACT,
  type TextPlace,
} from '../engine/ports.ts';

export class MemoryEvidence implements Evidence {
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
