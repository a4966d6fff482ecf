// What happened to tasks and locks. A kind, once released, keeps its meaning for ever.
import type { Code } from '../codes.ts';
import type { JsonObject } from '../json.ts';
import type { Links } from './links.ts';
import type { Lock } from './lock-tree.ts';
import type { TaskSpec } from './state.ts';
import type { TaskStatus } from './transition.ts';

/** What was asked for when a task was refused. */
export type Asked =
  | 'create'
  | 'claim'
  /** A search for a task; the one that came closest is named, if there was any. */
  | 'next'
  | 'finish'
  | 'move'
  | 'heartbeat'
  | 'expire'
  | 'worklog'
  | 'deltas'
  | 'write'
  /** Whether ledger, locks and events agree; about no task. */
  | 'reconcile';

export type LedgerFact =
  /** A row was made, or a row that a delta had made got its assignment. */
  | {
      readonly kind: 'task.created';
      readonly run: string;
      readonly task: string;
      readonly owner: string;
      readonly reason: string;
      readonly notBefore: number | null;
      readonly spec: TaskSpec;
      /** Nothing of the run was open before: whoever has forgotten it has to read it again first. */
      readonly reopens?: true;
    }
  | {
      readonly kind: 'task.claimed';
      readonly run: string;
      readonly task: string;
      readonly owner: string;
      readonly fence: number;
      /** The token of an earlier claim that this one takes the place of. */
      readonly replaces?: number;
      readonly locks: readonly Lock[];
    }
  /** A replay says a final status again and changes nothing. The same open status again changes the other fields. */
  | {
      readonly kind: 'task.moved';
      readonly run: string;
      readonly task: string;
      readonly from: TaskStatus;
      readonly to: TaskStatus;
      readonly owner: string;
      readonly code: Code | null;
      readonly reason: string;
      readonly replay: boolean;
      readonly releases: boolean;
      /** The token of the claim that ends here. */
      readonly fence?: number;
      readonly retries: number;
      readonly notBefore: number | null;
      /** What the move rests on: a result with the checks of its claims, or the silence that was observed. */
      readonly evidence: JsonObject | null;
    }
  | {
      readonly kind: 'task.refused';
      readonly run: string;
      readonly task: string;
      readonly asked: Asked;
      readonly code: Code;
      readonly reason: string;
      readonly details: JsonObject;
    }
  | {
      readonly kind: 'worklog.added';
      readonly run: string;
      readonly task: string;
      readonly by: string;
      readonly entry: JsonObject;
    }
  | { readonly kind: 'deltas.applied'; readonly run: string; readonly deltas: readonly JsonObject[] }
  | { readonly kind: 'ledger.configured'; readonly foldCase: boolean }
  /** The links that lead elsewhere on the way of claimed paths; they replace those known of this root. */
  | { readonly kind: 'ledger.linked'; readonly root: string; readonly links: Links }
  | { readonly kind: 'ledger.held'; readonly by: string; readonly reason: string }
  | { readonly kind: 'ledger.unheld'; readonly by: string; readonly reason: string };

const LEDGER_FACT = /^(?:task|worklog|deltas|ledger)\./;

/** The first word of a kind says whose fact it is. */
export function isLedgerFact(fact: { readonly kind: string }): fact is LedgerFact {
  return LEDGER_FACT.test(fact.kind);
}
