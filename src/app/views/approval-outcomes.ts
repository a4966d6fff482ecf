// The commands that agents of a cast asked to run and that did not run, told from its facts: refused, expired, or approved
// and never used. A cast that is completed without them says so.
import { type ApprovalFact, isApprovalFact, type SealedRequest } from '../../kernel/approval/request.ts';
import type { Fact } from '../../kernel/fact.ts';

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

type Asked = {
  readonly sealed: SealedRequest;
  outcome: NotRun['outcome'];
  readonly began: Set<number>;
};

export type CommandsRecord = {
  readonly asked: Map<string, Asked>;
  /** The digests of the commands that ran. */
  readonly ran: Set<string>;
  /** Approvals with a command that began and did not say how it ended. */
  readonly open: Set<string>;
  /** Those of them of which it was noted that nobody knows. */
  readonly unknown: Set<string>;
};

export function noCommands(): CommandsRecord {
  return { asked: new Map(), ran: new Set(), open: new Set(), unknown: new Set() };
}

export function foldCommand({ asked, ran, open, unknown }: CommandsRecord, fact: Fact): void {
  if (!isApprovalFact(fact)) return;
  if (fact.kind === 'approval.requested')
    asked.set(fact.id, { sealed: fact.sealed, outcome: 'waits', began: new Set() });
  const one = asked.get(fact.id);
  if (one) take(one, fact, ran);
  if (fact.kind === 'approval.used') open.add(fact.id);
  if (fact.kind === 'approval.unknown') for (const set of [open, unknown]) set.add(fact.id);
  const isSettled = fact.kind === 'approval.finished' || fact.kind === 'approval.rejected';
  if (isSettled || (fact.kind === 'approval.approved' && fact.again))
    for (const set of [open, unknown]) set.delete(fact.id);
}

/**
 * What was asked for under the approvals with a command of which nobody knows how it ended, by their ids. Nothing of a cast
 * that is over runs on: what began and did not say how it ended will not say it any more.
 */
export function unknownIn({ asked, open, unknown }: CommandsRecord, isOver = false): ReadonlyMap<string, string> {
  return new Map([...(isOver ? open : unknown)].map((id) => [id, asked.get(id)?.sealed.operation ?? '']));
}

export function notRunOf({ asked, ran }: CommandsRecord): readonly NotRun[] {
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
