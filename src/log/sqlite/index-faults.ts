// Compares everything that facts are found by with the lines themselves. The lines are the truth: where the two differ,
// somebody wrote to the file beside the program, and a fact could be hidden although the chain is whole.
import type { DatabaseSync } from 'node:sqlite';
import type { Entry } from '../../kernel/fact.ts';
import { digestOf } from '../blob-text.ts';
import { filedUnder } from '../filed-under.ts';
import { entryOf } from '../line.ts';
import { BLOCK, blocksIn, placesIn } from './cast-index.ts';

type Filed = { seq: number; kind: string; cast_id: string | null; task_id: string | null; line: string };

/** What is wrong; empty when nothing is. */
export function indexFaults(db: DatabaseSync): readonly string[] {
  const used = new Map<string, number>();
  return [...columnFaults(db, used), ...castFaults(db), ...onceFaults(db, used)];
}

/** On the way through the lines, the keys they use up join `used`. */
function* columnFaults(db: DatabaseSync, used: Map<string, number>): Generator<string> {
  const rows = db.prepare('SELECT seq, kind, cast_id, task_id, line FROM facts ORDER BY seq').iterate();
  for (const row of rows as Iterable<Filed>) {
    const { seq, kind, cast_id, task_id } = row;
    const entry = entryIn(row);
    if (!entry) {
      yield `${seq}: the line cannot be read`;
      continue;
    }
    const filed = filedUnder(entry.fact);
    if (entry.seq !== seq) yield `${seq}: the line has number ${entry.seq}`;
    if (filed.kind !== kind) yield `${seq}: filed under the kind ${kind}, the line says ${filed.kind}`;
    if (filed.cast !== cast_id) yield `${seq}: filed under the cast ${cast_id}, the line says ${filed.cast}`;
    if (filed.task !== task_id) yield `${seq}: filed under the task ${task_id}, the line says ${filed.task}`;
    for (const key of entry.once ?? []) used.set(key, seq);
  }
}

/** An id that is stored by its digest can still be compared: only the right one has it. */
function entryIn({ line, cast_id, task_id }: Filed): Entry | null {
  const textOf = (digest: string) => [cast_id, task_id].find((id) => id !== null && digestOf(id) === digest) ?? null;
  try {
    return entryOf(line, textOf);
  } catch {
    return null;
  }
}

function* castFaults(db: DatabaseSync): Generator<string> {
  const castAt = db.prepare('SELECT cast_id FROM facts WHERE seq = ?');
  const filed = new Set<number>();
  for (const { cast_id, seqs } of db.prepare('SELECT cast_id, seqs FROM by_cast ORDER BY block, cast_id').iterate()) {
    for (const seq of placesIn(seqs)) {
      if (castAt.get(seq)?.cast_id !== cast_id) yield `${seq}: no fact of the cast ${cast_id}`;
      filed.add(seq);
    }
  }
  const head = Number(db.prepare('SELECT max(seq) AS seq FROM facts').get()?.seq ?? 0);
  const due = db.prepare('SELECT seq FROM facts WHERE cast_id IS NOT NULL AND seq <= ? ORDER BY seq');
  for (const { seq } of due.iterate(blocksIn(head) * BLOCK)) {
    if (!filed.has(Number(seq))) yield `${seq}: missing among the facts of its cast`;
  }
}

function* onceFaults(db: DatabaseSync, used: Map<string, number>): Generator<string> {
  for (const { key, seq } of db.prepare('SELECT key, seq FROM once ORDER BY seq, key').iterate()) {
    if (used.get(String(key)) !== seq) yield `${seq}: noted for the key ${key}, which its line does not use up`;
    else used.delete(String(key));
  }
  for (const [key, seq] of used) yield `${seq}: uses up the key ${key}, which is not noted`;
}
