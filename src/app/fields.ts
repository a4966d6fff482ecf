// The input of an operation as plain data: one table of fields. The check of an input, its TypeScript type, the JSON Schema
// for other programs and the options of the command line are made from it.
import type { Json, JsonObject } from '../kernel/json.ts';

type Common = {
  /** For people: what the field is for. */
  readonly means: string;
  /** `unless-attempt`: an agent within its attempt may leave it out, because its attempt says it. */
  readonly required?: true | 'unless-attempt';
  /** The command line takes it as a word, shown by this name, and not as an option. */
  readonly word?: string;
  /** The one letter of its option. */
  readonly short?: string;
  /** What the help shows in the place of the option's value. */
  readonly value?: string;
  /** The command line has no option for it: it fills it in by itself. */
  readonly hidden?: true;
};

export type Field = Common &
  (
    | { readonly type: 'text'; readonly example?: string; readonly charsMax?: number; readonly mayBeEmpty?: true }
    /** The name of a file or folder, relative to where the caller is. */
    | { readonly type: 'path'; readonly example?: string }
    | { readonly type: 'flag' }
    /** A whole number, 0 or above where no `min` is said; `noun` names it in messages. */
    | { readonly type: 'count'; readonly example?: number; readonly min?: number; readonly noun?: string }
    | { readonly type: 'number'; readonly example?: number }
    | { readonly type: 'choice'; readonly of: readonly string[]; readonly example?: string; readonly noun?: string }
    | {
        readonly type: 'list';
        readonly example?: readonly string[];
        readonly itemsMax?: number;
        /** Texts in it may be empty: words of a command. */
        readonly hasEmpty?: true;
      }
    /** A value, or the text of one; the command line reads it from a file or from standard input. */
    | {
        readonly type: 'json';
        readonly example?: Json;
        readonly schema?: JsonObject;
        /** The command line reads it from standard input, without a word for it. */
        readonly isStandardInput?: true;
        /** The command line reads it from standard input where its word is not said. */
        readonly orStandardInput?: true;
        /** The field that gets the bytes, as base64, of what is no UTF-8. */
        readonly bytesField?: string;
      }
  );

export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F extends Field> = F['type'] extends 'flag'
  ? boolean
  : F['type'] extends 'count' | 'number'
    ? number
    : F['type'] extends 'list'
      ? readonly string[]
      : F['type'] extends 'json'
        ? Json
        : F extends { readonly type: 'choice'; readonly of: readonly (infer Choice)[] }
          ? Choice
          : string;

type Simplify<T> = { readonly [K in keyof T]: T[K] };

/** The type of an input, made from its table of fields. */
export type InputOf<F extends Fields> = Simplify<
  { [K in keyof F as F[K] extends { readonly required: true } ? K : never]: ValueOf<F[K]> } & {
    [K in keyof F as F[K] extends { readonly required: true } ? never : K]?: ValueOf<F[K]> | undefined;
  }
>;

export type Issue = { readonly path: string; readonly message: string };
export type Reading =
  | { readonly ok: true; readonly input: JsonObject }
  /** `missing` are the fields that must be given and are not. */
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly missing: readonly string[] };

const TEXT_CHARS_MAX = 1_048_576;
const LIST_ITEMS_MAX = 10_000;

/** Checks an input against its fields. `isAttempt` says that the caller is an agent within its attempt. */
export function readInput(fields: Fields, given: Readonly<Record<string, unknown>>, isAttempt = false): Reading {
  const issues: Issue[] = [];
  const missing: string[] = [];
  const input: Record<string, Json> = {};
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(fields, name) && given[name] !== undefined)
      issues.push({ path: name, message: `is not known; there are: ${Object.keys(fields).join(', ') || 'no fields'}` });
  }
  for (const [name, field] of Object.entries(fields)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined) {
      const isNeeded = field.required === true || (field.required === 'unless-attempt' && !isAttempt);
      if (!isNeeded) continue;
      missing.push(name);
      issues.push({ path: name, message: `is missing: ${field.means}` });
      continue;
    }
    const message = faultOf(field, value);
    if (message !== null) issues.push({ path: name, message });
    else input[name] = value as Json;
  }
  return issues.length === 0 ? { ok: true, input } : { ok: false, issues, missing };
}

/** What is wrong with a value, in words; null where it fits. */
export function faultOf(field: Field, value: unknown): string | null {
  switch (field.type) {
    case 'text':
    case 'path':
      return faultOfText(field, value);
    case 'flag':
      return typeof value === 'boolean' ? null : 'must be true or false';
    case 'count':
      return faultOfCount(field, value);
    case 'number':
      return Number.isFinite(value) ? null : 'must be a number';
    case 'choice': {
      if (typeof value === 'string' && field.of.includes(value)) return null;
      return `must be one of: ${field.of.join(', ')}`;
    }
    case 'list':
      return faultOfList(field, value);
    case 'json':
      return null;
  }
}

function faultOfCount(
  { min = 0, noun = `whole number, ${min} or above` }: Extract<Field, { type: 'count' }>,
  value: unknown,
) {
  return Number.isSafeInteger(value) && (value as number) >= min ? null : `must be a ${noun}`;
}

function faultOfText(field: Extract<Field, { type: 'text' | 'path' }>, value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a text';
  const mayBeEmpty = field.type === 'text' && field.mayBeEmpty === true;
  if (!mayBeEmpty && value.trim() === '') return 'must not be empty';
  if (value.includes('\0')) return 'must not hold a NUL character';
  const max = (field.type === 'text' ? field.charsMax : undefined) ?? TEXT_CHARS_MAX;
  return value.length > max ? `has ${value.length} characters; at most ${max} are allowed` : null;
}

function faultOfList(field: Extract<Field, { type: 'list' }>, value: unknown): string | null {
  const max = field.itemsMax ?? LIST_ITEMS_MAX;
  const isList =
    Array.isArray(value) && value.every((item) => typeof item === 'string' && (field.hasEmpty === true || item !== ''));
  if (!isList) return 'must be a list of texts';
  if (value.length === 0) return 'must not be empty';
  if (value.some((item: string) => item.includes('\0'))) return 'must not hold a NUL character';
  return value.length > max ? `has more than ${max} entries` : null;
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** JSON Schema 2020-12 of an input, as a document of its own. */
export function jsonSchemaOf(fields: Fields): JsonObject {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]));
  const required = Object.entries(fields).flatMap(([name, field]) => (field.required === true ? [name] : []));
  return { $schema: DIALECT, type: 'object', properties, required, additionalProperties: false };
}

function schemaOf(field: Field): JsonObject {
  const example = field.type !== 'flag' && field.example !== undefined ? { examples: [field.example as Json] } : {};
  return { ...shapeOf(field), description: field.means, ...example };
}

function shapeOf(field: Field): JsonObject {
  switch (field.type) {
    case 'text':
      return {
        type: 'string',
        ...(field.mayBeEmpty ? {} : { minLength: 1 }),
        ...(field.charsMax === undefined ? {} : { maxLength: field.charsMax }),
      };
    case 'path':
      return { type: 'string', minLength: 1 };
    case 'flag':
      return { type: 'boolean' };
    case 'count':
      return { type: 'integer', minimum: field.min ?? 0 };
    case 'number':
      return { type: 'number' };
    case 'choice':
      return { type: 'string', enum: [...field.of] };
    case 'list':
      return {
        type: 'array',
        items: { type: 'string', ...(field.hasEmpty ? {} : { minLength: 1 }) },
        minItems: 1,
        maxItems: field.itemsMax ?? LIST_ITEMS_MAX,
      };
    case 'json':
      return field.schema ?? {};
  }
}
