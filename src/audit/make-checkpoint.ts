// Makes a checkpoint: signs the head of the tree and keeps it inside and outside. It reads what was appended since the last
// one only, and never signs a tree that does not extend the last one that was signed.
//
// It is signed while nobody appends, so that two processes never sign at the same time.
import type { Log } from '../engine/ports.ts';
import { allow, type Denied, type Verdict } from '../kernel/verdict.ts';
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

const LINES_AT_ONCE = 1_024;

/** Signs the log of a workspace as it stands. Where nothing was appended since the last checkpoint, that one is enough. */
export async function makeCheckpoint(place: Place, log: Log, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const signer = openSigner(env);
  if (!signer.ok) return signer.verdict;
  const keys = trustedKeys(env);
  if (!keys.ok) return keys.verdict;
  const signing = { folders: checkpointFolders(place, env), signer: signer.value, keys: keys.value };
  // Most of it is read before anybody has to wait, and what came in the meantime while nobody appends.
  const read = await readOn(log, signing, null);
  return isDenied(read) ? read : log.alone((held) => signed(held, signing, read));
}

type Signing = { readonly folders: Folders; readonly signer: Signer; readonly keys: readonly PublicKey[] };

/** How far the log was read, from which checkpoint on. */
type Read = {
  readonly last: Signed | null;
  readonly frontier: Frontier;
  readonly chain: ChainWalk;
  readonly faults: Fault[];
};

async function signed(log: Log, signing: Signing, before: Read): Promise<Verdict> {
  const { folders, signer } = signing;
  const read = await readOn(log, signing, before);
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
async function readOn(log: Log, { folders, signer, keys }: Signing, before: Read | null): Promise<Read | Denied> {
  const found: Fault[] = [];
  const all = [
    { where: 'inside', notes: notesIn(folders.inside) },
    { where: 'outside', notes: notesIn(folders.outside) },
  ] as const;
  const last = signedCheckpoints(all, [signer.publicKey, ...keys], (fault) => found.push(fault)).at(-1) ?? null;
  if (found.length > 0) return tampered(found);
  const { seq: head } = await log.head();
  if (last && last.size > head) return tampered([cutOff(last, head)]);
  const read = before && before.last?.size === last?.size ? before : await start(log, folders, last);
  for await (const { seq, line } of linesAfter(log, read.frontier.size)) {
    read.frontier.add(read.chain.take(seq, line).leaf);
    if (read.faults.length > 0) break;
    if (read.frontier.size === last?.size && read.frontier.root() !== last.root) return tampered([forked(last)]);
  }
  return read;
}

/** From the last checkpoint on, where its frontier was kept and leads to the root that was signed; else from the beginning. */
async function start(log: Log, { inside }: Folders, last: Signed | null): Promise<Read> {
  const faults: Fault[] = [];
  const from = (frontier: Frontier, leaf: string | null): Read => {
    const chain = new ChainWalk((fault) => faults.push(fault), frontier.size, leaf);
    return { last, frontier, chain, faults };
  };
  const kept = last && keptFrontier(inside);
  if (!last || !kept || kept.size !== last.size) return from(new Frontier(), null);
  try {
    const frontier = new Frontier(kept.size, kept.peaks);
    const [row] = await log.lines(last.size - 1, 1);
    if (frontier.root() === last.root && row?.seq === last.size) return from(frontier, leafOf(row.line));
  } catch {
    // It has the wrong number of peaks: it was not written by us.
  }
  return from(new Frontier(), null);
}

async function* linesAfter(log: Log, after: number): AsyncGenerator<{ seq: number; line: string }> {
  for (let last = after; ; ) {
    const lines = await log.lines(last, LINES_AT_ONCE);
    yield* lines;
    const end = lines.at(-1);
    if (!end || lines.length < LINES_AT_ONCE) return;
    last = end.seq;
  }
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
