// How the static checks speak: one finding, and the wording its sentence shares with the others.
import type { Code } from '../codes.ts';
import { describeField, fieldNames } from '../field-words.ts';
import { type Field, type Mismatch, mismatches, type ObjectField } from '../fields.ts';
import { type Json, type JsonObject, nameOfType } from '../json.ts';
import { nearestName } from '../nearest-name.ts';
import type { Issue } from './config.ts';

/** Checks yield what they find; what they return is for the check that called them. */
export type Findings<Result = void> = Generator<Issue, Result>;

export function error(code: Code, path: string, message: string): Issue {
  return { code, level: 'error', path, message };
}

export function warning(code: Code, path: string, message: string): Issue {
  return { code, level: 'warning', path, message };
}

const SHOWN_MAX = 60;
const LISTED_MAX = 12;

/** A value as a sentence quotes it: short texts and numbers as they are, everything else by its type. */
export function shown(value: Json | undefined): string {
  if (typeof value === 'string') {
    return value.length > SHOWN_MAX ? `"${value.slice(0, SHOWN_MAX)}…"` : `"${value}"`;
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : nameOfType(value);
}

/** Names as a sentence lists them; a long list ends with a count. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const rest = names.length - LISTED_MAX;
  return names.slice(0, LISTED_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

// Checks an object of the configuration against its field table and says what to write instead. One cause gives one issue: a
// field with words of its own (`wants`) is reported as a whole, however much of it is wrong.
type Place = {
  /** Where issues are reported; empty for the configuration itself. */
  readonly path: string;
  /** The code of a wrong value. An unknown field is always INVALID_CONFIG. */
  readonly code: Code;
  /** What the object is, to follow "is not a field of". */
  readonly what: string;
};

export function* checkFields(value: JsonObject, table: ObjectField, place: Place): Findings {
  const found = mismatches(value, table);
  const reported = new Set<string>();
  for (const mismatch of [...found.filter(({ rule }) => rule === 'obsolete'), ...found]) {
    // A check that sees more than this object says what is missing there.
    if (mismatch.rule === 'missing' && mismatch.field.type === 'json') continue;
    const whole = wholeOf(mismatch, value, table);
    const path = pathIn(place.path, whole.path);
    if (reported.has(path)) continue;
    reported.add(path);
    yield mismatch.rule === 'unknown' && whole.rule === 'unknown'
      ? unknownIssue(whole, path, place)
      : error(place.code, path, messageOf(whole));
  }
}

/** The mismatch of the outermost field that has words of its own. */
function wholeOf(mismatch: Mismatch, value: JsonObject, table: Field): Mismatch {
  let field: Field | undefined = table;
  for (const [depth, step] of mismatch.path.entries()) {
    field = field && childOf(field, step);
    if (field?.wants === undefined || depth === mismatch.path.length - 1) continue;
    const path = mismatch.path.slice(0, depth + 1);
    return { rule: 'type', path, field, value: path.reduce<unknown>((at, name) => (at as JsonObject)[name], value) };
  }
  return mismatch;
}

function childOf(field: Field, step: string | number): Field | undefined {
  switch (field.type) {
    case 'object':
      return field.fields[step];
    case 'map':
      return field.of;
    case 'list':
      return field.of;
    case 'oneOf':
      return field.of.map((one) => childOf(one, step)).find((child) => child !== undefined);
    default:
      return undefined;
  }
}

function pathIn(start: string, path: Mismatch['path']): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return start === '' ? steps.slice(1) || 'config' : `${start}${steps}`;
}

function messageOf({ rule, path, field, value }: Mismatch): string {
  const name = path.filter((step) => typeof step === 'string').at(-1) ?? '';
  if (rule === 'obsolete') return `${name} is no longer understood here. ${field.obsolete}`;
  if (rule === 'name' && field.type === 'map' && field.names) {
    const known = field.names.type === 'choice' ? field.names.of : [];
    return `${shown(name)} cannot be a name here. ${meant(name, known)}Write ${describeField(field.names)}.`;
  }
  const guess = field.type === 'choice' ? meant(value as Json, field.of) : '';
  const fix = `${guess}Write ${describeField(field)}${field.required === true ? '' : ', or leave the field out'}.`;
  return `${name} is ${shown(value as Json)}. ${fix}`;
}

/** People write remarks under these names. They are near to `command`, and no slip of the pen. */
const REMARKS = ['comment', 'comments'];

/** Nothing reads an unknown field. One that looks like a known field is misspelt, so it is an error. */
function unknownIssue({ path, field }: Mismatch, at: string, place: Place) {
  const name = String(path.at(-1));
  const known = field.type === 'object' ? fieldNames(field.fields) : [];
  const meant = REMARKS.includes(name) ? null : nearestName(name, known);
  const fix = `${meant === null ? '' : `Did you mean ${meant}? `}Correct its name, remove it, or let it start with x_.`;
  const what = path.length > 1 ? path.slice(0, -1).join('.') : place.what;
  const message = `${shown(name)} is not a field of ${what}, and nothing reads it. ${fix} Known: ${listed(known)}.`;
  return (meant === null ? warning : error)('INVALID_CONFIG', at, message);
}

/** The name that a misspelt one most likely stands for, as the beginning of a fix; empty where none is near. */
export function meant(name: Json | undefined, known: readonly string[]): string {
  const nearest = typeof name === 'string' ? nearestName(name, known) : null;
  return nearest === null ? '' : `Did you mean ${nearest}? `;
}
