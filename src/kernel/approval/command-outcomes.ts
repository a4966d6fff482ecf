// What became of the commands that the agent of a turn asked to run. It is kept with the turn, because an approval that is
// over is not in the state any more and its agent may still report that the command ran.
import type { JsonObject } from '../json.ts';
import type { State, Turn } from '../state.ts';
import { claimedCommands } from '../turn/claimed-commands.ts';
import { compareCommands } from '../turn/commands-compared.ts';
import { type Denied, deny } from '../verdict.ts';
import type { ApprovalFact } from './fact.ts';
import { type Approval, approvalOf } from './state.ts';
import { POLICY } from './untold.ts';

/** By the digest of the command and its folder. What ran once, ran. */
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
};

/** Looks at the approval as it is before the fact. */
export function noteOutcomes({ casts, approvals }: State, fact: ApprovalFact): void {
  const approval = approvalOf(approvals, fact.id);
  const turn = approval?.from ? casts[approval.from.cast]?.turns[approval.from.turn] : undefined;
  if (!approval || !turn) return;
  if (fact.kind === 'approval.finished') {
    // Without an exit code it was ended by a signal, or never began.
    if (fact.exit !== null) note(turn, approval, [fact.index], 'ran');
    return;
  }
  const outcome = outcomeOf(fact);
  if (outcome) note(turn, approval, unusedIn(approval), outcome);
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
  turn: Turn,
  { id, sealed }: Approval,
  places: readonly number[],
  outcome: CommandOutcome['outcome'],
): void {
  const before = turn.commands ?? {};
  const added = places.flatMap((index) => {
    const command = sealed.commands[index];
    return command && before[command.digest]?.outcome !== 'ran'
      ? [[command.digest, { id, command: command.display, outcome }] as const]
      : [];
  });
  if (added.length > 0) turn.commands = { ...before, ...Object.fromEntries(added) };
}

function unusedIn({ sealed, uses }: Approval): readonly number[] {
  return [...sealed.commands.keys()].filter((index) => uses[index]?.phase !== 'finished');
}

/** The commands of the turn that did not run, by what became of them. */
export function notRunIn({ approvals }: State, cast: string, turn: Turn): readonly CommandOutcome[] {
  const past = turn.commands ?? {};
  const own = Object.values(approvals).filter(({ from }) => from?.cast === cast && from.turn === turn.id);
  const open = own.flatMap((approval) =>
    unusedIn(approval).flatMap((index): readonly CommandOutcome[] => {
      const command = approval.sealed.commands[index];
      if (!command || past[command.digest]?.outcome === 'ran' || approval.uses[index]) return [];
      const outcome = approval.grant ? 'approved and not run' : 'not decided';
      return [{ id: approval.id, command: command.display, outcome }];
    }),
  );
  return [...Object.values(past).filter(({ outcome }) => outcome !== 'ran'), ...open];
}

/** Refuses a report that names a command as run which did not run under its approval. */
export function refusalOfUnrun(notRun: readonly CommandOutcome[], report: JsonObject): Denied | null {
  const claims = claimedCommands(report);
  const cited = notRun.find(
    ({ id, command }) =>
      claims.some((claim) => claim.includes(id)) || compareCommands(claims, [command]).unnamed.length === 0,
  );
  if (!cited) return null;
  const { id, command, outcome } = cited;
  const message = `commands_run names ${command}, which did not run: ${id} is ${outcome}`;
  const way =
    outcome === 'approved and not run'
      ? 'run it with baton exec, or report what was really done'
      : 'report what was really done, without it';
  const issues = [{ path: 'evidence_report.commands_run', message: `${message}; ${way}` }];
  return deny('APPROVAL_NOT_RUN', `${message}; ${way}`, { approval: id, outcome, issues });
}
