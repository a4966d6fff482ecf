// The knowledge of a workspace: its state, its facts, its requests and what each fact changes. Everything is bounded; the
// history is in the log.
import { type ByKind, rowFor } from '../by-kind.ts';
import type { Code } from '../codes.ts';
import type { JsonObject } from '../json.ts';
import { type Deposit, EVIDENCE } from './entries.ts';
import type { ValueChange } from './merge.ts';

export type Knowledge = {
  /** By name, always asked with `sectionOf`: any word may be a name. */
  readonly sections: Record<string, Section>;
  /** Suggestions that wait for a person, by id. */
  readonly open: Record<string, Suggested>;
  /** What was accepted, by the id of its suggestion. */
  readonly memory: Record<string, Remembered>;
  /** How many suggestions were ever taken down: the number of the last id. */
  suggested: number;
  /** What was dropped lately, by its key, oldest first: it is not suggested again. */
  dropped: readonly string[];
};

export type Section = {
  readonly value: JsonObject;
  /** Counts what was written to the section, from 1. */
  readonly version: number;
  readonly at: number;
  /** The agent, or the person. */
  readonly by: string;
};

/** What to remember, in the words of the agent that suggested it. */
export type Note = {
  /** One line that says what it is about; null for a plain note. */
  readonly description: string | null;
  readonly body: string;
  readonly slug?: string;
  readonly type?: string;
  readonly class?: string;
  readonly rationale?: string;
};

export type Suggested = Note & {
  readonly id: string;
  /** The same for the same text, however it is spaced. */
  readonly key: string;
  readonly agent: string;
  readonly cast: string;
  readonly turn: number;
  readonly at: number;
};

export type Remembered = Note & {
  readonly id: string;
  readonly key: string;
  /** The section it belongs to; null where it is for everybody. */
  readonly section: string | null;
  readonly at: number;
};

export const SECTION_BYTES_MAX = 65_536;
export const SECTIONS_MAX = 256;
export const OPEN_MAX = 500;
export const MEMORY_MAX = 256;
const DROPPED_MAX = 1_000;

/** Under this name the INPUT holds what was accepted to be remembered. */
export const MEMORY_SECTION = 'memory';

const SECTION_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

export function isSectionName(name: string): boolean {
  return SECTION_NAME.test(name) && name !== MEMORY_SECTION && name !== EVIDENCE;
}

export function noKnowledge(): Knowledge {
  return { sections: {}, open: {}, memory: {}, suggested: 0, dropped: [] };
}

export function sectionOf({ sections }: Pick<Knowledge, 'sections'>, name: string): Section | null {
  return (Object.hasOwn(sections, name) && sections[name]) || null;
}

export function suggestionOf({ open }: Pick<Knowledge, 'open'>, id: string): Suggested | null {
  return (Object.hasOwn(open, id) && open[id]) || null;
}

export function memoryOf({ memory }: Pick<Knowledge, 'memory'>, id: string): Remembered | null {
  return (Object.hasOwn(memory, id) && memory[id]) || null;
}

/** The number in the id of a suggestion: 7 for `m7`. */
export function numberOf(id: string): number {
  return Number(id.slice(1));
}

/** The turn in which an agent wrote; nothing of it where a person did. The author is the one or the other. */
type Where = { readonly cast?: string; readonly turn?: number; readonly agent?: string; readonly agentId?: string };

export type KnowledgeFact =
  | ({
      readonly kind: 'context.written';
      readonly section: string;
      /** What was brought, with references in their canonical spelling. */
      readonly payload: JsonObject;
      /** The whole section after it. */
      readonly value: JsonObject;
      readonly version: number;
      readonly diff: readonly ValueChange[];
      /** It took the place of the section instead of being merged into it. */
      readonly replaces?: true;
      readonly author: string;
    } & Where)
  | ({
      readonly kind: 'context.rejected';
      readonly section: string;
      readonly code: Code;
      readonly reason: string;
      /** The place in the report, where a single piece of evidence is meant. */
      readonly path?: string;
    } & Where)
  | {
      readonly kind: 'context.reverted';
      readonly section: string;
      /** The version whose value it has again; 0 for nothing at all. */
      readonly to: number;
      readonly value: JsonObject;
      readonly version: number;
      readonly diff: readonly ValueChange[];
      readonly reason: string;
      readonly author: string;
    }
  /** Evidence for the acceptance criterion of a brief, as the report of a turn brought it. */
  | ({
      readonly kind: 'evidence.deposited';
      readonly id: string;
      readonly cast: string;
      readonly turn: number;
      readonly agent: string;
      readonly agentId: string;
    } & Deposit)
  | {
      readonly kind: 'memory.suggested';
      readonly id: string;
      readonly key: string;
      readonly note: Note;
      readonly cast: string;
      readonly turn: number;
      readonly agent: string;
      readonly agentId: string;
    }
  | { readonly kind: 'memory.accepted'; readonly id: string; readonly section: string | null }
  /** A suggestion is not taken, or what was accepted is not to be remembered any more. */
  | { readonly kind: 'memory.dropped'; readonly id: string; readonly key: string; readonly reason: string };

const KNOWLEDGE_FACT = /^(?:context|memory|evidence)\./;

/** The first word of a kind says whose fact it is. */
export function isKnowledgeFact(fact: { readonly kind: string }): fact is KnowledgeFact {
  return KNOWLEDGE_FACT.test(fact.kind);
}

/** Requests by hand. Agents write through reports, so each request says whether an agent made it. */
export type KnowledgeRequest =
  | {
      readonly kind: 'context.write';
      readonly section: string;
      readonly payload: JsonObject;
      /** The payload takes the place of the section; otherwise it is merged into it. */
      readonly replace: boolean;
      readonly isAgent: boolean;
    }
  | {
      readonly kind: 'context.revert';
      readonly section: string;
      readonly to: number;
      /** What the section held at that version, as the log tells it. */
      readonly value: JsonObject;
      /** The version that the requester has seen, so that no later work is lost. */
      readonly seen: number;
      readonly reason: string;
      /** The sections that the configuration names: they exist before the first write. */
      readonly declared?: readonly string[];
      readonly isAgent: boolean;
    }
  | {
      readonly kind: 'memory.accept';
      readonly id: string;
      readonly section?: string;
      /** The sections that the configuration names; absent where none are declared. */
      readonly declared?: readonly string[];
      readonly isAgent: boolean;
    }
  | { readonly kind: 'memory.drop'; readonly id: string; readonly reason: string; readonly isAgent: boolean };

const KNOWLEDGE_REQUEST = /^(?:context|memory)\./;

export function isKnowledgeRequest<T extends { readonly kind: string }>(request: T): request is T & KnowledgeRequest {
  return KNOWLEDGE_REQUEST.test(request.kind);
}

/**
 * What each fact changes. An archived cast is read back from its own facts, which are then applied a second time to newer
 * knowledge. So an old version and a suggestion that was counted before change nothing.
 */
const ROWS: ByKind<KnowledgeFact, [knowledge: Knowledge], [at: number]> = {
  'context.written': setSection,
  'context.reverted': setSection,
  // Evidence is read from the log; no decision depends on it.
  'evidence.deposited': () => {},
  'context.rejected': () => {},
  'memory.suggested': (knowledge, { id, key, note, agent, cast, turn }, at) => {
    if (numberOf(id) <= knowledge.suggested) return;
    knowledge.suggested = numberOf(id);
    knowledge.open[id] = { ...note, id, key, agent, cast, turn, at };
  },
  'memory.accepted': (knowledge, { id, section }, at) => {
    const suggestion = suggestionOf(knowledge, id);
    if (suggestion) knowledge.memory[id] = remembered(suggestion, section, at);
    delete knowledge.open[id];
  },
  'memory.dropped': (knowledge, { id, key }) => {
    delete knowledge.open[id];
    delete knowledge.memory[id];
    knowledge.dropped = [...knowledge.dropped, key].slice(-DROPPED_MAX);
  },
};

export function applyKnowledge(knowledge: Knowledge, fact: KnowledgeFact, at: number): void {
  rowFor(ROWS, fact)?.(knowledge, fact, at);
}

type SectionFact = Extract<KnowledgeFact, { kind: 'context.written' | 'context.reverted' }>;

function setSection(knowledge: Knowledge, { section, value, version, author }: SectionFact, at: number): void {
  if (version <= (sectionOf(knowledge, section)?.version ?? 0)) return;
  knowledge.sections[section] = { value, version, at, by: author };
}

function remembered(suggestion: Suggested, section: string | null, at: number): Remembered {
  const { id, key } = suggestion;
  return { ...noteOf(suggestion), id, key, section, at };
}

/** The words alone. */
function noteOf({ description, body, slug, type, class: kind, rationale }: Note): Note {
  return {
    description,
    body,
    ...(slug === undefined ? {} : { slug }),
    ...(type === undefined ? {} : { type }),
    ...(kind === undefined ? {} : { class: kind }),
    ...(rationale === undefined ? {} : { rationale }),
  };
}
