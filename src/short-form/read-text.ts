// Reads the text of a short form, YAML or JSONC, and remembers the place of each value. It gets its parser from the caller, so that the page
// can read a text, too.
import type { Node, ParseError } from 'jsonc-parser';
import type { Alias, Document, Node as YamlNode } from 'yaml';
import type { Json } from '../kernel/json.ts';
import { utf8Length } from '../kernel/text.ts';
import type { SourcePath } from './compile.ts';

const SOURCE_BYTES_MAX = 65_536;

/** Counted from 1. */
type TextPosition = { readonly line: number; readonly column: number };
type SourceMistake = TextPosition & { readonly message: string };

export type Source =
  | { readonly ok: true; readonly value: Json; readonly positionOf: (place: SourcePath) => TextPosition }
  | { readonly ok: false; readonly mistakes: readonly SourceMistake[] };

export function tooLong(text: string): Source | null {
  const bytes = utf8Length(text);
  if (bytes <= SOURCE_BYTES_MAX) return null;
  const message = `The file has ${bytes} bytes; at most ${SOURCE_BYTES_MAX} are read. Move long prompts into files of their own.`;
  return { ok: false, mistakes: [{ line: 1, column: 1, message }] };
}

/** The value of a text, and where each part of it is written. */
export function readWith(text: string, read: (text: string, offsets: Map<string, number>) => Read): Source {
  const offsets = new Map<string, number>();
  const { value, faults } = read(text, offsets);
  if (faults.length > 0)
    return { ok: false, mistakes: faults.map(({ offset, message }) => ({ ...positionAt(text, offset), message })) };
  return { ok: true, value, positionOf: (place) => positionAt(text, nearestOffset(offsets, place)) };
}

type Fault = { readonly offset: number; readonly message: string };
type Read = { readonly value: Json; readonly faults: readonly Fault[] };

/** A place that is not in the file, such as a missing field, is looked for at what should hold it. */
function nearestOffset(offsets: ReadonlyMap<string, number>, place: SourcePath): number {
  for (let length = place.length; length > 0; length--) {
    const offset = offsets.get(keyOf(place.slice(0, length)));
    if (offset !== undefined) return offset;
  }
  return 0;
}

function keyOf(place: SourcePath): string {
  return JSON.stringify(place);
}

export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

export function readYaml(text: string, offsets: Map<string, number>, yaml: typeof import('yaml')): Read {
  const { isAlias, isMap, isScalar, isSeq, parseAllDocuments } = yaml;
  const documents = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: true,
    strict: true,
  });
  const [document, second] = Array.isArray(documents) ? (documents as Document[]) : [];
  const faults: Fault[] = [];
  if (!document)
    return { value: null, faults: [{ offset: 0, message: 'The file is empty. Write `steps:` and a list of steps.' }] };
  for (const { pos, message, code } of [...document.errors, ...document.warnings]) {
    faults.push({ offset: pos[0], message: YAML_FAULTS[code] ?? firstLine(message) });
  }
  if (second)
    faults.push({ offset: second.range?.[0] ?? 0, message: 'A file holds one document. Remove what follows `---`.' });
  const walk = (node: unknown, place: SourcePath): Json => {
    const found = node as YamlNode | Alias | null;
    const offset = found?.range?.[0];
    if (found && offset !== undefined) {
      if (!offsets.has(keyOf(place))) offsets.set(keyOf(place), offset);
      if (isAlias(found))
        faults.push({ offset, message: 'References (`*name`) are not supported. Write the value here.' });
      else if (found.anchor)
        faults.push({ offset, message: 'Anchors (`&name`) are not supported. Remove the anchor.' });
      if (found.tag !== undefined) faults.push({ offset, message: TAGGED });
    }
    if (isMap(found)) {
      const entries = found.items.map(({ key, value }): [string, Json] => {
        const name = isScalar(key) ? key.value : undefined;
        const at = (key as YamlNode | null)?.range?.[0] ?? offset ?? 0;
        if (typeof name !== 'string') faults.push({ offset: at, message: 'A name must be a text. Put it in quotes.' });
        if (name === '<<')
          faults.push({ offset: at, message: 'Merge keys (`<<`) are not supported. Write the values here.' });
        const below = [...place, String(name)];
        offsets.set(keyOf(below), at);
        return [String(name), walk(value, below)];
      });
      return Object.fromEntries(entries);
    }
    if (isSeq(found)) return found.items.map((item, index) => walk(item, [...place, index]));
    if (!isScalar(found)) return null;
    const { value } = found;
    if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) {
      faults.push({ offset: offset ?? 0, message: 'The number is not a number of JSON. Put it in quotes.' });
      return null;
    }
    return value as Json;
  };
  const value = faults.length === 0 ? walk(document.contents, []) : null;
  return { value, faults };
}

const TAGGED = 'Tags (`!!name`) are not supported. Remove the tag.';
const YAML_FAULTS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'This name is in the object twice. Remove one.',
  TAG_RESOLVE_FAILED: TAGGED,
  BAD_COLLECTION_TYPE: TAGGED,
};

function firstLine(message: string): string {
  return `${message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message}`;
}

export function readJsonc(text: string, offsets: Map<string, number>, jsonc: typeof import('jsonc-parser')): Read {
  const { parseTree, printParseErrorCode } = jsonc;
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const faults: Fault[] = errors.map(({ error, offset }) => ({ offset, message: wordsOf(printParseErrorCode(error)) }));
  if (!tree) faults.push({ offset: 0, message: 'The file is empty. Write an object with `steps`.' });
  const walk = (node: Node, place: SourcePath): Json => {
    if (!offsets.has(keyOf(place))) offsets.set(keyOf(place), node.offset);
    if (node.type === 'array') return (node.children ?? []).map((item, index) => walk(item, [...place, index]));
    if (node.type !== 'object') return node.value as Json;
    const names = new Set<string>();
    const entries = (node.children ?? []).map(({ children = [] }): [string, Json] => {
      const [key, value] = children;
      const name = String(key?.value);
      const offset = key?.offset ?? node.offset;
      if (names.has(name)) faults.push({ offset, message: 'This name is in the object twice. Remove one.' });
      names.add(name);
      offsets.set(keyOf([...place, name]), offset);
      return [name, value ? walk(value, [...place, name]) : null];
    });
    return Object.fromEntries(entries);
  };
  return { value: tree && faults.length === 0 ? walk(tree, []) : null, faults };
}

/** `PropertyNameExpected` as "property name expected". */
function wordsOf(code: string): string {
  const words = code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return `This is no JSON: ${words}.`;
}
