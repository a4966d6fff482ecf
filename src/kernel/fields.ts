// The one interpreter of field tables. A table is plain data: it describes a value once, and the validator, the JSON
// Schema, the defaults, the example, the pages and the TypeScript type come from it (`field-words.ts` and `field-schema.ts`).
//
//   const CHECK = {
//     type: 'object',
//     unknown: 'warned',
//     extensions: true,
//     fields: {
//       criterion: { type: 'text', required: true, means: 'the criterion, word for word', example: 'tests pass' },
//       status: { type: 'choice', of: ['pass', 'fail'], required: true, means: 'what the check found' },
//       evidence: { type: 'text', required: true, code: { blank: 'MISSING_EVIDENCE' }, means: 'what proves it' },
//     },
//   } as const satisfies Field;
//   type Check = ValueOf<typeof CHECK>;
//   for (const each of mismatches(value, CHECK)) refuse(codeOf(each, 'SCHEMA_INVALID'), each.path, messageOf(each));
//
// Write a table once at the top of a module: it is compiled at its first use and found again by its identity.
// `mismatches` never throws for plain JSON, answers in the order of the table (unknown members last), and stops inside a
// value of the wrong type. Relations between fields are code that runs after it. A contract with its own words uses
// `rule`, `path` and `field` of a mismatch instead of `messageOf`. A member that is `undefined` counts as absent.
import { isObject, type Json, type JsonObject } from './json.ts';
import { normalPath } from './ledger/path.ts';

/** How a value can differ from its field, in the order in which a value is checked. */
type Rule =
  | 'missing'
  | 'obsolete'
  | 'type'
  | 'blank'
  | 'long'
  | 'few'
  | 'many'
  | 'choice'
  | 'form'
  /** A path that leads out of its folder. */
  | 'outside'
  | 'range'
  /** A number that is not below another member. */
  | 'order'
  | 'repeated'
  | 'unknown'
  /** The name of an entry of a map. */
  | 'name';

type Common = {
  /** For people: what the field is for. */
  readonly means?: string;
  /** Must be there. A word instead of `true` names a condition that code checks. */
  readonly required?: true | string;
  /** The value where none is given. It counts for `withDefaults` and is shown in the schema. */
  readonly default?: Json;
  readonly example?: Json;
  /** Completes "must be …" where the words of the type do not say enough: `a time in UTC, such as 2026-01-31T09:30:00Z`. */
  readonly wants?: string;
  /** What to do about a mismatch, as a sentence. */
  readonly hint?: string;
  /** The code of a mismatch where it is not the contract's usual one: for any rule, or by rule. */
  readonly code?: string | Readonly<Partial<Record<Rule, string>>>;
  /** `null` fits as well. */
  readonly nullable?: true;
  /** Whatever does not fit inside of the value is one mismatch of the value itself, with the rule `type`. */
  readonly whole?: true;
  /** Nothing reads the field any more, and a value is refused. Says where its meaning went. */
  readonly obsolete?: string;
  /** Nothing reads the field, and any value of it is accepted: files of old have it. */
  readonly ignored?: true;
};

export type TextField = {
  readonly type: 'text';
  /** Any string fits. Otherwise a string of nothing but white space does not. */
  readonly mayBeEmpty?: true;
  /** Counted in characters, not in code units. */
  readonly charsMax?: number;
  /** A regular expression (flag `u`). It alone decides whether a blank text fits. */
  readonly form?: string;
};
/** The name of a file or folder. */
type PathField = {
  readonly type: 'path';
  /** Must have a normal form: see `normalPath`. */
  readonly inside?: true;
  readonly charsMax?: number;
};
/** A whole number, 0 or above where there is no `min`. `noun` names it in messages. */
type CountField = {
  readonly type: 'count';
  readonly min?: number;
  readonly max?: number;
  readonly noun?: string;
  /** The name of another member, which must be larger. */
  readonly below?: string;
};
export type ListField = {
  readonly type: 'list';
  /** Texts that are not blank, where it is left out. */
  readonly of?: Field;
  readonly itemsMin?: number;
  readonly itemsMax?: number;
  /** No entry twice; for lists of texts and numbers. */
  readonly unique?: true;
};
export type ObjectField = {
  readonly type: 'object';
  readonly fields: Fields;
  /** Members that are not in the table: `refused` where it is left out. `warned` ones are reported, see `isRefusal`. */
  readonly unknown?: 'refused' | 'warned' | 'free';
  /** Members whose names start with `x_` are free. */
  readonly extensions?: true;
  /** One mismatch of the object names all members that are missing, and the others are then not looked at. */
  readonly together?: true;
  /** A member that is `null` counts as absent, as in a layer of the configuration. The schema does not mention it. */
  readonly nullIsAbsent?: true;
};
type MapField = {
  readonly type: 'map';
  readonly of: Field;
  /** What the names must be. */
  readonly names?: Field;
  readonly entriesMax?: number;
};

export type Field = Common &
  (
    | TextField
    | PathField
    | { readonly type: 'flag' }
    | CountField
    | { readonly type: 'number'; readonly min?: number; readonly max?: number }
    | { readonly type: 'choice'; readonly of: readonly string[]; readonly noun?: string }
    | { readonly type: 'const'; readonly value: string | number | boolean }
    | ListField
    | ObjectField
    | MapField
    /** Any one of several: what fits one of them fits. */
    | { readonly type: 'oneOf'; readonly of: readonly Field[] }
    /** Any value. `schema` describes it to others and is not checked here. */
    | { readonly type: 'json'; readonly schema?: JsonObject }
  );

export type Fields = Readonly<Record<string, Field>>;

/** The type of a value that fits. */
export type ValueOf<F extends Field> = PlainValueOf<F> | (F extends { readonly nullable: true } ? null : never);

type PlainValueOf<F extends Field> = F extends { readonly type: 'flag' }
  ? boolean
  : F extends { readonly type: 'count' | 'number' }
    ? number
    : F extends { readonly type: 'choice'; readonly of: readonly (infer Choice)[] }
      ? Choice
      : F extends { readonly type: 'const'; readonly value: infer Value }
        ? Value
        : F extends { readonly type: 'list' }
          ? readonly (F extends { readonly of: infer Item extends Field } ? ValueOf<Item> : string)[]
          : F extends { readonly type: 'object'; readonly fields: infer Members extends Fields }
            ? MembersOf<Members>
            : F extends { readonly type: 'map'; readonly of: infer Item extends Field }
              ? { readonly [name: string]: ValueOf<Item> }
              : F extends { readonly type: 'oneOf'; readonly of: readonly (infer Alternative extends Field)[] }
                ? ValueOf<Alternative>
                : F extends { readonly type: 'json' }
                  ? Json
                  : string;

type Simplify<T> = { readonly [K in keyof T]: T[K] };

type MembersOf<F extends Fields> = Simplify<
  { [K in keyof F as F[K] extends { readonly required: true } ? K : never]: ValueOf<F[K]> } & {
    [K in keyof F as F[K] extends { readonly required: true } ? never : K]?: ValueOf<F[K]> | undefined;
  }
>;

export type Mismatch = {
  readonly rule: Rule;
  /** From the value that was checked; a missing or unknown member is named by its own name. */
  readonly path: readonly (string | number)[];
  /** What was not met: the missing field, the object of an unknown member, the map of a wrong name. */
  readonly field: Field;
  readonly value: unknown;
};

const NONE: readonly Mismatch[] = Object.freeze([]);

/** All places where a value differs from its table. */
export function mismatches(value: unknown, table: Field): readonly Mismatch[] {
  const walk: Walk = { found: null, path: [] };
  checkOf(table)(value, walk);
  return walk.found ?? NONE;
}

/** Whether a mismatch refuses the value. Only a member that is warned of does not. */
export function isRefusal({ rule, field }: Mismatch): boolean {
  return rule !== 'unknown' || field.type !== 'object' || field.unknown !== 'warned';
}

/** The code of a mismatch: the one of its field for this rule, or the contract's usual one. */
export function codeOf<Code extends string>({ rule, field }: Mismatch, usual: Code): Code {
  const code = typeof field.code === 'string' ? field.code : field.code?.[rule];
  return (code as Code | undefined) ?? usual;
}

/** What was found, and the way to where the walk is. Paths are copied only for what is found. */
type Walk = { found: Mismatch[] | null; readonly path: (string | number)[] };
type Check = (value: unknown, walk: Walk) => void;

function note(rule: Rule, value: unknown, field: Field, walk: Walk, ...member: readonly string[]): void {
  walk.found ??= [];
  walk.found.push({ rule, path: [...walk.path, ...member], field, value });
}

const checks = new WeakMap<Field, Check>();

function checkOf(field: Field): Check {
  const known = checks.get(field);
  if (known) return known;
  const plain = compile(field);
  const whole: Check = field.whole
    ? (value, walk) => foundBy(plain, value, []) === null || note('type', value, field, walk)
    : plain;
  const check: Check = field.nullable ? (value, walk) => value === null || whole(value, walk) : whole;
  checks.set(field, check);
  return check;
}

function compile(field: Field): Check {
  if (field.obsolete !== undefined) return (value, walk) => note('obsolete', value, field, walk);
  if (field.ignored) return () => undefined;
  switch (field.type) {
    case 'text':
      return textCheck(field);
    case 'path':
      return pathCheck(field);
    case 'flag':
      return (value, walk) => typeof value === 'boolean' || note('type', value, field, walk);
    case 'count':
      return numberCheck(field, Number.isSafeInteger, field.min ?? 0, field.max);
    case 'number':
      return numberCheck(field, Number.isFinite, field.min, field.max);
    case 'choice': {
      const choices: ReadonlySet<unknown> = new Set(field.of);
      return (value, walk) => {
        if (!choices.has(value)) note(typeof value === 'string' ? 'choice' : 'type', value, field, walk);
      };
    }
    case 'const':
      return (value, walk) => {
        if (value !== field.value) note(typeof value === typeof field.value ? 'choice' : 'type', value, field, walk);
      };
    case 'list':
      return listCheck(field);
    case 'object':
      return objectCheck(field);
    case 'map':
      return mapCheck(field);
    case 'oneOf':
      return oneOfCheck(field, field.of.map(checkOf));
    case 'json':
      return anything;
  }
}

const anything: Check = () => undefined;

function textCheck(field: Extract<Field, { type: 'text' }>): Check {
  const { mayBeEmpty = false, charsMax = Number.POSITIVE_INFINITY, form } = field;
  const pattern = form === undefined ? null : new RegExp(form, 'u');
  return (value, walk) => {
    if (typeof value !== 'string') note('type', value, field, walk);
    else if (pattern === null && !mayBeEmpty && isBlank(value)) note('blank', value, field, walk);
    else if (isLonger(value, charsMax)) note('long', value, field, walk);
    else if (pattern !== null && !pattern.test(value)) {
      note(!mayBeEmpty && isBlank(value) ? 'blank' : 'form', value, field, walk);
    }
  };
}

function pathCheck(field: Extract<Field, { type: 'path' }>): Check {
  const { charsMax = Number.POSITIVE_INFINITY, inside = false } = field;
  return (value, walk) => {
    if (typeof value !== 'string') return note('type', value, field, walk);
    if (isBlank(value)) return note('blank', value, field, walk);
    if (isLonger(value, charsMax)) return note('long', value, field, walk);
    const normal = inside ? normalPath(value) : null;
    if (normal && !normal.ok) note(normal.fault === 'escapes' ? 'outside' : 'form', value, field, walk);
  };
}

/** Most texts begin with a letter, which is faster to see than to search for. */
function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  return !(first > 32 && first < 127) && !/\S/.test(text);
}

/** A character takes one or two code units. */
function isLonger(text: string, charsMax: number): boolean {
  return text.length > charsMax && (text.length > 2 * charsMax || [...text].length > charsMax);
}

function numberCheck(field: Field, isOne: (value: unknown) => boolean, min = -Infinity, max = Infinity): Check {
  return (value, walk) => {
    if (!isOne(value)) note('type', value, field, walk);
    else if ((value as number) < min || (value as number) > max) note('range', value, field, walk);
  };
}

const ANY_TEXT: Field = { type: 'text' };

function listCheck(field: Extract<Field, { type: 'list' }>): Check {
  const { of = ANY_TEXT, itemsMin = 0, itemsMax = Number.POSITIVE_INFINITY, unique = false } = field;
  const check = checkOf(of);
  return (value, walk) => {
    if (!Array.isArray(value)) return note('type', value, field, walk);
    if (value.length < itemsMin) note('few', value, field, walk);
    else if (value.length > itemsMax) note('many', value, field, walk);
    for (let index = 0; index < value.length; index++) {
      walk.path.push(index);
      check(value[index], walk);
      walk.path.pop();
    }
    if (unique && new Set(value).size < value.length) noteRepeats(value, field, walk);
  };
}

function noteRepeats(list: readonly unknown[], field: Field, walk: Walk): void {
  const seen = new Set();
  for (const [index, item] of list.entries()) {
    walk.path.push(index);
    if (seen.has(item)) note('repeated', item, field, walk);
    walk.path.pop();
    seen.add(item);
  }
}

function objectCheck(field: Extract<Field, { type: 'object' }>): Check {
  const { fields, unknown = 'refused', nullIsAbsent = false, together = false } = field;
  const members = Object.entries(fields).map(([name, member]) => {
    const below = member.type === 'count' ? member.below : undefined;
    return { name, member, check: checkOf(member), below };
  });
  const required = Object.keys(fields).filter((name) => fields[name]?.required === true);
  return (value, walk) => {
    if (!isObject(value)) return note('type', value, field, walk);
    const missing = together ? missingIn(value, required) : null;
    if (missing !== null) note('missing', missing, field, walk);
    let known = 0;
    for (let index = 0; missing === null && index < members.length; index++) {
      const { name, member, check, below } = members[index] as (typeof members)[number];
      const isThere = Object.hasOwn(value, name);
      const given = isThere ? value[name] : undefined;
      if (isThere) known += 1;
      if (given !== undefined && !(nullIsAbsent && given === null)) {
        walk.path.push(name);
        check(given, walk);
        if (below !== undefined && isNotBelow(given, value[below])) note('order', given, member, walk);
        walk.path.pop();
      } else if (member.required === true) note('missing', given, member, walk, name);
    }
    if (unknown !== 'free' && countOf(value) > known) noteUnknown(value, field, walk);
  };
}

function missingIn(value: JsonObject, required: readonly string[]): readonly string[] | null {
  for (const name of required) {
    if (value[name] === undefined) return required.filter((each) => value[each] === undefined);
  }
  return null;
}

function isNotBelow(value: Json, other: Json | undefined): boolean {
  return typeof value === 'number' && typeof other === 'number' && value >= other;
}

/** Unlike the length of `Object.keys` it makes no list. */
function countOf(object: object): number {
  let count = 0;
  for (const _name in object) count += 1;
  return count;
}

function noteUnknown(value: JsonObject, field: Extract<Field, { type: 'object' }>, walk: Walk): void {
  for (const name of Object.keys(value)) {
    const isFree = field.extensions === true && name.startsWith('x_');
    if (Object.hasOwn(field.fields, name) || isFree || value[name] === undefined) continue;
    note('unknown', value[name], field, walk, name);
  }
}

function mapCheck(field: Extract<Field, { type: 'map' }>): Check {
  const { of, names, entriesMax = Number.POSITIVE_INFINITY } = field;
  const [check, checkName] = [checkOf(of), names === undefined ? null : checkOf(names)];
  const takesAll = check === anything && checkName === null && entriesMax === Number.POSITIVE_INFINITY;
  return (value, walk) => {
    if (!isObject(value)) return note('type', value, field, walk);
    if (takesAll) return;
    const entries = Object.keys(value);
    if (entries.length > entriesMax) note('many', value, field, walk);
    for (const name of entries) {
      if (value[name] === undefined) continue;
      if (checkName !== null && foundBy(checkName, name, []) !== null) note('name', name, field, walk, name);
      walk.path.push(name);
      check(value[name], walk);
      walk.path.pop();
    }
  };
}

function foundBy(check: Check, value: unknown, path: (string | number)[]): Mismatch[] | null {
  const walk: Walk = { found: null, path };
  check(value, walk);
  return walk.found;
}

/** Where nothing fits, it speaks about the alternative of the value's type that is nearest; without one, about all. */
function oneOfCheck(field: Field, alternatives: readonly Check[]): Check {
  return (value, walk) => {
    let nearest: Mismatch[] | null = null;
    for (const check of alternatives) {
      const found = foundBy(check, value, walk.path);
      if (found === null) return;
      const isOfType = found[0]?.rule !== 'type' || found[0].path.length > walk.path.length;
      if (isOfType && (nearest === null || weight(found) < weight(nearest))) nearest = found;
    }
    if (nearest === null) return note('type', value, field, walk);
    walk.found = [...(walk.found ?? []), ...nearest];
  };
}

/** A value with warnings fits better than any that is refused. */
function weight(found: readonly Mismatch[]): number {
  const refusals = found.filter(isRefusal).length;
  return refusals * 1_000_000 + found.length;
}
