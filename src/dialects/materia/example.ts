// The smallest payload that keeps a socket's contract, with placeholders for values. The brief shows it to the agent.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Terms } from './contract.ts';

type Tree = Map<string, Tree>;

const ITEM = {
  title: 'Short name of one unit of work',
  context: 'What has to be done, and how to see that it is done.',
};
// Beyond this an index is shown as a key: a path reads it from an object too.
const INDEX_SHOWN_MAX = 50;

export function exampleOf(terms: Terms): JsonObject {
  const tree: Tree = new Map(terms.required.map((field) => [field, new Map()]));
  for (const path of terms.paths) grow(tree, path.segments);
  const fields = [...tree].map(([field, below]) => [field, exampleOfField(field, below, terms)] as const);
  return Object.fromEntries(fields);
}

function exampleOfField(field: string, below: Tree, terms: Terms): Json {
  if (field === 'satisfied') return true;
  if (field === 'context') return 'What the next agent needs to know.';
  if (field === 'text') return 'The result, written for people.';
  if (field === 'state') return below.size === 0 ? {} : render(below);
  if (field !== 'workItems') return render(below);
  if (!terms.strictItems && below.size > 0) return render(below);
  return Array.from({ length: lengthFor(below) }, () => ITEM);
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
  if (tree.size === 0) return '…';
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
