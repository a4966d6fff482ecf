// Writes a loadout of the short form as YAML, and a changed one into the text of an older one: only what differs is touched, so comments,
// order and the way people broke their lines stay. What came out is read again; where it does not hold the value, it is written again.
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { isObject, isSameJson, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { type TextEdit, withEdits } from './json-text.ts';

const WIDTH = 110;

export function yamlText(value: JsonObject): string {
  const members = Object.entries(value).map(
    ([key, each]) => `${scalarText(key)}:${afterKey(each, '', key.length + 1, key)}\n`,
  );
  return members.length === 0 ? '{}\n' : members.join('');
}

// Rendering

/** A text that needs no quotes behind a key of a block. */
const SENTENCE = /^[A-Za-z][\w ,.;?()/+-]*[\w.?)]$/;

/** Lists of steps. */
const STEPS: readonly string[] = ['steps', 'do'];

/** What follows `key:` in a block that is indented so. */
function afterKey(value: Json, indent: string, column: number, key: string): string {
  if (isString(value) && isLiteral(value)) return ` ${literal(value, `${indent}  `)}`;
  if (isString(value) && SENTENCE.test(value) && !WORDS.test(value)) return ` ${value}`;
  const line = flowText(value);
  const isBlock =
    holdsSteps(value) ||
    (STEPS.includes(key) && isNested(value)) ||
    (isNested(value) && (column + 1 + line.length > WIDTH || holdsLines(value)));
  if (!isBlock) return ` ${line}`;
  if (Array.isArray(value))
    return (value as readonly Json[]).map((each) => `\n${indent}  - ${itemText(each, `${indent}    `)}`).join('');
  return Object.entries(value as JsonObject)
    .map(
      ([key, each]) =>
        `\n${indent}  ${scalarText(key)}:${afterKey(each, `${indent}  `, indent.length + key.length + 3, key)}`,
    )
    .join('');
}

/** What follows the dash of a list whose entries are indented so. */
function itemText(value: Json, indent: string): string {
  if (!isObject(value) || Object.keys(value).length === 0) return flowText(value);
  return Object.entries(value)
    .map(([key, each]) => `${scalarText(key)}:${afterKey(each, indent, indent.length + key.length + 1, key)}`)
    .join(`\n${indent}`);
}

function isNested(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** Steps are lists of entries that have names: they are always on lines of their own. */
function holdsSteps(value: Json): boolean {
  return Array.isArray(value) && value.some((each) => isObject(each));
}

function holdsLines(value: Json): boolean {
  if (isString(value)) return isLiteral(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsLines);
}

function flowText(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(flowText).join(', ')}]`;
  if (!isObject(value)) return isString(value) ? scalarText(value) : JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${scalarText(key)}: ${flowText(each)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const PLAIN = /^[A-Za-z_][\w./+-]*(?: [\w./+-]+)*$/;
const WORDS = /^(?:true|false|null|yes|no|on|off)$/i;

function scalarText(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) ? text : JSON.stringify(text);
}

/** Whether a text of several lines can be written as it is. */
function isLiteral(text: string): boolean {
  const lines = text.replace(/\n$/, '').split('\n');
  const isPlain = lines.every(
    (line) => /^[\x20-\x7e\xa0-\ud7ff\ue000-\ufffd]*$/.test(line) && !/[ \u2028\u2029\ufeff]$/.test(line),
  );
  return (
    lines.length > 1 &&
    isPlain &&
    /^\S/.test(lines[0] ?? '') &&
    lines.at(-1) !== '' &&
    !/[\u2028\u2029\x85\ufeff]/.test(text)
  );
}

function literal(text: string, indent: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  return `${text.endsWith('\n') ? '|' : '|-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`;
}

// Changing

export function patchedYaml(text: string, next: JsonObject): string {
  const document = parseDocument(text, { version: '1.2', schema: 'core' });
  if (document.errors.length > 0 || !isMap(document.contents)) return yamlText(next);
  if (isSameOrder(document.toJS() as Json, next)) return text;
  const edits: TextEdit[] = [];
  const isDone = patchMap(text, document.contents, next, edits);
  const patched = withEdits(text, edits);
  return isDone && holds(patched, next) ? patched : yamlText(next);
}

function holds(text: string, value: Json): boolean {
  const document = parseDocument(text, { version: '1.2', schema: 'core' });
  return document.errors.length === 0 && isSameOrder(document.toJS() as Json, value);
}

function isSameOrder(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** False where the change cannot be made in the text. */
function patchMap(text: string, map: YAMLMap, next: JsonObject, edits: TextEdit[]): boolean {
  const pairs = map.items as Pair<Node, Node | null>[];
  const names = pairs.map(({ key }) => String(isScalar(key) ? key.value : key));
  const wanted = Object.keys(next);
  const renames = renamesIn(names, wanted);
  const finally_ = names.map((name) => renames.get(name) ?? name);
  const kept = finally_.filter((name) => Object.hasOwn(next, name));
  const order = wanted.filter((name) => finally_.includes(name));
  if (kept.some((name, index) => order[index] !== name)) return false;
  for (const [index, pair] of pairs.entries()) {
    const [before, name] = [names[index] ?? '', finally_[index] ?? ''];
    if (!Object.hasOwn(next, name)) {
      if (!removeEntry(text, map, index, edits)) return false;
      continue;
    }
    if (before !== name) edits.push({ from: startOf(pair.key), to: endOf(text, pair.key), text: scalarText(name) });
    patchPair(text, map, pair, next[name] ?? null, edits);
  }
  return addEntries(
    text,
    map,
    added(finally_, wanted),
    (name, indent, isFlow) => {
      const value = next[name] ?? null;
      if (isFlow) return `${scalarText(name)}: ${flowText(value)}`;
      return `${scalarText(name)}:${afterKey(value, indent, indent.length + name.length + 1, name)}`;
    },
    edits,
  );
}

/** A member that is gone where another one came at the same place has a new name. */
function renamesIn(names: readonly string[], wanted: readonly string[]): ReadonlyMap<string, string> {
  const [gone, come] = [names.filter((name) => !wanted.includes(name)), wanted.filter((name) => !names.includes(name))];
  const [old, name] = [gone[0], come[0]];
  const isOne = gone.length === 1 && come.length === 1 && old !== undefined && name !== undefined;
  return isOne && names.indexOf(old) === wanted.indexOf(name) ? new Map([[old, name]]) : new Map();
}

/** New names by the number of the entry that they follow; -1 is the beginning. */
function added(names: readonly string[], wanted: readonly string[]): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  let anchor = -1;
  for (const name of wanted) {
    const at = names.indexOf(name);
    if (at === -1) found.set(anchor, [...(found.get(anchor) ?? []), name]);
    else anchor = at;
  }
  return found;
}

function patchPair(text: string, map: YAMLMap, pair: Pair<Node, Node | null>, next: Json, edits: TextEdit[]): void {
  const { key, value } = pair;
  const before = (value?.toJSON() ?? null) as Json;
  if (isSameOrder(before, next)) return;
  const own: TextEdit[] = [];
  if (value && patchNode(text, value, next, own)) {
    edits.push(...own);
    return;
  }
  const colon = text.indexOf(':', endOf(text, key));
  const end = Math.max(colon + 1, value ? endOf(text, value) : 0);
  const indent = indentOf(text, key);
  const written = map.flow
    ? ` ${flowText(next)}`
    : afterKey(next, indent, indent.length + (end - startOf(key)), String(isScalar(key) ? key.value : ''));
  edits.push({ from: colon + 1, to: end, text: written });
}

function patchNode(text: string, node: Node, next: Json, edits: TextEdit[]): boolean {
  if (isMap(node) && isObject(next)) return patchMap(text, node, next, edits);
  if (isSeq(node) && Array.isArray(next)) return patchSeq(text, node, next as readonly Json[], edits);
  return false;
}

function patchSeq(text: string, seq: YAMLSeq, next: readonly Json[], edits: TextEdit[]): boolean {
  const items = seq.items as Node[];
  const values = items.map((item) => item.toJSON() as Json);
  const same = (one: Json | undefined, other: Json | undefined) => isSameJson(one, other) || isSameStep(one, other);
  let start = 0;
  while (start < values.length && start < next.length && same(values[start], next[start])) start += 1;
  let end = 0;
  const most = Math.min(values.length, next.length) - start;
  while (end < most && same(values.at(-1 - end), next[next.length - 1 - end])) end += 1;
  const [old, wanted] = [values.length - end, next.length - end];
  const both = Math.min(old, wanted);
  for (const [index, item] of items.entries()) {
    if (index >= both && index < old) {
      if (!removeEntry(text, seq, index, edits)) return false;
      continue;
    }
    const value = next[index < both ? index : index + (next.length - items.length)] ?? null;
    if (isSameOrder(values[index] ?? null, value)) continue;
    const own: TextEdit[] = [];
    if (patchNode(text, item, value, own)) edits.push(...own);
    else
      edits.push({
        from: startOf(item),
        to: endOf(text, item),
        text: seq.flow ? flowText(value) : itemText(value, indentOf(text, item)),
      });
  }
  const names = next.slice(both, wanted).map((_, index) => String(both + index));
  const come = new Map(names.length > 0 ? [[both - 1, names]] : []);
  return addEntries(
    text,
    seq,
    come,
    (index, indent, isFlow) => {
      const value = next[Number(index)] ?? null;
      return isFlow ? flowText(value) : `- ${itemText(value, `${indent}  `)}`;
    },
    edits,
  );
}

/** Two versions of one step, by its name. */
function isSameStep(one: Json | undefined, other: Json | undefined): boolean {
  const [a, b] = [stepName(one), stepName(other)];
  return a !== null && a === b;
}

function stepName(step: Json | undefined): string | null {
  if (isString(step)) return step;
  if (!isObject(step)) return null;
  if (isString(step.each)) return `each ${step.each}`;
  const names = Object.keys(step);
  return names.length === 1 ? (names[0] ?? null) : null;
}

function removeEntry(text: string, parent: YAMLMap | YAMLSeq, index: number, edits: TextEdit[]): boolean {
  const spans = spansOf(text, parent);
  const span = spans[index];
  if (!span || spans.length === 1) return false;
  if (parent.flow) {
    const [from, to] =
      index === 0 ? [span.from, spans[1]?.from ?? span.to] : [spans[index - 1]?.to ?? span.from, span.to];
    edits.push({ from, to, text: '' });
    return true;
  }
  const begin = lineStart(text, span.from);
  // The first member of an entry shares its line with the dash.
  if (text.slice(begin, span.from).trim() !== '') return false;
  const stop = lineEnd(text, span.to);
  edits.push({ from: begin, to: Math.min(stop + 1, text.length), text: '' });
  return true;
}

function addEntries(
  text: string,
  parent: YAMLMap | YAMLSeq,
  come: ReadonlyMap<number, readonly string[]>,
  render: (name: string, indent: string, isFlow: boolean) => string,
  edits: TextEdit[],
): boolean {
  if (come.size === 0) return true;
  const spans = spansOf(text, parent);
  const [first] = spans;
  if (!first) return false;
  const indent = ' '.repeat(first.from - lineStart(text, first.from));
  for (const [anchor, names] of come) {
    const after = spans[anchor];
    if (parent.flow) {
      const written = names.map((name) => render(name, '', true));
      if (after) edits.push({ from: after.to, to: after.to, text: written.map((each) => `, ${each}`).join('') });
      else edits.push({ from: first.from, to: first.from, text: written.map((each) => `${each}, `).join('') });
      continue;
    }
    const written = names.map((name) => render(name, indent, false));
    if (after) {
      const at = lineEnd(text, after.to);
      edits.push({ from: at, to: at, text: written.map((each) => `\n${indent}${each}`).join('') });
      continue;
    }
    const begin = lineStart(text, first.from);
    if (text.slice(begin, first.from).trim() !== '') return false;
    edits.push({ from: begin, to: begin, text: written.map((each) => `${indent}${each}\n`).join('') });
  }
  return true;
}

type Span = { readonly from: number; readonly to: number };

/** From where an entry begins, its dash included, to where its value ends. */
function spansOf(text: string, parent: YAMLMap | YAMLSeq): readonly Span[] {
  if (isSeq(parent)) {
    return (parent.items as Node[]).map((item) => {
      const start = startOf(item);
      return { from: parent.flow ? start : text.lastIndexOf('-', start - 1), to: endOf(text, item) };
    });
  }
  return (parent.items as Pair<Node, Node | null>[]).map(({ key, value }) => {
    const end = value ? endOf(text, value) : 0;
    return { from: startOf(key), to: Math.max(end, endOf(text, key)) };
  });
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/** Blocks end with the line breaks behind them, which belong to what follows. */
function endOf(text: string, node: Node): number {
  const items = isMap(node) || isSeq(node) ? node.items : [];
  if ((isMap(node) || isSeq(node)) && !node.flow && items.length > 0) return spansOf(text, node).at(-1)?.to ?? 0;
  let end = node.range?.[1] ?? 0;
  while (end > startOf(node) && /\s/.test(text[end - 1] ?? '')) end -= 1;
  return end;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end;
}

/** The members of a block are indented as far as its first one begins. */
function indentOf(text: string, node: Node): string {
  return ' '.repeat(startOf(node) - lineStart(text, startOf(node)));
}
