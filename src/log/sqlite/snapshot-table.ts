// The newest snapshot of a log and its parts. A part is stored once by its digest, with the number of parts that name it,
// so that a new snapshot writes only what changed since the last one.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Snapshot, SnapshotParts } from '../../engine/ports.ts';

const NO_PARTS: SnapshotParts = { children: [], parts: new Map() };

type Counted = { readonly refs: number; readonly children: string };

export class SnapshotTable {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #isThere = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  newest(): Snapshot | null {
    const row = this.#prepared('SELECT through, digest, body FROM snapshots ORDER BY through DESC LIMIT 1').get();
    return (row as Snapshot | undefined) ?? null;
  }

  part(digest: string): string | null {
    // Only an earlier version wrote this log: it has no table of parts.
    if (!this.#hasParts()) return null;
    const row = this.#prepared('SELECT body FROM snapshot_parts WHERE digest = ?').get(digest);
    return row ? String(row.body) : null;
  }

  /** One step of a transaction. An older snapshot than the stored one is ignored. */
  save({ through, digest, body }: Snapshot, below = NO_PARTS): void {
    const newest = this.#db.prepare('SELECT max(through) AS through FROM snapshots').get();
    if (Number(newest?.through ?? 0) > through) return;
    const replaced = this.#db.prepare('SELECT digest FROM snapshots').all();
    this.#keep(digest, {
      ...below,
      parts: new Map([...below.parts, [digest, { body: '', children: below.children }]]),
    });
    this.#db.exec('DELETE FROM snapshots');
    this.#db.prepare('INSERT INTO snapshots (through, digest, body) VALUES (?, ?, ?)').run(through, digest, body);
    for (const { digest: old } of replaced) this.#release(String(old));
  }

  /** Deletes all snapshots if one holds the text. */
  dropIfHolding(text: string): void {
    const holding = ['snapshots', ...(this.#hasParts() ? ['snapshot_parts'] : [])].some((table) =>
      this.#db.prepare(`SELECT 1 FROM ${table} WHERE instr(body, ?) > 0 LIMIT 1`).get(text),
    );
    if (!holding) return;
    this.#db.exec('DELETE FROM snapshots');
    if (this.#hasParts()) this.#db.exec('DELETE FROM snapshot_parts');
  }

  /** From the root down. A stored part has all its children. */
  #keep(root: string, { parts }: SnapshotParts): void {
    const named = this.#prepared('UPDATE snapshot_parts SET refs = refs + 1 WHERE digest = ?');
    const insert = this.#prepared('INSERT INTO snapshot_parts (digest, refs, children, body) VALUES (?, 1, ?, ?)');
    const trail = [root];
    for (let digest = trail.pop(); digest !== undefined; digest = trail.pop()) {
      if (named.run(digest).changes > 0) continue;
      const part = parts.get(digest);
      if (!part) throw new Error('a part that the snapshot names is not there any more');
      insert.run(digest, part.children.join(' '), part.body);
      for (const child of part.children) trail.push(child);
    }
  }

  #release(root: string): void {
    const unnamed = this.#prepared(
      'UPDATE snapshot_parts SET refs = refs - 1 WHERE digest = ? RETURNING refs, children',
    );
    const remove = this.#prepared('DELETE FROM snapshot_parts WHERE digest = ?');
    const trail = [root];
    for (let digest = trail.pop(); digest !== undefined; digest = trail.pop()) {
      const left = unnamed.get(digest) as Counted | undefined;
      if (!left || left.refs > 0) continue;
      remove.run(digest);
      if (left.children !== '') trail.push(...left.children.split(' '));
    }
  }

  #hasParts(): boolean {
    this.#isThere ||= this.#prepared(`SELECT 1 FROM sqlite_schema WHERE name = 'snapshot_parts'`).get() !== undefined;
    return this.#isThere;
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}
