// A value that a schema of the user's own would take: the author's example where there is one, else the smallest value
// that the plain keywords ask for.
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';

const DEPTH_MAX = 8;

/** The members of an example, or none where the schema says too little. */
export function schemaExample(schema: JsonObject | null): JsonObject {
  const value = schema === null ? {} : valueFor(schema, 0);
  return isObject(value) ? value : {};
}

function valueFor(schema: JsonObject, depth: number): Json {
  const [first] = Array.isArray(schema.examples) ? schema.examples : [];
  if (first !== undefined) return first;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum) && schema.enum[0] !== undefined) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'string':
      return 'x'.repeat(Math.min(numberOr(schema.minLength, 1), 100)) || '…';
    case 'integer':
    case 'number':
      return numberOr(schema.minimum, numberOr(schema.maximum, 0));
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.min(numberOr(schema.minItems, 0), 20) }, () =>
        isObject(schema.items) && depth < DEPTH_MAX ? valueFor(schema.items, depth + 1) : '…',
      );
    default:
      return membersFor(schema, depth);
  }
}

function membersFor(schema: JsonObject, depth: number): JsonObject {
  const required = Array.isArray(schema.required) ? schema.required.filter(isString) : [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const members = required.map((name): [string, Json] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, isObject(property) && depth < DEPTH_MAX ? valueFor(property, depth + 1) : '…'];
  });
  return Object.fromEntries(members);
}

function numberOr(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
