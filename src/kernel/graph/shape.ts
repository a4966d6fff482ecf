// What a single authored value must look like, and the checks that go through an object field by field.
import type { Code } from '../codes.ts';
import { isObject, isPositiveInteger, isString, isText, type Json, type JsonObject } from '../json.ts';
import { nearestName } from '../nearest-name.ts';
import { given } from './authored.ts';
import { CONTRACTS } from './config.ts';
import { error, type Findings, listed, shown, warning } from './issue.ts';

export type Shape = { readonly accepts: (value: Json) => boolean; readonly wants: string };
export type Shapes = Readonly<Record<string, Shape>>;

export const ANYTHING: Shape = { accepts: () => true, wants: 'any value' };
export const BOOLEAN: Shape = { accepts: (value) => typeof value === 'boolean', wants: 'true or false' };
export const STRING: Shape = { accepts: isString, wants: 'a string' };
export const TEXT: Shape = { accepts: isText, wants: 'a string that is not blank' };
export const OBJECT: Shape = { accepts: isObject, wants: 'an object' };
export const POSITIVE_INTEGER: Shape = { accepts: isPositiveInteger, wants: 'a whole number above 0' };
export const COUNT: Shape = {
  accepts: (value) => value === 0 || isPositiveInteger(value),
  wants: 'a whole number, 0 or above',
};
export const AMOUNT: Shape = {
  accepts: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  wants: 'a number, 0 or above',
};
export const PERCENT: Shape = {
  accepts: (value) => typeof value === 'number' && value >= 1 && value <= 100,
  wants: 'a number from 1 to 100',
};
export const TEXTS: Shape = {
  accepts: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  wants: 'a string, or a list of strings, none of them blank',
};
export const PARSE: Shape = oneOf(['text', 'json']);
export const CONTRACT: Shape = oneOf(CONTRACTS);
export const SCHEMA: Shape = {
  accepts: (value) => isObject(value) || isText(value),
  wants: 'a JSON Schema object or the name of a file with one',
};

export function oneOf(names: readonly string[]): Shape {
  return { accepts: (value) => isString(value) && names.includes(value), wants: `one of ${names.join(', ')}` };
}

/** Checks the fields that are given; what is missing is nobody's fault here. */
export function* checkShapes(object: JsonObject, shapes: Shapes, path: string, code: Code): Findings {
  for (const [field, shape] of Object.entries(shapes)) {
    const value = given(object, field);
    if (value === undefined || shape.accepts(value)) continue;
    yield error(code, `${path}.${field}`, `${field} is ${shown(value)}. Write ${shape.wants}, or leave the field out.`);
  }
}

/** People write remarks under these names. They are near to `command`, and no slip of the pen. */
const REMARKS = ['comment', 'comments'];

/** Points out fields that nothing reads. One that looks like a known field is misspelt, so it is an error. */
export function* checkUnknown(object: JsonObject, known: readonly string[], path: string, what: string): Findings {
  for (const field of Object.keys(object)) {
    if (known.includes(field) || field.startsWith('x_')) continue;
    const meant = REMARKS.includes(field) ? null : nearestName(field, known);
    const fix = `${meant === null ? '' : `Did you mean ${meant}? `}Correct its name, remove it, or let it start with x_.`;
    const found = meant === null ? warning : error;
    yield found(
      'INVALID_CONFIG',
      path === '' ? field || 'config' : `${path}.${field}`,
      `${shown(field)} is not a field of ${what}, and nothing reads it. ${fix} Known: ${listed(known)}.`,
    );
  }
}

/** Refuses fields that once had a meaning, with a hint where it went. */
export function* checkObsolete(
  object: JsonObject,
  hints: Readonly<Record<string, string>>,
  path: string,
  code: Code,
): Findings {
  for (const [field, hint] of Object.entries(hints)) {
    if (given(object, field) === undefined) continue;
    yield error(code, path === '' ? field : `${path}.${field}`, `${field} is no longer understood here. ${hint}`);
  }
}
