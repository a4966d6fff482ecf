// Digests of JSON values: SHA-256 over their canonical text (RFC 8785). The hash function comes from outside.
import { createRequire } from 'node:module';
import type canonicalize from 'canonicalize';
import type { Field } from '../kernel/fields.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { ENVELOPE } from './envelope.ts';

/** Lower-case hex of the SHA-256 of exactly these bytes, or of the UTF-8 bytes of this text. */
export type Sha256 = (content: Uint8Array | string) => string;

/** Loaded when a value needs it: short commands read registries, and their values are plain. */
function writeByLibrary(value: Json | object): string | undefined {
  const library = createRequire(import.meta.url)('canonicalize') as { default: typeof canonicalize };
  return library.default(value);
}

/** Null for a value that has no canonical text, such as one with half a character in a string. */
export function canonicalDigest(value: Json, sha256: Sha256): string | null {
  return digestsOf(canonicalTexts(value, null), sha256).whole;
}

/** The digests of a value and of one object inside it. */
export function digestsOf(
  texts: CanonicalTexts,
  sha256: Sha256,
): { readonly whole: string | null; readonly part: string | null } {
  const { whole, part } = texts;
  return {
    whole: whole === undefined ? null : sha256(whole),
    part: part === undefined ? null : sha256(part),
  };
}

/** Undefined for what has no canonical text, such as a value with half a character in a string. */
export type CanonicalTexts = {
  readonly whole: string | undefined;
  readonly part: string | undefined;
  /** The text of the object that holds the part, where that was asked for and is known. */
  readonly around: string | undefined;
  /** The depth of nested lists and objects. */
  readonly depth: number;
  readonly hasNumbers: boolean;
};

/**
 * The texts of a value, of one object somewhere inside it, and of one around that. `isVerbatim` promises that no string
 * and no name in it needs an escape, so that they are not searched for one.
 */
export function canonicalTexts(
  value: Json,
  part: object | null,
  isVerbatim = false,
  around: object | null = null,
): CanonicalTexts {
  const writer: Writer = {
    part,
    partAt: NOWHERE,
    around,
    aroundAt: NOWHERE,
    isVerbatim,
    depth: 0,
    hasNumbers: false,
    isSure: true,
  };
  const whole = write('', value, 0, writer);
  const { depth, hasNumbers } = writer;
  if (writer.isSure) {
    return { whole, part: cut(whole, writer.partAt), around: cut(whole, writer.aroundAt), depth, hasNumbers };
  }
  const ofPart = part === null ? undefined : libraryText(part);
  return { whole: libraryText(value), part: ofPart, around: undefined, depth, hasNumbers };
}

function cut(whole: string, { start, end }: Place): string | undefined {
  return start < 0 ? undefined : whole.slice(start, end);
}

type Place = { readonly start: number; readonly end: number };
const NOWHERE: Place = { start: -1, end: -1 };

type Writer = {
  readonly part: object | null;
  partAt: Place;
  readonly around: object | null;
  aroundAt: Place;
  readonly isVerbatim: boolean;
  depth: number;
  hasNumbers: boolean;
  isSure: boolean;
};

/** Deeper than any text we read; a value that contains itself ends here too. */
const DEPTH_MAX = 200;

/** Each of these answers the text before with the value's own text behind it. */
function write(before: string, value: Json, depth: number, writer: Writer): string {
  if (typeof value === 'string') return before + quoted(value, writer);
  if (typeof value === 'object' && value !== null && depth <= DEPTH_MAX) {
    if (depth >= writer.depth) writer.depth = depth + 1;
    const text = Array.isArray(value)
      ? writeList(before, value, depth, writer)
      : writeObject(before, value as JsonObject, depth, writer);
    if (value === writer.part) writer.partAt = { start: before.length, end: text.length };
    else if (value === writer.around) writer.aroundAt = { start: before.length, end: text.length };
    return text;
  }
  if (value === null || typeof value === 'boolean') return before + String(value);
  writer.hasNumbers = true;
  if (Number.isFinite(value)) return before + String(value);
  writer.isSure = false;
  return before;
}

function writeList(before: string, list: readonly Json[], depth: number, writer: Writer): string {
  let text = `${before}[`;
  for (let index = 0; index < list.length && writer.isSure; index++) {
    text = write(index > 0 ? `${text},` : text, list[index] as Json, depth + 1, writer);
  }
  return `${text}]`;
}

function writeObject(before: string, object: JsonObject, depth: number, writer: Writer): string {
  if (Object.getPrototypeOf(object) !== Object.prototype) writer.isSure = false;
  const names = Object.keys(object);
  const plan = planFor(names);
  if (plan) return writePlanned(before, Object.values(object), plan, depth, writer);
  let text = before;
  let mark = '{';
  for (const name of sorted(names)) {
    if (!writer.isSure) break;
    text = write(`${text}${mark}${quoted(name, writer)}:`, object[name] as Json, depth + 1, writer);
    mark = ',';
  }
  return mark === '{' ? `${text}{}` : `${text}}`;
}

function writePlanned(before: string, values: readonly Json[], plan: Plan, depth: number, writer: Writer): string {
  let text = before;
  for (let index = 0; index < values.length && writer.isSure; index++) {
    text += plan.marks[index];
    const value = values[plan.order[index] as number] as Json;
    text = typeof value === 'string' ? text + quoted(value, writer) : write(text, value, depth + 1, writer);
  }
  return `${text}}`;
}

/** No quote, no backslash, no control character, no lone surrogate: such a text is in JSON as it is. */
const AS_IT_IS = /^[ !#-[\]-~\u0080-\uD7FF\uE000-\uFFFF]*$/;

function quoted(text: string, writer: Writer): string {
  if (writer.isVerbatim || AS_IT_IS.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) writer.isSure = false;
  return JSON.stringify(text);
}

const FEW = 16;

/** How to write an object whose names arrive in a known order: the next member, and the text before it. */
type Plan = { readonly names: readonly string[]; readonly order: readonly number[]; readonly marks: readonly string[] };

/**
 * Most objects of an envelope have the members its table names, in its order. Their names need not be sorted and quoted
 * again and again.
 */
const PLANS: ReadonlyMap<string, readonly Plan[]> = Map.groupBy(plansIn(ENVELOPE), ({ names }) => names[0] ?? '');

function planFor(names: readonly string[]): Plan | null {
  const [first] = names;
  const plans = first === undefined ? undefined : PLANS.get(first);
  if (plans) for (const plan of plans) if (areSame(plan.names, names)) return plan;
  return null;
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false;
  for (let index = 0; index < some.length; index++) if (some[index] !== others[index]) return false;
  return true;
}

/** For every object of the table one plan with all its members and one with only those it must have. */
function plansIn(field: Field): Plan[] {
  if (field.type !== 'object') return [];
  const all = Object.keys(field.fields);
  const needed = all.filter((name) => field.fields[name]?.required === true);
  const own = [all, ...(needed.length < all.length ? [needed] : [])].filter((names) => names.length > 0).map(planOf);
  return [...own, ...Object.values(field.fields).flatMap(plansIn)];
}

function planOf(names: readonly string[]): Plan {
  const ordered = sorted([...names]);
  const marks = ordered.map((name, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return { names, order: ordered.map((name) => names.indexOf(name)), marks };
}

/** By UTF-16 code units, as both comparisons here go. For a few names the plainest way is the fastest by far. */
function sorted(names: string[]): string[] {
  if (names.length > FEW) return names.sort();
  for (let index = 1; index < names.length; index++) {
    const name = names[index] as string;
    let free = index;
    for (; free > 0 && (names[free - 1] as string) > name; free--) names[free] = names[free - 1] as string;
    names[free] = name;
  }
  return names;
}

/** Undefined for what has none, such as a value with half a character in a string. */
export function libraryText(value: Json | object): string | undefined {
  try {
    return writeByLibrary(value);
  } catch {
    return undefined;
  }
}
