// The sections of a parsed report and their values. Agents write keys in either case, one value for a list, and numbers as text.
import { isObject, type Json, type JsonObject } from '../json.ts';

export function valueAt(section: JsonObject, key: string): Json | undefined {
  return section[key] ?? section[key.toUpperCase()];
}

/** An empty section where there is none. */
export function sectionAt(report: JsonObject, key: string): JsonObject {
  const section = valueAt(report, key);
  return isObject(section) ? section : {};
}

/** A value that is no list is a list of one; nothing is a list of none. */
export function valuesAt(section: JsonObject, key: string): readonly Json[] {
  return listedValues(valueAt(section, key));
}

export function listedValues(value: Json | undefined): readonly Json[] {
  const list = Array.isArray(value) ? (value as readonly Json[]) : value === undefined ? [] : [value];
  return list.filter((each) => each !== null);
}

export const EVIDENCE_KEYS = [
  'patterns_checked',
  'files_checked',
  'commands_run',
  'key_outputs',
  'verbatim_outputs',
  'cross_layer_impacts',
  'open_gaps',
] as const;

export const CONSOLIDATION_KEYS = [
  'ownership_assessment',
  'confirmed_findings',
  'suspected_findings',
  'conflicts',
  'open_gaps',
  'next_best_agent',
] as const;

const NUMBER_CHARS_MAX = 64;

const DIGITS = /^[+-]?[0-9]+$/;

const NUMBER_CHARS = /^[0-9+\-.eE]+$/;

/** A whole number: fractions are cut off, except in text, where they are no whole number at all. */
export function integerOf(value: Json | undefined): number | null {
  if (typeof value === 'string' && !DIGITS.test(value.trim())) return null;
  const number = reportedNumber(value);
  return number === null ? null : finite(Math.trunc(number));
}

/** A number as agents write it: as a number, as text, or as a yes or no. */
export function reportedNumber(value: Json | undefined): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') {
    const text = value.trim();
    if (text.length > NUMBER_CHARS_MAX || !NUMBER_CHARS.test(text)) return null;
    return finite(Number(text));
  }
  return typeof value === 'number' ? finite(value) : null;
}

/** Adding zero turns minus zero, which would not come back from JSON as it was, into zero. */
function finite(number: number): number | null {
  return Number.isFinite(number) ? number + 0 : null;
}
