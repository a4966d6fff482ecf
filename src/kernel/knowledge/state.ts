// What a workspace knows beside its casts: sections of shared knowledge, what agents suggested to remember and nobody has
// decided about, and what was accepted. Bounded throughout; how it came to be is in the log.
import type { JsonObject } from '../json.ts';

/** The name under which evidence is deposited. No section is called so. */
export const EVIDENCE = 'evidence';

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

/** What is to be remembered, in the words of whoever suggested it. */
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
export const DROPPED_MAX = 1_000;

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
