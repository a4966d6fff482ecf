// Makes a checkpoint: signs the head of the tree and keeps it inside and outside. It reads what was appended since the last
// one only, and never signs a tree that does not extend the last one that was signed.
//
// All of it happens under the write lock of the log, so that two processes never sign side by side.
import type { DatabaseSync } from 'node:sqlite';
import { allow, type Denied, type Verdict } from '../kernel/verdict.ts';
import { openDatabase } from '../log/sqlite-open.ts';
import { ChainWalk } from './chain-walk.ts';
import { type Signed, signedCheckpoints } from './checkpoint-check.ts';
import {
  checkpointFolders,
  type Folders,
  keepFrontier,
  keepNote,
  keptFrontier,
  notesIn,
  type Place,
} from './checkpoint-files.ts';
import { type Fault, tampered } from './fault.ts';
import { Frontier, leafOf } from './merkle.ts';
import { keyLine, type PublicKey, type Signer, signedNote } from './note.ts';
import { openSigner, trustedKeys } from './signing-key.ts';
import { factRows } from './stored-rows.ts';

/** Signs the log of a workspace as it stands. Where nothing was appended since the last checkpoint, that one is enough. */
export function makeCheckpoint(place: Place, logFile: string, env: NodeJS.ProcessEnv): Verdict {
  const signer = openSigner(env);
  if (!signer.ok) return signer.verdict;
  const keys = trustedKeys(env);
  if (!keys.ok) return keys.verdict;
  const folders = checkpointFolders(place, env);
  const db = openDatabase(logFile);
  try {
    db.exec('BEGIN IMMEDIATE');
    try {
      return signed(db, folders, signer.value, [signer.value.publicKey, ...keys.value]);
    } finally {
      db.exec('ROLLBACK');
    }
  } finally {
    db.close();
  }
}

function signed(db: DatabaseSync, folders: Folders, signer: Signer, keys: readonly PublicKey[]): Verdict {
  const faults: Fault[] = [];
  const all = [
    { where: 'inside', notes: notesIn(folders.inside) },
    { where: 'outside', notes: notesIn(folders.outside) },
  ] as const;
  const last = signedCheckpoints(all, keys, (fault) => faults.push(fault)).at(-1) ?? null;
  if (faults.length > 0) return tampered(faults);
  const head = Number(db.prepare('SELECT max(seq) AS seq FROM facts').get()?.seq ?? 0);
  if (last && last.size > head) return tampered([cutOff(last, head)]);
  if (head === (last?.size ?? 0)) return allow('nothing was appended since the last checkpoint', { size: head });
  const grown = grow(db, start(db, folders, last), last);
  if (!(grown instanceof Frontier)) return grown;
  const note = signedNote({ origin: folders.origin, size: grown.size, root: grown.root() }, signer);
  keepNote(folders.inside, note, signer.publicKey);
  keepNote(folders.outside, note, signer.publicKey);
  keepFrontier(folders.inside, { size: grown.size, peaks: grown.peaks });
  const details = {
    size: grown.size,
    root: grown.root(),
    origin: folders.origin,
    key: keyLine(signer.publicKey),
    note,
  };
  return allow(`signed ${grown.size} facts; a copy lies in ${folders.outside}`, {
    ...details,
    outside: folders.outside,
  });
}

/** The frontier at the last checkpoint, where it was kept and leads to the root that was signed; else from the beginning. */
function start(
  db: DatabaseSync,
  { inside }: Folders,
  last: Signed | null,
): { frontier: Frontier; leaf: string | null } {
  const kept = last && keptFrontier(inside);
  if (!last || !kept || kept.size !== last.size) return { frontier: new Frontier(), leaf: null };
  try {
    const frontier = new Frontier(kept.size, kept.peaks);
    const row = db.prepare('SELECT line FROM facts WHERE seq = ?').get(last.size);
    if (frontier.root() === last.root && row) return { frontier, leaf: leafOf(String(row.line)) };
  } catch {
    // It has the wrong number of peaks: it was not written by us.
  }
  return { frontier: new Frontier(), leaf: null };
}

function grow(
  db: DatabaseSync,
  { frontier, leaf }: { frontier: Frontier; leaf: string | null },
  last: Signed | null,
): Frontier | Denied {
  const faults: Fault[] = [];
  const chain = new ChainWalk((fault) => faults.push(fault), frontier.size, leaf);
  for (const [seq, , , , text] of factRows(db, frontier.size)) {
    frontier.add(chain.take(seq, text).leaf);
    if (faults.length > 0) break;
    if (frontier.size === last?.size && frontier.root() !== last.root) return tampered([forked(last)]);
  }
  chain.end(() => false);
  return faults.length > 0 ? tampered(faults) : frontier;
}

function cutOff({ size, where }: Signed, head: number): Fault {
  const reason = `the log ends here; a checkpoint of ${size} entries was signed (${where})`;
  return { kind: 'TRUNCATED', seq: head + 1, reason };
}

function forked({ size, where }: Signed): Fault {
  return { kind: 'FORKED', seq: 1, reason: `the first ${size} entries are not those that were signed (${where})` };
}
