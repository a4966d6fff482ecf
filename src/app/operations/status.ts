// What runs, waits and ended last in a workspace; whether it is paused, and its registry and quarantine. These are read from the newest
// snapshot and later facts, so that the cost does not grow with the log.
import { interruptedApprovals } from '../../approvals/open-approvals.ts';
import type { Log } from '../../engine/ports.ts';
import { restored } from '../../engine/snapshot.ts';
import { timeOf } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Ledger } from '../../kernel/ledger/state.ts';
import { heldLocks } from '../../kernel/ledger/wire.ts';
import { applyQuest, isQuestFact, noQuests, type Quests } from '../../kernel/quest/state.ts';
import { applyTrust, isTrustFact, noTrust, type Trust } from '../../kernel/trust/state.ts';
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
  const { hold, trust, quests } = await workspaceStatus(store.log);
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

type WorkspaceStatus = { readonly hold: Ledger['hold']; readonly trust: Trust; readonly quests: Quests };

/** Whether the workspace is paused, and its registry and quarantine. */
export async function workspaceStatus(log: Log): Promise<WorkspaceStatus> {
  const known = await restored(log, ({ trust, ledger, quests }) => ({ trust, quests, hold: ledger.hold }));
  const after = known?.through ?? 0;
  const trust = await trustIn(log, known?.found.trust, after);
  let hold = known?.found.hold ?? null;
  for (const { fact } of await log.read({ after, kindPrefix: 'ledger.' })) {
    if (fact.kind === 'ledger.held') hold = { by: fact.by, reason: fact.reason };
    else if (fact.kind === 'ledger.unheld') hold = null;
  }
  const quests = known?.found.quests ?? noQuests();
  for (const entry of await log.read({ after, kindPrefix: 'quest.' }))
    if (isQuestFact(entry.fact)) applyQuest(quests, entry.fact, timeOf(entry));
  return { hold, trust, quests };
}

function questCounts({ all }: Quests): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of Object.values(all)) if (status !== 'succeeded') counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Registry and quarantine from the facts of the log: all of them, or those after what was known. */
export async function trustIn(log: Pick<Log, 'read'>, trust: Trust = noTrust(), after = 0): Promise<Trust> {
  const facts = [
    ...(await log.read({ after, kindPrefix: 'registry.' })),
    ...(await log.read({ after, kindPrefix: 'quarantine.' })),
  ].toSorted((a, b) => a.seq - b.seq);
  for (const entry of facts) if (isTrustFact(entry.fact)) applyTrust(trust, entry.fact, timeOf(entry));
  return trust;
}
