// What happened to the knowledge of a workspace: a section was written or put back, a write was refused, evidence was
// deposited, something was suggested to be remembered, and a person decided about it.
import type { Code } from '../codes.ts';
import type { JsonObject } from '../json.ts';
import type { Change } from './diff.ts';
import type { Deposit } from './evidence.ts';
import type { Note } from './state.ts';

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
      readonly diff: readonly Change[];
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
      readonly diff: readonly Change[];
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
