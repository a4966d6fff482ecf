// Who asks for an approval and who uses it: the agent of a turn under the name that the runtime gave it, else the owner that
// was named for the session, else the user. Which turn it is comes from the processes above. Where there is no such process,
// an environment may name it, and is believed only with the secret of an attempt that runs at this moment.
import type { Actor } from '../access/actor.ts';
import { attemptAbove, attemptIn, isVouchedFor } from '../access/attempt.ts';
import type { Origin } from '../kernel/approval/request.ts';
import { chosenMateria, variablesOf } from '../kernel/cast/runner-choice.ts';
import { agentIdOfTurn } from '../kernel/report/contract.ts';
import type { Cast } from '../kernel/state.ts';
import type { Variables } from './bound-variables.ts';

type Requester = {
  readonly name: string;
  readonly from: Origin | null;
  /** The variables that its materia is handed by name. */
  readonly handed: readonly string[];
  /** False where an attempt is named and nothing vouches for that. */
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
  // It gets a name that no agent has, so that nothing which was approved for an agent runs for it.
  if (named && !(runsNow && isVouchedFor(named.dir, env))) {
    return { name: `unproven:${cast}-${turn}`, ...NOTHING, isProven: false };
  }
  if (!state || !open) return { name: `attempt:${cast}-${turn}`, ...NOTHING, isProven: true };
  const handed = variablesOf(chosenMateria(state, open));
  return { name: agentIdOfTurn(state, open), from: { cast, turn, attempt }, handed, isProven: true };
}
