// Claims, moves and finishes tasks of the ledger, and pauses all work. A claim takes a task and all its locks in one step. For a result,
// the real changes are compared with the scope of the task, and criteria with a checker are checked, before the ledger decides.

import { takeResult } from '../../dialects/operator/read.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Check } from '../../kernel/ledger/fact.ts';
import { knownCode } from '../../kernel/ledger/move.ts';
import { refusalOfChanges } from '../../kernel/ledger/scope.ts';
import { findTask, runOf, type Task, taskOf } from '../../kernel/ledger/state.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { ChangesError } from '../../workspace/changes-mark.ts';
import { runCheckers } from '../../workspace/checkers.ts';
import { changesOfTask, dropClaim, dropStray, keepStray } from '../../workspace/claim-record.ts';
import { UsageError } from '../../workspace/locate.ts';
import { candidateFor, candidatesOfSearch, claiming, claimRecordOf } from '../claims.ts';
import {
  configureLocks,
  declaredCheckers,
  folderOf,
  jsonText,
  type LedgerSession,
  ledgerSession,
  refusePayload,
  runCalled,
  runWanted,
  workerNamed,
  writeWorklog,
} from '../ledger-session.ts';
import type { Context } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

/** A task and all its locks go to one owner, who gets a fence. What the folder looks like is kept, so that it can be told
 * later what was changed. */
export const taskClaim: Operation<'task.claim'> = async (workspace, input, context) => {
  const { task, owner, expectedVersion } = input;
  const worker = workerNamed(input.pid);
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  const isAgent = actor.kind === 'agent';
  await configureLocks(store, workspace, actor);
  const run = await runWanted(session, input.run);
  const which = { task, owner, ...(run === undefined ? {} : { run }) };
  const version = expectedVersion === undefined ? {} : { expectedVersion };
  const ask = () => store.submit({ kind: 'task.claim', ...which, ...version, isAgent }, actor);
  const candidates = await store.look((ledger) => candidateFor(ledger, which, owner, expectedVersion), run);
  return claiming(session, candidates, ask, worker);
};

/** The best task that can start now is found and claimed in one step. */
export const taskNext: Operation<'task.next'> = async (workspace, { owner, ...input }, context) => {
  const worker = workerNamed(input.pid);
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  await configureLocks(store, workspace, actor);
  const run = await runWanted(session, input.run);
  const which = { owner, ...(run === undefined ? {} : { run }) };
  const ask = () => store.submit({ kind: 'task.next', ...which, isAgent: actor.kind === 'agent' }, actor);
  const candidates = await store.look((ledger) => candidatesOfSearch(ledger, run, owner), run);
  return claiming(session, candidates, ask, worker);
};

export const taskFinish: Operation<'task.finish'> = async (workspace, { fence, ...input }, context) => {
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  const taken = takeResult(jsonText(input.result));
  if (!taken.ok) return refusePayload(session, 'finish', taken);
  const { payload: result, warnings } = taken;
  const [named, id] = [String(result.run_id), String(result.task_id)];
  const run = (await store.look((ledger) => runCalled(ledger, named, actor.attempt?.cast))) ?? named;
  const { task, isCurrent } = await store.look((ledger) => {
    const task = taskOf(ledger, run, id);
    // A late result, or one of a cast's task, is refused as it is; nothing is run for it.
    return { task: task && { ...task }, isCurrent: task?.fence === fence && !runOf(ledger, run)?.cast };
  }, run);
  const seen = task && isCurrent ? await lookAt(session, task, fence, result, context) : { found: {} };
  if ('refusal' in seen)
    return refusePayload(session, 'finish', { ok: false, refusal: seen.refusal, subject: { run, task: id } });
  const request = { kind: 'task.finish', run, task: id, fence, result, ...seen.found } as const;
  const verdict = await store.submit(request, actor);
  const { stateDir } = workspace;
  if (task && verdict.code === 'SCOPE_VIOLATION') keepStray(stateDir, fence, task);
  if (!verdict.allow) return verdict;
  if (task && isCurrent) {
    if (result.status === 'done') dropStray(stateDir, task);
    await writeWorklog(session, task);
    dropClaim(stateDir, fence);
  }
  return warnings.length === 0 ? verdict : allow(verdict.reason, { ...verdict.details, warnings });
};

type Found = { readonly changes?: readonly string[]; readonly checks?: Readonly<Record<string, Check>> };
type Seen = { readonly found: Found } | { readonly refusal: Extract<Verdict, { allow: false }> };

async function lookAt(
  session: LedgerSession,
  task: Task,
  fence: number,
  result: JsonObject,
  { signal, onEvent }: Context,
): Promise<Seen> {
  const { store, workspace } = session;
  const root = folderOf(task, workspace);
  const ledger = await store.view('ledger', task.run);
  let changes: readonly string[];
  let checkers: JsonObject | undefined;
  try {
    const record = await claimRecordOf(session, task);
    checkers = record?.checkers;
    if (!record) throw new ChangesError('nothing is kept of how its folder looked when it was claimed');
    const since = await store.read({ after: record.seq, kindPrefix: 'task.claimed' });
    const found = await changesOfTask(record, workspace.stateDir, root, { ledger, task, since });
    changes = found.map(({ path }) => path);
  } catch (error) {
    if (!(error instanceof ChangesError)) throw error;
    const reason = `The changes of ${task.id} cannot be inspected: ${error.message}. ${wayOut(workspace, task, fence)}`;
    return { refusal: deny('MISSING_VALIDATOR', reason, { task: task.id, fence }) };
  }
  if (result.status !== 'done' || Object.keys(task.checkers).length === 0) return { found: { changes } };
  // What changed outside is refused whatever a checker would say; nothing is started for it.
  if (refusalOfChanges(task, changes, ledger.locks)) return { found: { changes } };
  const alive = keepAlive(session, task, fence);
  try {
    const declared = checkers ?? declaredCheckers(workspace).checkers;
    const checks = await runCheckers(task.checkers, declared, {
      root,
      changes,
      signal,
      say: (text) => onEvent({ kind: 'note', text }),
    });
    signal.throwIfAborted();
    return { found: { changes, checks } };
  } finally {
    clearInterval(alive);
  }
}

/** Nothing passes unchecked. The refusal says who may still end the task, and how. */
function wayOut({ program }: Workspace, { id, owner }: Task, fence: number): string {
  const move = `${program} task move ${id}`;
  return `Give it up with \`${move} blocked --fence ${fence} --reason …\` and claim it again (\`${program} task claim ${id} --owner ${owner}\`); or a person who has looked at it says \`${move} done --reason …\`.`;
}

/** A checker may take its time; the owner has handed in its work and is not silent meanwhile. */
function keepAlive({ store }: LedgerSession, { run, id, owner, heartbeatS }: Task, fence: number): NodeJS.Timeout {
  const again = () => void store.lease('beat', { run, task: id, owner, fence, at: Date.now() }).catch(() => undefined);
  again();
  return setInterval(again, heartbeatS * 1000);
}

/** Moves a task by hand. A person needs no fence; with a fence the caller acts as the owner. */
export const taskMove: Operation<'task.move'> = async (workspace, input, context) => {
  const { task, status: to, reason, owner, fence, expectedVersion } = input;
  const code = knownCode(input.code);
  if (input.code !== undefined && code === null)
    throw new UsageError(`${input.code} is no code; \`${workspace.program} explain\` lists them`);
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  const run = await runWanted(session, input.run);
  const { before, cast, candidates } = await store.look((ledger) => {
    const found = findTask(ledger, { task, ...(run === undefined ? {} : { run }) });
    if (!found.ok) return { before: null, cast: null, candidates: [] };
    const starts = { run: found.task.run, task };
    const { id, runId, cast } = runOf(ledger, found.task.run) ?? { id: '', runId: undefined, cast: false };
    return {
      before: { ...found.task },
      cast: { id, runId, isCast: cast },
      candidates: to === 'in_progress' ? candidateFor(ledger, starts, owner ?? found.task.owner, expectedVersion) : [],
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
  const verdict = await claiming(session, candidates, ask);
  if (!verdict.allow || !before) return verdict;
  if (fence === undefined && !isAgent) dropStray(workspace.stateDir, before);
  if (to === 'in_progress') return verdict;
  if (to === 'blocked' || to === 'failed' || before.status === 'in_progress')
    await writeWorklog(session, before, cast.runId);
  if (before.fence !== null) dropClaim(workspace.stateDir, before.fence);
  return cast.isCast ? withWayOn(session, cast.id, verdict) : verdict;
};

/** Adds the command that carries a stopped cast on. */
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
