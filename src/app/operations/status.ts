// What runs, waits and ended last in a workspace.
import { approvalsIn, interruptedApprovals } from '../../approvals/open-approvals.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { heldLocks } from '../../kernel/ledger/wire.ts';
import { allow } from '../../kernel/verdict.ts';
import { type Listed, listCasts } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import { socketNames } from '../views/socket-names.ts';
import { workspaceStatus } from '../workspace-status.ts';
import type { Operation } from './table.ts';

const ENDED_SHOWN = 3;
const EMPTY = { head: 0, hold: null, trust: 'off', down: [], open: [], ended: [], cutOff: [] } as const;

export const showStatus: Operation<'status'> = async (workspace) => {
  const { dir } = workspace;
  const status = workspace.hasLog() ? await statusIn(workspace.castStore()) : EMPTY;
  return allow(`${status.open.length} casts are open`, { workspace: dir, ...status } as unknown as JsonObject);
};

export type Status = Awaited<ReturnType<typeof statusIn>> & { readonly workspace: string };

async function statusIn(store: WorkspaceStore) {
  // The casts are asked first: that refuses a log of which an entry is missing.
  const casts = await settledCasts(store);
  const { hold, trust } = await workspaceStatus(store.log);
  const ended = await listCasts(store, Date.now(), { isOpen: false, limit: ENDED_SHOWN });
  const isStanding = casts.some(({ status }) => status === 'paused' || status === 'waiting');
  const ledger = isStanding ? await store.view('ledger') : null;
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
  const unfinished = interruptedApprovals(await approvalsIn(store.log)).filter(({ from }) => !isOpen(from?.cast));
  return {
    head: (await store.view('head')).seq,
    hold: hold === null ? null : { ...hold },
    trust: trust.registry === null ? 'off' : 'on',
    /** Runners whose turns wait, because their provider or their sign-in is down. */
    down: (await store.view('outages', Date.now())).map(({ runner, code, reason, since, askAt }) => ({
      ...{ runner, code, reason },
      ...{ since: new Date(since).toISOString(), askAt: new Date(askAt).toISOString() },
    })),
    open,
    ended,
    /** Approvals of casts that are over, or of none, of which something began; nobody knows how it ended. */
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
