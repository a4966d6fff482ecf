// Whether a value that a program hands over is plain JSON. Text cannot hold anything else, a value can: a member that is
// undefined, a function, a number without bounds, an object that contains itself.
import { JSON_DEPTH_MAX } from './json-text.ts';

const NODES_MAX = 2_000_000;

/** What keeps the value from being JSON of a sane size, with the place, or null. */
export function faultOfPlain(value: unknown): string | null {
  try {
    return findFault(value);
  } catch {
    return 'it holds something that cannot be read'; // A getter or proxy of the caller may throw.
  }
}

type Node = { readonly value: unknown; readonly path: string; readonly depth: number };

function findFault(root: unknown): string | null {
  const open: Node[] = [{ value: root, path: '$', depth: 0 }];
  let nodes = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path, depth } = next;
    if (++nodes > NODES_MAX) return `it holds more than ${NODES_MAX} values`;
    if (typeof value === 'number' && !Number.isFinite(value)) return `${path} is a number that JSON cannot write`;
    if (value === undefined) return `${path} is undefined; leave it out, or write null`;
    if (!['string', 'number', 'boolean', 'object'].includes(typeof value)) return `${path} is a ${typeof value}`;
    if (typeof value !== 'object' || value === null) continue;
    if (depth === JSON_DEPTH_MAX) return `it is nested deeper than ${JSON_DEPTH_MAX} levels, or contains itself`;
    const isList = Array.isArray(value);
    if (!isList && !isPlainObject(value)) return `${path} is an object of a class; hand over what it holds instead`;
    for (const key of Object.keys(value).reverse()) {
      const member = (value as Record<string, unknown>)[key];
      open.push({ value: member, path: isList ? `${path}[${key}]` : `${path}.${key.slice(0, 60)}`, depth: depth + 1 });
    }
  }
  return null;
}

function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}
