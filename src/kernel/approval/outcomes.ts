// Approvals after they left the state. The cast keeps the outcome of each command. The turn keeps decisions not yet
// delivered to its agent.
import type { Cast, Turn } from '../cast/state.ts';
import type { Fact } from '../fact.ts';
import type { JsonObject } from '../json.ts';
import { claimedCommands, compareCommands } from '../report/commands.ts';
import type { State } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import type { ApprovalFact, Origin, SealedRequest } from './request.ts';
import { type Approval, approvalOf, type CommandOutcome, type RejectedRequest, type Undelivered } from './state.ts';

/** So many are remembered; the oldest is forgotten first. */
const COMMANDS_KEPT_MAX = 200;

/** Reads the approval as it is before the fact: a rejected one is gone afterwards. */
export function noteOutcomes({ casts, approvals }: State, fact: ApprovalFact): void {
  const approval = approvalOf(approvals, fact.id);
  const cast = approval?.from ? casts[approval.from.cast] : undefined;
  if (!approval || !cast) return;
  if (fact.kind === 'approval.finished') {
    // Without an exit code it was ended by a signal, or never began.
    if (fact.exit !== null) note(cast, approval, [fact.index], 'ran');
    return;
  }
  const outcome = outcomeOf(fact);
  if (outcome) note(cast, approval, unusedIn(approval), outcome);
}

function outcomeOf(fact: ApprovalFact): Exclude<CommandOutcome['outcome'], 'ran'> | null {
  switch (fact.kind) {
    case 'approval.rejected':
      return fact.by === POLICY ? 'never approvable' : 'refused by a person';
    case 'approval.expired':
    case 'approval.withdrawn':
      if (fact.what === 'grant') return 'approved and not run';
      return fact.kind === 'approval.expired' ? 'expired' : 'not decided';
    default:
      return null;
  }
}

function note(
  cast: Cast,
  { id, sealed }: Approval,
  places: readonly number[],
  outcome: CommandOutcome['outcome'],
): void {
  const before = cast.commands ?? {};
  const added = places.flatMap((index) => {
    const command = sealed.commands[index];
    return command && before[command.digest]?.outcome !== 'ran'
      ? [[command.digest, { id, command: command.display, outcome }] as const]
      : [];
  });
  if (added.length === 0) return;
  const kept = Object.entries({ ...before, ...Object.fromEntries(added) }).slice(-COMMANDS_KEPT_MAX);
  cast.commands = Object.fromEntries(kept);
}

function unusedIn({ sealed, uses }: Approval): readonly number[] {
  return [...sealed.commands.keys()].filter((index) => uses[index]?.phase !== 'finished');
}

/** The commands that did not run, by what became of them: those of the turn itself, and those of the cast that are over. */
export function notRunIn({ approvals }: State, cast: Cast, turn: Turn): readonly CommandOutcome[] {
  const past = Object.values(cast.commands ?? {});
  // It may have run under another approval, in another worktree.
  const ran = new Set(past.filter(({ outcome }) => outcome === 'ran').map(({ command }) => command));
  const own = Object.values(approvals).filter(({ from }) => from?.cast === cast.id && from.turn === turn.id);
  const open = own.flatMap((approval) =>
    unusedIn(approval).flatMap((index): readonly CommandOutcome[] => {
      const command = approval.sealed.commands[index];
      if (!command || approval.uses[index]) return [];
      const outcome = approval.grant ? 'approved and not run' : 'not decided';
      return [{ id: approval.id, command: command.display, outcome, ...(approval.grant ? { isOpen: true } : {}) }];
    }),
  );
  return [...past, ...open].filter(({ command }) => !ran.has(command));
}

/** Refuses a report that names a command as run which did not run under its approval. */
export function refusalOfUnrun(notRun: readonly CommandOutcome[], report: JsonObject): Denied | null {
  const claims = claimedCommands(report);
  const cited = notRun.find(
    ({ id, command }) =>
      claims.some((claim) => claim.includes(id)) || compareCommands(claims, [command]).unnamed.length === 0,
  );
  if (!cited) return null;
  const { id, command, outcome, isOpen } = cited;
  const message = `commands_run names ${command}, which did not run: ${id} is ${outcome}`;
  const way = isOpen
    ? 'run it with baton exec, or report what was really done'
    : 'report what was really done, without it';
  const issues = [{ path: 'evidence_report.commands_run', message: `${message}; ${way}` }];
  return deny('APPROVAL_NOT_RUN', `${message}; ${way}`, { approval: id, outcome, issues });
}

/** Reads the approval as it is before the fact: a rejected one is gone afterwards. */
export function noteUndelivered({ casts, approvals }: State, fact: ApprovalFact): void {
  if (fact.kind !== 'approval.approved' && fact.kind !== 'approval.rejected') return;
  const turn = fact.cast === undefined ? undefined : casts[fact.cast]?.turns[fact.turn ?? 0];
  const approval = approvalOf(approvals, fact.id);
  // A waiting agent gets the decision at once, and so does one that asks for what can never be approved.
  if (!turn || !approval || fact.relayed || fact.by === POLICY || turn.asks?.approval === fact.id) return;
  const { by, reason } = fact;
  const { fingerprint } = approval.sealed;
  const rejected = fact.kind === 'approval.rejected' ? { fingerprint, by, reason } : null;
  turn.untold = [...without(turn, fact.id), { id: fact.id, rejected }];
}

/** Who decides where no person may. */
export const POLICY = 'policy';

/** A turn that reports about an approval gets its outcome in the same decision. */
export function dropDelivered(turn: Turn, { approval }: Extract<Fact, { kind: 'turn.reported' }>): void {
  const untold = approval === undefined ? (turn.untold ?? []) : without(turn, approval);
  if (untold.length > 0) turn.untold = untold;
  else delete turn.untold;
}

function without({ untold = [] }: Turn, id: string): readonly Undelivered[] {
  return untold.filter((one) => one.id !== id);
}

export function isUndelivered(state: State, id: string, from: Origin): boolean {
  return undeliveredOf(state, from).some((one) => one.id === id);
}

/** What a person refused to this turn, and its agent does not know yet. */
export function undeliveredRefusal(
  state: State,
  { relays, fingerprint }: SealedRequest,
  from: Origin | null,
): (RejectedRequest & { readonly id: string }) | null {
  for (const { id, rejected } of from ? undeliveredOf(state, from) : []) {
    if (rejected && (id === relays || rejected.fingerprint === fingerprint)) return { id, ...rejected };
  }
  return null;
}

function undeliveredOf({ casts }: State, { cast, turn }: Origin): readonly Undelivered[] {
  return casts[cast]?.turns[turn]?.untold ?? [];
}
