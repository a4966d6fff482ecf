// What a cast may use, and more of it.
import type { JsonObject } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { refusalOfDecision } from '../decision.ts';
import { nameCast } from '../name-cast.ts';
import type { Operation } from './table.ts';

export const castBudget: Operation<'cast.budget'> = async (workspace, { cast: word, ...limits }, { actor }) => {
  const { tokens, cost, minutes } = limits;
  for (const [name, value] of Object.entries(limits))
    if (value !== undefined && value < 0) throw new UsageError(`--${name} must be a number, 0 or above, not ${value}`);
  if (tokens !== undefined && !Number.isSafeInteger(tokens))
    throw new UsageError(`--tokens must be a whole number, not ${tokens}`);
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, workspace.program);
  if (tokens === undefined && cost === undefined && minutes === undefined) {
    const state = await store.view('cast', cast);
    if (!state) throw new UsageError(`there is no cast ${cast}`, 'UNKNOWN_CAST');
    const { budget, usage, clock } = state;
    const used = { cast, budget, usage, elapsedMs: clock.elapsedMs };
    return allow(`the budget of cast ${cast}`, used as unknown as JsonObject);
  }
  const refusal = refusalOfDecision(workspace, 'cast.budget', actor, cast, 'change what a cast may use');
  if (refusal) return refusal;
  return store.submit(
    {
      kind: 'budget.change',
      cast,
      ...(tokens === undefined ? {} : { maxTokens: tokens }),
      ...(cost === undefined ? {} : { maxCost: cost }),
      ...(minutes === undefined ? {} : { maxDurationMs: Math.round(minutes * 60_000) }),
    },
    actor,
  );
};
