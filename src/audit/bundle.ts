// A bundle holds one cast as evidence, in one file: its facts with their proofs, their long texts, a signed checkpoint and the
// public key. The file is the RFC 8785 form of one JSON object and a newline, so every byte counts. It is verified from its own
// text. Its holder decides whether to trust its key.
import { hash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { allow, type Verdict } from '../kernel/verdict.ts';
import { canonical, readStoredLine, type StoredLine } from '../log/stored-line.ts';
import { type AuditFault, type AuditFaultKind, FAULTS_MAX, placeOfErased, sortedFaults, tampered } from './fault.ts';
import { isHash, leafOf, provesInclusion } from './merkle.ts';
import {
  type CheckpointNote,
  isSignature,
  isSignedBy,
  keyLine,
  type PublicKey,
  readKeyLine,
  readNotes,
  type Signer,
} from './note.ts';

export const BUNDLE_FORMAT = 'baton.bundle/1';

/** A fact with its line. A withheld fact has only its leaf, which still proves its place. */
export type BundledFact = { readonly seq: number; readonly proof: readonly string[] } & (
  | { readonly line: string }
  | { readonly leaf: string }
);

/** What the facts of a bundle say, in short. It is read from the facts, so it cannot differ from them. */
type BundleSummary = {
  readonly cast: string;
  readonly loadout: string;
  /** By materia: the digest of its frozen prompt. */
  readonly prompts: Readonly<Record<string, string>>;
  /** The entries with a person's decision. */
  readonly approvals: readonly number[];
};

export type Bundle = {
  readonly format: typeof BUNDLE_FORMAT;
  readonly cast: string;
  /** The signed note of the proofs' root. */
  readonly checkpoint: string;
  /** The public key that signed it, on one line. */
  readonly key: string;
  /** The numbers of the exported facts, so that a removed fact is noticed. */
  readonly seqs: readonly number[];
  readonly facts: readonly BundledFact[];
  readonly texts: Readonly<Record<string, string>>;
  /** Digests of texts that were omitted on purpose. */
  readonly redacted: readonly string[];
};

/** The file's content: the bundle and a base64 Ed25519 signature over its canonical form. */
type SignedBundle = Bundle & { readonly signature: string };

const MEMBERS = ['cast', 'checkpoint', 'facts', 'format', 'key', 'redacted', 'seqs', 'signature', 'texts'];
const BUNDLE_MEMBERS = MEMBERS.join();

export function signedBundle(bundle: Bundle, { sign }: Signer): string {
  const signature = sign(canonical(bundle as unknown as Json)).toString('base64');
  return `${canonical({ ...bundle, signature } as unknown as Json)}\n`;
}

/** `lines` are the shown facts, in order. */
function bundleSummary(cast: string, lines: readonly StoredLine[]): BundleSummary {
  const started = lines.find(({ fact }) => fact.kind === 'cast.started' && fact.cast === cast)?.fact;
  return {
    cast,
    loadout: typeof started?.loadout === 'string' ? started.loadout : '',
    prompts: promptsIn(started?.rules),
    approvals: lines.filter(({ kind }) => isDecision(kind)).map(({ seq }) => seq),
  };
}

/** By materia, the digests of the prompts in the rules of a cast. */
export function promptsIn(rules: Json | undefined): Readonly<Record<string, string>> {
  const materia = unwrapped(unwrapped(rules).materia);
  const prompts = Object.entries(materia).flatMap(([id, each]) => {
    const digest = digestOfText(unwrapped(each).prompt);
    return digest === null ? [] : [[id, digest] as const];
  });
  return Object.fromEntries(prompts);
}

/** The digest of a text, whether it is in the line or stored separately. */
export function digestOfText(value: Json | undefined): string | null {
  if (typeof value === 'string') return `sha256:${hash('sha256', value, 'hex')}`;
  return isObject(value) && typeof value.$blob === 'string' ? value.$blob : null;
}

/** Whether a fact of this kind is a person's decision. */
export function isDecision(kind: string): boolean {
  return kind.startsWith('approval.') || kind === 'turn.decided';
}

/** The entries and the digest that an erasure names. */
export function erasedBy({
  kind,
  fact,
}: StoredLine): { readonly digest: string; readonly from: readonly Json[] } | null {
  if (kind !== 'blob.erased' || typeof fact.digest !== 'string' || !Array.isArray(fact.from)) return null;
  return { digest: fact.digest, from: fact.from };
}

/** The stored form of an object that looks like a reference is inside another object. */
function unwrapped(value: Json | undefined): JsonObject {
  if (!isObject(value)) return {};
  return isObject(value.$literal) ? value.$literal : value;
}

type Report = (kind: AuditFaultKind, seq: number, reason: string) => void;
type Shown = { readonly seq: number; readonly leaf: string; readonly line: StoredLine | null };

/** A fault without an entry has number 0. */
export function verifyBundle(text: string, trusted: readonly PublicKey[]): Verdict {
  const faults: AuditFault[] = [];
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
  // The signature finds every other change. It comes last, because it names no place.
  if (faults.length === 0 && !isSigned(bundle, key)) report('BUNDLE_SIGNATURE', 0, 'the file is not as it was signed');
  const isTrusted = trusted.some((each) => keyLine(each) === bundle.key);
  const details = {
    ...bundleSummary(bundle.cast, lines),
    facts: shown.length,
    withheld: shown.length - lines.length,
    texts: Object.keys(bundle.texts).length,
    redacted: bundle.redacted.length,
    checkpoint: { size: note.checkpoint.size, root: note.checkpoint.root, origin: note.checkpoint.origin },
    key: { line: bundle.key, trusted: isTrusted },
  };
  if (faults.length > 0) return tampered(sortedFaults(faults), details);
  const signer = isTrusted ? 'a key that you trust' : `a key that you do not know, ${key.name}`;
  return allow(`${shown.length} facts of the cast ${bundle.cast} are as they were signed by ${signer}`, details);
}

function isSigned({ signature, ...bundle }: SignedBundle, key: PublicKey): boolean {
  const bytes = Buffer.from(signature, 'base64');
  // Base64 can spell the same bytes in several ways. Only the written one counts.
  return bytes.toString('base64') === signature && isSignature(canonical(bundle as unknown as Json), bytes, key);
}

/** The bundle, if the text is exactly its canonical form. */
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

function checkFacts({ facts, seqs }: Bundle, { checkpoint }: CheckpointNote, report: Report): readonly Shown[] {
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

/** Every text that a line names must be present, redacted, or erased by a fact of the bundle. No other text may be present. */
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
    const reason = `the text ${place.split(' ')[1]} of entry ${seq} is missing`;
    report('BLOB_MISMATCH', placeOfErased(seq, broken), reason);
  }
  for (const digest of left) report('BLOB_MISMATCH', 0, `the text ${digest} belongs to no fact`);
  const both = redacted.find((digest) => Object.hasOwn(texts, digest));
  if (both !== undefined) report('BUNDLE_MALFORMED', 0, `the text ${both} is redacted and shown`);
}

function malformed(reason: string): AuditFault {
  return { kind: 'BUNDLE_MALFORMED', seq: 0, reason };
}
