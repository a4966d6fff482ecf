// A rule said no. It ends an operation early; the skin shows the verdict.
import type { Denied } from '../kernel/verdict.ts';

export class Refused extends Error {
  readonly verdict: Denied;
  constructor(verdict: Denied) {
    super(verdict.reason);
    this.verdict = verdict;
  }
}
