// A rule says no unless a person agrees. A skin with a person at hand asks, and calls again as `agreed` says. Everybody else
// gets the refusal, which says how to agree beforehand.
import type { Denied } from '../kernel/verdict.ts';
import { Refused } from './refused.ts';

/** Who agrees sets a flag of the input, or trusts a folder. */
export type Agreed =
  /** With `otherwise`, who declines sets the flag to that, and it goes on all the same. */
  { readonly flag: string; readonly otherwise?: boolean } | { readonly trust: string };

export class Asks extends Refused {
  readonly question: string;
  readonly agreed: Agreed;
  constructor(verdict: Denied, question: string, agreed: Agreed) {
    super(verdict);
    this.question = question;
    this.agreed = agreed;
  }
}
