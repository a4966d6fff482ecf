// Reading and writing the data of a cast by path, and rendering prompt templates from it.
// Only own properties are seen, so no path reaches into a prototype.
import { isObject, isText, type Json, type JsonObject } from '../json.ts';

/** Everything a path can refer to. */
export type Scope = {
  readonly request: string;
  readonly data: JsonObject;
  /** The current item of a loop. */
  readonly item: Json | undefined;
  /** Names of the current item, seen as if they stood in `data`. */
  readonly itemVars: JsonObject;
  readonly cursors: Readonly<Record<string, number>>;
  readonly lastOutput: string;
  readonly lastJson: Json | undefined;
  /** What `$` means, where there is an output at hand. */
  readonly payload?: Json | undefined;
};

/** The value a path leads to, or undefined. */
export function resolvePath(source: string, scope: Scope): Json | undefined {
  const [first = '', ...rest] = segmentsOf(source.trim());
  switch (first) {
    case '$':
      return walk(scope.payload, rest);
    case 'state':
      return rest.length === 0 ? visibleData(scope) : fromData(rest, scope);
    case 'item':
      return scope.item === undefined ? fromData([first, ...rest], scope) : walk(scope.item, rest);
    case 'lastJson':
      return walk(scope.lastJson, rest);
    case 'lastOutput':
      return rest.length === 0 ? scope.lastOutput : undefined;
    default:
      return fromData([first, ...rest], scope);
  }
}

/**
 * A copy of `data` with `value` at the path, sharing the rest. A value on the way that cannot hold a segment becomes an
 * object; undefined removes the key. A path that the checks refuse changes nothing.
 */
export function setPath(data: JsonObject, target: string, value: Json | undefined): JsonObject {
  const segments = segmentsOf(target);
  if (segments.some((segment) => segment === '' || isForbidden(segment))) return data;
  const parents: (JsonObject | readonly Json[])[] = [];
  let here: Json | undefined = data;
  for (const segment of segments) {
    if (!holds(here, segment)) {
      if (value === undefined) return data;
      here = {};
    }
    parents.push(here);
    here = child(here, segment);
  }
  let result = value;
  for (let depth = segments.length - 1; depth >= 0; depth--) {
    result = withChild(parents[depth] ?? {}, segments[depth] ?? '', result);
  }
  return isObject(result) ? result : data;
}

/** Fills in every `{{ expression }}` of a template once. Inserted text is never read as a template again. */
export function render(template: string, scope: Scope, options: { readonly maxSlotBytes: number }): string {
  return pieces(template)
    .map((piece) => ('text' in piece ? piece.text : cut(valueText(piece.expression, scope), options.maxSlotBytes)))
    .join('');
}

/** The expressions of a template, in order. */
export function expressionsIn(template: string): string[] {
  return pieces(template).flatMap((piece) => ('expression' in piece ? [piece.expression] : []));
}

type Piece = { readonly text: string } | { readonly expression: string };

/**
 * An expression is the text between `{{` and the next `}}` on one line, without braces or quotation marks. Other braces,
 * such as those of a JSON sample, stay as they are. Every position is read a bounded number of times.
 */
function pieces(template: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  let open = template.indexOf('{{');
  let close = -1;
  while (open >= 0) {
    if (close < open + 2) close = template.indexOf('}}', open + 2);
    if (close < 0) break;
    const nested = template.indexOf('{', open + 2);
    if (nested >= 0 && nested < close) {
      open = template.indexOf('{{', Math.max(open + 1, nested - 1));
      continue;
    }
    const expression = template.slice(open + 2, close).trim();
    if (expression !== '' && !/["\r\n]/.test(expression)) {
      found.push({ text: template.slice(from, open) }, { expression });
      from = close + 2;
    }
    open = template.indexOf('{{', close + 2);
  }
  found.push({ text: template.slice(from) });
  return found;
}

function valueText(expression: string, scope: Scope): string {
  switch (expression) {
    case 'request':
      return scope.request;
    case 'stateJson':
      return pretty(visibleData(scope));
    case 'itemJson':
      return scope.item === undefined ? '' : pretty(scope.item);
  }
  const [first, ...rest] = segmentsOf(expression);
  if (first === 'cursor') {
    const name = rest.join('.');
    return Object.hasOwn(scope.cursors, name) ? String(scope.cursors[name]) : '';
  }
  if (first === '$') return '';
  const value = resolvePath(expression, scope);
  if (value === undefined) return '';
  return typeof value === 'string' ? value : pretty(value);
}

const DEPTH_MAX = 200;

/**
 * The built-in writer runs out of stack on values that are nested deeply enough, and indentation grows with the square of
 * the depth.
 */
function pretty(value: Json): string {
  return isDeeperThan(value, DEPTH_MAX) ? '[nested too deeply to show]' : JSON.stringify(value, null, 2);
}

function isDeeperThan(value: Json, depthMax: number): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}

function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  // Half of a surrogate pair is no character.
  const last = text.charCodeAt(charactersMax - 1);
  const kept = last >= 0xd800 && last <= 0xdbff ? charactersMax - 1 : charactersMax;
  return `${text.slice(0, kept)}… [${text.length - kept} characters cut]`;
}

function visibleData(scope: Scope): JsonObject {
  return { ...scope.data, ...scope.itemVars };
}

function fromData(segments: readonly string[], scope: Scope): Json | undefined {
  const holder = Object.hasOwn(scope.itemVars, segments[0] ?? '') ? scope.itemVars : scope.data;
  return walk(holder, segments);
}

function walk(start: Json | undefined, segments: readonly string[]): Json | undefined {
  let here = start;
  for (const segment of segments) here = child(here, segment);
  return here;
}

function child(parent: Json | undefined, segment: string): Json | undefined {
  if (Array.isArray(parent)) return isIndex(segment) ? parent[Number(segment)] : undefined;
  return isObject(parent) && Object.hasOwn(parent, segment) ? parent[segment] : undefined;
}

/** A list takes a new element at its end, but never a gap. */
function holds(parent: Json | undefined, segment: string): parent is JsonObject | readonly Json[] {
  if (Array.isArray(parent)) return isIndex(segment) && Number(segment) <= parent.length;
  return isObject(parent);
}

function withChild(parent: JsonObject | readonly Json[], segment: string, value: Json | undefined): Json {
  if (Array.isArray(parent)) {
    // Removing an element would renumber the ones behind it.
    const copy: Json[] = [...parent];
    if (value !== undefined || Number(segment) < copy.length) copy[Number(segment)] = value ?? null;
    return copy;
  }
  const { [segment]: _removed, ...others } = parent as JsonObject;
  return value === undefined ? others : { ...(parent as JsonObject), [segment]: value };
}

/** These names never name data; as plain keys they change prototypes. */
const FORBIDDEN_SEGMENTS = ['__proto__', 'prototype', 'constructor'];
const TEMPLATE_WORDS = ['request', 'stateJson', 'itemJson', 'cursor'];
const SOURCE_WORDS = ['item', 'lastJson', 'lastOutput'];
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

export function segmentsOf(path: string): string[] {
  return path.split('.');
}

export function isIndex(segment: string): boolean {
  return INDEX.test(segment);
}

export function isForbidden(segment: string): boolean {
  return FORBIDDEN_SEGMENTS.includes(segment);
}

/** The fault of a path that is written to, or null. */
export function problemOfTarget(target: string): string | null {
  if (!isText(target)) return 'the target is empty; name a slot such as lastCheck';
  if (target.startsWith('$')) return `the target ${quote(target)} is no slot of the cast data; name one without $`;
  return problemOfSegments(target);
}

/** The fault of a path that is read from, or null. */
export function problemOfSource(source: Json | undefined): string | null {
  if (typeof source !== 'string') return 'the source is not a string; write a path such as $.context or state.slot';
  if (!isText(source)) return 'the source is empty; write a path such as $.context or state.slot';
  if (source.startsWith('$') && source !== '$' && !source.startsWith('$.')) {
    return `${quote(source)} is no path; write $ for the whole output or $.field for a part of it`;
  }
  return problemOfSegments(source);
}

/** What is wrong with the name of a cursor or of an item variable, or null. */
export function problemOfName(name: Json | undefined): string | null {
  if (!isText(name)) return 'it is missing or no text; write one word, such as file';
  if (isForbidden(name) || name.startsWith('$') || /[.@{}\s]/.test(name)) {
    return `${quote(name)} cannot be used as a name; write one word without dots, spaces, braces, @ or $`;
  }
  if (name === 'state' || SOURCE_WORDS.slice(1).includes(name) || TEMPLATE_WORDS.includes(name)) {
    return `${quote(name)} already means something else in paths; choose another name`;
  }
  return null;
}

/** The slot of the cast data that an expression reads, or null when it reads none in particular. */
export function slotOf(expression: string, where: 'template' | 'source'): string | null {
  const [first = '', second] = segmentsOf(expression.trim());
  if (first === '' || first.startsWith('$') || SOURCE_WORDS.includes(first)) return null;
  if (where === 'template' && TEMPLATE_WORDS.includes(first)) return null;
  return first === 'state' ? (second ?? null) : first;
}

/** Whether a payload has something at a source such as `$.report.0`, null included. */
export function hasPath(payload: JsonObject, source: string): boolean {
  let value: Json | undefined = payload;
  for (const segment of source.slice(2).split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return false;
    value = (value as JsonObject)[segment];
  }
  return true;
}

function problemOfSegments(path: string): string | null {
  if (/[[\]]/.test(path)) return `${quote(path)} has brackets; write an index as a segment, such as list.0`;
  const segments = segmentsOf(path);
  if (segments.some((segment) => segment.trim() === '')) {
    return `${quote(path)} has an empty segment; write names joined by single dots`;
  }
  const forbidden = segments.find(isForbidden);
  return forbidden === undefined ? null : `${quote(path)} has the segment ${forbidden}, which is refused; rename it`;
}

function quote(text: string): string {
  return `"${text.slice(0, 60)}"`;
}
