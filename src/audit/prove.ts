// Proofs for a reader who has a signed checkpoint but not the log: that a fact is in it, and that one checkpoint extends another.
// A log that fails verification proves nothing.
import type { Evidence } from '../engine/ports.ts';
import type { JsonObject } from '../kernel/json.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import type { KnownCheckpoints } from './checkpoints.ts';
import { MerkleTree } from './merkle.ts';
import { isSignedBy } from './note.ts';
import { type OnLeaf, verifyLog } from './verify-log.ts';

/** Proves a fact in the tree of `size` entries. Default: the newest signed tree with the fact, else the whole log. */
export async function proveInclusion(
  evidence: Evidence,
  known: KnownCheckpoints,
  seq: number,
  size: number | null,
): Promise<Verdict> {
  const tree = new MerkleTree();
  let line = '';
  const onLeaf: OnLeaf = (at, leaf, text) => {
    tree.add(leaf);
    if (at === seq) line = text;
  };
  const verdict = await verifyLog(evidence, known.kept, known.keys, { onLeaf });
  if (!verdict.allow) return verdict;
  const wanted = size ?? newestSigned(known, seq) ?? tree.size;
  if (seq > wanted || wanted > tree.size) return outOfRange(tree.size);
  return allow(`entry ${seq} is in the tree of ${wanted} entries`, {
    seq,
    line,
    leaf: tree.leaf(seq - 1),
    size: wanted,
    root: tree.root(wanted),
    proof: tree.inclusion(seq - 1, wanted),
    ...signedAt(known, wanted),
  });
}

export async function proveConsistency(
  evidence: Evidence,
  known: KnownCheckpoints,
  from: number,
  to: number | null,
): Promise<Verdict> {
  const tree = new MerkleTree();
  const verdict = await verifyLog(evidence, known.kept, known.keys, { onLeaf: (_, leaf) => tree.add(leaf) });
  if (!verdict.allow) return verdict;
  const size = to ?? newestSigned(known, from) ?? tree.size;
  if (from > size || size > tree.size) return outOfRange(tree.size);
  return allow(`the first ${from} of ${size} entries equal the tree of ${from}`, {
    from: { size: from, root: tree.root(from), ...signedAt(known, from) },
    to: { size, root: tree.root(size), ...signedAt(known, size) },
    proof: tree.consistency(from, size),
  });
}

function newestSigned({ kept, keys }: KnownCheckpoints, least: number): number | null {
  const sizes = kept.flatMap(({ notes }) =>
    notes.flatMap((note) => (note && keys.some((key) => isSignedBy(note, key)) ? note.checkpoint.size : [])),
  );
  const newest = Math.max(...sizes);
  return newest >= least ? newest : null;
}

/** The signed note for exactly this many entries, if there is one. */
function signedAt({ kept }: KnownCheckpoints, size: number): JsonObject {
  const note = kept.flatMap(({ notes }) => notes).find((each) => each?.checkpoint.size === size);
  return note ? { checkpoint: note.text } : {};
}

function outOfRange(size: number): Verdict {
  return deny('BAD_USAGE', `the log has ${size} entries; name numbers within them, the smaller one first`, { size });
}
