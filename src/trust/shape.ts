// Checks a value against the part of JSON Schema that describes an envelope. A general validator would have to be
// loaded and compiled first, which costs a command that checks one small file more than the checking.
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { pointer } from '../kernel/trust/problem.ts';
import type { Schema } from './schema.ts';

/** Where a value is not as its schema says. `unknown` are members beside the named ones: a matter of taste, not of shape. */
export type SchemaMismatch = {
  readonly rule: 'type' | 'required' | 'unknown' | 'enum' | 'form';
  readonly at: string;
  readonly schema: Schema;
  readonly value: Json | undefined;
};

/** All of them: an object's absent members first, then its unknown ones, then what its members say themselves. */
export function schemaMismatches(value: Json, schema: Schema, at: string): SchemaMismatch[] {
  const search: Search = { found: [], at, path: [] };
  visit(value, shapeOf(schema), search);
  return search.found;
}

/** A schema made ready for many values. */
type Shape = {
  readonly schema: Schema;
  readonly pattern: RegExp | null;
  readonly members: readonly Member[] | null;
  readonly items: Shape | null;
};
type Member = { readonly name: string; readonly shape: Shape; readonly isRequired: boolean };

const shapes = new WeakMap<Schema, Shape>();

function shapeOf(schema: Schema): Shape {
  const known = shapes.get(schema);
  if (known) return known;
  const { pattern, properties, items, required = [] } = schema;
  const members = Object.entries(properties ?? {}).map(([name, member]) => ({
    name,
    shape: shapeOf(member),
    isRequired: required.includes(name),
  }));
  const shape = {
    schema,
    pattern: pattern === undefined ? null : new RegExp(pattern, 'u'),
    members: properties ? members : null,
    items: items ? shapeOf(items) : null,
  };
  shapes.set(schema, shape);
  return shape;
}

/** What was found, and the names from `at` to where the search stands. Places are spelled only for what is found. */
type Search = { readonly found: SchemaMismatch[]; readonly at: string; readonly path: (string | number)[] };

function visit(value: Json, shape: Shape, search: Search): void {
  const { schema, members, items } = shape;
  if (!isOfType(value, schema)) note('type', value, schema, search);
  else if (typeof value === 'string') {
    if (schema.enum && !schema.enum.includes(value)) note('enum', value, schema, search);
    else if (!hasForm(value, shape)) note('form', value, schema, search);
  } else if (Array.isArray(value)) visitList(value, schema, items, search);
  else if (members && isObject(value)) visitObject(value, schema, members, search);
}

function visitObject(value: JsonObject, schema: Schema, members: readonly Member[], search: Search): void {
  const first = search.found.length;
  // Most senders keep to the order of the schema; then the next member need not be looked up by its name.
  const names = Object.keys(value);
  const values = Object.values(value);
  let known = 0;
  let isComplete = true;
  for (let index = 0; index < members.length; index++) {
    const member = members[index] as Member;
    if (names[known] === member.name) visitMember(values[known++] as Json, member.shape, search, member.name);
    else if (Object.hasOwn(value, member.name)) {
      visitMember(value[member.name] as Json, member.shape, search, member.name);
      known += 1;
    } else if (member.isRequired) isComplete = false;
  }
  if (isComplete && known === names.length) return;
  // Names come before what the members say, which was found first.
  const ofMembers = search.found.splice(first);
  noteNames(value, schema, members, search);
  for (const mismatch of ofMembers) search.found.push(mismatch);
}

function noteNames(value: JsonObject, schema: Schema, members: readonly Member[], search: Search): void {
  const names = new Set(members.map(({ name }) => name));
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) note('required', undefined, schema, search, name);
  }
  for (const name of Object.keys(value)) {
    if (!names.has(name)) note('unknown', undefined, schema, search, name);
  }
}

function visitList(value: readonly Json[], schema: Schema, items: Shape | null, search: Search): void {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const repeats = schema.uniqueItems === true && new Set(value).size < value.length;
  if (value.length < minItems || value.length > maxItems || repeats) note('form', value, schema, search);
  if (!items) return;
  value.forEach((item, index) => {
    visitMember(item, items, search, index);
  });
}

function visitMember(value: Json, shape: Shape, search: Search, name: string | number): void {
  // Most members are texts and truth values in order; only about others is there something to say.
  if (typeof value === 'string' ? isFine(value, shape) : value === true && shape.schema.type === 'boolean') return;
  search.path.push(name);
  visit(value, shape, search);
  search.path.pop();
}

function note(
  rule: SchemaMismatch['rule'],
  value: Json | undefined,
  schema: Schema,
  { found, at, path }: Search,
  ...member: readonly string[]
): void {
  found.push({ rule, at: at + pointer(...path, ...member), schema, value });
}

// Lengths count characters, not the halves in which some are stored.
function hasForm(value: string, { schema, pattern }: Shape): boolean {
  const { minLength, maxLength } = schema;
  if (minLength !== undefined && value.length < minLength) return false;
  if (maxLength !== undefined && value.length > maxLength) {
    if (value.length > 2 * maxLength || [...value].length > maxLength) return false;
  }
  return pattern === null || pattern.test(value);
}

function isFine(value: string, shape: Shape): boolean {
  const { schema } = shape;
  if (schema.type !== 'string') return false;
  return schema.enum ? schema.enum.includes(value) && hasForm(value, shape) : hasForm(value, shape);
}

function isOfType(value: Json, { type }: Schema): boolean {
  const actual = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  return actual === type || (typeof type !== 'string' && type.some((allowed) => allowed === actual));
}
