// The example in a brief: the smallest payload of the shape a socket asks for, with a placeholder for every value. It is
// not a valid answer itself.
import type { Contract } from '../../kernel/dialect.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { readWithSchema } from '../user-schema.ts';
import { type Terms, termsOf } from './contract.ts';
import { schemaExample } from './schema-example.ts';

type Tree = Map<string, Tree>;

const TRUE_OR_FALSE = '<true or false>';
const CONTEXT = '<what the next agent needs to know>';
const VALUE = '<value>';
const ITEM = {
  title: '<short name of one unit of work>',
  context: '<what has to be done, and how to see that it is done>',
};
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
