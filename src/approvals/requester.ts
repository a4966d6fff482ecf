// Who asks for an approval and who uses it: the agent of a turn under the name that the runtime gave it, else the owner that
// was named for the session, else the user. Which turn it is comes from the processes above, and from the environment only
// where there is no such process.
import { attemptAbove } from '../access/attempt-above.ts';
import { whoActs } from '../access/who-acts.ts';
import type { Origin } from '../kernel/approval/request.ts';
import type { Cast } from '../kernel/state.ts';
import { agentIdOfTurn } from '../kernel/turn/contract-for.ts';
import { attemptIn } from '../mcp/attempt.ts';
import type { Variables } from './bound-variables.ts';

export type Requester = { readonly name: string; readonly from: Origin | null };

export async function requesterOf(
  env: Variables,
  stateDir: string,
  castOf: (id: string) => Promise<Cast | null>,
): Promise<Requester> {
  const attempt = attemptAbove() ?? attemptIn(env, stateDir);
  if (!attempt) return { name: env.BATON_OWNER ? `owner:${env.BATON_OWNER}` : whoActs().by, from: null };
  const { cast, turn } = attempt;
  const state = await castOf(cast);
  const open = state?.turns[turn];
  if (!state || !open) return { name: `attempt:${cast}-${turn}`, from: null };
  return { name: agentIdOfTurn(state, open), from: { cast, turn, attempt: attempt.attempt } };
}
