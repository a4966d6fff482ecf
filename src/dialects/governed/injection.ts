// The second line of defence against context that tries to become instructions. The first is structural and not here:
// transferred context reaches the target as delimited data, and its system prompt is exactly the pinned bytes. Nothing
// is cleaned: text passes unchanged, or the handoff is refused.
import type { GovernedCode } from '../../kernel/codes/governed.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import type { Envelope } from './envelope.ts';
import type { Policy } from './policy.ts';
import { PROBLEMS_MAX, type Problem, pointer } from './problem.ts';

/** Changes whenever a rule changes, and is recorded with every verdict. */
export const RULES_VERSION = '1.0.0';

export type Findings = { readonly problems: readonly Problem[]; readonly flags: readonly Problem[] };

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

export function checkInjection(envelope: Envelope, policy: Pick<Policy, 'phrases'>): Findings {
  const found = new Map<InjectionCode, Problem[]>(ORDER.map((code) => [code, []]));
  const note = (code: InjectionCode, at: string) => {
    const list = found.get(code);
    if (list && list.length < PROBLEMS_MAX) list.push({ code, pointer: at, message: MEANS[code] });
  };
  for (const { value, at } of walk(envelope as unknown as Json, '')) {
    if (reachesForPrototype(value)) note('INJECTION_KEY', at);
  }
  envelope.context.state.conversation_history.forEach((item, index) => {
    if (item.role !== undefined && !ROLES.includes(item.role)) {
      note('INJECTION_ROLE', pointer('context', 'state', 'conversation_history', index, 'role'));
    }
  });
  for (const { value, key, at } of walk(envelope.context as unknown as Json, '/context')) {
    const texts = [key, value].filter((text) => typeof text === 'string');
    for (const code of new Set(texts.flatMap(rulesBrokenBy))) note(code, at);
  }
  const inOrder = ORDER.flatMap((code) => found.get(code) ?? []);
  const isFlag = (problem: Problem) =>
    policy.phrases === 'flag' && (PHRASES as readonly string[]).includes(problem.code);
  return { problems: inOrder.filter((problem) => !isFlag(problem)), flags: inOrder.filter(isFlag) };
}

/** The rules one text breaks, each once. */
export function rulesBrokenBy(text: string): InjectionCode[] {
  const broken: InjectionCode[] = [];
  if (hasControl(text)) broken.push('INJECTION_CONTROL');
  const visible = text.normalize('NFKC').replace(INVISIBLE, '');
  if (TOKEN.test(text) || TOKEN.test(visible)) broken.push('INJECTION_TOKEN');
  return [...broken, ...phrasesIn(visible.toLowerCase())];
}

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

// One pass over the words. Of every earlier word that matters only the latest place is kept: if that one is too far
// back, so are the others.
function phrasesIn(text: string): InjectionCode[] {
  const broken = new Set<InjectionCode>();
  const never = Number.NEGATIVE_INFINITY;
  let drop = never;
  let given = never;
  let show = never;
  let skip = never;
  let system = never;
  let index = 0;
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (ORDERS.has(word) && index - given <= 3) broken.add('INJECTION_OVERRIDE');
    if (GIVEN.has(word) && index - drop <= 4) given = index;
    if ((word === 'prompt' || word === 'prompts') && system === index - 1) broken.add('INJECTION_EXFIL');
    if (word === 'system' && index - show <= 3) system = index;
    if (CHECKS.has(word) && index - skip <= 3) broken.add('INJECTION_BYPASS');
    if (DROP.has(word)) drop = index;
    if (SHOW.has(word)) show = index;
    if (SKIP.has(word)) skip = index;
    index++;
  }
  return PHRASES.filter((code) => broken.has(code));
}

function reachesForPrototype(value: Json): boolean {
  if (!isObject(value)) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  if (!Object.hasOwn(value, 'constructor')) return false;
  const maker: unknown = value.constructor;
  return isObject(maker) && Object.hasOwn(maker, 'prototype');
}

type Place = { readonly value: Json; readonly key: string | null; readonly at: string };

/** Every value at every depth with its key and place, in the order of the text. */
function* walk(root: Json, at: string): Generator<Place> {
  const stack: Place[] = [{ value: root, key: null, at }];
  for (let place = stack.pop(); place; place = stack.pop()) {
    yield place;
    const { value } = place;
    if (typeof value !== 'object' || value === null) continue;
    const isList = Array.isArray(value);
    for (const [key, member] of Object.entries(value).reverse()) {
      stack.push({ value: member, key: isList ? null : key, at: `${place.at}${pointer(key)}` });
    }
  }
}
