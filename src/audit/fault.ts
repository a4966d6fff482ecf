// What an audit can find. Each fault has a place: the number of its entry, or of the first missing entry.
import type { JsonObject } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

const FAULT_KINDS = [
  /** A line is not the RFC 8785 form of an entry. */
  'ENTRY_NOT_CANONICAL',
  /** An entry is missing or in the wrong place. */
  'SEQ_GAP',
  /** An entry is not the one that the next entry was chained to. */
  'CHAIN_BROKEN',
  'TIME_BACKWARDS',
  /** A text does not match its digest, is missing without an erasure, or belongs to no entry. */
  'BLOB_MISMATCH',
  /** An index differs from the lines. */
  'INDEX_MISMATCH',
  /** The register of once-keys differs from the lines. */
  'ONCE_MISMATCH',
  /** A snapshot differs from the digest in the log. */
  'SNAPSHOT_MISMATCH',
  /** A person's decision lacks the seal of the user's key. */
  'DECISION_FORGED',
  /** A warning: the seal of a decision could not be checked. */
  'DECISION_UNCHECKED',
  /** The tables differ from those that the program makes. */
  'SCHEMA_CHANGED',
  /** The file cannot be read further. */
  'FILE_DAMAGED',
  /** A checkpoint is unreadable or not signed by a trusted key. */
  'CHECKPOINT_SIGNATURE',
  /** Checkpoints are not in the order in which they were made. */
  'CHECKPOINT_ORDER',
  /** A checkpoint outside is missing next to the log. As a warning: the other way round. */
  'CHECKPOINT_MISSING',
  /** A checkpoint is larger than the log: the end of the log is missing. */
  'TRUNCATED',
  /** The log's root differs from the signed one: entries and their chain were rewritten. */
  'FORKED',
  /** A bundle does not have the documented form. */
  'BUNDLE_MALFORMED',
  /** A fact of a bundle is not in the signed tree. */
  'PROOF_INVALID',
  /** A bundle differs from what was signed, at an unknown place. */
  'BUNDLE_SIGNATURE',
] as const;

export type AuditFaultKind = (typeof FAULT_KINDS)[number];

export type AuditFault = { readonly kind: AuditFaultKind; readonly seq: number; readonly reason: string };

/** The largest number of listed faults. */
export const FAULTS_MAX = 100;

/** Faults that cause others, the strongest last. */
const CAUSES: readonly AuditFaultKind[] = ['SEQ_GAP', 'TRUNCATED', 'FILE_DAMAGED'];

/**
 * Sorts faults by place. At one place, missing entries come first, because their leftover texts and keys are faults too. A fault
 * of a text comes after the fault of its entry.
 */
export function sortedFaults(faults: readonly AuditFault[]): readonly AuditFault[] {
  const weight = ({ kind }: AuditFault) => (kind === 'BLOB_MISMATCH' ? -2 : CAUSES.indexOf(kind));
  return faults.toSorted((a, b) => a.seq - b.seq || weight(b) - weight(a));
}

/**
 * The place of a fault about an erased or missing text. A broken entry between the text's own and the erasing one may be what was
 * changed, so it comes first. Otherwise it is the text's own entry. `broken` is sorted.
 */
export function placeOfErased(seq: number, broken: readonly number[], upTo = Number.POSITIVE_INFINITY): number {
  return broken.find((other) => other > seq && other <= upTo) ?? seq;
}

/** The refusal: it names the first fault and lists all. */
export function tampered(faults: readonly AuditFault[], details: JsonObject = {}): Denied {
  const [first] = faults;
  if (!first) throw new Error('there is no fault');
  const more = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
  return deny('TAMPERED', `entry ${first.seq}: ${first.reason}${more}`, {
    ...details,
    seq: first.seq,
    kind: first.kind,
    faults: faults.map((fault) => ({ ...fault })),
  });
}
