// The second line of defence against context that tries to become instructions. The first is structural and not here:
// transferred context reaches the target as delimited data, and its system prompt is exactly the pinned bytes. Nothing
// is cleaned: text passes unchanged, or the handoff is refused.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { smuggledBy } from '../kernel/trust/smuggled.ts';
import type { Envelope } from './envelope.ts';
import type { Policy } from './policy.ts';
import { PROBLEMS_MAX, type Problem, pointer } from './problem.ts';

/** Changes whenever a rule changes, and is recorded with every verdict. */
export const RULES_VERSION = '1.2.0';

export type Findings = { readonly problems: readonly Problem[]; readonly flags: readonly Problem[] };

const NOTHING: Findings = { problems: [], flags: [] };
const ROLES: readonly Json[] = ['user', 'assistant', 'agent', 'tool'];

const MEANS = {
  INJECTION_KEY: 'a member name reaches for a prototype',
  INJECTION_CONTROL: 'a text holds a control, bidirectional or tag character',
  INJECTION_ROLE: 'a history item speaks in a role other than user, assistant, agent or tool',
  INJECTION_TOKEN: 'a text holds a control token of a chat template',
  INJECTION_OVERRIDE: 'a text tells the target to drop its instructions',
  INJECTION_EXFIL: 'a text asks for the system prompt',
  INJECTION_BYPASS: 'a text asks to skip a check',
} as const satisfies Partial<Record<GovernedCode, string>>;
type InjectionCode = keyof typeof MEANS;
const ORDER = Object.keys(MEANS) as InjectionCode[];
const PHRASES: readonly InjectionCode[] = ['INJECTION_OVERRIDE', 'INJECTION_EXFIL', 'INJECTION_BYPASS'];

/** `canonical` is the text of the context, where that is known and no name in the envelope reaches for a prototype. */
export function checkInjection(envelope: Envelope, policy: Pick<Policy, 'phrases'>, canonical?: string): Findings {
  const history = envelope.context.state.conversation_history;
  if (canonical !== undefined && isCalm(canonical) && !history.some(hasStrangeRole)) return NOTHING;
  const { keysReach, texts } = gatheredFrom(envelope as unknown as JsonObject);
  const found: Found = new Map();
  if (keysReach) noteKeys(envelope as unknown as Json, found);
  if (history.some(hasStrangeRole)) noteRoles(history, found);
  const flagged: Found = new Map();
  const isMild = policy.phrases === 'flag' ? isMildOnEdge : never;
  if (rulesBrokenBy(texts.join('\n')).length > 0)
    noteTexts(envelope.context as unknown as Json, isMild, { found, flagged });
  return { problems: inOrder(found), flags: inOrder(flagged) };
}

const inOrder = (found: Found): Problem[] => ORDER.flatMap((code) => found.get(code) ?? []);
const never = () => false;

/**
 * Between the agents of a cast only what no output may carry refuses: a team that writes about templates or prints
 * colours goes on, and the next one to look at the envelope is told.
 */
function isMildOnEdge(code: InjectionCode, text: string): boolean {
  return PHRASES.includes(code) || smuggledBy(text) === null;
}

/**
 * Whether the canonical text alone shows that no rule is broken: printable ASCII without an escape, no beginning of a
 * token, and none of the verbs without which there is no phrase.
 */
function isCalm(canonical: string): boolean {
  if (canonical.includes('<') || canonical.includes('[I') || canonical.includes('[/')) return false;
  if (!UNESCAPED.test(canonical)) return false;
  const text = canonical.toLowerCase();
  const output = text.indexOf('output');
  // Every context has a member `expected_output`; its name is no order.
  const isMember = output < 0 || text.startsWith('"expected_output":', output - '"expected_'.length);
  return isMember && !text.includes('output', output + 1) && !STIRRING.test(text);
}

/**
 * Enough to tell whether anything can be found, for a fraction of what it costs to tell where. The texts of the context
 * are judged as one, with line breaks between: those belong to no word and no token, so what the texts do not break
 * together, none of them breaks alone.
 */
type Gathered = { readonly texts: string[]; keysReach: boolean };

function gatheredFrom(envelope: JsonObject): Gathered {
  const gathered: Gathered = { texts: [], keysReach: reachesForPrototype(envelope) };
  for (const key of Object.keys(envelope)) gather(envelope[key] as Json, key === 'context', gathered);
  return gathered;
}

function gather(value: Json, isContext: boolean, gathered: Gathered): void {
  if (typeof value !== 'object' || value === null) return;
  if (reachesForPrototype(value)) gathered.keysReach = true;
  if (isContext && !Array.isArray(value)) for (const key of Object.keys(value)) gathered.texts.push(key);
  for (const member of Object.values(value)) {
    if (isContext && typeof member === 'string') gathered.texts.push(member);
    else gather(member, isContext, gathered);
  }
}

type Found = Map<InjectionCode, Problem[]>;

function noteKeys(envelope: Json, found: Found): void {
  for (const place of walk(envelope)) {
    if (reachesForPrototype(place.value)) note(found, 'INJECTION_KEY', pointerTo(place));
  }
}

function noteRoles(history: readonly JsonObject[], found: Found): void {
  history.forEach((item, index) => {
    if (!hasStrangeRole(item)) return;
    note(found, 'INJECTION_ROLE', pointer('context', 'state', 'conversation_history', index, 'role'));
  });
}

function hasStrangeRole({ role }: JsonObject): boolean {
  return role !== undefined && !ROLES.includes(role);
}

function noteTexts(
  context: Json,
  isMild: (code: InjectionCode, text: string) => boolean,
  { found, flagged }: { readonly found: Found; readonly flagged: Found },
): void {
  for (const place of walk(context)) {
    const broken = textsAt(place).flatMap((text) =>
      rulesBrokenBy(text).map((code) => [code, isMild(code, text) ? flagged : found] as const),
    );
    const noted = new Set<string>();
    for (const [code, list] of broken) {
      const once = `${code} ${list === found}`;
      if (!noted.has(once)) note(list, code, `/context${pointerTo(place)}`);
      noted.add(once);
    }
  }
}

function note(found: Found, code: InjectionCode, at: string): void {
  const list = found.get(code) ?? [];
  if (list.length < PROBLEMS_MAX) list.push({ code, pointer: at, message: MEANS[code] });
  found.set(code, list);
}

/** The rules one text breaks, each once. */
export function rulesBrokenBy(text: string): InjectionCode[] {
  const broken: InjectionCode[] = [];
  const isPlain = PLAIN.test(text);
  if (!isPlain && hasControl(text)) broken.push('INJECTION_CONTROL');
  const visible = isPlain ? text : text.normalize('NFKC').replace(INVISIBLE, '');
  if (TOKEN.test(text) || (!isPlain && TOKEN.test(visible))) broken.push('INJECTION_TOKEN');
  broken.push(...phrasesIn(visible.toLowerCase()));
  return broken;
}

// Printable ASCII and white space: nothing forbidden, and nothing that looks other than it is.
const PLAIN = /^[\t\n\r -~]*$/;
// Removed only to read what a reader would see; a joiner inside an emoji is no offence in itself.
const INVISIBLE = /[\u00AD\u200B-\u200F\u2060\uFEFF]/g;
// The words between the bars are bounded, so that many openers cost no more than their number.
const TOKEN = /<\|[^\s<>|]{1,64}\|>|\[\/?INST\]|<<\/?SYS>>/;

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20) {
      if (unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) return true;
    } else if (unit === 0x7f || (unit >= 0x202a && unit <= 0x202e) || (unit >= 0x2066 && unit <= 0x2069)) {
      return true;
    } else if (unit === 0xdb40) {
      // Tag characters U+E0000 to U+E007F, as the pair they are written with.
      const low = text.charCodeAt(index + 1);
      if (low >= 0xdc00 && low <= 0xdc7f) return true;
    }
  }
  return false;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const DROP = words('ignore disregard forget override bypass');
const GIVEN = words('previous prior above earlier your all system');
const ORDERS = words('instruction instructions rule rules prompt prompts guidelines directives');
const SHOW = words('reveal print show output');
const SKIP = words('skip disable bypass');
const CHECKS = words('hash hashes verification governance boundary boundaries');
const KNOWN: ReadonlySet<string> = new Set([...DROP, ...GIVEN, ...ORDERS, ...SHOW, ...SKIP, ...CHECKS]);
// A phrase has one of the first and one of the second. Few texts have both, even inside longer words.
const VERBS = anyOf(DROP, SHOW, SKIP);
const OBJECTS = anyOf(ORDERS, CHECKS);
const UNESCAPED = /^[ -[\]-~]*$/;
// A part of each verb but `output`. All are of one length, which makes looking for them several times faster.
const STIRRING = /gnor|rega|forg|rrid|ypas|veal|prin|show|skip|sabl/;

// One pass over the words. Of every earlier word that matters only the latest place is kept: if that one is too far
// back, so are the others. An order to drop instructions is spoken in one direction; what is to be shown or skipped may
// be named before the verb as well as after it.
function phrasesIn(text: string): InjectionCode[] {
  if (!OBJECTS.test(text) || !VERBS.test(text)) return [];
  const broken = new Set<InjectionCode>();
  const never = Number.NEGATIVE_INFINITY;
  let drop = never;
  let given = never;
  let show = never;
  let skip = never;
  let system = never;
  let systemPrompt = never;
  let check = never;
  for (const [index, word] of (text.match(/[\p{L}\p{N}]+/gu) ?? []).entries()) {
    if (!KNOWN.has(word)) continue;
    if (ORDERS.has(word) && index - given <= 3) broken.add('INJECTION_OVERRIDE');
    if (GIVEN.has(word) && index - drop <= 4) given = index;
    if ((word === 'prompt' || word === 'prompts') && system === index - 1) {
      if (system - show <= 3) broken.add('INJECTION_EXFIL');
      systemPrompt = index;
    }
    if (word === 'system') system = index;
    if (CHECKS.has(word)) {
      if (index - skip <= 3) broken.add('INJECTION_BYPASS');
      check = index;
    }
    if (DROP.has(word)) drop = index;
    if (SHOW.has(word)) {
      if (index - systemPrompt <= 3) broken.add('INJECTION_EXFIL');
      show = index;
    }
    if (SKIP.has(word)) {
      if (index - check <= 3) broken.add('INJECTION_BYPASS');
      skip = index;
    }
  }
  return PHRASES.filter((code) => broken.has(code));
}

function anyOf(...lists: readonly ReadonlySet<string>[]): RegExp {
  return new RegExp(lists.flatMap((list) => [...list]).join('|'));
}

function reachesForPrototype(value: Json): boolean {
  if (!isObject(value)) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  if (!Object.hasOwn(value, 'constructor')) return false;
  const maker: unknown = value.constructor;
  return isObject(maker) && Object.hasOwn(maker, 'prototype');
}

/** A value, its key, and the list or object it stands in. */
type Place = { readonly value: Json; readonly key: string; readonly within: Place | null };

/** Every value at every depth, in the order of the text. */
function* walk(root: Json): Generator<Place> {
  const stack: Place[] = [{ value: root, key: '', within: null }];
  for (let place = stack.pop(); place; place = stack.pop()) {
    yield place;
    const { value } = place;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value).reverse()) {
      stack.push({ value: member, key, within: place });
    }
  }
}

/** The key of a list's item is a number, and the root has none. */
function textsAt({ value, key, within }: Place): string[] {
  const isNamed = within !== null && !Array.isArray(within.value);
  return [isNamed ? key : null, value].filter((text) => typeof text === 'string');
}

function pointerTo(place: Place): string {
  const keys: string[] = [];
  for (let at = place; at.within; at = at.within) keys.unshift(at.key);
  return pointer(...keys);
}
