// Verifies a bundle from its own text: form, signature, proofs, chain, texts, and what it says about itself. Whether its key
// is to be trusted is for whoever holds it to say.
import { hash } from 'node:crypto';
import { isObject, type Json } from '../kernel/json.ts';
import { allow, type Verdict } from '../kernel/verdict.ts';
import { canonical, readStoredLine, type StoredLine } from '../log/stored-line.ts';
import { aboutOf, BUNDLE_FORMAT, BUNDLE_MEMBERS, type Bundle, erasedBy, type SignedBundle } from './bundle.ts';
import { FAULTS_MAX, type Fault, type FaultKind, inOrder, placeOfErased, tampered } from './fault.ts';
import { isHash, leafOf, provesInclusion } from './merkle.ts';
import { isSignature, isSignedBy, keyLine, type Note, type PublicKey, readKeyLine, readNotes } from './note.ts';

type Report = (kind: FaultKind, seq: number, reason: string) => void;
type Shown = { readonly seq: number; readonly leaf: string; readonly line: StoredLine | null };

/** A fault that is about no entry has number 0. */
export function verifyBundle(text: string, trusted: readonly PublicKey[]): Verdict {
  const faults: Fault[] = [];
  const report: Report = (kind, seq, reason) => {
    if (faults.length < FAULTS_MAX) faults.push({ kind, seq, reason });
  };
  const bundle = readBundle(text);
  if (!bundle) return tampered([malformed('the file is not the canonical form of a bundle')]);
  const [note] = readNotes(`${bundle.checkpoint}\n`);
  const key = readKeyLine(bundle.key);
  if (!note || `${note.text}` !== bundle.checkpoint || !key || keyLine(key) !== bundle.key)
    return tampered([malformed('the checkpoint or the key cannot be read')]);
  if (!isSignedBy(note, key)) {
    const reason = 'the checkpoint is not signed by the key';
    return tampered([{ kind: 'CHECKPOINT_SIGNATURE', seq: note.checkpoint.size, reason }]);
  }
  const shown = checkFacts(bundle, note, report);
  const lines = shown.flatMap(({ line }) => line ?? []);
  const broken = faults.map(({ seq }) => seq).toSorted((a, b) => a - b);
  checkTexts(bundle, lines, broken, report);
  // Whatever else was changed is found here; last, because it says nothing of where.
  if (faults.length === 0 && !isSigned(bundle, key)) report('BUNDLE_SIGNATURE', 0, 'the file is not as it was signed');
  const isTrusted = trusted.some((each) => keyLine(each) === bundle.key);
  const details = {
    ...aboutOf(bundle.cast, lines),
    facts: shown.length,
    withheld: shown.length - lines.length,
    texts: Object.keys(bundle.texts).length,
    redacted: bundle.redacted.length,
    checkpoint: { size: note.checkpoint.size, root: note.checkpoint.root, origin: note.checkpoint.origin },
    key: { line: bundle.key, trusted: isTrusted },
  };
  if (faults.length > 0) return tampered(inOrder(faults), details);
  const signer = isTrusted ? 'a key that you trust' : `a key that you do not know, ${key.name}`;
  return allow(`${shown.length} facts of the cast ${bundle.cast} are as they were signed by ${signer}`, details);
}

function isSigned({ signature, ...bundle }: SignedBundle, key: PublicKey): boolean {
  const bytes = Buffer.from(signature, 'base64');
  // The same bytes can be spelt in several ways; only the one that was written is as it was signed.
  return bytes.toString('base64') === signature && isSignature(canonical(bundle as unknown as Json), bytes, key);
}

/** The bundle, where the text is one byte for byte. */
export function readBundle(text: string): SignedBundle | null {
  try {
    const value = JSON.parse(text) as Json;
    if (!isObject(value) || `${canonical(value)}\n` !== text) return null;
    if (Object.keys(value).join() !== BUNDLE_MEMBERS || value.format !== BUNDLE_FORMAT) return null;
    const { cast, checkpoint, key, facts, texts, redacted, seqs, signature } = value;
    const isWhole =
      typeof cast === 'string' &&
      typeof signature === 'string' &&
      Array.isArray(seqs) &&
      typeof checkpoint === 'string' &&
      typeof key === 'string' &&
      Array.isArray(facts) &&
      facts.every(isBundledFact) &&
      isObject(texts) &&
      Object.values(texts).every((each) => typeof each === 'string') &&
      Array.isArray(redacted) &&
      redacted.every((each) => typeof each === 'string');
    return isWhole ? (value as unknown as SignedBundle) : null;
  } catch {
    return null;
  }
}

function isBundledFact(value: Json): boolean {
  if (!isObject(value) || Object.keys(value).length !== 3) return false;
  const { seq, proof, line, leaf } = value;
  if (!Number.isSafeInteger(seq) || !Array.isArray(proof) || !proof.every(isHash)) return false;
  return typeof line === 'string' || isHash(leaf);
}

function checkFacts({ facts, seqs }: Bundle, { checkpoint }: Note, report: Report): readonly Shown[] {
  const shown: Shown[] = [];
  let at = '';
  for (const fact of facts) {
    const { seq, proof } = fact;
    const before = shown.at(-1);
    const leaf = 'line' in fact ? leafOf(fact.line) : fact.leaf;
    const line = 'line' in fact ? readStoredLine(fact.line) : null;
    if (before && seq <= before.seq) report('SEQ_GAP', seq, `it comes after number ${before.seq}`);
    if ('line' in fact && !line) report('ENTRY_NOT_CANONICAL', seq, 'the line is not the canonical form of an entry');
    else if (line && line.seq !== seq) report('SEQ_GAP', seq, `the line in its place has number ${line.seq}`);
    else if (!provesInclusion(leaf, seq - 1, checkpoint.size, proof, checkpoint.root))
      report('PROOF_INVALID', seq, 'its proof does not lead to the signed root');
    else if (line && before && seq === before.seq + 1 && line.prev !== before.leaf)
      report('CHAIN_BROKEN', seq, 'it is not chained to the entry before it');
    else if (line && line.at < at) report('TIME_BACKWARDS', seq, 'its time lies before that of the fact before it');
    at = line?.at ?? at;
    shown.push({ seq, leaf, line });
  }
  const gone = seqs.find((seq, index) => facts[index]?.seq !== seq) ?? facts[seqs.length]?.seq;
  if (gone !== undefined) report('SEQ_GAP', gone, 'the facts are not those that were exported');
  if (shown.length === 0) report('BUNDLE_MALFORMED', 0, 'the bundle holds no facts');
  return shown;
}

/** Every text that a line names is there, was redacted, or was erased by a fact of the bundle; and there are no others. */
function checkTexts(
  { texts, redacted }: Bundle,
  lines: readonly StoredLine[],
  broken: readonly number[],
  report: Report,
): void {
  const left = new Set([...Object.keys(texts), ...redacted]);
  const missing = new Map<string, number>();
  for (const { seq, texts: digests } of lines) {
    for (const digest of digests) {
      left.delete(digest);
      const text = Object.hasOwn(texts, digest) ? texts[digest] : undefined;
      if (text === undefined && !redacted.includes(digest)) missing.set(`${seq} ${digest}`, seq);
      else if (text !== undefined && `sha256:${hash('sha256', text, 'hex')}` !== digest)
        report('BLOB_MISMATCH', seq, `its text ${digest} was changed`);
    }
  }
  for (const line of lines) {
    const erased = erasedBy(line);
    for (const seq of erased?.from ?? []) missing.delete(`${seq} ${erased?.digest}`);
  }
  for (const [place, seq] of missing) {
    const reason = `the text ${place.split(' ')[1]} of entry ${seq} is not there`;
    report('BLOB_MISMATCH', placeOfErased(seq, broken), reason);
  }
  for (const digest of left) report('BLOB_MISMATCH', 0, `the text ${digest} belongs to no fact`);
  const both = redacted.find((digest) => Object.hasOwn(texts, digest));
  if (both !== undefined) report('BUNDLE_MALFORMED', 0, `the text ${both} is redacted and shown`);
}

function malformed(reason: string): Fault {
  return { kind: 'BUNDLE_MALFORMED', seq: 0, reason };
}
