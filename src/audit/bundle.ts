// A bundle is one cast as evidence, in one file: its facts with their proofs, the texts beside them, a signed checkpoint and
// the public key. The file is the RFC 8785 form of one JSON object and a newline, so that every byte of it counts.
import { hash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { canonical, type StoredLine } from '../log/stored-line.ts';
import type { Signer } from './note.ts';

export const BUNDLE_FORMAT = 'baton.bundle/1';

/** A fact with its line; or, where it was withheld, with the leaf alone, which still proves that it is there. */
export type BundledFact = { readonly seq: number; readonly proof: readonly string[] } & (
  | { readonly line: string }
  | { readonly leaf: string }
);

/** What the facts of a bundle say, in short. It is read from them and not kept beside them, so it cannot differ. */
export type About = {
  readonly cast: string;
  readonly loadout: string;
  /** By materia: the digest of the prompt it was frozen with. */
  readonly prompts: Readonly<Record<string, string>>;
  /** The entries in which a person approved, rejected or decided something. */
  readonly approvals: readonly number[];
};

export type Bundle = {
  readonly format: typeof BUNDLE_FORMAT;
  readonly cast: string;
  /** The signed note that the proofs lead to. */
  readonly checkpoint: string;
  /** The public key that signed it, on one line. */
  readonly key: string;
  /** The numbers of the facts that were exported, so that one that is taken out is missed. */
  readonly seqs: readonly number[];
  readonly facts: readonly BundledFact[];
  readonly texts: Readonly<Record<string, string>>;
  /** Digests of texts that were left out on purpose. */
  readonly redacted: readonly string[];
};

/** As it is handed out: with the base64 Ed25519 signature over its canonical form without this member. */
export type SignedBundle = Bundle & { readonly signature: string };

const MEMBERS = ['cast', 'checkpoint', 'facts', 'format', 'key', 'redacted', 'seqs', 'signature', 'texts'];
export const BUNDLE_MEMBERS = MEMBERS.join();

export function signedBundle(bundle: Bundle, { sign }: Signer): string {
  const signature = sign(canonical(bundle as unknown as Json)).toString('base64');
  return `${canonical({ ...bundle, signature } as unknown as Json)}\n`;
}

/** `lines` are the facts that are shown, in order. */
export function aboutOf(cast: string, lines: readonly StoredLine[]): About {
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

/** The digest of a text, whether it stands in the line or beside it. */
export function digestOfText(value: Json | undefined): string | null {
  if (typeof value === 'string') return `sha256:${hash('sha256', value, 'hex')}`;
  return isObject(value) && typeof value.$blob === 'string' ? value.$blob : null;
}

/** Whether a fact of this kind says what a person decided. */
export function isDecision(kind: string): boolean {
  return kind.startsWith('approval.') || kind === 'turn.decided';
}

/** The entries and the digest that a fact of erasure names. */
export function erasedBy({
  kind,
  fact,
}: StoredLine): { readonly digest: string; readonly from: readonly Json[] } | null {
  if (kind !== 'blob.erased' || typeof fact.digest !== 'string' || !Array.isArray(fact.from)) return null;
  return { digest: fact.digest, from: fact.from };
}

/** An object that looks like a reference is stored inside another one. */
function unwrapped(value: Json | undefined): JsonObject {
  if (!isObject(value)) return {};
  return isObject(value.$literal) ? value.$literal : value;
}
