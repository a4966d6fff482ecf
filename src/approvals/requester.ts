// Who requests or uses an approval: the agent of a turn under its name from the runtime, else the owner of the session, else
// the user. The processes above say which turn it is. Without such a process the environment may name one. It counts only with
// the secret of an attempt that runs now.
import type { Actor } from '../access/actor.ts';
import { attemptAbove, attemptIn, isVouchedFor } from '../access/attempt.ts';
import type { Origin } from '../kernel/approval/request.ts';
import { chosenMateria, variablesOf } from '../kernel/cast/rules.ts';
import type { Cast } from '../kernel/cast/state.ts';
import type { Variables } from '../kernel/credential.ts';
import { agentIdOfTurn } from '../kernel/report/contract.ts';

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
