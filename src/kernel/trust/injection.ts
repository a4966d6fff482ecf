// Text that tries to become instructions. First, agents' text reaches a prompt only as quoted data. Second, a table of
// patterns refuses known tricks; nothing is cleaned. docs/trust.md prints how much the table finds.
import type { GovernedCode } from '../codes/governed.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import { PROBLEMS_MAX, type Problem, pointer } from './problem.ts';

/** Changes whenever a rule changes, and is recorded with every verdict. */
export const RULES_VERSION = '1.2.0';

const DROP = 'ignore|disregard|forget|override|bypass';
const GIVEN = 'previous|prior|above|earlier|your|all|system';
const ORDERS = 'instructions?|rules?|prompts?|guidelines|directives';
const SHOW = 'reveal|print|show|output';
const SYSTEM_PROMPT = 'system prompts?';
const SKIP = 'skip|disable|bypass';
const CHECKS = 'hash|hashes|verification|governance|boundary|boundaries';

/** Two of these with at most so many words between them. */
const near = (first: string, between: number, second: string) => `(?:${first})(?: [^ ]+){0,${between}} (?:${second})`;
const phrase = (...ways: readonly string[]) => new RegExp(` (?:${ways.join('|')}) `);

/** `text` is looked for in a text, `words` in its words in lower case with a blank around each. */
type Pattern = { readonly code: GovernedCode; readonly means: string; readonly text?: RegExp; readonly words?: RegExp };

/** The words between the bars of a token are bounded, so that many openers cost no more than their number. */
const PATTERNS: readonly Pattern[] = [
  { code: 'INJECTION_KEY', means: 'a member name reaches for a prototype' },
  {
    code: 'INJECTION_CONTROL',
    means: 'a text holds a control, bidirectional or tag character',
    text: /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}](?<![\u0080-\u009f])/u,
  },
  {
    code: 'INJECTION_ROLE',
    means: 'a history item speaks in a role other than user, assistant, agent or tool',
  },
  {
    code: 'INJECTION_TOKEN',
    means: 'a text holds a control token of a chat template',
    text: /<\|[^\s<>|]{1,64}\|>|\[\/?INST\]|<<\/?SYS>>/,
  },
  {
    code: 'INJECTION_OVERRIDE',
    means: 'a text tells the target to drop its instructions',
    words: phrase(near(DROP, 3, near(GIVEN, 2, ORDERS))),
  },
  {
    code: 'INJECTION_EXFIL',
    means: 'a text asks for the system prompt',
    words: phrase(near(SHOW, 2, SYSTEM_PROMPT), near(SYSTEM_PROMPT, 2, SHOW)),
  },
  {
    code: 'INJECTION_BYPASS',
    means: 'a text asks to skip a check',
    words: phrase(near(SKIP, 2, CHECKS), near(CHECKS, 2, SKIP)),
  },
];

/** What no output may carry to the next agent, with a registry and without: a model or a reader takes it for something else. */
const SMUGGLED: readonly (readonly [what: string, found: RegExp])[] = [
  ['a control token of a chat template', /<\|[^\s<>|]{1,64}\|>|<<\/?SYS>>/],
  ['a character that reverses the direction of the text', /[\u202d\u202e]/],
];

const ROLES: readonly Json[] = ['user', 'assistant', 'agent', 'tool'];
/** Removed only to read what a reader would see; a joiner inside an emoji is no offence in itself. */
const INVISIBLE = /[\u00AD\u200B-\u200F\u2060\uFEFF]/g;
const ASCII = /^[\t\n\r -~]*$/;
const VERBS = `(?:${[DROP, SHOW, SKIP].join('|')})`;
/** No phrase is without one of these words. */
const STIRRING = new RegExp(VERBS, 'i');
/** Every context has a member `expected_output`; its name is no order. */
const STIRRING_JSON = new RegExp(`(?!(?<="expected_)output":)${VERBS}`, 'i');
/** Canonical text of printable ASCII, without an escape and without the beginning of a token. */
const CALM = /^(?:[ -;=-Z\]-~]|\[(?![I/]))*$/;

/** What a text would look like to a reader. */
function visibleIn(text: string): string {
  return ASCII.test(text) ? text : text.normalize('NFKC').replace(INVISIBLE, '');
}

/** The patterns that one text fits, by their codes. */
export function patternsIn(text: string): GovernedCode[] {
  const visible = visibleIn(text);
  const words = STIRRING.test(visible) ? ` ${(visible.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')} ` : '';
  return PATTERNS.flatMap((pattern) => {
    const isFound = pattern.text?.test(text) || pattern.text?.test(visible) || pattern.words?.test(words);
    return isFound ? [pattern.code] : [];
  });
}

/** What a text smuggles, in words; null where it smuggles nothing. */
export function smuggledBy(text: string): string | null {
  const visible = visibleIn(text);
  return SMUGGLED.find(([, found]) => found.test(text) || found.test(visible))?.[0] ?? null;
}

type Context = { readonly state: { readonly conversation_history: readonly JsonObject[] } };
type Injection = { readonly problems: readonly Problem[]; readonly flags: readonly Problem[] };

/**
 * What an envelope breaks. With `phrases: 'flag'`, as between the agents of one cast, only what no output may carry refuses: a
 * team may write about templates and print colours. `canonical` is the text of the context, where it is known.
 */
export function checkInjection(
  envelope: { readonly context: Context },
  { phrases }: { readonly phrases: 'refuse' | 'flag' },
  canonical?: string,
): Injection {
  const history = envelope.context.state.conversation_history;
  if (
    canonical !== undefined &&
    CALM.test(canonical) &&
    !STIRRING_JSON.test(canonical) &&
    !history.some(hasStrangeRole)
  ) {
    return { problems: [], flags: [] };
  }
  const [found, flagged] = [new Findings(), new Findings()];
  for (const place of walk(envelope as unknown as Json)) {
    if (reachesForPrototype(place.value)) found.add('INJECTION_KEY', place);
    if (!isInContext(place)) continue;
    for (const text of textsAt(place)) {
      const isMild = phrases === 'flag' && smuggledBy(text) === null;
      for (const code of patternsIn(text)) (isMild || isPhrase(code, phrases) ? flagged : found).add(code, place);
    }
  }
  history.forEach((item, index) => {
    if (hasStrangeRole(item))
      found.addAt('INJECTION_ROLE', pointer('context', 'state', 'conversation_history', index, 'role'));
  });
  return { problems: found.inOrder(), flags: flagged.inOrder() };
}

function isPhrase(code: GovernedCode, phrases: 'refuse' | 'flag'): boolean {
  return phrases === 'flag' && PATTERNS.some((pattern) => pattern.code === code && pattern.words !== undefined);
}

function hasStrangeRole({ role }: JsonObject): boolean {
  return role !== undefined && !ROLES.includes(role);
}

/** Problems by code, each place once, and so many of each code. */
class Findings {
  readonly #pointers = new Map<GovernedCode, Set<string>>();

  add(code: GovernedCode, place: Place): void {
    if ((this.#pointers.get(code)?.size ?? 0) < PROBLEMS_MAX) this.addAt(code, pointerTo(place));
  }

  addAt(code: GovernedCode, at: string): void {
    const pointers = this.#pointers.get(code) ?? new Set();
    if (pointers.size < PROBLEMS_MAX) pointers.add(at);
    this.#pointers.set(code, pointers);
  }

  inOrder(): readonly Problem[] {
    return PATTERNS.flatMap(({ code, means }) =>
      [...(this.#pointers.get(code) ?? [])].map((at) => ({ code, pointer: at, message: means })),
    );
  }
}

function reachesForPrototype(value: Json): boolean {
  if (!isObject(value)) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  if (!Object.hasOwn(value, 'constructor')) return false;
  const maker: unknown = value.constructor;
  return isObject(maker) && Object.hasOwn(maker, 'prototype');
}

/** A value, its key, and the list or object it is in. */
type Place = { readonly value: Json; readonly key: string; readonly within: Place | null; readonly top: string };

/** Every value at every depth, in the order of the text. `top` is the member of the root that it is in. */
function* walk(root: Json): Generator<Place> {
  const stack: Place[] = [{ value: root, key: '', within: null, top: '' }];
  for (let place = stack.pop(); place; place = stack.pop()) {
    yield place;
    const { value, within, top } = place;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value).reverse()) {
      stack.push({ value: member, key, within: place, top: within === null ? key : top });
    }
  }
}

function isInContext({ top, within }: Place): boolean {
  return top === 'context' && within !== null;
}

/** The text of a value and of its name. The key of an item of a list is a number, and the member `context` is no text. */
function textsAt({ value, key, within }: Place): string[] {
  const isNamed = within !== null && within.within !== null && !Array.isArray(within.value);
  return [isNamed ? key : null, value].filter((text) => typeof text === 'string');
}

function pointerTo(place: Place): string {
  const keys: string[] = [];
  for (let at = place; at.within; at = at.within) keys.unshift(at.key);
  return pointer(...keys);
}

/** Why an output must not be handed on; null where it may. Both its text and what was read from it reach others. */
export function refusalOfSmuggled(output: string, payload: Json): Denied | null {
  const inText = smuggledBy(output);
  if (inText !== null) return refused('$', inText);
  for (const place of walk(payload)) {
    const isNamed = place.within !== null && !Array.isArray(place.within.value);
    const inName = isNamed ? smuggledBy(place.key) : null;
    if (inName !== null && place.within) return refused(pathTo(place.within), inName);
    const found = typeof place.value === 'string' ? smuggledBy(place.value) : null;
    if (found !== null) return refused(pathTo(place), found);
  }
  return null;
}

const PATH_CHARS_MAX = 200;

function pathTo(place: Place): string {
  const keys: string[] = [];
  for (let at = place; at.within; at = at.within)
    keys.unshift(Array.isArray(at.within.value) ? `[${at.key}]` : `.${at.key}`);
  return keys.reduce((path, key) => (path.length > PATH_CHARS_MAX ? path : `${path}${key}`), '$');
}

function refused(path: string, what: string): Denied {
  const message = `it holds ${what}, which must not reach the next agent; leave it out, or describe it in words`;
  return deny('UNTRUSTED_CONTEXT_BLOCK', `${path}: ${message}`, { path, issues: [{ path, message }] });
}

/** What would end the quotation, or a reader could take for its end, is written so that it does not. */
export function asData(text: string): string {
  return `<data>\n${escaped(text)}\n</data>`;
}

/** Escaping twice is the same as escaping once. */
export function escaped(text: string): string {
  return text.replace(/<(?=\s*\/\s*data)/gi, '<\\');
}

const TITLE_CHARS_MAX = 80;

/** A title for use outside of a quotation: one short line that can neither open nor close anything. */
export function asTitle(text: string): string {
  const line = text.replace(/[<>\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > TITLE_CHARS_MAX
    ? `${line.slice(0, TITLE_CHARS_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`
    : line;
}
