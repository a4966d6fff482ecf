// What an attempt came to, as the request that tells the store.
import type { Request } from '../kernel/input.ts';
import type { Effect } from '../kernel/pending.ts';
import type { AttemptResult } from './ports.ts';

type TurnEffect = Extract<Effect, { turn: number }>;

export const NOT_BEGUN: AttemptResult = { kind: 'lost', mayHaveRun: false, reason: 'it had not begun' };

export function asInput({ cast, turn, attempt }: TurnEffect, result: AttemptResult): Request {
  const common = { cast, turn, attempt };
  const { usage, agent } = result;
  const known = { ...(usage ? { usage } : {}), ...(agent ? { agent } : {}) };
  if (result.kind === 'lost') {
    return { kind: 'attempt.lost', ...common, mayHaveRun: result.mayHaveRun, reason: result.reason, ...known };
  }
  switch (result.kind) {
    case 'output':
      return {
        kind: 'attempt.output',
        ...common,
        output: result.output,
        ...known,
        ...(result.truncated ? { truncated: true } : {}),
        ...(result.cutShort ? { cutShort: true } : {}),
      };
    case 'fault': {
      const { fault, reason, code, retryAfterMs, said, tries } = result;
      const more = {
        ...(code ? { code } : {}),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(said === undefined ? {} : { said }),
        ...(tries === undefined ? {} : { tries }),
      };
      return { kind: 'attempt.failed', ...common, fault, reason, ...known, ...more };
    }
  }
}

/** An attempt that was interrupted goes on. One that had ended by then has its outcome. */
export function asInterruption(effect: TurnEffect, result: AttemptResult): Request {
  if (result.kind !== 'lost') return asInput(effect, result);
  const { cast, turn, attempt } = effect;
  const { usage, agent } = result;
  const known = { ...(usage ? { usage } : {}), ...(agent ? { agent } : {}) };
  return { kind: 'attempt.interrupted', cast, turn, attempt, ...known };
}

export function usageInput({ cast, turn, attempt }: TurnEffect, result: AttemptResult): Request | null {
  const { usage, agent } = result;
  return usage ? { kind: 'attempt.spent', cast, turn, attempt, usage, ...(agent ? { agent } : {}) } : null;
}
