// Evidence for a reader who has a signed checkpoint but not the log: that a fact is in it, that one checkpoint extends another, and a
// bundle of one whole cast. A log that fails verification proves nothing. Text that looks like a credential is never exported in
// clear: outputs were scrubbed before storage, but people wrote the prompts, scripts and configurations.
import type { Evidence } from '../engine/ports.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { findSecrets, scrubJson } from '../kernel/secrets.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { readStoredLine, type StoredLine } from '../log/stored-line.ts';
import { BUNDLE_FORMAT, type Bundle, type BundledFact, erasedBy, signedBundle } from './bundle.ts';
import type { KnownCheckpoints } from './checkpoints.ts';
import { MerkleTree } from './merkle.ts';
import { isSignedBy, keyLine, type Signer, signedNote } from './note.ts';
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

/** What to leave out: digests, words that must not occur, and `secrets` for everything that the scanner finds. */
type Redactions = readonly string[];

/** Who signs, and the log's name. */
export type Signing = { readonly signer: Signer; readonly origin: string };

export type BundleResult = { readonly verdict: Verdict; readonly text: string };

type Own = { readonly line: string; readonly read: StoredLine };

export async function makeBundle(
  evidence: Evidence,
  cast: string,
  known: KnownCheckpoints,
  signing: Signing,
  redactions: Redactions,
): Promise<BundleResult> {
  const tree = new MerkleTree();
  const verified = await verifyLog(evidence, known.kept, known.keys, { onLeaf: (_, leaf) => tree.add(leaf) });
  if (!verified.allow) return { verdict: verified, text: '' };
  const { signer, origin } = signing;
  const size = tree.size;
  const own = await ownFacts(evidence, cast, size);
  const texts = await textsBeside(evidence, own);
  const missing = redactions.filter((each) => each !== 'secrets' && !occurs(own, texts, each));
  if (missing.length > 0) return { verdict: nothingToRedact(missing), text: '' };
  const { shown, withheld, redacted, secrets } = redact(own, texts, redactions);
  if (secrets) return { verdict: secrets, text: '' };
  const facts = own.map(({ line, read: { seq } }): BundledFact => {
    const proof = tree.inclusion(seq - 1, size);
    return withheld.has(seq) ? { seq, proof, leaf: tree.leaf(seq - 1) } : { seq, proof, line };
  });
  const bundle: Bundle = {
    format: BUNDLE_FORMAT,
    cast,
    // Signed again, so that one key covers the whole file. The same key gives the same note.
    checkpoint: signedNote({ origin, size, root: tree.root() }, signer),
    key: keyLine(signer.publicKey),
    seqs: facts.map(({ seq }) => seq),
    facts,
    texts: Object.fromEntries(shown),
    redacted,
  };
  const details = {
    cast,
    facts: facts.length,
    withheld: withheld.size,
    texts: shown.length,
    redacted: redacted.length,
  };
  return { verdict: allow(`${facts.length} facts with their proofs`, details), text: signedBundle(bundle, signer) };
}

/**
 * The facts of the cast; the registries that its agents were attested with, so that every verdict can be derived again; and the
 * erasures of texts of both.
 */
async function ownFacts(evidence: Evidence, cast: string, size: number): Promise<readonly Own[]> {
  const rows = [
    ...(await evidence.rows({ after: 0, cast })),
    ...(await evidence.rows({ after: 0, kinds: ['blob.erased', 'registry.loaded'] })),
  ];
  const bySeq = new Map(rows.filter(([seq]) => seq <= size).map((row) => [row[0], row]));
  const found = [...bySeq.values()]
    .sort(([a], [b]) => a - b)
    .flatMap(([, , , , line]) => {
      const read = readStoredLine(line);
      return read ? [{ line, read }] : [];
    });
  const registries = new Set(found.flatMap(({ read }) => attestedWith(read) ?? []));
  const isOwn = ({ read }: Own) => {
    if (read.kind === 'registry.loaded') return registries.has(digestOfRegistry(read) ?? '');
    return read.kind !== 'blob.erased';
  };
  const seqs = new Set<Json>(found.filter(isOwn).map(({ read }) => read.seq));
  return found.filter(({ read }) => seqs.has(read.seq) || erasedBy(read)?.from.some((seq) => seqs.has(seq)));
}

/** The digest of the registry that an attempt's agent was attested with. */
function attestedWith({ kind, fact: { attestation } }: StoredLine): string | null {
  const digest = kind === 'attempt.started' && isObject(attestation) ? attestation.registry : null;
  return typeof digest === 'string' ? digest : null;
}

function digestOfRegistry({ fact: { registry } }: StoredLine): string | null {
  return isObject(registry) && typeof registry.digest === 'string' ? registry.digest : null;
}

async function textsBeside(evidence: Evidence, own: readonly Own[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const { read } of own) {
    for (const [digest, text] of await evidence.textsOf(read.seq)) texts.set(digest, text);
  }
  return texts;
}

/** A mistyped redaction must not export its text in clear. */
function occurs(own: readonly Own[], texts: ReadonlyMap<string, string>, redaction: string): boolean {
  const written = JSON.stringify(redaction).slice(1, -1);
  return [...texts.values()].some((text) => text.includes(redaction)) || own.some(({ line }) => line.includes(written));
}

function nothingToRedact(missing: readonly string[]): Denied {
  const reason = `${missing.length} of the redactions occur nowhere in the cast, so nothing was written; look them up with \`baton trace\` and \`baton log\``;
  // Hidden words are not repeated here. Their digests or lengths identify them.
  const named = missing.map((each) => (each.startsWith('sha256:') ? each : `${each.length} characters`));
  return deny('BAD_USAGE', reason, { missing: named });
}

function redact(own: readonly Own[], texts: ReadonlyMap<string, string>, redactions: Redactions) {
  const digests = redactions.filter((each) => each.startsWith('sha256:'));
  const hidesSecrets = redactions.includes('secrets');
  const words = redactions.filter((each) => !each.startsWith('sha256:') && each !== 'secrets');
  const holds = (text: string) => words.some((word) => text.includes(word));
  // In a line, words are escaped.
  const holdsInLine = (line: string) => words.some((word) => line.includes(JSON.stringify(word).slice(1, -1)));
  const shown: [string, string][] = [];
  const redacted: string[] = [];
  const found: { readonly digest: string; readonly kinds: readonly string[] }[] = [];
  for (const [digest, text] of texts) {
    const secrets = findSecrets(text);
    const isHidden = digests.includes(digest) || holds(text);
    if (!isHidden && secrets.length > 0 && !hidesSecrets) found.push({ digest, kinds: kindsOf(secrets) });
    if (isHidden || secrets.length > 0) redacted.push(digest);
    else shown.push([digest, text]);
  }
  const withheld = new Set<number>();
  const inLines: { readonly seq: number; readonly kinds: readonly string[] }[] = [];
  for (const { line, read } of own) {
    const secrets = scrubJson(withoutActor(read.fact)).found;
    if (holdsInLine(line) || (secrets.length > 0 && hidesSecrets)) withheld.add(read.seq);
    else if (secrets.length > 0) inLines.push({ seq: read.seq, kinds: kindsOf(secrets) });
  }
  const named = new Set(own.filter(({ read }) => !withheld.has(read.seq)).flatMap(({ read }) => read.texts));
  const isNamed = (digest: string) => named.has(digest);
  return {
    shown: shown.filter(([digest]) => isNamed(digest)),
    redacted: redacted.filter(isNamed).sort(),
    withheld,
    secrets: found.length + inLines.length > 0 ? holdsSecrets(found, inLines) : null,
  };
}

/** A decision names its token. The name looks like a credential but is none. */
function withoutActor({ by, ...rest }: JsonObject): JsonObject {
  return typeof by === 'string' && TOKEN_ACTOR.test(by) ? rest : { ...rest, ...(by === undefined ? {} : { by }) };
}

const TOKEN_ACTOR = /^token:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

function kindsOf(found: readonly { readonly kind: string }[]): readonly string[] {
  return [...new Set(found.map(({ kind }) => kind))];
}

function holdsSecrets(
  texts: readonly { readonly digest: string; readonly kinds: readonly string[] }[],
  facts: readonly { readonly seq: number; readonly kinds: readonly string[] }[],
): Denied {
  const reason = `${texts.length} texts and ${facts.length} facts hold text that looks like a credential; omit it with --redact secrets`;
  return deny('EXPORT_HOLDS_SECRET', reason, { texts, facts });
}
