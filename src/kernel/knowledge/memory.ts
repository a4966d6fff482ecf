// What agents suggest to remember, from the report to the decision of a person. An unusable suggestion is skipped with a warning
// and never breaks the report.
import type { Input } from '../input.ts';
import { isObject, type Json, type JsonObject, nameOfType } from '../json.ts';
import type { Pen } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { type Finding, findingWarning, isEmpty, textOf } from './live-state.ts';
import {
  isSectionName,
  type Knowledge,
  MEMORY_MAX,
  memoryOf,
  type Note,
  OPEN_MAX,
  sectionOf,
  suggestionOf,
} from './state.ts';

export const MEMORIALIZE_TYPES = ['atom', 'decision', 'negative'] as const;
export const MEMORIALIZE_CLASSES = ['anchor', 'thread', 'log'] as const;

type Suggestion = {
  readonly description: string;
  readonly body: string;
  readonly slug?: string;
  readonly type?: string;
  readonly class?: string;
  readonly rationale?: string;
};

type Memorials = {
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
function notesNotListed({ memory_suggestions: notes }: JsonObject): readonly Finding[] {
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
  return findingWarning(`${path}: ${message}`, path, message);
}

function wholeText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Collecting: a suggestion that is known already is skipped. */
const PER_REPORT_MAX = 20;
const NOTE_CHARS_MAX = 8_192;
const WARNINGS_MAX = 100;

/** The agent that reports, and its turn. */
type Reporter = { readonly agent: string; readonly agentId: string; readonly cast: string; readonly turn: number };

type Kept = { readonly kept: number; readonly warnings: string[] };

/** Takes down the suggestions of a report that was accepted. */
export function suggestMemory(pen: Pen, report: JsonObject, who: Reporter): Kept {
  const { agent, agentId, cast, turn } = who;
  const { knowledge } = pen.state;
  const memorials = memorializeSuggestions(report);
  const warnings = [...memorials.findings, ...notesNotListed(report)].map(({ code }) => code);
  const known = keysKnown(knowledge);
  let kept = 0;
  for (const { note, path } of notesOf(report, memorials.suggestions)) {
    const key = textKey(`${note.description ?? ''}\n${note.body}`);
    const fault = faultOf(note, kept, knowledge);
    if (fault) warnings.push(`${path}: ${fault}`);
    else if (known.has(key)) warnings.push(`${path}: known already, skipped`);
    else {
      known.add(key);
      kept += 1;
      const id = `m${knowledge.suggested + 1}`;
      pen.write({ kind: 'memory.suggested', id, key, note, cast, turn, agent, agentId });
    }
  }
  return { kept, warnings: warnings.slice(0, WARNINGS_MAX) };
}

type Placed = { readonly note: Note; readonly path: string };

/** Structured suggestions first: where both say the same, they say more. */
function notesOf(report: JsonObject, memorials: readonly Note[]): readonly Placed[] {
  return [
    ...memorials.map((note) => ({ note, path: 'memorialize_suggestions' })),
    ...memorySuggestions(report).map((body) => ({ note: { description: null, body }, path: 'memory_suggestions' })),
  ];
}

function faultOf(note: Note, kept: number, { open }: Knowledge): string | null {
  if (note.body.trim() === '') return 'blank, skipped';
  const chars = Object.values(note).reduce((sum: number, text) => sum + (text?.length ?? 0), 0);
  if (chars > NOTE_CHARS_MAX) return `longer than ${NOTE_CHARS_MAX} characters, skipped`;
  if (kept === PER_REPORT_MAX) return `more than ${PER_REPORT_MAX} in one report, skipped`;
  // The oldest are kept, because a flood of suggestions must not hide those that wait.
  return Object.keys(open).length >= OPEN_MAX ? `${OPEN_MAX} wait for a person already, skipped` : null;
}

function keysKnown({ open, memory, dropped }: Knowledge): Set<string> {
  return new Set([
    ...Object.values(open).map(({ key }) => key),
    ...Object.values(memory).map(({ key }) => key),
    ...dropped,
  ]);
}

/** Deciding: a person accepts a suggestion, for one section or for all agents, or drops it, also after accepting it. */
export function accept({ state, write }: Pen, input: Extract<Input, { kind: 'memory.accept' }>): Verdict {
  const { id, section = null } = input;
  const { knowledge } = state;
  if (section !== null && !isSectionName(section)) {
    const reason = `no section can be called ${JSON.stringify(textOf(section))}`;
    return deny('SECTION_NAME_INVALID', reason, { section: textOf(section) });
  }
  if (section !== null && isUndeclared(input, section) && sectionOf(knowledge, section) === null) {
    const reason = `there is no section ${section}, so nothing would show it; \`baton context show\` lists them`;
    return deny('UNKNOWN_SECTION', reason, { section });
  }
  if (!suggestionOf(knowledge, id)) return unknown(id, memoryOf(knowledge, id) !== null);
  if (Object.keys(knowledge.memory).length >= MEMORY_MAX) {
    const reason = `${MEMORY_MAX} suggestions were accepted, and more would not be read; drop one first`;
    return deny('MEMORY_FULL', reason, { id, max: MEMORY_MAX });
  }
  write({ kind: 'memory.accepted', id, section });
  return allow(`${id} is remembered${section === null ? '' : ` with ${section}`}`, { id, section });
}

/** Without declared sections any section may be created. */
function isUndeclared({ declared }: Extract<Input, { kind: 'memory.accept' }>, section: string): boolean {
  return declared !== undefined && !declared.includes(section);
}

export function drop({ state, write }: Pen, input: Extract<Input, { kind: 'memory.drop' }>): Verdict {
  const { id, reason } = input;
  const found = suggestionOf(state.knowledge, id) ?? memoryOf(state.knowledge, id);
  if (!found) return unknown(id, false);
  write({ kind: 'memory.dropped', id, key: found.key, reason });
  return allow(`${id} is dropped`, { id });
}

function unknown(id: string, isAccepted: boolean): Denied {
  if (isAccepted) return deny('NOT_ALLOWED_NOW', `${id} was accepted already`, { id });
  return deny(
    'UNKNOWN_MEMORY',
    `nothing waits under ${JSON.stringify(textOf(id))}; \`baton memory list\` shows what does`,
    {
      id: textOf(id),
    },
  );
}

/** The key of a text ignores spacing and case. It is no digest to trust: a collision only drops a suggestion. */
function textKey(text: string): string {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).join(' ');
  return `${hash(words, 0x811c9dc5)}${hash(words, 0x050c5d1f)}`;
}

/** FNV-1a over the code units. */
function hash(text: string, start: number): string {
  let value = start;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return value.toString(16).padStart(8, '0');
}
