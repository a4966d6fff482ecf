// What can be asked of the knowledge of a workspace by hand. Agents write through their reports instead, so each of these
// says whether an agent is behind it.
import type { JsonObject } from '../json.ts';

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
      /** The version that whoever asks has seen: nobody's later work is put back unseen. */
      readonly seen: number;
      readonly reason: string;
      /** The sections that the configuration names: they are there before anybody has written to them. */
      readonly declared?: readonly string[];
      readonly isAgent: boolean;
    }
  | {
      readonly kind: 'memory.accept';
      readonly id: string;
      readonly section?: string;
      /** The sections that the configuration names; absent where nobody said which there are. */
      readonly declared?: readonly string[];
      readonly isAgent: boolean;
    }
  | { readonly kind: 'memory.drop'; readonly id: string; readonly reason: string; readonly isAgent: boolean };

const KNOWLEDGE_REQUEST = /^(?:context|memory)\./;

export function isKnowledgeRequest<T extends { readonly kind: string }>(request: T): request is T & KnowledgeRequest {
  return KNOWLEDGE_REQUEST.test(request.kind);
}
