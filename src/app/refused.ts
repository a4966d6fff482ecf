// Refusals that end an operation early; the skin shows the verdict. A person can lift some of them by an answer.
import { StorageError } from '../engine/ports.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { UsageError } from '../workspace/locate.ts';

export class Refused extends Error {
  readonly verdict: Denied;
  constructor(verdict: Denied) {
    super(verdict.reason);
    this.verdict = verdict;
  }
}

/** The answer sets a field of the input, or trusts a folder. */
type Agreed =
  /** With `otherwise`, a no sets the flag to that, and the operation goes on. */
  | { readonly flag: string; readonly otherwise?: boolean }
  /** A person picks a value; the command line without a terminal takes the first, unless a person has to pick it. */
  | { readonly field: string; readonly of: readonly [string, ...string[]]; readonly isForPerson?: true }
  /** A yes sets these fields. */
  | { readonly set: Readonly<Record<string, string>> }
  | { readonly trust: string };

export class AsksPerson extends Refused {
  readonly question: string;
  readonly agreed: Agreed;
  constructor(verdict: Denied, question: string, agreed: Agreed) {
    super(verdict);
    this.question = question;
    this.agreed = agreed;
  }
}

/** What went wrong, as a verdict. */
export function verdictOf(error: unknown): Denied {
  if (error instanceof Refused) return error.verdict;
  if (error instanceof UsageError) return deny(error.code, error.message, error.details);
  if (error instanceof StorageError) return deny(error.code, error.message);
  return deny('INTERNAL', error instanceof Error ? error.message : String(error));
}
