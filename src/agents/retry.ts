// When an adapter tries again by itself: a provider asked for patience, and nothing has happened yet that a second try
// would repeat. Everything else is for the engine to decide, where it is recorded. A turn has one budget of retries: what its
// program and its adapter use of it is not left for the engine.
import type { AgentFault } from './fault.ts';

export type RetryRules = {
  readonly retriesMax: number;
  /** Doubled each time when the provider names no time. */
  readonly firstMs: number;
  /** A longer wait than this is not made here: the attempt fails and says how long it would be. */
  readonly waitMaxMs: number;
};

export const RETRY: RetryRules = { retriesMax: 3, firstMs: 2_000, waitMaxMs: 120_000 };

/** How long to wait before trying again, or null for not at all. */
export function waitBefore(
  fault: AgentFault,
  state: { readonly retries: number; readonly retriesMax: number; readonly toolCalls: number; readonly leftMs: number },
  rules: RetryRules = RETRY,
): number | null {
  const { retries, retriesMax, toolCalls, leftMs } = state;
  if (fault.code !== 'RATE_LIMITED' && fault.code !== 'PROVIDER_ERROR') return null;
  if (retries >= Math.min(rules.retriesMax, retriesMax) || toolCalls > 0) return null;
  const waitMs = Math.max(fault.retryAfterMs ?? 0, rules.firstMs * 2 ** retries);
  return waitMs <= rules.waitMaxMs && waitMs < leftMs ? waitMs : null;
}

/** Answers false when the signal came first. */
export function patience(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (isOver: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve(isOver);
    };
    const stop = () => done(false);
    const timer = setTimeout(() => done(true), ms);
    signal.addEventListener('abort', stop);
  });
}
