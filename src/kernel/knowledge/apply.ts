// The bookkeeping of knowledge: what a fact does to it. No rules and no failure.
//
// A cast that was forgotten is read back from its own facts, which are then applied a second time, onto knowledge that has
// gone on since. So a version that is not newer, and a suggestion that was counted before, change nothing.
import type { KnowledgeFact } from './fact.ts';
import {
  DROPPED_MAX,
  type Knowledge,
  type Note,
  numberOf,
  type Remembered,
  type Suggested,
  sectionOf,
  suggestionOf,
} from './state.ts';

export function applyKnowledge(knowledge: Knowledge, fact: KnowledgeFact, at: number): void {
  switch (fact.kind) {
    case 'context.written':
    case 'context.reverted': {
      const { section, value, version, author } = fact;
      if (version <= (sectionOf(knowledge, section)?.version ?? 0)) return;
      knowledge.sections[section] = { value, version, at, by: author };
      return;
    }
    // Evidence is read from the log; nothing that is decided depends on it.
    case 'evidence.deposited':
    case 'context.rejected':
      return;
    case 'memory.suggested': {
      const { id, key, note, agent, cast, turn } = fact;
      if (numberOf(id) <= knowledge.suggested) return;
      knowledge.suggested = numberOf(id);
      knowledge.open[id] = { ...note, id, key, agent, cast, turn, at };
      return;
    }
    case 'memory.accepted': {
      const suggestion = suggestionOf(knowledge, fact.id);
      if (suggestion) knowledge.memory[fact.id] = remembered(suggestion, fact.section, at);
      delete knowledge.open[fact.id];
      return;
    }
    case 'memory.dropped':
      delete knowledge.open[fact.id];
      delete knowledge.memory[fact.id];
      knowledge.dropped = [...knowledge.dropped, fact.key].slice(-DROPPED_MAX);
      return;
  }
}

function remembered(suggestion: Suggested, section: string | null, at: number): Remembered {
  const { id, key } = suggestion;
  return { ...noteOf(suggestion), id, key, section, at };
}

/** The words alone. */
export function noteOf({ description, body, slug, type, class: kind, rationale }: Note): Note {
  return {
    description,
    body,
    ...(slug === undefined ? {} : { slug }),
    ...(type === undefined ? {} : { type }),
    ...(kind === undefined ? {} : { class: kind }),
    ...(rationale === undefined ? {} : { rationale }),
  };
}
