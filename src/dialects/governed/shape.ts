// Checks a value against the part of JSON Schema that describes an envelope. A general validator would have to be
// loaded and compiled first, which costs a command that checks one small file more than the checking.
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { pointer } from './problem.ts';
import type { Schema } from './schema.ts';

/** Where a value is not as its schema says. `unknown` are members beside the named ones: a matter of taste, not of shape. */
export type Mismatch = {
  readonly rule: 'type' | 'required' | 'unknown' | 'enum' | 'form';
  readonly at: string;
  readonly schema: Schema;
  readonly value: Json | undefined;
};

/** All of them: an object's absent members first, then its unknown ones, then what its members say themselves. */
export function mismatches(value: Json, schema: Schema, at: string): Mismatch[] {
  const broken = (rule: Mismatch['rule']): Mismatch[] => [{ rule, at, schema, value }];
  if (![schema.type].flat().some((type) => type === typeOf(value))) return broken('type');
  if (typeof value === 'string') {
    if (schema.enum && !schema.enum.includes(value)) return broken('enum');
    return hasForm(value, schema) ? [] : broken('form');
  }
  if (Array.isArray(value)) return inList(value, schema, at);
  return isObject(value) && schema.properties ? inObject(value, schema, schema.properties, at) : [];
}

function inObject(
  value: JsonObject,
  schema: Schema,
  properties: NonNullable<Schema['properties']>,
  at: string,
): Mismatch[] {
  const absent = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name));
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  const place = (rule: Mismatch['rule']) => (name: string) => ({
    rule,
    at: at + pointer(name),
    schema,
    value: undefined,
  });
  return [
    ...absent.map(place('required')),
    ...unknown.map(place('unknown')),
    ...Object.entries(properties)
      .filter(([name]) => Object.hasOwn(value, name))
      .flatMap(([name, member]) => mismatches(value[name] ?? null, member, at + pointer(name))),
  ];
}

function inList(value: readonly Json[], schema: Schema, at: string): Mismatch[] {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const repeats = schema.uniqueItems === true && new Set(value).size < value.length;
  const isForm = value.length >= minItems && value.length <= maxItems && !repeats;
  return [
    ...(isForm ? [] : [{ rule: 'form', at, schema, value } as const]),
    ...(items ? value.flatMap((item, index) => mismatches(item, items, at + pointer(index))) : []),
  ];
}

// Lengths count characters, not the halves in which some are stored.
function hasForm(value: string, { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema): boolean {
  if (value.length < minLength) return false;
  if (value.length > maxLength && (value.length > 2 * maxLength || [...value].length > maxLength)) return false;
  return pattern === undefined || regExpOf(pattern).test(value);
}

const compiled = new Map<string, RegExp>();

function regExpOf(pattern: string): RegExp {
  const known = compiled.get(pattern) ?? new RegExp(pattern, 'u');
  compiled.set(pattern, known);
  return known;
}

function typeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}
