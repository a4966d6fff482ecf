// The grammar of paths: dot-separated segments, a numeric one indexes an array. There are no brackets, wildcards,
// filters or literals. `$` is the output at hand, `state` the data of the cast.
import { isText, type Json } from '../json.ts';

// They name no data, and code that meets them as plain keys has been fooled before.
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

/** What is wrong with a path that is written to, or null. */
export function problemOfTarget(target: string): string | null {
  if (!isText(target)) return 'the target is empty; name a slot such as lastCheck';
  if (target.startsWith('$')) return `the target ${quote(target)} is no slot of the cast data; name one without $`;
  return problemOfSegments(target);
}

/** What is wrong with a path that is read from, or null. */
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
