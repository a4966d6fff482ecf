// New and changed rows of the ledger: from one assignment packet, or from the deltas or the envelope of an orchestrator.
import { isAbsolute } from 'node:path';
import { takeAssignment, takeStream } from '../../dialects/operator/read.ts';
import { canonicalJson, type Json, type JsonObject } from '../../kernel/json.ts';
import { MAIN_ROOT } from '../../kernel/ledger/lock-tree.ts';
import { isGoverning } from '../../kernel/ledger/scope.ts';
import { type Ledger, runOf, taskOf } from '../../kernel/ledger/state.ts';
import { assignmentOf } from '../../kernel/ledger/wire.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { realPath } from '../../shell/dangerous.ts';
import type { ClaimCandidate } from '../../workspace/claim-record.ts';
import { claiming, insideRoot, placedIn } from '../claims.ts';
import {
  configureLocks,
  declaredCheckers,
  folderOf,
  jsonText,
  type LedgerSession,
  ledgerSession,
  refusePayload,
  rootNamed,
  runCalled,
  runWanted,
} from '../ledger-session.ts';
import { reconcile } from './ledger-lists.ts';
import type { Operation } from './table.ts';

/** One assignment packet becomes a row of the ledger. */
export const taskCreate: Operation<'task.create'> = async (workspace, input, context) => {
  const session = ledgerSession(workspace, context, { begins: true });
  const taken = takeAssignment(jsonText(input.packet), { checkers: declaredCheckers(workspace).names });
  if (!taken.ok) return refusePayload(session, 'create', taken);
  const root = rootNamed(workspace, input.root);
  // Below the state lie the worktrees of casts, which are folders to work in.
  if (isGoverning(root) && !root.startsWith('.baton/state/'))
    return deny('SCOPE_VIOLATION', `${root} governs the work; no task can have it for its folder.`, { root });
  if (isAbove(root, workspace.dir)) {
    const reason = `${root} holds this workspace, whose files would have two names; work in a folder inside it or apart from it.`;
    return deny('SCOPE_VIOLATION', reason, { root });
  }
  const placed = placedIn(folderOf({ root }, workspace), taken.payload);
  if (!placed.ok) return placed.refusal;
  const { packet } = placed;
  const retries = input.retries === undefined ? {} : { retriesMax: input.retries };
  const { store, actor } = session;
  const isAgent = actor.kind === 'agent';
  const verdict = await store.submit({ kind: 'task.create', packet, root, ...retries, isAgent }, actor);
  if (!verdict.allow || taken.warnings.length === 0) return verdict;
  return allow(verdict.reason, { ...verdict.details, warnings: taken.warnings });
};

function isAbove(root: string, dir: string): boolean {
  return isAbsolute(root) && insideRoot(root, realPath(dir)) !== null;
}

/** Deltas of an orchestrator, or its whole envelope, change the ledger. The deltas are applied all or nothing; then each
 * assignment gets its row; then the ledger is reconciled. Applying the same again changes nothing. */
export const taskApply: Operation<'task.apply'> = async (workspace, input, context) => {
  const session = ledgerSession(workspace, context, { begins: true });
  const { store, actor } = session;
  const isAgent = actor.kind === 'agent';
  const wanted = await runWanted(session, input.run);
  const steered = wanted === undefined ? null : await refusalOfSteered(session, wanted);
  if (steered) return steered;
  const taken = takeStream(jsonText(input.stream), wanted, { checkers: declaredCheckers(workspace).names });
  if (!taken.ok) return refusePayload(session, 'deltas', taken);
  // An envelope calls its run as packets do, and that may be a cast at work.
  const open = await store.look((ledger) => {
    const called = runCalled(ledger, taken.payload.run, actor.attempt?.cast);
    return called !== undefined && (runOf(ledger, called)?.open ?? 0) > 0 ? called : null;
  });
  const planned = open === null ? null : await refusalOfSteered(session, open);
  if (planned) return planned;
  const { run, deltas, baseVersions, blockers, assignments } = taken.payload;
  await configureLocks(store, workspace, actor);
  const starts = await store.look((ledger) => startedBy(ledger, run, deltas), run);
  const applied = await claiming(session, starts, () =>
    store.submit({ kind: 'deltas.apply', run, stream: deltas, baseVersions, blockers, isAgent }, actor),
  );
  if (!applied.allow) return applied;
  const unsound = await reconcile(session, await store.view('ledger', run), [run]);
  if (!unsound.allow) {
    const reason = `The deltas are applied, and nothing is assigned before the ledger agrees with itself: ${unsound.reason}`;
    const none = { assigned: [], kept: [], refused: [] };
    return deny(unsound.code, reason, { ...applied.details, ...none, reconcile: { ...unsound } });
  }
  const created = await assign(session, run, assignments);
  const reconciled = await reconcile(session, await store.view('ledger', run), [run]);
  const details = { ...applied.details, ...created.details, reconcile: { ...reconciled } };
  for (const verdict of [created, reconciled]) if (!verdict.allow) return deny(verdict.code, verdict.reason, details);
  return allow(applied.reason, details);
};

/** Refuses deltas for a cast: only its own planner changes its rows. */
async function refusalOfSteered(session: LedgerSession, id: string): Promise<Verdict | null> {
  const { store, workspace } = session;
  if (!(await store.look((ledger) => runOf(ledger, id)?.cast, id))) return null;
  const reason = `The tasks of cast ${id} are its own, and no delta from outside changes them; steer the cast, or move a task with \`${workspace.program} task move TASK STATUS --run ${id} --reason …\`.`;
  const refusal = deny('NOT_ALLOWED_NOW', reason, { cast: id });
  return refusePayload(session, 'deltas', { ok: false, refusal, subject: { run: id, task: '' } });
}

/** A delta that starts a task is a claim like any other. */
function startedBy(ledger: Ledger, run: string, deltas: readonly JsonObject[]): readonly ClaimCandidate[] {
  const started = deltas.filter(({ status }) => status === 'in_progress');
  const roots = started.map(({ task_id }) => taskOf(ledger, run, String(task_id))?.root ?? MAIN_ROOT);
  return [...new Set(roots)].map((root) => ({ root }));
}

/** A row for each assignment. One that is there already, just as it is assigned now, is left as it is. */
async function assign(session: LedgerSession, run: string, packets: readonly JsonObject[]): Promise<Verdict> {
  const { store, actor } = session;
  const ledger = await store.view('ledger', run);
  const assigned: Json[] = [];
  const kept: Json[] = [];
  const refused: JsonObject[] = [];
  for (const packet of packets) {
    const id = String((packet.task as JsonObject).task_id);
    if (isAssigned(ledger, run, id, packet)) {
      kept.push(id);
      continue;
    }
    const verdict = await store.submit({ kind: 'task.create', packet, isAgent: actor.kind === 'agent' }, actor);
    if (verdict.allow) assigned.push(id);
    else refused.push({ task: id, code: verdict.code, reason: verdict.reason });
  }
  const [first] = refused;
  const details = { assigned, kept, refused };
  if (!first) return allow('assigned', details);
  return deny(first.code as 'LEDGER_INCONSISTENT', String(first.reason), details);
}

function isAssigned(ledger: Ledger, run: string, id: string, packet: JsonObject): boolean {
  const task = taskOf(ledger, run, id);
  if (!task?.assigned) return false;
  const present = assignmentOf(ledger, task);
  const assigned = (one: JsonObject) => canonicalJson({ ...(one.task as JsonObject), priority: task.priority });
  return assigned(present) === assigned(packet) && present.global_objective === packet.global_objective;
}
