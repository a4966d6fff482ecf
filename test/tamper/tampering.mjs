// How evidence is tampered with. It shares no code with the program or with the verifier: what it knows of the files is what
// docs/evidence.md says.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The number of entries in the prepared log; checkpoints were signed at 1030, at 1099 and at the head. */
export const HEAD = 1100;

/** A change of the log's file: SQL, or what to do with the open database. */
export const inLog = (change) => (folder) => {
  const db = new DatabaseSync(join(folder, 'state', 'log.sqlite'));
  if (typeof change === 'string') db.exec(change);
  else change(db);
  db.close();
};
/** A change of a text file. */
export const inFile = (name, change) => (folder) => {
  const file = join(folder, name);
  const before = readFileSync(file, 'utf8');
  const after = change(before);
  if (after === before) throw new Error(`${name} was not changed`);
  writeFileSync(file, after);
};
export const leafOf = (line) => createHash('sha256').update('\0').update(line).digest('hex');
export const nodeOf = (left, right) =>
  createHash('sha256')
    .update('\x01')
    .update(Buffer.from(left + right, 'hex'))
    .digest('hex');
export const lineAt = (db, seq) => db.prepare('SELECT line FROM facts WHERE seq = ?').get(seq).line;
export const setLine = (db, seq, line) => db.prepare('UPDATE facts SET line = ? WHERE seq = ?').run(line, seq);

/** Rewrites an entry and chains everything after it anew, as somebody would who knows how the log is made. */
export function rewriteFrom(db, seq, change) {
  const last = Number(db.prepare('SELECT max(seq) AS n FROM facts').get().n);
  setLine(db, seq, change(lineAt(db, seq)));
  for (let next = seq + 1; next <= last; next++) {
    const prev = leafOf(lineAt(db, next - 1));
    setLine(db, next, lineAt(db, next).replace(/"prev":"[0-9a-f]{64}"/, `"prev":"${prev}"`));
  }
}

/** Another value in the same form. */
export const otherTurn = (line) => line.replace(/"turn":(\d+)/, (_, turn) => `"turn":${Number(turn) + 7}`);
export const swapLines = (a, b) => (db) => {
  const [first, second] = [lineAt(db, a), lineAt(db, b)];
  setLine(db, a, second);
  setLine(db, b, first);
};
