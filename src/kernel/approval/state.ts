// The open approvals, what each fact changes in them, and the text that the seal of a decision covers.
import { type ByKind, rowFor } from '../by-kind.ts';
import { canonicalJson } from '../json.ts';
import type { ApprovalFact, Executor, Gone, Origin, SealedCommand, SealedDecision, SealedRequest } from './request.ts';

/** By id. Rejected, expired and used approvals are in the log and not here. */
export type Approvals = Record<string, Approval>;

export type Approval = {
  readonly id: string;
  sealed: SealedRequest;
  readonly since: number;
  /** The turn that waits for it. */
  from: Origin | null;
  grant: Grant | null;
  /** By the place of the command in the list. */
  uses: Record<string, Use>;
};

export type Grant = {
  readonly by: string;
  readonly at: number;
  readonly until: number;
  readonly reason: string;
  /** The seal of the decision. A grant without one was written by an older version, or not by us; nothing runs under it. */
  readonly mac?: string;
  /** The commands that the decision lets run once more, each with the round it had come to. */
  readonly again?: readonly (readonly [index: number, round: number])[];
};

export type Use = {
  readonly at: number;
  readonly round: number;
  readonly executor: Executor;
  /** `again`: a person allowed it once more. */
  phase: 'started' | 'finished' | 'unknown' | 'again';
};

export function noApprovals(): Approvals {
  return {};
}

export function approvalOf(approvals: Approvals, id: string): Approval | null {
  return (Object.hasOwn(approvals, id) && approvals[id]) || null;
}

/** Until when it waits to be decided or, once it is, to be used. */
export function endOf({ sealed, grant }: Approval): number {
  return grant?.until ?? sealed.expiresAt;
}

/** The places of its commands that began, and of which it is not known how they ended. */
export function unsettledUses({ uses }: Approval): readonly number[] {
  return Object.entries(uses).flatMap(([index, { phase }]) =>
    phase === 'started' || phase === 'unknown' ? [Number(index)] : [],
  );
}

/** The commands with these places, each with the round it has come to. */
export function lastRounds({ uses }: Approval, places: readonly number[] = []): readonly (readonly [number, number])[] {
  return places.map((index) => [index, uses[index]?.round ?? 0]);
}

/** Those of them whose executors are gone. */
export function lostUses(approval: Approval, gone: Gone = []): readonly number[] {
  return unsettledUses(approval).filter((index) => {
    const executor = approval.uses[index]?.executor;
    return executor !== undefined && gone.some((one) => isSameExecutor(one, executor));
  });
}

export function isSameExecutor(a: Executor, b: Executor): boolean {
  return a.host === b.host && a.pid === b.pid && a.startTime === b.startTime;
}

export function isUnsettled(approval: Approval): boolean {
  return unsettledUses(approval).length > 0;
}

/** Whether its time is over: nothing of it begins from then on. */
export function isPast(approval: Approval, at: number): boolean {
  return at >= endOf(approval);
}

/** An unknown end does not become known by waiting. */
export function isDue(approval: Approval, at: number): boolean {
  return isPast(approval, at) && !isUnsettled(approval);
}

/** Whether nothing of it can be used any more. A permission in words is never used: it ends with its time or its turn. */
function isSpent({ sealed, grant, uses }: Approval): boolean {
  const { commands } = sealed;
  return grant !== null && commands.length > 0 && commands.every((_, index) => uses[index]?.phase === 'finished');
}

/** The turn that waits, as every fact about its approval names it. */
export function turnOf(from: Origin | null): { readonly cast?: string; readonly turn?: number } {
  return from ? { cast: from.cast, turn: from.turn } : {};
}

/** A decision not yet delivered to its agent. */
export type Undelivered = {
  readonly id: string;
  /** Null for a yes: the approval itself says the rest. */
  readonly rejected: RejectedRequest | null;
};

export type RejectedRequest = { readonly fingerprint: string; readonly by: string; readonly reason: string };

/** By the digest of the command and its folder. A command that ran once is never noted as something else. */
export type CommandOutcomes = Readonly<Record<string, CommandOutcome>>;

export type CommandOutcome = {
  readonly id: string;
  readonly command: string;
  readonly outcome:
    | 'ran'
    | 'refused by a person'
    | 'never approvable'
    | 'expired'
    | 'approved and not run'
    | 'not decided';
  /** It can still be run. */
  readonly isOpen?: true;
};

/** What each fact changes in its approval. A fact about an approval that is not open changes nothing. */
type Changes = Exclude<ApprovalFact, { kind: 'approval.requested' }>;

const ROWS: ByKind<Changes, [approvals: Approvals, approval: Approval], [at: number]> = {
  'approval.linked': (_approvals, approval, { cast, turn, attempt, words }) => {
    approval.from = { cast, turn, attempt };
    if (words) approval.sealed = { ...approval.sealed, ...words };
  },
  'approval.approved': (approvals, approval, fact, at) => {
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
  },
  'approval.used': (_approvals, approval, { index, round, executor }, at) => {
    approval.uses[index] = { at, round, executor, phase: 'started' };
  },
  'approval.finished': (approvals, approval, { index }) => endUse(approvals, approval, index, 'finished'),
  'approval.unknown': (approvals, approval, { index }) => endUse(approvals, approval, index, 'unknown'),
  'approval.rejected': remove,
  'approval.expired': remove,
  'approval.withdrawn': remove,
  'approval.refused': () => {},
};

export function applyApproval(approvals: Approvals, fact: ApprovalFact, at: number): void {
  if (fact.kind === 'approval.requested') {
    const { id, sealed, cast, turn, attempt = 0 } = fact;
    const from = cast === undefined || turn === undefined ? null : { cast, turn, attempt };
    approvals[id] = { id, sealed, since: at, from, grant: null, uses: {} };
    return;
  }
  const approval = approvalOf(approvals, fact.id);
  if (approval) rowFor(ROWS, fact)?.(approvals, approval, fact, at);
}

function endUse(approvals: Approvals, approval: Approval, index: number, phase: 'finished' | 'unknown'): void {
  const use = approval.uses[index];
  if (use) use.phase = phase;
  if (isSpent(approval)) delete approvals[approval.id];
}

function remove(approvals: Approvals, { id }: Approval): void {
  delete approvals[id];
}

/** The seal of a decision is made and checked outside the kernel, with the user's key. This is the text that it covers. */
type Terms = {
  readonly verdict: 'approved' | 'rejected';
  readonly by: string;
  /** Null for a no. */
  readonly until: number | null;
  /** The commands that may run once more. A decision cannot be used for a later round, so each is sealed with its round. */
  readonly again?: readonly (readonly [index: number, round: number])[];
};

/** What the seal of a decision covers. */
export function decisionText({ id, sealed }: Pick<Approval, 'id' | 'sealed'>, terms: Terms): string {
  const { verdict, by, until, again = [] } = terms;
  return canonicalJson({ v: 1, id, verdict, by, until, again: again.map((one) => [...one]), seal: sealsOf(sealed) });
}

/** The decision that a grant in the state goes back to. */
export function grantText(approval: Approval): string | null {
  const { grant } = approval;
  if (!grant) return null;
  const { by, until, again } = grant;
  return decisionText(approval, { verdict: 'approved', by, until, ...(again ? { again } : {}) });
}

/** The decision that a fact writes down about an approval, which is as it was before the fact. */
export function factText(
  approval: Approval,
  fact: Extract<ApprovalFact, { kind: 'approval.approved' | 'approval.rejected' }>,
): string {
  const { by } = fact;
  if (fact.kind === 'approval.rejected') return decisionText(approval, { verdict: 'rejected', by, until: null });
  const again = fact.relayed ? approval.grant?.again : lastRounds(approval, fact.again);
  return decisionText(approval, { verdict: 'approved', by, until: fact.until, ...(again ? { again } : {}) });
}

/** Whether the seal that was made outside is about the grant in the state, and is the one that is stored with it. */
export function isGrantSealed(approval: Approval, expected: SealedDecision | null | undefined): boolean {
  const mac = approval.grant?.mac;
  return mac !== undefined && expected?.mac === mac && expected.text === grantText(approval);
}

/** A permission in words has no command; its fingerprint covers the words. */
function sealsOf({ commands, fingerprint }: SealedRequest): readonly string[] {
  return commands.length === 0 ? [fingerprint] : commands.map(({ seal }) => seal);
}

/** A command of a request, and what became of it. */
export type ShownCommand = Pick<SealedCommand, 'tier' | 'because' | 'digest'> & {
  readonly command: string;
  readonly status: 'waits' | 'may run' | 'runs' | 'finished' | 'unknown' | 'expired' | 'withdrawn';
};

/** A request as people and programs see it. */
export type ApprovalView = {
  readonly id: string;
  /** Changes with everything that matters to the decision. */
  readonly revision: string;
  readonly status: 'pending' | 'approved' | 'unknown' | 'expired';
  readonly operation: string;
  readonly commands: readonly ShownCommand[];
  readonly folder: string;
  readonly scope: string;
  readonly risk: string;
  readonly rationale: string;
  /** How to undo it, or null if unknown. */
  readonly rollback: string | null;
  readonly verification: string | null;
  readonly requester: string;
  readonly cast: string | null;
  readonly turn: number | null;
  /** Whether the turn that asked has ended. Then no further command starts. */
  readonly turnOver: boolean;
  readonly since: string;
  readonly until: string;
  readonly stale: boolean;
  readonly approvedBy: string | null;
  readonly files: Readonly<Record<string, string>>;
  /** The variables that the commands get and that are set. */
  readonly env: readonly string[];
  /** Variables whose value differs for the viewer. An agent can set its own values. */
  readonly envOther: readonly string[];
  /** Folders of the approved search path that are not in the viewer's. An agent can put programs of its own there. */
  readonly pathOther: readonly string[];
  /** Entries of the requested list that name no command. */
  readonly leftOut?: readonly string[];
};
