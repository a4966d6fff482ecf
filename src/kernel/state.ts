// What is known of the open casts of a workspace. Plain JSON throughout, so that a snapshot is its canonical text.

import { type Approvals, noApprovals } from './approval/state.ts';
import type { Cast } from './cast/state.ts';
import { type Knowledge, noKnowledge } from './knowledge/state.ts';
import { emptyLedger, type Ledger } from './ledger/state.ts';
import { noTrust, type Trust } from './trust/state.ts';

export type State = {
  casts: Record<string, Cast>;
  ledger: Ledger;
  day: Day;
  trust: Trust;
  approvals: Approvals;
  knowledge: Knowledge;
};

/** What the casts of the workspace used on one day, by universal time. */
export type Day = { date: string; tokens: number; cost: number };

export function emptyState(): State {
  return {
    casts: {},
    ledger: emptyLedger(),
    day: { date: '', tokens: 0, cost: 0 },
    trust: noTrust(),
    approvals: noApprovals(),
    knowledge: noKnowledge(),
  };
}
