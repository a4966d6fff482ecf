// Checks of single fields that several kinds of payload share. Each adds what it finds and says what to write instead.
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { normalPath, PATH_FAULTS, pathKey } from '../../kernel/ledger/path.ts';
import type { Fields, OperatorCode } from './contract.ts';
import { checkExtensions } from './extension.ts';
import { type Findings, member } from './findings.ts';
import { isUtcTimestamp } from './timestamp.ts';

/** One finding that names every required field that is not there, in the order of the contract. */
export function checkPresence(found: Findings, object: JsonObject, fields: Fields, path = ''): void {
  const missing = fields.required.filter((name) => object[name] === undefined);
  if (missing.length === 0) return;
  const names = missing.map((name) => member(path, name)).join(', ');
  found.add('MISSING_REQUIRED_INPUT', path || '$', `required and missing: ${names}`, { missing });
}

export type TextRule = {
  /** Counted in characters, not in code units. */
  readonly max?: number;
  /** The code for a value that is blank. */
  readonly blank?: OperatorCode;
  /** The code for a value that is no string. */
  readonly mistyped?: OperatorCode;
};

/** A string with something in it, and not too much. */
export function checkText(
  found: Findings,
  value: Json | undefined,
  path: string,
  { max, blank = 'SCHEMA_INVALID', mistyped = 'SCHEMA_INVALID' }: TextRule = {},
  details: JsonObject = {},
): void {
  if (!isString(value)) found.add(mistyped, path, 'must be a string that is not blank', details);
  else if (!isText(value)) found.add(blank, path, 'must not be blank', details);
  else if (max !== undefined && isLongerThan(value, max)) {
    found.add('SCHEMA_INVALID', path, `must have at most ${max} characters`, { ...details, max });
  }
}

export function checkString(found: Findings, value: Json | undefined, path: string, details: JsonObject = {}): void {
  if (!isString(value)) found.add('SCHEMA_INVALID', path, 'must be a string', details);
}

export function checkOneOf(
  found: Findings,
  value: Json | undefined,
  path: string,
  allowed: readonly string[],
  details: JsonObject = {},
): void {
  if (isString(value) && allowed.includes(value)) return;
  found.add('SCHEMA_INVALID', path, `must be one of ${allowed.join(', ')}`, { ...details, allowed });
}

export function checkInteger(found: Findings, value: Json | undefined, path: string, min: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= min) return;
  found.add('SCHEMA_INVALID', path, `must be a whole number of at least ${min}`, { min });
}

export function checkUtcTimestamp(
  found: Findings,
  value: Json | undefined,
  path: string,
  details: JsonObject = {},
): void {
  if (isUtcTimestamp(value)) return;
  found.add('SCHEMA_INVALID', path, 'must be a time in UTC, such as 2026-01-31T09:30:00Z', details);
}

/** An array of strings, of which each may be anything. */
export function checkStrings(found: Findings, value: Json | undefined, path: string): void {
  if (!Array.isArray(value)) return found.add('SCHEMA_INVALID', path, 'must be an array of strings');
  for (const [index, item] of value.entries()) {
    if (!isString(item)) found.add('SCHEMA_INVALID', `${path}[${index}]`, 'must be a string', { index });
  }
}

/** Walks an array of objects: each is an object that holds its required fields and no unknown ones; then `check` sees it. */
export function checkObjects(
  found: Findings,
  value: Json | undefined,
  path: string,
  fields: Fields,
  check: (item: JsonObject, path: string, index: number) => void,
  absent: OperatorCode = 'SCHEMA_INVALID',
): void {
  if (!Array.isArray(value)) return found.add('SCHEMA_INVALID', path, 'must be an array of objects');
  for (const [index, item] of value.entries()) {
    const place = `${path}[${index}]`;
    if (!isObject(item)) {
      found.add('SCHEMA_INVALID', place, 'must be an object', { index });
      continue;
    }
    const missing = fields.required.filter((name) => item[name] === undefined);
    if (missing.length > 0) {
      found.add(absent, place, `lacks ${missing.join(', ')}`, { index, missing });
    } else check(item, place, index);
    checkExtensions(found, item, fields, place);
  }
}

/** The normal form of a resource, or null after a finding. */
export function checkResource(
  found: Findings,
  value: Json | undefined,
  path: string,
  details: JsonObject = {},
): string | null {
  if (!isString(value)) {
    found.add('SCHEMA_INVALID', path, 'must be a path', details);
    return null;
  }
  const normal = normalPath(value);
  if (normal.ok) return normal.path;
  found.add('SCHEMA_INVALID', path, PATH_FAULTS[normal.fault], details);
  return null;
}

/** The normal forms of the paths of a list, as they are compared: composed and decomposed letters are the same. */
export function normalPaths(scope: Json | undefined): readonly string[] {
  return listOf(scope).flatMap((item) => {
    const normal = isString(item) ? normalPath(item) : null;
    return normal?.ok ? [pathKey(normal.path, false)] : [];
  });
}

/** The items of an array; of anything else, none. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The items of an array that are objects; of anything else, none. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).filter(isObject);
}

function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true; // A character takes at most two code units.
  return [...text].length > max;
}
