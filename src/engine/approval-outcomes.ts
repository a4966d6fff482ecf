// The commands that agents of a cast asked to run and that did not run, told from its facts: refused, expired, or approved
// and never used. A cast that is completed without them says so.
import { type ApprovalFact, isApprovalFact } from '../kernel/approval/fact.ts';
import type { SealedRequest } from '../kernel/approval/request.ts';
import type { Entry } from '../kernel/fact.ts';

export type NotRun = {
  readonly approval: string;
  readonly command: string;
  readonly outcome:
    | 'waits'
    | 'approved and not run'
    | 'refused'
    | 'expired'
    | 'not decided'
    | 'ended without an exit code';
};

type Asked = { readonly sealed: SealedRequest; outcome: NotRun['outcome']; readonly began: Set<number> };

export function notRunOf(entries: readonly Entry[]): readonly NotRun[] {
  const asked = new Map<string, Asked>();
  const ran = new Set<string>();
  for (const { fact } of entries) {
    if (!isApprovalFact(fact)) continue;
    if (fact.kind === 'approval.requested')
      asked.set(fact.id, { sealed: fact.sealed, outcome: 'waits', began: new Set() });
    const one = asked.get(fact.id);
    if (one) take(one, fact, ran);
  }
  return [...asked].flatMap(([approval, { sealed, outcome, began }]) =>
    sealed.commands.flatMap(({ display, digest }, index): readonly NotRun[] => {
      if (ran.has(digest) || (began.has(index) && outcome === 'approved and not run')) return [];
      return [{ approval, command: display, outcome }];
    }),
  );
}

function take(one: Asked, fact: ApprovalFact, ran: Set<string>): void {
  const outcome = outcomeOf(fact);
  if (outcome) one.outcome = outcome;
  // What began and was not settled is told on its own.
  if (fact.kind === 'approval.used') one.began.add(fact.index);
  if (fact.kind !== 'approval.finished') return;
  const digest = one.sealed.commands[fact.index]?.digest;
  if (fact.exit !== null && digest !== undefined) ran.add(digest);
  else if (fact.exit === null) one.outcome = 'ended without an exit code';
}

function outcomeOf(fact: ApprovalFact): NotRun['outcome'] | null {
  switch (fact.kind) {
    case 'approval.approved':
      return 'approved and not run';
    case 'approval.rejected':
      return 'refused';
    case 'approval.expired':
      return fact.what === 'grant' ? 'approved and not run' : 'expired';
    case 'approval.withdrawn':
      return fact.what === 'grant' ? 'approved and not run' : 'not decided';
    default:
      return null;
  }
}
