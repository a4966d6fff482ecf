// The claim that an attempt works under: its task, its fence and its owner, as the log has them. An agent need not say them.
import type { Attempt } from '../access/attempt.ts';
import { taskOf } from '../kernel/ledger/state.ts';
import type { Cast, Turn } from '../kernel/state.ts';
import { deny } from '../kernel/verdict.ts';
import type { LedgerSession } from './ledger-session.ts';
import { Refused } from './refused.ts';
import type { WorkspaceStore } from './store.ts';

export type OwnClaim = {
  readonly run: string;
  readonly runId: string;
  readonly task: string;
  readonly fence?: number;
  readonly owner?: string;
  readonly root?: string;
};

/** The turn that the attempt belongs to, while it is the present one. */
export async function turnOf(
  store: Pick<WorkspaceStore, 'view'>,
  { cast: id, turn, attempt, fence }: Attempt,
): Promise<{ readonly cast: Cast; readonly turn: Turn }> {
  const cast = await store.view('cast', id);
  if (!cast) throw new Refused(deny('UNKNOWN_CAST', `there is no cast ${id} in this workspace`, { cast: id }));
  const open = cast.turns[turn];
  if (open?.phase === 'running' && open.attempt === attempt && open.fence === fence) return { cast, turn: open };
  const reason = `attempt ${turn}.${attempt} of cast ${id} is over; what it brings is not taken any more. Stop working.`;
  throw new Refused(deny('STALE_ATTEMPT', reason, { cast: id, turn, attempt }));
}

/** The claim at hand; null for whoever is no attempt. */
export async function ownClaim({ store, actor }: LedgerSession): Promise<OwnClaim | null> {
  const { attempt } = actor;
  if (!attempt) return null;
  const { cast, turn } = await turnOf(store, attempt);
  const { task, fence } = turn;
  if (task === null)
    throw new Refused(deny('NOT_ALLOWED_NOW', 'this turn works on no task of the ledger; there is nothing to keep'));
  const owner = await store.look((ledger) => taskOf(ledger, cast.id, task)?.owner, cast.id);
  return {
    run: cast.id,
    runId: cast.runId,
    task,
    ...(fence === null ? {} : { fence }),
    ...(owner ? { owner } : {}),
    ...(cast.root === undefined ? {} : { root: cast.root }),
  };
}

/** `given`, filled in from the claim at hand where no task is named. */
export async function withOwnClaim<G extends { readonly task?: string | undefined }>(
  session: LedgerSession,
  given: G,
): Promise<G & Partial<OwnClaim>> {
  const { attempt } = session.actor;
  const isOwn = given.task !== undefined && given.task === attempt?.task && attempt.fence !== null;
  const own = given.task === undefined ? await ownClaim(session) : isOwn ? { fence: attempt.fence } : null;
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...own, ...said } as G & Partial<OwnClaim>;
}

/** Refuses where something is still missing that the operation needs. */
export function requireNames(given: Readonly<Record<string, unknown>>, needed: readonly string[]): void {
  const missing = needed.filter((name) => given[name] === undefined);
  if (missing.length > 0) throw new Refused(deny('BAD_USAGE', `say which: ${missing.join(', ')}`, { missing }));
}
