// An entry as it is stored: one line of RFC 8785 canonical JSON that holds the leaf hash of the line before it.
// leaf = SHA-256(0x00 ‖ line), as in RFC 6962, so that Merkle proofs can be made over the same leaves.
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Append } from '../engine/ports.ts';
import { type Entry, FACT_VERSION, type Fact } from '../kernel/fact.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { type Blob, dehydrate, hydrate } from './blob-text.ts';

/** What the first entry has for the hash of the one before it. */
export const NO_PREV = '0'.repeat(64);

export type Line = {
  readonly entry: Entry;
  readonly line: string;
  readonly leaf: string;
  readonly blobs: readonly Blob[];
};

export function leafHash(line: string): string {
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(line));
  bytes[0] = 0;
  bytes.write(line, 1, 'utf8');
  return hash('sha256', bytes, 'hex');
}

/** Puts a fact at its place in the chain. */
export function chain({ fact, by, at }: Append, seq: number, prev: string, lastAt: string): Line {
  const stamp = new Date(at).toISOString();
  // Time never runs backwards in the log, whatever the clock of one process says.
  const entry: Entry = { v: FACT_VERSION, seq, at: stamp < lastAt ? lastAt : stamp, prev, by, fact };
  const blobs: Blob[] = [];
  const line = lineOf(entry, blobs);
  return { entry, line, leaf: leafHash(line), blobs };
}

function lineOf(entry: Entry, blobs: Blob[]): string {
  const { v, seq, at, prev, by, fact } = entry;
  const { kind, cast, ...body } = fact as Fact & { cast?: string };
  const taken = { blobs, unordered: false };
  const stored = dehydrate(body as JsonObject, taken);
  const line = { at, body: stored, by, ...(cast === undefined ? {} : { cast }), kind, prev, seq, v };
  // Members in canonical order make JSON.stringify write canonical JSON, at a third of the cost.
  const text = taken.unordered ? canonicalize(line) : JSON.stringify(line);
  if (text === undefined) throw new Error('a fact must be JSON');
  return text;
}

/** The entry behind a line. `textOf` brings back what was stored by digest. */
export function entryOf(line: string, textOf: (digest: string) => string | null): Entry {
  const { v, seq, at, prev, by, kind, cast, body } = JSON.parse(line) as JsonObject & { body: Json };
  const fact = { kind, ...(cast === undefined ? {} : { cast }), ...(hydrate(body, textOf) as JsonObject) };
  return { v, seq, at, prev, by, fact } as unknown as Entry;
}
