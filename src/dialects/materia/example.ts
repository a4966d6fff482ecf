// The example in a brief: the smallest payload of the shape a socket asks for, with a placeholder for every value. It is
// not a valid answer itself.

import type { Contract } from '../../kernel/dialect.ts';
import { exampleOf as exampleFrom } from '../../kernel/field-schema.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { readWithSchema } from '../user-schema.ts';
import { type Terms, termsOf } from './contract.ts';
import { at, HANDOFF, type Issues } from './fields.ts';

type Tree = Map<string, Tree>;

const TRUE_OR_FALSE = '<true or false>';
const VALUE = '<value>';
const { context, workItems } = HANDOFF.fields;
const CONTEXT = `<${context.means}>`;
const ITEM = exampleFrom(workItems.of, ({ means }) => `<${means}>`);
// Beyond this an index is shown as a key: a path reads it from an object too.
const INDEX_SHOWN_MAX = 50;
const SAMPLE_SHOWN_MAX = 60;

/** The example, or null where a schema of the user's own asks for more than an example can be made of. */
export function exampleFor(contract: Contract): JsonObject | null {
  const { schema } = contract;
  const own = exampleOf(termsOf(contract));
  const sample = schemaExample(schema);
  if (schema !== null) {
    const filled = { ...own, ...(Object.hasOwn(own, 'satisfied') ? { satisfied: true } : {}), ...sample };
    const reading = readWithSchema(schema, filled);
    if (!reading.usable || reading.problems.length > 0) return null;
  }
  const example = { ...own, ...members(sample) };
  if (Object.keys(example).length > 0) return example;
  return termsOf(contract).takesAll ? { '<name of a field>': VALUE } : { context: CONTEXT };
}

function exampleOf(terms: Terms): JsonObject {
  const tree: Tree = new Map(terms.required.map((field) => [field, new Map()]));
  for (const path of terms.paths) grow(tree, path.segments);
  const fields = [...tree].map(([field, below]) => [field, exampleOfField(field, below, terms)] as const);
  return Object.fromEntries(fields);
}

function exampleOfField(field: string, below: Tree, terms: Terms): Json {
  if (field === 'satisfied') return TRUE_OR_FALSE;
  if (field === 'context') return CONTEXT;
  if (field === 'text') return '<the result, written for people>';
  if (field !== 'workItems') return render(below);
  if (!terms.strictItems && below.size > 0) return render(below);
  return Array.from({ length: lengthFor(below) }, () => ITEM);
}

/** The same shape with a placeholder for every value. */
function placeholderFor(sample: Json): Json {
  if (sample === '…') return VALUE;
  if (isString(sample)) return `<text, such as ${JSON.stringify(sample.slice(0, SAMPLE_SHOWN_MAX))}>`;
  if (typeof sample === 'boolean') return TRUE_OR_FALSE;
  if (typeof sample === 'number') return `<number, such as ${sample}>`;
  if (Array.isArray(sample)) return sample.length === 0 ? '<list>' : sample.map(placeholderFor);
  if (!isObject(sample)) return '<null>';
  return Object.keys(sample).length === 0 ? '<object>' : members(sample);
}

function members(sample: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, placeholderFor(value)]));
}

function grow(tree: Tree, segments: readonly string[]): void {
  let node = tree;
  for (const segment of segments) {
    const next = node.get(segment) ?? new Map();
    node.set(segment, next);
    node = next;
  }
}

function render(tree: Tree): Json {
  if (tree.size === 0) return VALUE;
  const keys = [...tree.keys()];
  if (keys.every((key) => /^(?:0|[1-9][0-9]?)$/.test(key) && Number(key) <= INDEX_SHOWN_MAX)) {
    return Array.from({ length: lengthFor(tree) }, (_, index) => render(tree.get(String(index)) ?? new Map()));
  }
  return Object.fromEntries([...tree].map(([key, below]) => [key, render(below)]));
}

function lengthFor(tree: Tree): number {
  const indexes = [...tree.keys()].map(Number).filter((index) => index <= INDEX_SHOWN_MAX);
  return Math.max(0, ...indexes) + 1;
}

// A value that a schema of the user's own would take: the author's example where there is one, else the smallest value
// that the plain keywords ask for.
const DEPTH_MAX = 8;

/** The members of an example, or none where the schema says too little. */
function schemaExample(schema: JsonObject | null): JsonObject {
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

// Placeholders are the values of the example in a brief. Each says in words what belongs in its place, so that an agent that
// copies the example, or quotes it, has not answered.
/** Whether a text can hold a placeholder at all. Most do not, and need not be searched. */
export function mayHoldPlaceholder(raw: string): boolean {
  return raw.includes('<') || /\\u003c/i.test(raw);
}

/** Adds an issue for each value that is still a placeholder of the brief. */
export function checkPlaceholders(payload: JsonObject, contract: Contract, issues: Issues): void {
  // A utility gets no brief.
  if (contract.utility) return;
  const known = new Set<string>();
  for (const { text } of stringsIn(exampleFor(contract) ?? {})) known.add(text);
  for (const { path, text } of stringsIn(payload)) {
    if (!known.has(text.trim()) || issues.has(path)) continue;
    issues.add(path, `the value is still the placeholder \`${text.trim()}\` of the example; write your own value`);
  }
}

function* stringsIn(value: Json, path = '$'): Generator<{ readonly path: string; readonly text: string }> {
  if (isString(value)) yield { path, text: value };
  else if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) yield* stringsIn(element, at(path, index));
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) yield* stringsIn(member, at(path, key));
  }
}
