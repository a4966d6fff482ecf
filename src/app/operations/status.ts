// What runs, waits and ended last in a workspace; whether it is paused, and its registry and quarantine. These are read from the newest
// snapshot and later facts, so that the cost does not grow with the log.
import { interruptedApprovals } from '../../approvals/open-approvals.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { heldLocks } from '../../kernel/ledger/wire.ts';
import type { Quests } from '../../kernel/quest/state.ts';
import { allow } from '../../kernel/verdict.ts';
import { type Listed, listCasts } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import { socketNames } from '../views/in-words.ts';
import type { Operation } from './table.ts';

const ENDED_SHOWN = 3;
const EMPTY = { head: 0, hold: null, trust: 'off', quests: {}, down: [], open: [], ended: [], cutOff: [] } as const;

export const showStatus: Operation<'status'> = async (workspace) => {
  const { dir } = workspace;
  const status = workspace.hasLog() ? await statusIn(workspace.castStore()) : EMPTY;
  return allow(`${status.open.length} casts are open`, { workspace: dir, ...status } as unknown as JsonObject);
};

export type Status = Awaited<ReturnType<typeof statusIn>> & { readonly workspace: string };

async function statusIn(store: WorkspaceStore) {
  // The casts are asked first: that refuses a log of which an entry is missing.
  const casts = await settledCasts(store);
  const { hold, trust, quests } = await store.view('workspace');
  const ended = await listCasts(store, Date.now(), { isOpen: false, limit: ENDED_SHOWN });
  const isStopped = casts.some(({ status }) => status === 'paused' || status === 'waiting');
  const ledger = isStopped ? await store.view('ledger') : null;
  const open = await Promise.all(
    casts.map(async (cast) => {
      const driver = (await store.view('driver', cast.cast))?.pid ?? null;
      const state = await store.view('cast', cast.cast);
      const { usage = { input: 0, output: 0, cost: 0 }, since } = state ?? {};
      const locks = ledger && cast.status !== 'running' ? heldLocks(ledger, cast.cast) : [];
      const holds = [...new Set(locks.map(({ path }) => path))];
      const names = state ? socketNames(state.rules) : {};
      return {
        ...cast,
        driver,
        usage,
        since: since === undefined ? null : new Date(since).toISOString(),
        holds,
        names,
      };
    }),
  );
  // What an open cast began is among what it waits for.
  const isOpen = (id: string | undefined) => open.some(({ cast }) => cast === id);
  const unfinished = interruptedApprovals(await store.view('approvals')).filter(({ from }) => !isOpen(from?.cast));
  return {
    head: (await store.view('head')).seq,
    hold: hold === null ? null : { ...hold },
    trust: trust.registry === null ? 'off' : 'on',
    /** How many quests there are of each kind, without those that succeeded. */
    quests: questCounts(quests),
    /** Runners whose turns wait, because their provider or their sign-in is down. */
    down: (await store.view('outages', Date.now())).map(({ runner, code, reason, since, askAt }) => ({
      ...{ runner, code, reason },
      ...{ since: new Date(since).toISOString(), askAt: new Date(askAt).toISOString() },
    })),
    open,
    ended,
    /** Approvals of casts that are over, or of no cast, whose command began and has no known end. */
    cutOff: unfinished.map(({ id, from }) => ({ approval: id, cast: from?.cast ?? null })),
  };
}

/** A cast that seems to have no driver may have ended between the two looks, so it is looked at again. */
async function settledCasts(store: WorkspaceStore): Promise<readonly Listed[]> {
  const open = () => listCasts(store, Date.now(), { isOpen: true });
  const casts = await open();
  const isAbandoned = async ({ cast, status }: Listed) =>
    status === 'running' && (await store.view('driver', cast)) === null;
  return (await Promise.all(casts.map(isAbandoned))).includes(true) ? open() : casts;
}

function questCounts({ all }: Quests): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of Object.values(all)) if (status !== 'succeeded') counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
