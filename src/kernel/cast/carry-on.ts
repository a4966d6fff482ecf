// Which verb carries a cast on from where it is. `continue` does what a person most likely wants; the others are exact.
import type { Cast, CastStatus } from '../state.ts';
import type { Denied } from '../verdict.ts';
import { isExpired, type Stands } from './expired.ts';

export type Exact = 'resume' | 'recast' | 'revive';
export type Verb = Exact | 'continue';

/** The statuses each verb can do something for. */
const FITS: Readonly<Record<Exact, readonly CastStatus[]>> = {
  resume: ['running', 'paused'],
  recast: ['failed', 'aborted'],
  revive: ['failed'],
};

/** The statuses of the casts that a verb may mean where none is named. */
export function mayMean(verb: Verb, { status, code }: Pick<Stands, 'status' | 'code'>): boolean {
  // An old failure is not what a person means to continue once later casts went well.
  if (verb === 'continue') return ['running', 'paused', 'waiting'].includes(status);
  return FITS[verb].includes(status) && (verb !== 'revive' || code === 'EDGE_BUDGET_EXHAUSTED');
}

/** The allowance that a stopped cast has spent, which a person may extend. */
export function spentAllowance({ status, code }: Pick<Stands, 'status' | 'code'>): 'retries' | 'budget' | null {
  if (status !== 'failed' && status !== 'aborted') return null;
  if (code === 'EDGE_BUDGET_EXHAUSTED') return 'retries';
  return code === 'BUDGET_EXHAUSTED' ? 'budget' : null;
}

export type Step = {
  readonly verb: Exact;
  /**
   * `drive`: it runs already, and nobody drives it. `submit`: the verb is submitted, then the cast is driven. `refuse`: the
   * rules refuse the verb, and nothing is driven for it. `nothing`: there is nothing to carry on.
   */
  readonly how: 'drive' | 'submit' | 'refuse' | 'nothing';
};

/** `isExtended` says that a person extends the spent allowance. */
export function stepFor(verb: Verb, stands: Stands, now: number, isExtended = false): Step {
  const { status, code } = stands;
  const exact = verb === 'continue' ? obvious(stands, isExtended) : verb;
  // A blocked task is tried again when a person says so; an unknown outcome needs more than that.
  const isStuck = isExpired(stands, now) || (verb === 'continue' && status === 'waiting' && code !== 'OUTCOME_UNKNOWN');
  if (isStuck) return { verb: exact, how: 'submit' };
  if (!FITS[exact].includes(status)) return { verb: exact, how: exact === 'resume' ? 'nothing' : 'refuse' };
  return { verb: exact, how: exact === 'resume' && status === 'running' ? 'drive' : 'submit' };
}

function obvious(stands: Stands, isExtended: boolean): Exact {
  if (stands.status !== 'failed' && stands.status !== 'aborted') return 'resume';
  return isExtended && spentAllowance(stands) === 'retries' ? 'revive' : 'recast';
}

export type Limits = { readonly maxTokens?: number; readonly maxCost?: number; readonly maxDurationMs?: number };

/** Each limit of the cast, with as much again as it had at first. */
export function asMuchAgain({ budget, rules }: Pick<Cast, 'budget' | 'rules'>): Limits {
  const raised = (['maxTokens', 'maxCost', 'maxDurationMs'] as const).flatMap((limit) => {
    const [now, first] = [budget[limit], rules.budget[limit]];
    return now === null || first === null ? [] : [[limit, now + first] as const];
  });
  return Object.fromEntries(raised);
}

/** A refusal of what was handed in is in the log, and the cast shows where it is; these say that nothing was taken. */
export function isNotTaken({ code }: Denied): boolean {
  return code === 'NOT_ALLOWED_NOW' || code === 'UNKNOWN_TURN' || code === 'APPROVAL_EXPIRED';
}
