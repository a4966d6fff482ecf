// What an agent proposes to remember. A person decides about each proposal, so nothing here can break the contract:
// what cannot be used is left out and said so.
import { isObject, type Json, type JsonObject, nameOfType } from '../json.ts';
import { isEmpty } from './empty.ts';
import { type Finding, warning } from './finding.ts';

export const MEMORIALIZE_TYPES = ['atom', 'decision', 'negative'] as const;
export const MEMORIALIZE_CLASSES = ['anchor', 'thread', 'log'] as const;

export type Suggestion = {
  readonly description: string;
  readonly body: string;
  readonly slug?: string;
  readonly type?: string;
  readonly class?: string;
  readonly rationale?: string;
};

export type Memorials = {
  readonly present: boolean;
  readonly suggestions: readonly Suggestion[];
  readonly findings: readonly Finding[];
};

/** Plain notes: nulls are dropped, anything else becomes text. */
export function memorySuggestions(report: JsonObject): string[] {
  const notes = report.memory_suggestions;
  return Array.isArray(notes) ? notes.filter((note) => note !== null).map(wholeText) : [];
}

/** A warning where the plain notes are no list, so that none of them can be taken. */
export function notesNotListed({ memory_suggestions: notes }: JsonObject): readonly Finding[] {
  if (notes === undefined || notes === null || Array.isArray(notes)) return [];
  return [caution('memory_suggestions', `expected array, got ${nameOfType(notes)}`)];
}

/** Structured proposals, and a warning for each one that had to be left out or has a word of its own. */
export function memorializeSuggestions(report: JsonObject): Memorials {
  const given = report.memorialize_suggestions;
  if (given === undefined || given === null) return { present: false, suggestions: [], findings: [] };
  if (!Array.isArray(given)) {
    const found = caution('memorialize_suggestions', `expected array, got ${nameOfType(given)}`);
    return { present: true, suggestions: [], findings: [found] };
  }
  const read = (given as readonly Json[]).map((entry, index) => readEntry(entry, `memorialize_suggestions[${index}]`));
  return {
    present: true,
    suggestions: read.flatMap(({ suggestion }) => suggestion ?? []),
    findings: read.flatMap(({ findings }) => findings),
  };
}

const OPTIONAL_KEYS = ['slug', 'type', 'class', 'rationale'] as const;

function readEntry(entry: Json, path: string): { suggestion?: Suggestion; findings: Finding[] } {
  if (!isObject(entry)) return { findings: [caution(path, 'not an object, skipped')] };
  const { description, body } = entry;
  const absent = ['description', 'body'].filter((key) => isEmpty(entry[key]));
  if (description === undefined || body === undefined || absent.length > 0) {
    return { findings: [caution(path, `${absent.join(' and ')} missing, skipped`)] };
  }
  const extras = OPTIONAL_KEYS.flatMap((key) => {
    const value = entry[key];
    return value === undefined || value === null ? [] : [[key, wholeText(value)] as const];
  });
  const suggestion = { description: wholeText(description), body: wholeText(body), ...Object.fromEntries(extras) };
  return { suggestion, findings: checkWords(suggestion, path) };
}

function checkWords(suggestion: Suggestion, path: string): Finding[] {
  return [
    ...checkWord(suggestion.type, MEMORIALIZE_TYPES, `${path}.type`),
    ...checkWord(suggestion.class, MEMORIALIZE_CLASSES, `${path}.class`),
  ];
}

function checkWord(word: string | undefined, words: readonly string[], path: string): Finding[] {
  if (word === undefined || words.includes(word.toLowerCase())) return [];
  return [caution(path, `not one of ${words.join(', ')}, kept as it is`)];
}

function caution(path: string, message: string): Finding {
  return warning(`${path}: ${message}`, path, message);
}

function wholeText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
