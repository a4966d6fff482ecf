// One result is handed in. What was really changed is compared with the task's scope, and criteria with a checker are
// checked, before the ledger decides.
import { takeResult } from '../../dialects/operator/read.ts';
import { beat } from '../../engine/heartbeat.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Check } from '../../kernel/ledger/fact.ts';
import { refusalOfChanges } from '../../kernel/ledger/scope.ts';
import { runOf, type Task, taskOf } from '../../kernel/ledger/state.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { ChangesError } from '../../workspace/changes-mark.ts';
import { runCheckers } from '../../workspace/checkers.ts';
import { changesOfTask, dropClaim, dropStray, keepStray } from '../../workspace/claim-record.ts';
import { claimRecordOf } from '../claims.ts';
import {
  declaredCheckers,
  folderOf,
  jsonText,
  type LedgerSession,
  ledgerSession,
  refusePayload,
  runCalled,
  writeWorklog,
} from '../ledger-session.ts';
import type { Context } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

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
    await writeWorklog({ ...session, log: store.log }, task);
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
    const reason = `What ${task.id} changed cannot be told: ${error.message}. ${wayOut(workspace, task, fence)}`;
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

/** Nothing passes unchecked; who may still end the task, and how, is said. */
function wayOut({ program }: Workspace, { id, owner }: Task, fence: number): string {
  const move = `${program} task move ${id}`;
  return `Give it up with \`${move} blocked --fence ${fence} --reason …\` and claim it again (\`${program} task claim ${id} --owner ${owner}\`); or a person who has looked at it says \`${move} done --reason …\`.`;
}

/** A checker may take its time; the owner has handed in its work and is not silent meanwhile. */
function keepAlive({ store }: LedgerSession, { run, id, owner, heartbeatS }: Task, fence: number): NodeJS.Timeout {
  const again = () => void beat(store.log, { run, task: id, owner, fence, at: Date.now() }).catch(() => undefined);
  again();
  return setInterval(again, heartbeatS * 1000);
}
