// What is made from a field table besides its check: the JSON Schema, an example, and a value with its defaults.
import { type Field, type Fields, type ListField, mismatches, type ObjectField, type TextField } from './fields.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

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
