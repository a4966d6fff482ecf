// What is made from a field table besides its check: the JSON Schema, an example, the defaults, and sentences for people.
import {
  type Field,
  type Fields,
  type ListField,
  type Mismatch,
  mismatches,
  type ObjectField,
  type TextField,
} from './fields.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { normalPath, PATH_FAULTS } from './ledger/path.ts';
import { nearestName } from './text.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/**
 * JSON Schema 2020-12 of a table, as a document of its own. It accepts what `mismatches` accepts, except `null` for an absent
 * member. It also accepts numbers that JavaScript cannot hold exactly or that are not `below` another, conditions that code
 * checks, and paths without a normal form.
 */
export function jsonSchemaOf(table: Field, head: JsonObject = {}): JsonObject {
  return { $schema: DIALECT, ...head, ...schemaOf(table) };
}

/** The same as a part of another document. */
export function schemaOf(field: Field): JsonObject {
  const { means, hint, example, ignored, obsolete } = field;
  const notes = {
    ...(means === undefined ? {} : { description: hint === undefined ? means : `${means}. ${hint}` }),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
  if (obsolete !== undefined) return { not: {}, description: obsolete, deprecated: true };
  if (ignored) return { ...notes, deprecated: true };
  return { ...(field.nullable ? withNull(shapeOf(field)) : shapeOf(field)), ...notes };
}

function withNull(shape: JsonObject): JsonObject {
  const { type, enum: choices, const: only, anyOf } = shape;
  if (Array.isArray(anyOf)) return { anyOf: [...anyOf, { type: 'null' }] };
  if (only !== undefined) return { enum: [only, null] };
  if (type === undefined) return shape;
  return { ...shape, type: [type, 'null'], ...(Array.isArray(choices) ? { enum: [...choices, null] } : {}) };
}

function shapeOf(field: Field): JsonObject {
  switch (field.type) {
    case 'text':
      return textShape(field);
    case 'path':
      return { ...textShape({ type: 'text' }), ...given('maxLength', field.charsMax) };
    case 'flag':
      return { type: 'boolean' };
    case 'count':
      return { type: 'integer', minimum: field.min ?? 0, ...given('maximum', field.max) };
    case 'number':
      return { type: 'number', ...given('minimum', field.min), ...given('maximum', field.max) };
    case 'choice':
      return { type: 'string', enum: [...field.of] };
    case 'const':
      return { const: field.value };
    case 'list':
      return listShape(field);
    case 'object':
      return objectShape(field);
    case 'map':
      return {
        type: 'object',
        ...given('propertyNames', field.names && schemaOf(field.names)),
        additionalProperties: schemaOf(field.of),
        ...given('maxProperties', field.entriesMax),
      };
    case 'oneOf':
      return { anyOf: field.of.map(schemaOf) };
    case 'json':
      return field.schema ?? {};
  }
}

function given(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

function textShape({ mayBeEmpty, charsMax, form }: TextField): JsonObject {
  const pattern = form ?? (mayBeEmpty ? undefined : '\\S');
  return { type: 'string', ...given('pattern', pattern), ...given('maxLength', charsMax) };
}

function listShape({ of = { type: 'text' }, itemsMin, itemsMax, unique }: ListField): JsonObject {
  return {
    type: 'array',
    items: schemaOf(of),
    ...given('minItems', itemsMin),
    ...given('maxItems', itemsMax),
    ...given('uniqueItems', unique),
  };
}

function objectShape({ fields, unknown = 'refused', extensions }: ObjectField): JsonObject {
  const members = Object.entries(fields);
  const required = members.flatMap(([name, { required }]) => (required === true ? [name] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, member]) => [name, schemaOf(member)])),
    ...given('required', required.length > 0 ? required : undefined),
    ...(unknown !== 'refused'
      ? {}
      : { ...(extensions ? { patternProperties: { '^x_': {} } } : {}), additionalProperties: false }),
  };
}

/**
 * A value that fits: examples and defaults where the table has them. An object shows what is required and what has an
 * example. `leafOf` may put something else in the place of a single value, such as a placeholder.
 */
export function exampleOf(field: Field, leafOf: (field: Field) => Json = leaf): Json {
  switch (field.type) {
    case 'object':
      return (
        field.example ??
        Object.fromEntries(shownOf(field.fields).map(([name, member]) => [name, exampleOf(member, leafOf)]))
      );
    case 'map':
      return field.example ?? { [field.names ? String(leaf(field.names)) : 'name']: exampleOf(field.of, leafOf) };
    case 'list':
      return (
        field.example ??
        Array.from({ length: Math.max(1, field.itemsMin ?? 0) }, () => exampleOf(field.of ?? { type: 'text' }, leafOf))
      );
    case 'oneOf':
      return field.example ?? field.default ?? (field.of[0] ? exampleOf(field.of[0], leafOf) : null);
    default:
      return leafOf(field);
  }
}

function shownOf(fields: Fields): [string, Field][] {
  return Object.entries(fields).filter(
    ([, { required, example, obsolete, ignored }]) =>
      obsolete === undefined && !ignored && (required === true || example !== undefined),
  );
}

function leaf(field: Field): Json {
  const value = field.example ?? field.default;
  if (value !== undefined) return value;
  switch (field.type) {
    case 'flag':
      return true;
    case 'count':
    case 'number':
      return Math.min(Math.max(1, field.min ?? 0), field.max ?? 1);
    case 'choice':
      return field.of[0] ?? '';
    case 'const':
      return field.value;
    case 'path':
      return 'file.txt';
    case 'text':
      return 'text'.slice(0, field.charsMax);
    default:
      return null;
  }
}

/** The value with the defaults of its table where it has no own ones. What does not fit stays as it is. */
export function withDefaults(value: Json | undefined, field: Field): Json | undefined {
  const own = value ?? (value === null && field.nullable ? null : field.default);
  if (isObject(own) && field.type === 'object') {
    const filled = Object.entries(field.fields).map(([name, member]) => {
      return [name, withDefaults(Object.hasOwn(own, name) ? own[name] : undefined, member)] as const;
    });
    return { ...own, ...Object.fromEntries(filled.filter((entry): entry is [string, Json] => entry[1] !== undefined)) };
  }
  if (isObject(own) && field.type === 'map') {
    return Object.fromEntries(Object.entries(own).map(([name, item]) => [name, withDefaults(item, field.of) ?? null]));
  }
  if (Array.isArray(own) && field.type === 'list') {
    const { of } = field;
    return of === undefined ? own : own.map((item: Json) => withDefaults(item, of) ?? null);
  }
  if (own === undefined || field.type !== 'oneOf') return own;
  const fitting = field.of.find((alternative) => mismatches(own, alternative).length === 0);
  return fitting === undefined ? own : withDefaults(own, fitting);
}

/** What a field wants, to follow "must be": `a string that is not blank`. */
/** The field at a place in a value of the table; null where the table does not say. */
export function tableFieldAt(table: Field, path: readonly string[]): Field | null {
  const [name, ...rest] = path;
  if (name === undefined) return table;
  const inner = membersOf(table, name);
  return inner === null ? null : tableFieldAt(inner, rest);
}

function membersOf(field: Field, name: string): Field | null {
  if (field.type === 'object') return Object.hasOwn(field.fields, name) ? (field.fields[name] ?? null) : null;
  if (field.type === 'map') return field.of;
  if (field.type !== 'oneOf') return null;
  for (const each of field.of) {
    const found = membersOf(each, name);
    if (found) return found;
  }
  return null;
}

export function describeField(field: Field): string {
  const words = field.wants ?? typeWords(field);
  return field.nullable ? `${words}, or null` : words;
}

function typeWords(field: Field): string {
  switch (field.type) {
    case 'text':
      return field.mayBeEmpty ? 'a string' : 'a string that is not blank';
    case 'path':
      return 'the name of a file or folder';
    case 'flag':
      return 'true or false';
    case 'count':
      return field.noun === undefined ? `a whole number${rangeWords(field.min ?? 0, field.max)}` : `a ${field.noun}`;
    case 'number':
      return `a number${rangeWords(field.min, field.max)}`;
    case 'choice':
      return field.of.length === 1 ? `"${field.of[0]}"` : `one of ${field.of.join(', ')}`;
    case 'const':
      return JSON.stringify(field.value);
    case 'list':
      return `a list${field.of === undefined || field.of.type === 'text' ? ' of strings' : ''}${itemsWords(field)}`;
    case 'object':
    case 'map':
      return 'an object';
    case 'oneOf':
      return field.of.map(describeField).join(', or ');
    case 'json':
      return 'any value';
  }
}

function rangeWords(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return `, ${min} or above`;
  return max === undefined ? '' : `, ${max} or below`;
}

function itemsWords({ itemsMin = 0, itemsMax }: ListField): string {
  if (itemsMin > 0 && itemsMax !== undefined) return ` with ${itemsMin} to ${itemsMax} entries`;
  if (itemsMin > 0) return ` with at least ${itemsMin} ${itemsMin === 1 ? 'entry' : 'entries'}`;
  return itemsMax === undefined ? '' : ` with at most ${itemsMax} entries`;
}

/** A mismatch in words that follow the name of its place: "must be true or false". */
export function messageOf(mismatch: Mismatch): string {
  const { field } = mismatch;
  return field.hint === undefined ? ruleWords(mismatch) : `${ruleWords(mismatch)}. ${field.hint}`;
}

function ruleWords({ rule, path, field, value }: Mismatch): string {
  switch (rule) {
    case 'missing':
      if (Array.isArray(value)) return `lacks ${value.join(', ')}`;
      return field.means === undefined ? `is missing: ${describeField(field)}` : `is missing: ${field.means}`;
    case 'obsolete':
      return `is no longer understood. ${field.obsolete ?? ''}`.trimEnd();
    case 'blank':
      return 'must not be blank';
    case 'outside':
      return PATH_FAULTS.escapes;
    case 'form':
      return field.type === 'path' ? pathWords(String(value)) : `must be ${describeField(field)}`;
    case 'order':
      return `must be smaller than ${field.type === 'count' ? field.below : 'another field'}`;
    case 'long': {
      const max = field.type === 'text' || field.type === 'path' ? field.charsMax : 0;
      return `has ${[...String(value)].length} characters; at most ${max} are allowed`;
    }
    case 'many':
      return field.type === 'map' ? `must have at most ${field.entriesMax} entries` : `must be ${describeField(field)}`;
    case 'repeated':
      return 'is in the list twice';
    case 'name':
      return field.type === 'map' && field.names
        ? `is no name here; a name is ${describeField(field.names)}`
        : 'is no name here';
    case 'unknown': {
      const known = field.type === 'object' ? fieldNames(field.fields) : [];
      const meant = nearestName(String(path.at(-1)), known);
      return `is not known; ${meant === null ? '' : `did you mean ${meant}? `}there are: ${known.join(', ') || 'no fields'}`;
    }
    default:
      return `must be ${describeField(field)}`;
  }
}

function pathWords(path: string): string {
  const normal = normalPath(path);
  return normal.ok ? 'must be a path' : PATH_FAULTS[normal.fault];
}

/** The names of the fields that are read. */
export function fieldNames(fields: Fields): readonly string[] {
  return Object.keys(fields).filter((name) => !fields[name]?.obsolete && !fields[name]?.ignored);
}
