// An entry as it is stored: one line of RFC 8785 canonical JSON that holds the leaf hash of the line before it.
// leaf = SHA-256(0x00 ‖ line), as in RFC 6962, so that Merkle proofs can be made over the same leaves.
import type { Append, Query } from '../engine/ports.ts';
import { type Entry, FACT_VERSION, type Fact } from '../kernel/fact.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { parseJson } from '../kernel/parse-json.ts';
import {
  type Blob,
  dehydrate,
  ERASED,
  hydrate,
  jsonString,
  type Reference,
  referenceIn,
  sha256,
  type TextOf,
} from './blob-text.ts';

/** What the first entry has for the hash of the one before it. */
export const NO_PREV = '0'.repeat(64);

/** So much of a long text is shown where the text itself stays away. */
export const BEGINNING_CHARS = 200;

export type LogLine = {
  readonly entry: Entry;
  readonly line: string;
  readonly leaf: string;
  readonly blobs: readonly Blob[];
};

/** Members of a fact that stand beside its body in the line. */
const BESIDE_BODY = ['cast', 'kind'];

export function leafHash(line: string): string {
  return sha256(`\0${line}`);
}

/** Puts a fact at its place in the chain. */
export function chain(
  { fact, by, at, clock, ranMs, once }: Append,
  seq: number,
  prev: string,
  lastAt: string,
): LogLine {
  const stamp = stampOf(at);
  const keys = once && once.length > 0 ? { once: onceKeys(once) } : {};
  // Time never runs backwards in the log, whatever the clock of one process says.
  const time = { at: stamp < lastAt ? lastAt : stamp, ...(clock === undefined ? {} : { clock: stampOf(clock) }) };
  const ran = ranMs === undefined ? {} : { ranMs };
  const entry: Entry = { v: FACT_VERSION, seq, ...time, ...ran, prev, by, ...keys, fact };
  const blobs: Blob[] = [];
  const line = lineOf(entry, blobs);
  return { entry, line, leaf: leafHash(line), blobs };
}

/** As a key is compared and stored: half a character in it counts as the one that replaces it. */
export function onceKey(key: string): string {
  return key.toWellFormed();
}

/** A text as it stands inside of JSON. */
export function escapedKey(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export function usedTwice(key: string, seq: number): Error {
  return new Error(`the key ${key} was used up by entry ${seq}`);
}

/** Which texts stay away: their places have their digests and their beginnings. */
export type Away = { readonly which: 'briefs' | 'texts'; readonly beginningOf: TextOf };

/** Of a query: what stays away, or undefined. */
export function awayOf({ briefs, texts }: Query, beginningOf: TextOf): Away | undefined {
  if (texts === 'digest') return { which: 'texts', beginningOf };
  return briefs === 'digest' ? { which: 'briefs', beginningOf } : undefined;
}

/** The entry behind a line. `textOf` brings back what was stored by digest. */
export function entryFromLine(line: string, textOf: TextOf, away?: Away): Entry {
  const { v, seq, at, clock, ranMs, prev, by, kind, cast, once, body } = parseJson(line) as JsonObject & {
    body: Json;
  };
  const shownOf = (reference: Reference) => ({
    ...reference,
    seq: seq as number,
    preview: away?.beginningOf(reference.digest) ?? ERASED,
  });
  const isOfAttempt = away?.which === 'briefs' && kind === 'attempt.started' && isObject(body);
  const brief = isOfAttempt ? referenceIn(body.brief) : null;
  const rest = brief ? { ...(body as JsonObject), brief: '' } : body;
  const texts = hydrate(rest, textOf, away?.which === 'texts' ? shownOf : undefined) as JsonObject;
  const named = brief && { brief: shownOf(brief) };
  const fact = { kind, ...(cast === undefined ? {} : { cast }), ...texts, ...named };
  const time = { at, ...(clock === undefined ? {} : { clock }), ...(ranMs === undefined ? {} : { ranMs }) };
  return { v, seq, ...time, prev, by, ...(once === undefined ? {} : { once }), fact } as unknown as Entry;
}

/** Members in canonical order. */
function lineOf({ v, seq, at, clock, ranMs, prev, by, once, fact }: Entry, blobs: Blob[]): string {
  const { kind, cast } = fact as Fact & { cast?: string };
  const body = dehydrate(fact as unknown as JsonObject, blobs, BESIDE_BODY);
  const ofCast = cast === undefined ? '' : `,"cast":${jsonString(cast)}`;
  const said = clock === undefined ? '' : `,"clock":"${clock}"`;
  const keys = once === undefined ? '' : `,"once":[${once.map(jsonString).join(',')}]`;
  const ran = ranMs === undefined ? '' : `,"ranMs":${ranMs}`;
  return `{"at":"${at}","body":${body},"by":${jsonString(by)}${ofCast}${said},"kind":${jsonString(kind)}${keys},"prev":"${prev}"${ran},"seq":${seq},"v":${v}}`;
}

function onceKeys(once: readonly string[]): readonly string[] {
  return once.map(onceKey).sort();
}

let lastStamp = { at: Number.NaN, text: '' };

/** The facts of one batch mostly have the same time. */
function stampOf(at: number): string {
  if (at !== lastStamp.at) lastStamp = { at, text: new Date(at).toISOString() };
  return lastStamp.text;
}
