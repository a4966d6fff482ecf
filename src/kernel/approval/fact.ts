// What happened to approvals. Where one belongs to a turn, every fact about it names the turn.
import type { Code } from '../codes.ts';
import type { Executor, SealedRequest, Words } from './request.ts';

/** One part of what is presented that is not what was approved. */
export type Difference = {
  readonly part:
    | 'argument'
    | 'folder'
    | 'program'
    | 'place'
    | 'file'
    | 'environment'
    | 'policy'
    | 'log'
    | 'requester'
    | 'seal'
    /** The line of shell that the call stands in. */
    | 'line';
  /** Which argument, program, path or variable, or which end of the line. */
  readonly name: string;
  readonly approved: string;
  readonly given: string;
};

type OfTurn = { readonly id: string; readonly cast?: string; readonly turn?: number };

export type ApprovalFact =
  | (OfTurn & { readonly kind: 'approval.requested'; readonly attempt?: number; readonly sealed: SealedRequest })
  /** A turn waits for an approval that was asked for outside of its report. */
  | {
      readonly kind: 'approval.linked';
      readonly id: string;
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      /** What the report says about it, where that is more than was known. */
      readonly words?: Words;
    }
  | (OfTurn & {
      readonly kind: 'approval.approved';
      /** The authenticated identity of who decided. */
      readonly by: string;
      readonly reason: string;
      readonly until: number;
      /** The seal of the decision, made with the user's key. */
      readonly mac?: string;
      /** The commands that may run once more although they may have run. */
      readonly again?: readonly number[];
      /** Said once more, for a turn that began to wait after the decision. */
      readonly relayed?: true;
    })
  | (OfTurn & {
      readonly kind: 'approval.rejected';
      readonly by: string;
      readonly reason: string;
      /** The seal of the decision, made with the user's key. */
      readonly mac?: string;
      /** Said once more, for a turn that began to wait after the decision. */
      readonly relayed?: true;
    })
  | (OfTurn & { readonly kind: 'approval.expired'; readonly what: 'request' | 'grant' })
  /** What asked for it ended, or went on without it. */
  | (OfTurn & { readonly kind: 'approval.withdrawn'; readonly what: 'request' | 'grant'; readonly reason: string })
  | (OfTurn & {
      readonly kind: 'approval.used';
      readonly index: number;
      /** 0 for the first time, then one more for each time a person allowed it again. */
      readonly round: number;
      readonly requester: string;
      readonly executor: Executor;
    })
  | (OfTurn & {
      readonly kind: 'approval.finished';
      readonly index: number;
      readonly exit: number | null;
      readonly note?: string;
    })
  /** A command began and nobody knows how it ended. */
  | (OfTurn & { readonly kind: 'approval.unknown'; readonly index: number })
  | (OfTurn & {
      readonly kind: 'approval.refused';
      readonly code: Code;
      readonly reason: string;
      readonly differences: readonly Difference[];
    });

export function isApprovalFact(fact: { readonly kind: string }): fact is ApprovalFact {
  return fact.kind.startsWith('approval.');
}
