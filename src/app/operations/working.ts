// Operations for the owner of a task while it works: a sign of life, whether it may write a path, and the worklog.

import { type Subject, takeWorklogEntry } from '../../dialects/operator/read.ts';
import { beat } from '../../engine/heartbeat.ts';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { namingCast } from '../../kernel/ledger/fact.ts';
import { fileKeyIn, MAIN_ROOT, siteOf } from '../../kernel/ledger/lock-tree.ts';
import { beatText, lastSignAt } from '../../kernel/ledger/move.ts';
import { normalPath, overlaps, PATH_FAULTS, spokenPath } from '../../kernel/ledger/path.ts';
import { mayWriteNow, taskWith } from '../../kernel/ledger/scope.ts';
import { type Ledger, taskOf } from '../../kernel/ledger/state.ts';
import { heldLocks } from '../../kernel/ledger/wire.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { worklogLines } from '../../workspace/worklog-file.ts';
import { insideRoot, realInRoot, requireNames, withOwnClaim } from '../claims.ts';
import {
  factsOf,
  folderOf,
  jsonText,
  type LedgerSession,
  ledgerSession,
  refusePayload,
  rootNamed,
  runCalled,
  runWanted,
  taskNamed,
  workerNamed,
  writeWorklog,
} from '../ledger-session.ts';
import type { Operation } from './table.ts';

/** The owner of a task is alive. This changes the record of its claim only; the ledger is read where there is no such record. */
export const taskHeartbeat: Operation<'heartbeat'> = async (workspace, { pid, ...input }, context) => {
  const process = workerNamed(pid);
  const worker = process ? { worker: process } : {};
  const session = ledgerSession(workspace, context);
  const claim = await withOwnClaim(session, input);
  requireNames(claim, ['task', 'owner', 'fence']);
  const { task = '', owner = '', fence = 0, run } = claim;
  const named = { task, owner, fence, ...(run === undefined ? {} : { run }) };
  const say = (about: Named) => session.store.asStored((log) => beat(log, { ...about, at: Date.now(), ...worker }));
  let sign = await say(named);
  if (sign === null) {
    // The run may be named by something else than its id. Finding that out costs a look at the ledger.
    const meant = await runWanted(session, run);
    const again = { ...named, ...(meant === undefined ? {} : { run: meant }) };
    if (meant !== run) sign = await say(again);
    if (sign === null) return whyNoRecord(session, again);
  }
  const at = new Date(lastSignAt(sign, Date.now())).toISOString();
  const until = { last_heartbeat_at: at, timeout_seconds: sign.timeoutS };
  return allow(`${task} is alive`, { run: sign.run, task, owner, fence, ...until });
};

type Named = { readonly run?: string; readonly task: string; readonly owner: string; readonly fence: number };

/** Asks the ledger why there is no record. It logs the refusal; without one the record is made again. */
async function whyNoRecord({ store, actor }: LedgerSession, named: Named): Promise<Verdict> {
  const verdict = await store.submit({ kind: 'task.heartbeat', ...named }, actor);
  if (!verdict.allow) return verdict;
  const run = String(verdict.details.run);
  const timeoutS = await store.look((ledger) => taskOf(ledger, run, named.task)?.timeoutS ?? 0, run);
  const made = beatText({ run, task: named.task, owner: named.owner, at: Date.now(), timeoutS });
  await store.lease('firstBeat', named.fence, made);
  return verdict;
}

/** Who would be in the way of a writer, or whether a claim may write right now. */
export const lockCheck: Operation<'lock.check'> = async (workspace, { paths, root, fence }, context) => {
  const token = fence ?? context.actor.attempt?.fence ?? undefined;
  if (token === undefined && !workspace.hasLog()) return allow('no task is in the way', { paths });
  return checkLocks(ledgerSession(workspace, context), paths, rootNamed(workspace, root), token);
};

/** Without a fence: who holds these paths. With one: whether its claim may write there. */
async function checkLocks(
  session: LedgerSession,
  paths: readonly string[],
  root: string,
  fence: number | undefined,
): Promise<Verdict> {
  const { store, workspace } = session;
  const folder = folderOf({ root }, workspace);
  const inside = paths.map((path) => realInRoot(folder, insideRoot(folder, path) ?? path));
  const found = await store.look((ledger) =>
    fence === undefined ? inTheWay(ledger, root, inside) : mayWriteNow(ledger, fence, inside),
  );
  if (found.allow) return found;
  const verdict = await withCastOf(session, found);
  const subject = fence === undefined ? NO_SUBJECT : await subjectOf(session, fence);
  return refusePayload(session, 'write', { ok: false, refusal: verdict, subject });
}

/** Adds what frees the paths, where a cast holds them that does not run. */
async function withCastOf({ store }: LedgerSession, refusal: Denied): Promise<Denied> {
  const { holder } = refusal.details;
  const run = isObject(holder) && isString(holder.run) ? holder.run : null;
  const cast = run === null ? null : await store.view('cast', run);
  if (!cast || cast.status === 'running') return refusal;
  return namingCast(refusal, () => ({ status: cast.status, since: cast.since ?? null }));
}

/** The task that has the fence, or had it before it was claimed again or came to its end. */
async function subjectOf({ store }: LedgerSession, fence: number): Promise<Subject> {
  const holder = await store.look((ledger) => {
    const task = taskWith(ledger, fence);
    return task && { run: task.run, task: task.id };
  });
  if (holder) return holder;
  for (const { fact } of await store.read({ after: 0, kindPrefix: 'task.claimed' })) {
    if (fact.kind === 'task.claimed' && fact.fence === fence) return { run: fact.run, task: fact.task };
  }
  return NO_SUBJECT;
}

/** A question without a fence is about no task. */
const NO_SUBJECT: Subject = { run: '', task: '' };

/** Every lock that a writer of these paths would have to wait for. */
function inTheWay(ledger: Ledger, root: string, paths: readonly string[]): Verdict {
  const { tree } = siteOf(root);
  const locks = heldLocks(ledger).filter((lock) => siteOf(lock.root).tree === tree);
  const key = fileKeyIn(ledger.locks, root);
  const conflicts: JsonObject[] = [];
  const wanted: string[] = [];
  for (const path of paths) {
    const normal = normalPath(path);
    if (!normal.ok) return deny('SCHEMA_INVALID', `${JSON.stringify(path)} ${PATH_FAULTS[normal.fault]}.`, { path });
    wanted.push(normal.path);
    for (const { run, task, owner, fence, root: of, path: held, mode } of locks) {
      if (!overlaps(key(normal.path), fileKeyIn(ledger.locks, of)(held))) continue;
      conflicts.push({ path: normal.path, holder: { run, task, owner, fence, path: held, mode } });
    }
  }
  const [first] = conflicts;
  if (!first) return allow('no task is in the way', { paths: wanted });
  const { task, owner, path } = first.holder as { task: string; owner: string; path: string };
  const more = conflicts.length === 1 ? '' : ` (and ${conflicts.length - 1} more)`;
  return deny('LOCK_CONFLICT', `${task} (${owner}) holds ${spokenPath(path)}${more}.`, {
    ...{ paths: wanted, conflicts, holder: first.holder ?? null },
  });
}

/** An agent asks for paths beyond the scope of its task. A claim has its locks from the assignment, all at once, so that no
 * two tasks wait for each other's; it never gets more. The answer says who holds them, or how the task gets them. */
export const lockRequest: Operation<'lock.request'> = async (workspace, { paths }, context) => {
  const session = ledgerSession(workspace, context);
  const claim = await withOwnClaim(session, { task: undefined });
  requireNames(claim, ['task', 'fence']);
  const root = claim.root === undefined ? MAIN_ROOT : rootNamed(workspace, claim.root);
  const held = await checkLocks(session, paths, root, undefined);
  if (!held.allow && held.code !== 'LOCK_CONFLICT') return held;
  const conflicts = Array.isArray(held.details.conflicts) ? held.details.conflicts.filter(isObject) : [];
  const isOwn = ({ holder }: JsonObject) => isObject(holder) && holder.fence === claim.fence;
  const [rival, ...others] = conflicts.filter((conflict) => !isOwn(conflict));
  if (rival && isObject(rival.holder)) {
    const { task, owner, path } = rival.holder;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const reason = `${String(task)} (${String(owner)}) holds ${spokenPath(String(path))}${more}; work on what is yours, and report what is missing`;
    return deny('LOCK_CONFLICT', reason, { paths, conflicts: [rival, ...others] });
  }
  const own = await checkLocks(session, paths, MAIN_ROOT, claim.fence);
  if (own.allow) return allow('these paths are yours already', { paths });
  const way =
    'report what you need in your handoff and end the turn: the planner widens lock_scope in the next assignment, or a person does in the configuration';
  const reason = `no task holds these paths, and the scope of ${String(claim.task)} is fixed by its assignment: ${own.reason} To get them, ${way}`;
  return deny('SCOPE_VIOLATION', reason, { ...own.details, paths });
};

/** One entry is added to the worklog of a task, and its file is written. */
export const worklogAdd: Operation<'worklog.add'> = async (workspace, { entry: given, ...input }, context) => {
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  const claim = await withOwnClaim(session, input);
  requireNames(claim, ['task']);
  const { task: id = '', owner, runId } = claim;
  const known = {
    ...{ timestamp: new Date().toISOString(), task_id: id },
    ...(runId === undefined ? {} : { run_id: runId }),
    ...(owner === undefined ? {} : { actor: owner }),
  };
  const taken = takeWorklogEntry(isObject(given) ? JSON.stringify({ ...known, ...given }) : jsonText(given));
  if (!taken.ok) return refusePayload(session, 'worklog', { ...taken, subject: { ...taken.subject, task: id } });
  const { payload: entry } = taken;
  const called = String(entry.run_id);
  const named = await runWanted(session, claim.run);
  const run = named ?? (await store.look((ledger) => runCalled(ledger, called, actor.attempt?.cast))) ?? called;
  const fence = claim.fence === undefined ? {} : { fence: claim.fence };
  const by = actor.kind === 'agent' ? ({ actor: 'agent' } as const) : {};
  const verdict = await store.submit({ kind: 'worklog.add', run, task: id, entry, ...fence, ...by }, actor);
  if (!verdict.allow) return verdict;
  const noted = await taskNamed(session, id, run);
  const written = await writeWorklog(session, noted.task, noted.runId);
  // An entry with which Baton itself closed the worklog is one of them, too.
  const entries = written?.entries ?? verdict.details.entries ?? 0;
  return allow(`entry ${String(entries)} of ${id}`, { ...verdict.details, entries, file: written?.file ?? null });
};

/** The entries of a worklog from its facts; the file is not read. */
export const worklogShow: Operation<'worklog.show'> = async (workspace, input, context) => {
  const session = ledgerSession(workspace, context);
  const { task, runId } = await taskNamed(session, input.task, input.run);
  const entries = worklogLines(await factsOf(session.store, task), runId).map((line) => JSON.parse(line));
  return allow(`${entries.length} entries`, { entries });
};
