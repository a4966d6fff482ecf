// What a field table says to people: what a field wants, and a mismatch as a sentence.
import type { Field, Fields, ListField, Mismatch } from './fields.ts';
import { normalPath, PATH_FAULTS } from './ledger/path.ts';
import { nearestName } from './nearest-name.ts';

/** What a field wants, to follow "must be": `a string that is not blank`. */
export function describeField(field: Field): string {
  const words = field.wants ?? typeWords(field);
  return field.nullable ? `${words}, or null` : words;
}

function typeWords(field: Field): string {
  switch (field.type) {
    case 'text':
      return field.mayBeEmpty ? 'a string' : 'a string that is not blank';
    case 'path':
      return 'the name of a file or folder';
    case 'flag':
      return 'true or false';
    case 'count':
      return field.noun === undefined ? `a whole number${rangeWords(field.min ?? 0, field.max)}` : `a ${field.noun}`;
    case 'number':
      return `a number${rangeWords(field.min, field.max)}`;
    case 'choice':
      return field.of.length === 1 ? `"${field.of[0]}"` : `one of ${field.of.join(', ')}`;
    case 'const':
      return JSON.stringify(field.value);
    case 'list':
      return `a list${field.of === undefined || field.of.type === 'text' ? ' of strings' : ''}${itemsWords(field)}`;
    case 'object':
    case 'map':
      return 'an object';
    case 'oneOf':
      return field.of.map(describeField).join(', or ');
    case 'json':
      return 'any value';
  }
}

function rangeWords(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return `, ${min} or above`;
  return max === undefined ? '' : `, ${max} or below`;
}

function itemsWords({ itemsMin = 0, itemsMax }: ListField): string {
  if (itemsMin > 0 && itemsMax !== undefined) return ` with ${itemsMin} to ${itemsMax} entries`;
  if (itemsMin > 0) return ` with at least ${itemsMin} ${itemsMin === 1 ? 'entry' : 'entries'}`;
  return itemsMax === undefined ? '' : ` with at most ${itemsMax} entries`;
}

/** A mismatch in words that follow the name of its place: "must be true or false". */
export function messageOf(mismatch: Mismatch): string {
  const { field } = mismatch;
  return field.hint === undefined ? ruleWords(mismatch) : `${ruleWords(mismatch)}. ${field.hint}`;
}

function ruleWords({ rule, path, field, value }: Mismatch): string {
  switch (rule) {
    case 'missing':
      if (Array.isArray(value)) return `lacks ${value.join(', ')}`;
      return field.means === undefined ? `is missing: ${describeField(field)}` : `is missing: ${field.means}`;
    case 'obsolete':
      return `is no longer understood. ${field.obsolete ?? ''}`.trimEnd();
    case 'blank':
      return 'must not be blank';
    case 'outside':
      return PATH_FAULTS.escapes;
    case 'form':
      return field.type === 'path' ? pathWords(String(value)) : `must be ${describeField(field)}`;
    case 'order':
      return `must be smaller than ${field.type === 'count' ? field.below : 'another field'}`;
    case 'long': {
      const max = field.type === 'text' || field.type === 'path' ? field.charsMax : 0;
      return `has ${[...String(value)].length} characters; at most ${max} are allowed`;
    }
    case 'many':
      return field.type === 'map' ? `must have at most ${field.entriesMax} entries` : `must be ${describeField(field)}`;
    case 'repeated':
      return 'is in the list twice';
    case 'name':
      return field.type === 'map' && field.names
        ? `is no name here; a name is ${describeField(field.names)}`
        : 'is no name here';
    case 'unknown': {
      const known = field.type === 'object' ? fieldNames(field.fields) : [];
      const meant = nearestName(String(path.at(-1)), known);
      return `is not known; ${meant === null ? '' : `did you mean ${meant}? `}there are: ${known.join(', ') || 'no fields'}`;
    }
    default:
      return `must be ${describeField(field)}`;
  }
}

function pathWords(path: string): string {
  const normal = normalPath(path);
  return normal.ok ? 'must be a path' : PATH_FAULTS[normal.fault];
}

/** The names of the fields that are read. */
export function fieldNames(fields: Fields): readonly string[] {
  return Object.keys(fields).filter((name) => !fields[name]?.obsolete && !fields[name]?.ignored);
}
