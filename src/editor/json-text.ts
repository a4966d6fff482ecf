// Writes a value into a JSON text that holds an older one. Only what differs is touched, so comments, the order of members and the way
// people broke their lines stay. Lines are broken where they would pass the width, as formatters do.
import { type Node, parseTree } from 'jsonc-parser';
import { isObject, isSameJson, type Json, type JsonObject } from '../kernel/json.ts';

const WIDTH = 120;
const INDENT = '  ';

/** A value as text, broken like that of a formatter. `column` is where it begins, and `indent` what its own lines begin with. */
export function prettyJson(value: Json, indent = '', column = 0): string {
  const line = inlineJson(value);
  if (column + line.length <= WIDTH || typeof value !== 'object' || value === null) return line;
  const inner = indent + INDENT;
  const members = Array.isArray(value)
    ? (value as readonly Json[]).map((each) => inner + prettyJson(each, inner, inner.length))
    : Object.entries(value as JsonObject).map(([key, each]) => inner + member(key, each, inner));
  if (members.length === 0) return line;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${members.join(',\n')}\n${indent}${close}`;
}

function member(key: string, value: Json, indent: string): string {
  const name = `${JSON.stringify(key)}: `;
  return name + prettyJson(value, indent, indent.length + name.length);
}

function inlineJson(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(inlineJson).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${inlineJson(each)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** A document of its own: the outermost members are on lines of their own. */
export function jsonDocument(value: JsonObject): string {
  const members = Object.entries(value).map(([key, each]) => INDENT + memberIn(key, each, INDENT, 1));
  return members.length === 0 ? '{}\n' : `{\n${members.join(',\n')}\n}\n`;
}

/** `loadouts` and `materia` hold much, so their members are on lines of their own even where they would fit. */
function memberIn(key: string, value: Json, indent: string, depth: number): string {
  const isWide = depth <= 2 && isObject(value) && Object.values(value).some(isObject);
  if (!isWide) return member(key, value, indent);
  const inner = indent + INDENT;
  const members = Object.entries(value).map(([name, each]) => inner + memberIn(name, each, inner, depth + 1));
  return `${JSON.stringify(key)}: {\n${members.join(',\n')}\n${indent}}`;
}

export type TextEdit = { readonly from: number; readonly to: number; readonly text: string };

export function withEdits(text: string, edits: readonly TextEdit[]): string {
  const sorted = edits
    .map((edit, index) => ({ ...edit, index }))
    .sort((one, other) => one.from - other.from || one.to - other.to || one.index - other.index);
  let [result, at] = ['', 0];
  for (const { from, to, text: written } of sorted) {
    if (from < at) continue;
    result += text.slice(at, from) + written;
    at = to;
  }
  return result + text.slice(at);
}

/** The text with the new value. `null` where it is no JSON. */
export function patchedJson(text: string, next: Json): string | null {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (!tree) return null;
  const edits: TextEdit[] = [];
  patch(text, tree, next, edits);
  return withEdits(text, edits);
}

function patch(text: string, node: Node, next: Json, edits: TextEdit[]): void {
  if (node.type === 'object' && isObject(next)) return patchObject(text, node, next, edits);
  if (node.type === 'array' && Array.isArray(next)) return patchArray(text, node, next as readonly Json[], edits);
  if (!isSameJson(jsonAt(node), next)) replace(text, node, next, edits);
}

function replace(text: string, node: Node, next: Json, edits: TextEdit[]): void {
  const column = node.offset - lineStart(text, node.offset);
  const written = prettyJson(next, indentAt(text, node.offset), column);
  edits.push({ from: node.offset, to: node.offset + node.length, text: written });
}

function jsonAt(node: Node): Json {
  if (node.type === 'array') return (node.children ?? []).map(jsonAt);
  if (node.type !== 'object') return node.value as Json;
  return Object.fromEntries(
    (node.children ?? []).map((each) => [nameOf(each), each.children?.[1] ? jsonAt(each.children[1]) : null]),
  );
}

function nameOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

function patchObject(text: string, node: Node, next: JsonObject, edits: TextEdit[]): void {
  const properties = node.children ?? [];
  const names = properties.map(nameOf);
  const kept = names.filter((name) => Object.hasOwn(next, name));
  const wanted = Object.keys(next).filter((name) => names.includes(name));
  const isMoved = kept.some((name, index) => wanted[index] !== name);
  // Members in another order are written again: where each of them was is not where it goes.
  if (isMoved || new Set(names).size < names.length) return replaceMoved(text, node, next, edits);
  const items = properties.map((each, index): Item => {
    const name = names[index] ?? '';
    const value = each.children?.[1];
    if (value && Object.hasOwn(next, name)) patch(text, value, next[name] ?? null, edits);
    return { node: each, isKept: Object.hasOwn(next, name) };
  });
  const added = new Map<number, string[]>();
  let anchor = -1;
  for (const name of Object.keys(next)) {
    const at = names.indexOf(name);
    if (at !== -1) anchor = at;
    else added.set(anchor, [...(added.get(anchor) ?? []), name]);
  }
  const render = (name: string, indent: string) => memberIn(name, next[name] ?? null, indent, 3);
  splice(text, node, items, added, render, edits);
}

/** Each member as it is written, in the new order. */
function replaceMoved(text: string, node: Node, next: JsonObject, edits: TextEdit[]): void {
  const indent = indentAt(text, node.offset);
  const isWide = text.slice(node.offset, node.offset + node.length).includes('\n');
  const inner = isWide ? indent + INDENT : indent;
  const members = Object.entries(next).map(([name, value]) => {
    const found = (node.children ?? []).find((each) => nameOf(each) === name)?.children?.[1];
    const own: TextEdit[] = [];
    if (!found) return member(name, value, inner);
    patch(text, found, value, own);
    const shifted = own.map(({ from, to, text: each }) => ({
      from: from - found.offset,
      to: to - found.offset,
      text: each,
    }));
    return `${JSON.stringify(name)}: ${withEdits(text.slice(found.offset, found.offset + found.length), shifted)}`;
  });
  const written = isWide
    ? `{\n${members.map((each) => inner + each).join(',\n')}\n${indent}}`
    : `{ ${members.join(', ')} }`;
  edits.push({ from: node.offset, to: node.offset + node.length, text: written });
}

function patchArray(text: string, node: Node, next: readonly Json[], edits: TextEdit[]): void {
  const children = node.children ?? [];
  const values = children.map(jsonAt);
  let start = 0;
  while (start < values.length && start < next.length && isSameJson(values[start], next[start])) start += 1;
  let end = 0;
  const most = Math.min(values.length, next.length) - start;
  while (end < most && isSameJson(values.at(-1 - end), next[next.length - 1 - end])) end += 1;
  const [old, wanted] = [values.length - end, next.length - end];
  const both = Math.min(old, wanted);
  for (let index = start; index < both; index++) {
    const child = children[index];
    if (child) patch(text, child, next[index] ?? null, edits);
  }
  const items = children.map((each, index): Item => ({ node: each, isKept: index < both || index >= old }));
  const added = new Map([[both - 1, next.slice(both, wanted).map((_, index) => String(both + index))]]);
  const render = (index: string, indent: string) => prettyJson(next[Number(index)] ?? null, indent, indent.length);
  splice(text, node, items, wanted > both ? added : new Map(), render, edits);
}

type Item = { readonly node: Node; readonly isKept: boolean };

/** Removes members and adds others behind those that they follow; -1 is the beginning. */
function splice(
  text: string,
  node: Node,
  items: readonly Item[],
  added: ReadonlyMap<number, readonly string[]>,
  render: (name: string, indent: string) => string,
  edits: TextEdit[],
): void {
  const isGone = items.some(({ isKept }) => !isKept);
  if (!isGone && added.size === 0) return;
  const close = node.offset + node.length - 1;
  const [first] = items;
  const isWide = first ? text.slice(node.offset, first.node.offset).includes('\n') : true;
  const outer = indentAt(text, node.offset);
  const inner = first && isWide ? indentAt(text, first.node.offset) : outer + INDENT;
  const keptCount = items.filter(({ isKept }) => isKept).length;
  const names = [...added.values()].flat();
  if (keptCount === 0) {
    // Nothing is left of what was there, remarks apart.
    const [open, shut] = [text[node.offset], text[close]];
    const column = node.offset - lineStart(text, node.offset);
    const line = names.map((name) => render(name, inner)).join(', ');
    const isShort = !line.includes('\n') && column + line.length + 4 <= WIDTH && !(first && isWide);
    const space = open === '{' ? ' ' : '';
    const body = isShort
      ? `${space}${line}${space}`
      : `\n${names.map((name) => inner + render(name, inner)).join(',\n')}\n${outer}`;
    edits.push({
      from: node.offset,
      to: close + 1,
      text: names.length === 0 ? `${open}${shut}` : `${open}${body}${shut}`,
    });
    return;
  }
  const gap = isWide ? `,\n${inner}` : ', ';
  const lastKept = items.findLastIndex(({ isKept }) => isKept);
  for (const [index, { node: item, isKept }] of items.entries()) {
    if (isKept) continue;
    // A member goes with the comma that follows it; behind the last one that stays, with the comma before.
    const [from, to] =
      index < lastKept
        ? [item.offset, items[index + 1]?.node.offset ?? item.offset]
        : [endOf(items[index - 1]?.node ?? item), endOf(item)];
    edits.push({ from, to, text: '' });
  }
  for (const [anchor, each] of added) {
    const written = each.map((name) => render(name, inner));
    // What it follows may be removed: then it follows what is left before that.
    const before = items.slice(0, anchor + 1).findLastIndex(({ isKept }) => isKept);
    const at = items[before]?.node;
    if (at) {
      edits.push({ from: endOf(at), to: endOf(at), text: written.map((one) => gap + one).join('') });
      continue;
    }
    const start = first?.node.offset ?? close;
    edits.push({ from: start, to: start, text: written.map((one) => `${one}${gap}`).join('') });
  }
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? '';
}
