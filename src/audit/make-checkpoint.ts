// Makes a checkpoint: signs the head of the tree and keeps it inside and outside. It reads what was appended since the last
// one only, and never signs a tree that does not extend the last one that was signed.
//
// All of it happens under the write lock of the log, so that two processes never sign side by side.
import type { DatabaseSync } from 'node:sqlite';
import { allow, type Denied, type Verdict } from '../kernel/verdict.ts';
import { openDatabase } from '../log/sqlite/open.ts';
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
  const signing = { folders: checkpointFolders(place, env), signer: signer.value, keys: keys.value };
  const db = openDatabase(logFile);
  try {
    // Most of it is read before anybody has to wait, and what came in the meantime under the lock.
    const read = readOn(db, signing, null);
    if (isDenied(read)) return read;
    db.exec('BEGIN IMMEDIATE');
    try {
      return signed(db, signing, read);
    } finally {
      db.exec('ROLLBACK');
    }
  } finally {
    db.close();
  }
}

type Signing = { readonly folders: Folders; readonly signer: Signer; readonly keys: readonly PublicKey[] };

/** How far the log was read, from which checkpoint on. */
type Read = {
  readonly last: Signed | null;
  readonly frontier: Frontier;
  readonly chain: ChainWalk;
  readonly faults: Fault[];
};

function signed(db: DatabaseSync, signing: Signing, before: Read): Verdict {
  const { folders, signer } = signing;
  const read = readOn(db, signing, before);
  if (isDenied(read)) return read;
  const { frontier, last } = read;
  read.chain.end(() => false);
  if (read.faults.length > 0) return tampered(read.faults);
  if (frontier.size === (last?.size ?? 0))
    return allow('nothing was appended since the last checkpoint', { size: frontier.size });
  const root = frontier.root();
  const note = signedNote({ origin: folders.origin, size: frontier.size, root }, signer);
  keepNote(folders.inside, note, signer.publicKey);
  keepNote(folders.outside, note, signer.publicKey);
  keepFrontier(folders.inside, { size: frontier.size, peaks: frontier.peaks });
  const details = { size: frontier.size, root, origin: folders.origin, key: keyLine(signer.publicKey), note };
  const reason = `signed ${frontier.size} facts; a copy lies in ${folders.outside}`;
  return allow(reason, { ...details, outside: folders.outside });
}

/** Reads on to the end of the log, from where it was read to before if nobody signed in the meantime. */
function readOn(db: DatabaseSync, { folders, signer, keys }: Signing, before: Read | null): Read | Denied {
  const found: Fault[] = [];
  const all = [
    { where: 'inside', notes: notesIn(folders.inside) },
    { where: 'outside', notes: notesIn(folders.outside) },
  ] as const;
  const last = signedCheckpoints(all, [signer.publicKey, ...keys], (fault) => found.push(fault)).at(-1) ?? null;
  if (found.length > 0) return tampered(found);
  const head = Number(db.prepare('SELECT max(seq) AS seq FROM facts').get()?.seq ?? 0);
  if (last && last.size > head) return tampered([cutOff(last, head)]);
  const read = before && before.last?.size === last?.size ? before : start(db, folders, last);
  for (const [seq, , , , text] of factRows(db, read.frontier.size)) {
    read.frontier.add(read.chain.take(seq, text).leaf);
    if (read.faults.length > 0) break;
    if (read.frontier.size === last?.size && read.frontier.root() !== last.root) return tampered([forked(last)]);
  }
  return read;
}

/** From the last checkpoint on, where its frontier was kept and leads to the root that was signed; else from the beginning. */
function start(db: DatabaseSync, { inside }: Folders, last: Signed | null): Read {
  const faults: Fault[] = [];
  const from = (frontier: Frontier, leaf: string | null): Read => {
    const chain = new ChainWalk((fault) => faults.push(fault), frontier.size, leaf);
    return { last, frontier, chain, faults };
  };
  const kept = last && keptFrontier(inside);
  if (!last || !kept || kept.size !== last.size) return from(new Frontier(), null);
  try {
    const frontier = new Frontier(kept.size, kept.peaks);
    const row = db.prepare('SELECT line FROM facts WHERE seq = ?').get(last.size);
    if (frontier.root() === last.root && row) return from(frontier, leafOf(String(row.line)));
  } catch {
    // It has the wrong number of peaks: it was not written by us.
  }
  return from(new Frontier(), null);
}

function isDenied(value: Read | Denied): value is Denied {
  return 'allow' in value;
}

function cutOff({ size, where }: Signed, head: number): Fault {
  const reason = `the log ends here; a checkpoint of ${size} entries was signed (${where})`;
  return { kind: 'TRUNCATED', seq: head + 1, reason };
}

function forked({ size, where }: Signed): Fault {
  return { kind: 'FORKED', seq: 1, reason: `the first ${size} entries are not those that were signed (${where})` };
}
