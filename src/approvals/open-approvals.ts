// The open approvals at the head of the log, and who requests or uses one: the agent of a turn under its name from the runtime, else the
// owner of the session, else the user. The processes above say which turn it is. Without such a process the environment may name one,
// which counts only with the secret of an attempt that runs now.

import type { Actor } from '../access/actor.ts';
import { attemptAbove, attemptIn, isVouchedFor } from '../access/attempt.ts';
import { isRunning } from '../engine/lease.ts';
import type { Log } from '../engine/ports.ts';
import { restored } from '../engine/snapshot.ts';
import { type Gone, isApprovalFact, type Origin } from '../kernel/approval/request.ts';
import { type Approval, type Approvals, applyApproval, noApprovals, unsettledUses } from '../kernel/approval/state.ts';
import { agentIdOfTurn, chosenMateria, variablesOf } from '../kernel/cast/rules.ts';
import type { Cast } from '../kernel/cast/state.ts';
import type { Variables } from '../kernel/credential.ts';
import { timeOf } from '../kernel/fact.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

const PAGE = 5_000;
const PREFIX_MIN = 8;

export async function approvalsIn(log: Log): Promise<Approvals> {
  const known = await restored(log, (state) => state.approvals);
  const approvals = known?.found ?? noApprovals();
  for (let after = known?.through ?? 0; ; ) {
    const page = await log.read({ after, limit: PAGE, kindPrefix: 'approval.' });
    for (const entry of page) {
      const { fact } = entry;
      if (isApprovalFact(fact)) applyApproval(approvals, fact, timeOf(entry));
    }
    after = page.at(-1)?.seq ?? after;
    if (page.length < PAGE) return approvals;
  }
}

/** Finds an approval by its id, or by a unique beginning of at least eight digits. */
export function approvalNamed(approvals: Approvals, word: string): Approval | Denied {
  const exact = Object.hasOwn(approvals, word) ? approvals[word] : undefined;
  if (exact) return exact;
  const start = word.startsWith('P-') ? word : `P-${word}`;
  const isLong = /^P-[0-9a-f]+$/.test(start) && start.length >= PREFIX_MIN + 2;
  const isShort = /^P-[0-9a-f]*$/.test(start) && !isLong;
  const found = isLong ? Object.values(approvals).filter(({ id }) => id.startsWith(start)) : [];
  const [one, another] = found;
  if (one && !another) return one;
  const why = another
    ? `${found.length} approvals begin with this`
    : isShort
      ? `give at least ${PREFIX_MIN} digits of the id`
      : 'no open approval has this id';
  return deny('UNKNOWN_APPROVAL', `${word.slice(0, 64)}: ${why}; \`baton approvals\` lists what is open`, {
    approval: word.slice(0, 64),
  });
}

/** The commands of an approval whose executors still run, even if they were reported lost. */
export function runningIn(approval: Approval): readonly number[] {
  return unsettledUses(approval).filter((index) => {
    const executor = approval.uses[index]?.executor;
    return executor !== undefined && isRunning(executor);
  });
}

/** Approvals with a command that began and whose end is unknown. */
export function interruptedApprovals(approvals: Approvals): readonly Approval[] {
  return Object.values(approvals).filter((one) => unsettledUses(one).length > runningIn(one).length);
}

/** Executors that began a command and no longer run. */
export function goneExecutors(approvals: readonly Approval[]): Gone {
  return approvals
    .flatMap((approval) => unsettledUses(approval).flatMap((index) => approval.uses[index]?.executor ?? []))
    .filter((executor) => !isRunning(executor));
}

type Requester = {
  readonly name: string;
  readonly from: Origin | null;
  /** The variables that its materia gets by name. */
  readonly handed: readonly string[];
  /** False if an attempt is named without proof. */
  readonly isProven: boolean;
};

const NOTHING = { from: null, handed: [] } as const;

export async function requesterOf(
  env: Variables,
  stateDir: string,
  castOf: (id: string) => Promise<Cast | null>,
  actor: Pick<Actor, 'name'>,
): Promise<Requester> {
  const above = attemptAbove();
  const named = above === null ? attemptIn(env, stateDir) : null;
  const found = above ?? named;
  if (!found) return { name: env.BATON_OWNER ? `owner:${env.BATON_OWNER}` : actor.name, ...NOTHING, isProven: true };
  const { cast, turn, attempt } = found;
  const state = await castOf(cast);
  const open = state?.turns[turn];
  const runsNow = open?.phase === 'running' && open.attempt === attempt;
  // It gets a name that no agent has, so it can use no agent's approval.
  if (named && !(runsNow && isVouchedFor(named.dir, env))) {
    return { name: `unproven:${cast}-${turn}`, ...NOTHING, isProven: false };
  }
  if (!state || !open) return { name: `attempt:${cast}-${turn}`, ...NOTHING, isProven: true };
  const handed = variablesOf(chosenMateria(state, open));
  return { name: agentIdOfTurn(state, open), from: { cast, turn, attempt }, handed, isProven: true };
}
