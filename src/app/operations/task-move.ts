// How a person steers the ledger by hand: moves a task, pauses all work, lets it go on.
import { knownCode } from '../../kernel/ledger/move.ts';
import { findTask, runOf } from '../../kernel/ledger/state.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { dropClaim, dropStray } from '../../workspace/claim-record.ts';
import { UsageError } from '../../workspace/locate.ts';
import { claiming, wishFor } from '../claims.ts';
import { type LedgerSession, ledgerSession, runWanted, writeWorklog } from '../ledger-session.ts';
import type { Operation } from './table.ts';

/** A task is moved by hand. A person needs no fence; whoever gives one speaks as the owner. */
export const taskMove: Operation<'task.move'> = async (workspace, input, context) => {
  const { task, status: to, reason, owner, fence, expectedVersion } = input;
  const code = knownCode(input.code);
  if (input.code !== undefined && code === null)
    throw new UsageError(`${input.code} is no code; \`${workspace.program} explain\` lists them`);
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  const run = await runWanted(session, input.run);
  const { before, cast, wishes } = await store.look((ledger) => {
    const found = findTask(ledger, { task, ...(run === undefined ? {} : { run }) });
    if (!found.ok) return { before: null, cast: null, wishes: [] };
    const starts = { run: found.task.run, task };
    const { id, runId, cast } = runOf(ledger, found.task.run) ?? { id: '', runId: undefined, cast: false };
    return {
      before: { ...found.task },
      cast: { id, runId, isCast: cast },
      wishes: to === 'in_progress' ? wishFor(ledger, starts, owner ?? found.task.owner, expectedVersion) : [],
    };
  }, run);
  const isAgent = actor.kind === 'agent';
  const ask = () =>
    store.submit(
      {
        kind: 'task.move',
        task,
        to,
        reason,
        ...(run === undefined ? {} : { run }),
        ...(code === null ? {} : { code }),
        ...(owner === undefined ? {} : { owner }),
        ...(fence === undefined ? {} : { fence }),
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
        // A process that an agent started does not become a person by leaving the fence out.
        ...(isAgent ? { actor: 'agent' } : {}),
      },
      actor,
    );
  const verdict = await claiming(session, wishes, ask);
  if (!verdict.allow || !before) return verdict;
  if (fence === undefined && !isAgent) dropStray(workspace.stateDir, before);
  if (to === 'in_progress') return verdict;
  if (to === 'blocked' || to === 'failed' || before.status === 'in_progress')
    await writeWorklog({ ...session, log: store.log }, before, cast.runId);
  if (before.fence !== null) dropClaim(workspace.stateDir, before.fence);
  return cast.isCast ? withWayOn(session, cast.id, verdict) : verdict;
};

/** A stopped cast goes on only when somebody carries it on. */
async function withWayOn(
  { store, workspace }: LedgerSession,
  id: string,
  { reason, details }: Verdict,
): Promise<Verdict> {
  const status = (await store.view('cast', id))?.status;
  const verbs: Partial<Record<string, string>> = { failed: 'recast', aborted: 'recast', running: 'watch' };
  const carryOn = `${workspace.program} ${verbs[status ?? ''] ?? 'continue'} ${id}`;
  return allow(`${reason}; cast ${id} is ${status}: ${carryOn}`, { ...details, cast: id, carry_on: carryOn });
}

/** Nothing new is handed out in this workspace until it is released; what runs goes on. */
export const holdWork: Operation<'hold'> = async (workspace, { reason }, context) => {
  const { store, actor } = ledgerSession(workspace, context, { begins: true });
  return store.submit({ kind: 'ledger.hold', reason }, actor);
};

/** Work is handed out again. */
export const releaseWork: Operation<'unhold'> = async (workspace, { reason = 'no longer held' }, context) => {
  const { store, actor } = ledgerSession(workspace, context);
  return store.submit({ kind: 'ledger.unhold', reason }, actor);
};
