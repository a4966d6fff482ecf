// Finds credentials in text and takes them out. Two kinds of evidence count: a shape that only credentials have (the
// prefixes of vendors, key blocks, signed tokens), and a place where only a credential is expected (after `password=`). The
// second kind is judged by the value too, because people write about passwords far more often than they write them down.
//
// Everything takes time in proportion to the text. No pattern has an unbounded repetition that may fail after it: a
// pattern recognises a bounded head, and the rest of the credential is then consumed, once.
import {
  CREDENTIAL_WORD,
  isCredential,
  isNoWord,
  isRandom,
  isSpokenKey,
  isVariable,
  namesCredential,
  type ValueContext,
} from './credential.ts';
import { isObject, isString, type Json, type JsonObject } from './json.ts';

type Secret = { readonly kind: string; readonly start: number; readonly end: number };
type Scrubbed = { readonly text: string; readonly found: readonly Secret[] };
type ScrubbedJson = { readonly value: Json; readonly found: readonly { path: string; kind: string }[] };

type Rule = readonly [kind: string, head: RegExp, rest: RegExp];

const WORD = /[A-Za-z0-9_-]/;
const NOTHING = /(?!)/;
const alone = (head: string, flags: string) => new RegExp(`(?<![A-Za-z0-9])(?:${head})`, flags);
const vendor = (kind: string, head: string, rest: RegExp = WORD): Rule => [kind, alone(head, 'g'), rest];

/** In order of rank: where two findings touch, the earlier kind names the whole. */
const vendors = (): readonly Rule[] => [
  vendor('aws-key', '(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])', NOTHING),
  vendor('anthropic-key', 'sk-ant-[A-Za-z0-9_-]{16}'),
  vendor('openrouter-key', 'sk-or-v1-[0-9a-f]{16}'),
  vendor('openai-key', 'sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{16}|sk-[A-Za-z0-9]{20}'),
  vendor('github-token', 'gh[pousr]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}'),
  vendor('gitlab-token', 'gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|ffct)-[A-Za-z0-9_-]{16}', /[A-Za-z0-9_.-]/),
  vendor('slack-token', 'xox[abceoprs]-[A-Za-z0-9-]{10}|xapp-[0-9]-[A-Za-z0-9-]{10}'),
  vendor('slack-webhook', 'hooks\\.slack\\.com/(?:services|workflows)/T[A-Za-z0-9]{6}', /[A-Za-z0-9/]/),
  vendor('google-key', 'AIza[0-9A-Za-z_-]{30}|GOCSPX-[A-Za-z0-9_-]{20}|ya29\\.[0-9A-Za-z_-]{20}'),
  vendor('stripe-key', '[sr]k_(?:live|test)_[0-9A-Za-z]{10}|whsec_[A-Za-z0-9+/]{20}', /[A-Za-z0-9+/=]/),
  vendor('npm-token', 'npm_[A-Za-z0-9]{30}'),
  vendor('pypi-token', 'pypi-[A-Za-z0-9_-]{40}'),
  vendor('huggingface-token', 'hf_[A-Za-z0-9]{30}'),
  vendor('sendgrid-key', 'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16}'),
  vendor('twilio-key', 'SK[0-9a-f]{32}(?![0-9A-Za-z])', NOTHING),
  vendor('digitalocean-token', 'do[oprt]_v1_[a-f0-9]{32}'),
  vendor('shopify-token', 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}'),
  vendor('groq-key', 'gsk_[A-Za-z0-9]{20}'),
  vendor('xai-key', 'xai-[A-Za-z0-9]{40}'),
  vendor('perplexity-key', 'pplx-[A-Za-z0-9]{32}'),
  vendor('replicate-token', 'r8_[A-Za-z0-9]{30}'),
  vendor('databricks-token', 'dapi[a-f0-9]{32}'),
  vendor('docker-token', 'dckr_pat_[A-Za-z0-9_-]{20}'),
  vendor('linear-key', 'lin_api_[A-Za-z0-9]{20}'),
  vendor('atlassian-token', 'ATATT3[A-Za-z0-9_-]{30}', /[A-Za-z0-9_=-]/),
  vendor('vault-token', 'hv[sbr]\\.[A-Za-z0-9_-]{20}'),
  vendor('doppler-token', 'dp\\.(?:pt|st|ct|sa)\\.[A-Za-z0-9]{20}'),
  vendor('planetscale-token', 'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_-]{20}'),
  vendor('telegram-token', '[0-9]{8,10}:AA[A-Za-z0-9_-]{32}'),
  vendor('age-key', 'AGE-SECRET-KEY-1[0-9A-Z]{20}'),
  vendor('baton-token', 'baton_[A-Za-z0-9_-]{40}'),
];
/** The rank of what is no vendor's. */
const AFTER_VENDORS = 1_000;
/** A text without one of these needs no pattern of a vendor. Most short texts hold none. */
const MAY_HOLD_VENDORS = /[A-Za-z0-9_-]{15}|hooks\.slack\.com/;
/** The patterns, made when first needed, and one in which most texts learn in one pass that they hold none of them. */
let made: { readonly rules: readonly Rule[]; readonly any: RegExp } | null = null;

function vendorsIn(text: string): readonly Rule[] {
  if (made === null) {
    if (!MAY_HOLD_VENDORS.test(text)) return [];
    const rules = vendors();
    made = { rules, any: new RegExp(rules.map(([, head]) => head.source).join('|')) };
  }
  return made.any.test(text) ? made.rules : [];
}

const KEY_BLOCK = /-{3,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{3,5}/g;
const KEY_BLOCK_END = /-{3,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{3,5}/g;
const KEY_BLOCK_CHARS_MAX = 20_000;
const KEY_BODY = /(?:(?:\\[nr]|\s)*[A-Za-z0-9+/=]{16,})*/y;

const JWT = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{7,}\.eyJ[A-Za-z0-9_-]{7,}\.[A-Za-z0-9_-]*/g;
const BEARER = /(?<![A-Za-z0-9])bearer(?:[ \t]{1,4}|[ \t]{0,2}[:=][ \t]{0,2})(?=[A-Za-z0-9._~+/-]{12})/gi;
const AUTHORIZATION =
  /(?<![A-Za-z0-9])authorization\\{0,3}["'`]?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["'`]?(?:bearer|basic|token)[ \t]{1,4}(?=[^\s"'`\\]{6})/gi;
const URL_PASSWORD = /(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"'<>]{0,100}:(?=[^\s/?#@"'<>]{3,200}@)/gi;

const ASSIGNMENT = new RegExp(
  `(${CREDENTIAL_WORD})(?:[_-]value)?\\\\{0,3}["'\`]?[ \\t]{0,8}(=>|:=|=(?![=>])|:(?![:/=]))[ \\t]{0,8}`,
  'gi',
);
const SPOKEN = new RegExp(
  `${CREDENTIAL_WORD}[ \\t]{1,3}(?:(?:is|was|are|value|of|to|here)[ \\t:]{1,3}){0,2}\\\\{0,3}["'\`]?(?=[A-Za-z0-9+/_=.~$!@#%^&*-]{16})`,
  'gi',
);
/** Every pattern after the vendors' holds one of these; a text without them is done. */
const ANY_HINT = /key|secret|token|passw|passphrase|pwd|credential|eyJ|bearer|authorization|:\/\//i;
const VALUE_JUDGED_MAX = 256;
const MARKER = /\[secret:[a-z-]+\]/y;

/** All credentials of a text, in order and apart from each other. */
export function findSecrets(text: string): readonly Secret[] {
  const found: { rank: number; secret: Secret }[] = [];
  const add = (rank: number, kind: string, start: number, end: number) =>
    found.push({ rank, secret: { kind, start, end } });
  for (const [rank, [kind, head, rest]] of vendorsIn(text).entries()) {
    let done = 0;
    for (const { index, end } of matches(head, text)) {
      if (index < done) continue;
      done = runEnd(text, end, rest);
      add(rank, kind, index, done);
    }
  }
  if (!ANY_HINT.test(text)) return joined(found);
  const after = AFTER_VENDORS;
  for (const { start, end } of keyBlocks(text)) add(after, 'private-key', start, end);
  for (const { index, end } of matches(JWT, text)) add(after + 1, 'jwt', index, end);
  for (const { start, end } of bearerTokens(text)) add(after + 2, 'bearer-token', start, end);
  for (const { end } of matches(URL_PASSWORD, text)) {
    const at = text.indexOf('@', end);
    if (isCredential(text.slice(end, at), 'quoted', '')) add(after + 3, 'url-password', end, at);
  }
  for (const { start, end } of valuesAfter(ASSIGNMENT, text)) add(after + 4, 'credential', start, end);
  for (const { start, end } of spoken(text)) add(after + 5, 'credential', start, end);
  return joined(found);
}

/** The text with every credential replaced by a marker such as `[secret:aws-key]`, which is no secret in turn. */
export function scrub(text: string): Scrubbed {
  const found = findSecrets(text);
  if (found.length === 0) return { text, found };
  let clean = '';
  let from = 0;
  for (const { kind, start, end } of found) {
    clean += `${text.slice(from, start)}[secret:${kind}]`;
    from = end;
  }
  return { text: clean + text.slice(from), found };
}

/** Scrubs every string of a value, its keys too. The value under a key such as `password` is taken for a credential. */
export function scrubJson(value: Json): ScrubbedJson {
  const found: { path: string; kind: string }[] = [];
  const clean = scrubValue(value, '$', '', 0, found);
  return { value: found.length === 0 ? value : clean, found };
}

const DEPTH_MAX = 500;

function scrubValue(
  value: Json,
  path: string,
  key: string,
  depth: number,
  found: ScrubbedJson['found'][number][],
): Json {
  if (isString(value)) {
    if (namesCredential(key) && isCredential(value, 'quoted', '')) {
      found.push({ path, kind: findSecrets(value)[0]?.kind ?? 'credential' });
      return '[secret:credential]';
    }
    const scrubbed = scrub(value);
    for (const { kind } of scrubbed.found) found.push({ path, kind });
    return scrubbed.text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) {
    // Deeper than any text we parse: an uninspected value is not passed on.
    found.push({ path, kind: 'unseen' });
    return '[secret:unseen]';
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => scrubValue(item, `${path}[${index}]`, key, depth + 1, found));
  }
  if (!isObject(value)) return value;
  return scrubMembers(value, path, depth, found);
}

function scrubMembers(value: JsonObject, path: string, depth: number, found: ScrubbedJson['found'][number][]): Json {
  const members: [string, Json][] = [];
  const taken = new Set<string>();
  for (const [key, member] of Object.entries(value)) {
    const name = scrub(key);
    for (const { kind } of name.found) found.push({ path, kind });
    let unique = name.text;
    for (let copy = 2; taken.has(unique); copy++) unique = `${name.text} ${copy}`;
    taken.add(unique);
    members.push([unique, scrubValue(member, `${path}.${name.text}`, key, depth + 1, found)]);
  }
  return Object.fromEntries(members);
}

type Span = { readonly start: number; readonly end: number };

type Match = { index: number; end: number; groups: readonly (string | undefined)[] };

function* matches(pattern: RegExp, text: string): Generator<Match> {
  for (const match of text.matchAll(pattern)) {
    yield { index: match.index, end: match.index + match[0].length, groups: match.slice(1) };
  }
}

function runEnd(text: string, from: number, rest: RegExp): number {
  let end = from;
  while (end < text.length && rest.test(text[end] ?? '')) end++;
  return end;
}

/** A key with its body, where there is one; the header alone is reported too, for it announces the rest. */
function* keyBlocks(text: string): Generator<Span> {
  const ends = [...matches(KEY_BLOCK_END, text)];
  let next = 0;
  let done = 0;
  for (const { index, end } of matches(KEY_BLOCK, text)) {
    if (index < done) continue;
    while (next < ends.length && (ends[next]?.index ?? 0) < end) next++;
    const closer = ends[next];
    if (closer && closer.index - end <= KEY_BLOCK_CHARS_MAX) done = closer.end;
    else {
      KEY_BODY.lastIndex = end;
      done = end + (KEY_BODY.exec(text)?.[0].length ?? 0);
    }
    yield { start: index, end: done };
  }
}

function* bearerTokens(text: string): Generator<Span> {
  let done = 0;
  for (const { end } of matches(BEARER, text)) {
    if (end < done) continue;
    const head = text.slice(end, end + VALUE_JUDGED_MAX).match(/^[A-Za-z0-9._~+/-]+=*/)?.[0] ?? '';
    // After this word a run of hex digits is no commit but a key.
    const isToken = /[0-9]/.test(head) && /[A-Za-z]/.test(head);
    const isMixed = head.length >= 24 && /[a-z]/.test(head) && /[A-Z]/.test(head);
    if (isToken || isMixed || isNoWord(head)) {
      done = runEnd(text, end, /[A-Za-z0-9._~+/=-]/);
      yield { start: end, end: done };
    }
  }
  yield* valuesAfter(AUTHORIZATION, text);
}

/** How much of a name before the word that ends it is read. */
const NAME_MAX = 16;

/** The credentials at the end of a match. The text that one of them covers is not searched again. */
function* valuesAfter(pattern: RegExp, text: string): Generator<Span> {
  let done = 0;
  for (const { index, end, groups } of matches(pattern, text)) {
    if (end < done || isMarker(text, index)) continue;
    // A pattern without a word is that of a header, which is never used in passing.
    const [word, sign = ':'] = groups;
    const isNamed = word === undefined || isVariable(text.slice(Math.max(0, index - NAME_MAX), index), word);
    const value = valueAt(text, end, sign, isNamed ? 'given' : 'said');
    if (!value) continue;
    done = value.end;
    yield value;
  }
}

/** Whether this is the word `secret` of a marker that an earlier scrubbing left. */
function isMarker(text: string, index: number): boolean {
  MARKER.lastIndex = index - 1;
  return index > 0 && MARKER.test(text);
}

/** How much of a sentence before a value is read. */
const SENTENCE_MAX = 80;
const SPOKEN_VALUE = /[A-Za-z0-9+/_=.~$!@#%^&*-]/;

/** A credential word, perhaps `is`, and then something that no one would say aloud. */
function* spoken(text: string): Generator<Span> {
  let done = 0;
  for (const { end } of matches(SPOKEN, text)) {
    if (end < done) continue;
    const stop = Math.min(runEnd(text.slice(end, end + VALUE_JUDGED_MAX), 0, SPOKEN_VALUE), VALUE_JUDGED_MAX);
    const value = text.slice(end, end + stop);
    if (!isRandom(value) && !isSpokenKey(text.slice(Math.max(0, end - SENTENCE_MAX), end), value)) continue;
    done = runEnd(text, end, SPOKEN_VALUE);
    yield { start: end, end: done };
  }
}

/** Where the value that starts here ends, if it is a credential. */
function valueAt(text: string, from: number, sign: string, behindColon: ValueContext): Span | null {
  const opening = /^\\{0,3}["'`]/.exec(text.slice(from, from + 4))?.[0] ?? '';
  const start = from + opening.length;
  const quote = opening.at(-1);
  const head = text.slice(start, start + VALUE_JUDGED_MAX);
  if (quote) {
    const closes = (within: string) => lengthBeforeQuote(within, quote, opening.length - 1);
    if (!isCredential(head.slice(0, closes(head)), 'quoted', '')) return null;
    return { start, end: start + closes(text.slice(start)) };
  }
  if (sign === '=>') return null; // Without quotes this is a function, not a hash.
  const bare = /^[^\s"'`\\,;&|<>]+/.exec(head)?.[0] ?? '';
  const value = bare.replace(/[.:)\]}!?]+$/, '');
  const following = head.slice(value.length);
  if (!isCredential(value, sign === ':' ? behindColon : 'set', following)) return null;
  const end = value.length < VALUE_JUDGED_MAX ? start + value.length : runEnd(text, start, /[^\s"'`\\,;&|<>]/);
  return { start, end };
}

/**
 * How much of a text comes before the quote that closes it, or before its line ends. The quote has as many backslashes before
 * it as the one that opened the value, or fewer; with more it is a part of the value.
 */
function lengthBeforeQuote(text: string, quote: string, depth: number): number {
  let backslashes = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\n') return at;
    // Two backslashes outside of JSON in a string are one character, and escape nothing.
    if (text[at] === quote && (depth === 0 ? backslashes % 2 === 0 : backslashes <= depth)) {
      return at - (depth === 0 ? 0 : backslashes);
    }
    backslashes = text[at] === '\\' ? backslashes + 1 : 0;
  }
  return text.length;
}

/** Findings that touch become one, which keeps the most telling kind and hides all of their text. */
function joined(found: { rank: number; secret: Secret }[]): readonly Secret[] {
  const sorted = found
    .filter(({ secret }) => secret.end > secret.start)
    .sort((a, b) => a.secret.start - b.secret.start || a.rank - b.rank);
  const result: { rank: number; secret: Secret }[] = [];
  for (const next of sorted) {
    const last = result.at(-1);
    if (!last || next.secret.start >= last.secret.end) {
      result.push(next);
      continue;
    }
    const best = next.rank < last.rank ? next : last;
    const end = Math.max(last.secret.end, next.secret.end);
    result[result.length - 1] = { rank: best.rank, secret: { ...best.secret, start: last.secret.start, end } };
  }
  return result.map(({ secret }) => secret);
}
