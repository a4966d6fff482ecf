// What an auditor can find. Every finding has a place: the number of the entry it is about, or of the first that is missing.
import type { JsonObject } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

export const FAULT_KINDS = [
  /** A line is not the RFC 8785 form of an entry. */
  'ENTRY_NOT_CANONICAL',
  /** An entry is missing, or one stands where another belongs. */
  'SEQ_GAP',
  /** An entry is not the one that the next entry was chained to. */
  'CHAIN_BROKEN',
  'TIME_BACKWARDS',
  /** A text is not the one of the digest, is missing though nobody erased it, or belongs to no entry. */
  'BLOB_MISMATCH',
  /** What facts are found by says something else than their lines. */
  'INDEX_MISMATCH',
  /** The register of keys that may be used once says something else than the lines. */
  'ONCE_MISMATCH',
  /** A snapshot is not the one that the log vouches for. */
  'SNAPSHOT_MISMATCH',
  /** A person's decision does not carry the seal that the user's key makes. */
  'DECISION_FORGED',
  /** A warning: whether a person made a decision could not be checked. */
  'DECISION_UNCHECKED',
  /** The tables are not those that the program makes. */
  'SCHEMA_CHANGED',
  /** The file cannot be read any further. */
  'FILE_DAMAGED',
  /** A checkpoint cannot be read, or is not signed by a key that is trusted. */
  'CHECKPOINT_SIGNATURE',
  /** Checkpoints stand in another order than that in which they were made. */
  'CHECKPOINT_ORDER',
  /** A checkpoint that is kept outside was taken away from beside the log; or, as a warning, the other way round. */
  'CHECKPOINT_MISSING',
  /** A checkpoint is larger than the log: its end was cut off. */
  'TRUNCATED',
  /** The log has another root than the one that was signed: entries were rewritten together with their chain. */
  'FORKED',
  /** A bundle is not of the documented form. */
  'BUNDLE_MALFORMED',
  /** A fact of a bundle is not in the tree that its checkpoint was signed for. */
  'PROOF_INVALID',
  /** A bundle is not as it was signed, and nothing in it says where it differs. */
  'BUNDLE_SIGNATURE',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export type Fault = { readonly kind: FaultKind; readonly seq: number; readonly reason: string };

/** The most faults that are listed; after the first ones nobody learns anything from more. */
export const FAULTS_MAX = 100;

/** What others follow from, the strongest last. */
const CAUSES: readonly FaultKind[] = ['SEQ_GAP', 'TRUNCATED', 'FILE_DAMAGED'];

/**
 * In the order of their places. Where entries are missing, whatever else is wrong at that place follows from it: the texts
 * and keys of what was cut off still lie beside it. What is wrong with texts follows from what is wrong with their entry.
 */
export function inOrder(faults: readonly Fault[]): readonly Fault[] {
  const weight = ({ kind }: Fault) => (kind === 'BLOB_MISMATCH' ? -2 : CAUSES.indexOf(kind));
  return faults.toSorted((a, b) => a.seq - b.seq || weight(b) - weight(a));
}

/**
 * Where a text is wrong that was erased, or is missing though nobody erased it: at a broken entry after its own and up to
 * the one that erased it, since that may be what was changed, else at its own. `broken` is in order.
 */
export function placeOfErased(seq: number, broken: readonly number[], upTo = Number.POSITIVE_INFINITY): number {
  return broken.find((other) => other > seq && other <= upTo) ?? seq;
}

/** The refusal: it is about the first of the faults, and lists all that were found. */
export function tampered(faults: readonly Fault[], details: JsonObject = {}): Denied {
  const [first] = faults;
  if (!first) throw new Error('nothing was found');
  const more = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
  return deny('TAMPERED', `entry ${first.seq}: ${first.reason}${more}`, {
    ...details,
    seq: first.seq,
    kind: first.kind,
    faults: faults.map((fault) => ({ ...fault })),
  });
}
