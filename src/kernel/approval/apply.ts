// The bookkeeping of approvals: what a fact does to them. No rules and no failure.
import type { ApprovalFact } from './fact.ts';
import { type Approvals, approvalOf, isSpent, lastRounds } from './state.ts';

export function applyApproval(approvals: Approvals, fact: ApprovalFact, at: number): void {
  if (fact.kind === 'approval.requested') {
    const { id, sealed, cast, turn, attempt = 0 } = fact;
    const from = cast === undefined || turn === undefined ? null : { cast, turn, attempt };
    approvals[id] = { id, sealed, since: at, from, grant: null, uses: {} };
    return;
  }
  const approval = approvalOf(approvals, fact.id);
  if (!approval) return;
  switch (fact.kind) {
    case 'approval.linked':
      approval.from = { cast: fact.cast, turn: fact.turn, attempt: fact.attempt };
      if (fact.words) approval.sealed = { ...approval.sealed, ...fact.words };
      return;
    case 'approval.approved': {
      const { by, until, reason, mac } = fact;
      const before = fact.relayed ? approval.grant : null;
      const again = fact.relayed ? before?.again : fact.again && lastRounds(approval, fact.again);
      const sealing = { ...(mac === undefined ? {} : { mac }), ...(again ? { again } : {}) };
      approval.grant = { by, at: before?.at ?? at, until, reason, ...sealing };
      for (const index of fact.again ?? []) {
        const use = approval.uses[index];
        if (use) use.phase = 'again';
      }
      if (isSpent(approval)) delete approvals[fact.id];
      return;
    }
    case 'approval.used': {
      const { index, round, executor } = fact;
      approval.uses[index] = { at, round, executor, phase: 'started' };
      return;
    }
    case 'approval.finished':
    case 'approval.unknown': {
      const use = approval.uses[fact.index];
      if (use) use.phase = fact.kind === 'approval.finished' ? 'finished' : 'unknown';
      if (isSpent(approval)) delete approvals[fact.id];
      return;
    }
    case 'approval.rejected':
    case 'approval.expired':
    case 'approval.withdrawn':
      delete approvals[fact.id];
      return;
    case 'approval.refused':
      return;
  }
}
