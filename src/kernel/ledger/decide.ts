// Requests to the ledger become facts and a verdict. A result closes its task only with evidence for every criterion; a
// refused result changes nothing. A worklog only grows.
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { truncate } from '../text.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { fingerprintOf } from './apply.ts';
import { claim, claimNext, isStructural, refusalOfCast } from './claim.ts';
import {
  type Check,
  type LedgerPen,
  type LedgerRequest,
  type RequestKind,
  type RequestOf,
  refuse,
  refuseTask,
} from './fact.ts';
import { MAIN_ROOT } from './lock-tree.ts';
import {
  codeOfResult,
  expireTask,
  hearTask,
  isSpent,
  moveTask,
  reasonOfResult,
  refusalOfFence,
  refusalOfMove,
  settle,
} from './move.ts';
import { normalPath, pathKey } from './path.ts';
import { applyDeltas, createTask } from './plan.ts';
import { configuredBy, refusalOfChanges } from './scope.ts';
import { findTask, isTerminal, runOf, type Task, type TaskStatus } from './state.ts';

function finishTask(pen: LedgerPen, request: RequestOf<'task.finish'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'finish', request, found.refusal);
  const { task } = found;
  const { result } = request;
  const to = statusAfter(task, result);
  const early =
    refusalOfCast(pen.ledger, task) ??
    refusalOfStranger(task, result) ??
    refusalOfFence(task, request.fence) ??
    refusalOfMove(task, to);
  if (early) return refuseTask(pen, 'finish', task, early);
  if (isTerminal(task.status)) {
    const other = refusalOfOtherResult(task, result);
    return other ? refuseTask(pen, 'finish', task, other) : settle(pen, task, to, { reason: 'the same result again' });
  }
  const isDone = to === 'done';
  const changes = [...changesOf(result), ...(request.changes ?? [])];
  const refusal =
    refusalOfChanges(task, changes, pen.ledger.locks) ??
    (isDone ? refusalOfAcceptance(task, result, request.checks ?? {}) : null);
  if (refusal) return refuseTask(pen, 'finish', task, refusal);
  const evidence: Record<string, Json> = { result };
  if (request.changes) evidence.changes = request.changes;
  if (request.checks) evidence.checks = request.checks;
  if (isDone) return settle(pen, task, to, { reason: 'every criterion passed', evidence });
  return settle(pen, task, to, { reason: reasonOfResult(result), code: codeOfResult(task, result), evidence });
}

/** A task ends with one result. The same one again is a replay. */
function refusalOfOtherResult({ id, status, result: ended }: Task, result: JsonObject): Denied | null {
  if (ended === undefined || ended === fingerprintOf(result)) return null;
  const reason = `${id} is ${status} by another result, and this one changes nothing. See what was handed in with: baton log`;
  return deny('CONCURRENCY_CONFLICT', reason, { task: id, status });
}

/** A failure blocks the task, so that it can be planned again; it is final when the retries are used up. */
function statusAfter(task: Task, result: JsonObject): TaskStatus {
  if (result.status === 'done') return 'done';
  if (result.status !== 'failed') return 'blocked';
  const isFinal = isSpent(task) && !isStructural(codeOfResult(task, result));
  return isFinal || isTerminal(task.status) ? 'failed' : 'blocked';
}

/** A result belongs to its assignment by the names of run and task, and by the worklog that the assignment names. */
function refusalOfStranger(task: Task, result: JsonObject): Denied | null {
  const { run, id } = task;
  const { run_id, task_id } = result;
  if (run_id !== run || task_id !== id) {
    const reason = `The result is one of task ${String(task_id)} in run ${String(run_id)}, not of ${id} in run ${run}.`;
    return deny('SCHEMA_INVALID', reason, { task: id, run, result: { task: task_id ?? null, run: run_id ?? null } });
  }
  return refusalOfOtherWorklog(task, result);
}

/** A result that names another worklog than its assignment is about other work. */
export function refusalOfOtherWorklog({ id, worklogPath }: Task, { worklog_path: written }: JsonObject): Denied | null {
  if (worklogPath === '' || written === undefined || sameFile(written, worklogPath)) return null;
  const reason = `The result names another worklog than the assignment of ${id}; copy its worklog_path, ${JSON.stringify(worklogPath)}.`;
  return deny('SCHEMA_INVALID', reason, { task: id, path: 'worklog_path', expected: worklogPath });
}

function sameFile(written: Json | undefined, named: string): boolean {
  if (written === named) return true;
  const [a, b] = [isString(written) ? normalPath(written) : null, normalPath(named)];
  return a?.ok === true && b.ok && pathKey(a.path, false) === pathKey(b.path, false);
}

function changesOf({ changes }: JsonObject): readonly string[] {
  if (!Array.isArray(changes)) return [];
  return changes.flatMap((change) => (isObject(change) && isString(change.resource) ? [change.resource] : []));
}

const LISTED_MAX = 20;

export function refusalOfAcceptance(
  task: Task,
  result: JsonObject,
  checks: Readonly<Record<string, Check>>,
): Denied | null {
  return refusalOfClaims(task, result) ?? refusalOfVerified(task, checks);
}

/** Where the agent claims the whole: what can be checked has to be true. */
export function refusalOfVerified(task: Task, checks: Readonly<Record<string, Check>>): Denied | null {
  return refusalOfCheckers(task, checks) ?? refusalOfChecks(task, checks);
}

function refusalOfClaims({ id, criteria }: Task, result: JsonObject): Denied | null {
  const entries = Array.isArray(result.acceptance_check) ? result.acceptance_check.filter(isObject) : [];
  const { missing, failing, unproven } = unmetClaims(criteria, entries);
  const faults = [
    missing.length > 0 ? `says nothing about ${quoted(missing)}` : '',
    failing.length > 0 ? `did not pass ${quoted(failing)}` : '',
    unproven.length > 0 ? `gives no evidence for ${quoted(unproven)}` : '',
    entries.length === 0 && criteria.length === 0 ? 'checks nothing at all' : '',
  ].filter((fault) => fault !== '');
  if (faults.length === 0) return null;
  const reason = `The result of ${id} ${faults.join(', and ')}; meet each criterion, by its exact text and with evidence.`;
  const lists = { missing: listed(missing), failing_criteria: listed(failing), without_evidence: listed(unproven) };
  return deny('ACCEPTANCE_FAILED', reason, { task: id, ...lists });
}

/** What claims leave open: criteria that none names by its exact text, claims that do not pass, claims without evidence. */
export function unmetClaims(criteria: readonly string[], claims: readonly JsonObject[]) {
  const claimed = new Set(claims.map(({ criterion }) => criterion));
  const named = (unmet: (claim: JsonObject) => boolean) => claims.filter(unmet).map((claim) => String(claim.criterion));
  return {
    missing: criteria.filter((criterion) => !claimed.has(criterion)),
    failing: named(({ status }) => status !== 'pass'),
    unproven: named(({ evidence }) => !isText(evidence)),
  };
}

/** A criterion that has a checker does not pass without it. */
function refusalOfCheckers({ id, criteria, checkers }: Task, checks: Readonly<Record<string, Check>>): Denied | null {
  const unchecked = criteria.filter((each) => Object.hasOwn(checkers, each) && !Object.hasOwn(checks, each));
  if (unchecked.length === 0) return null;
  const wanted = listed(unchecked).map((criterion) => ({ criterion, checker: checkers[criterion] ?? '' }));
  const reason = `${id} is not done before its checkers have run: ${quoted(unchecked)}.`;
  return deny('MISSING_VALIDATOR', reason, { task: id, unchecked: wanted });
}

function refusalOfChecks({ id }: Task, checks: Readonly<Record<string, Check>>): Denied | null {
  const wrong = Object.entries(checks).filter(([, { pass }]) => !pass);
  const [first] = wrong;
  if (!first) return null;
  const found = wrong.slice(0, LISTED_MAX).map(([criterion, check]) => ({ criterion, found: check.found }));
  const reason = `${id} claims ${quoted([first[0]])}, and its checker found otherwise: ${first[1].found}.`;
  return deny('ACCEPTANCE_FAILED', reason, {
    task: id,
    failing_criteria: found.map(({ criterion }) => criterion),
    found,
  });
}

function listed(list: readonly string[]): readonly string[] {
  return list.slice(0, LISTED_MAX);
}

function quoted(list: readonly string[]): string {
  const [first = ''] = list;
  return `"${truncate(first, 80)}"${list.length > 1 ? ` and ${list.length - 1} more` : ''}`;
}

/** Adds an entry to the worklog of a task. No entry is changed, and none follows the closing entry of a stopped task. */
function addWorklog(pen: LedgerPen, request: RequestOf<'worklog.add'>): Verdict {
  const found = findTask(pen.ledger, request);
  if (!found.ok) return refuse(pen, 'worklog', request, found.refusal);
  const { task } = found;
  const { run, id } = task;
  const { entry, by } = request;
  const late =
    request.fence === undefined ? refusalOfUnfenced(task, request.actor) : refusalOfFence(task, request.fence);
  if (late) return refuseTask(pen, 'worklog', task, late);
  const runId = runOf(pen.ledger, run)?.runId ?? run;
  if (entry.run_id !== runId || entry.task_id !== id) {
    const other = { run: entry.run_id ?? null, task: entry.task_id ?? null };
    const reason = `The entry is one of task ${String(other.task)} in run ${String(other.run)}, not of ${id} in run ${runId}.`;
    return refuseTask(pen, 'worklog', task, deny('SCHEMA_INVALID', reason, { run, task: id, entry: other }));
  }
  const unknown = refusalOfUnknown(task, entry);
  if (unknown) return refuseTask(pen, 'worklog', task, unknown);
  const buried = refusalOfBurying(task, entry);
  if (buried) return refuseTask(pen, 'worklog', task, buried);
  pen.write({ kind: 'worklog.added', run, task: id, by, entry });
  return allow(`entry ${task.worklog.entries} of ${id}`, { run, task: id, entries: task.worklog.entries });
}

/** An agent that lost its claim is refused also where it leaves the fence out. */
function refusalOfUnfenced({ id, status }: Task, actor: RequestOf<'worklog.add'>['actor']): Denied | null {
  if (actor !== 'agent' || status !== 'in_progress') return null;
  const reason = `${id} is in progress, and an agent writes its worklog under its claim; give the fence of the claim.`;
  return deny('MISSING_REQUIRED_INPUT', reason, { task: id, missing: ['fence'] });
}

function refusalOfUnknown({ id }: Task, entry: JsonObject): Denied | null {
  const unknown = unknownMembers(entry);
  if (unknown.length === 0) return null;
  const shown = JSON.stringify(unknown[0]?.slice(0, NAME_SHOWN_MAX));
  const reason = `The entry of ${id} has the member ${shown}, which is not part of the contract; leave it out, or start its name with x_.`;
  return deny('SCHEMA_INVALID', reason, { task: id, unknown: unknown.slice(0, UNKNOWN_LISTED_MAX) });
}

const NAME_SHOWN_MAX = 60;
const UNKNOWN_LISTED_MAX = 20;

/** What a blocked or failed task has for its last words says why and what comes next, and stays that way. */
function refusalOfBurying({ id, status }: Task, { code, next_step }: JsonObject): Denied | null {
  if ((status !== 'blocked' && status !== 'failed') || (isText(code) && isText(next_step))) return null;
  const missing = Object.entries({ code, next_step }).flatMap(([name, value]) => (isText(value) ? [] : [name]));
  const reason = `${id} is ${status}: its last entry says why and what comes next; give ${missing.join(' and ')} too.`;
  return deny('MISSING_REQUIRED_INPUT', reason, { task: id, status, missing });
}

/** The members of a worklog entry. Any other member starts with `x_`. */
export const WORKLOG_FIELDS = {
  required: ['timestamp', 'run_id', 'task_id', 'actor', 'action', 'files_touched', 'decision', 'result', 'next_step'],
  optional: ['schema_version', 'generated_at', 'code', 'evidence'],
} as const;
export type WorklogField = (typeof WORKLOG_FIELDS)['required' | 'optional'][number];

const KNOWN: ReadonlySet<string> = new Set([...WORKLOG_FIELDS.required, ...WORKLOG_FIELDS.optional]);

function unknownMembers(entry: JsonObject): readonly string[] {
  return Object.keys(entry).filter((name) => !isKnown(name));
}

/** The entry without its unknown members, which entries of older versions may have. */
export function withKnownMembers(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => isKnown(name)));
}

function isKnown(name: string): boolean {
  return KNOWN.has(name) || name.startsWith('x_');
}

export function decideLedger(pen: LedgerPen, request: LedgerRequest): Verdict {
  switch (request.kind) {
    case 'task.create':
      return createTask(pen, request);
    case 'task.claim':
      return claim(pen, request);
    case 'task.next':
      return claimNext(pen, request);
    case 'task.finish':
      return finishTask(pen, request);
    case 'task.move':
      return moveTask(pen, request);
    case 'task.expire':
      return expireTask(pen, request);
    case 'task.heartbeat':
      return hearTask(pen, request);
    case 'task.refuse':
      return refuse(pen, request.asked, request, request.refusal);
    case 'deltas.apply':
      return applyDeltas(pen, request);
    case 'worklog.add':
      return addWorklog(pen, request);
    case 'ledger.configure':
      return configureLedger(pen, request);
    case 'ledger.link':
      return linkLedger(pen, request);
    case 'ledger.hold':
      return pauseLedger(pen, request);
    case 'ledger.unhold':
      return unpauseLedger(pen, request);
  }
}

/** Sets how paths are compared from now on. Held locks stay held. */
function configureLedger(pen: LedgerPen, { foldCase }: RequestOf<'ledger.configure'>): Verdict {
  const how = foldCase ? 'paths that differ in capitals only are the same' : 'capitals are told apart';
  if (pen.ledger.locks.foldCase === foldCase) return allow(how, { foldCase });
  pen.write({ kind: 'ledger.configured', foldCase });
  return allow(`from now on ${how}`, { foldCase });
}

function linkLedger(pen: LedgerPen, { root, links }: RequestOf<'ledger.link'>): Verdict {
  pen.write({ kind: 'ledger.linked', root, links });
  return allow('paths are compared by where these links lead', { root });
}

/** Pauses the workspace: work in progress may finish, and no task is claimed. */
function pauseLedger(pen: LedgerPen, { by, reason }: RequestOf<'ledger.hold'>): Verdict {
  const { hold: pause } = pen.ledger;
  if (!isText(reason)) {
    return deny('MISSING_REQUIRED_INPUT', 'Holding the workspace needs a reason; say why.', { missing: ['reason'] });
  }
  if (pause)
    return deny('NOT_ALLOWED_NOW', `${pause.by} has paused the workspace already: ${pause.reason}.`, {
      hold: { ...pause },
    });
  pen.write({ kind: 'ledger.held', by, reason });
  return allow('the workspace is paused; no task is given out', { by, reason });
}

function unpauseLedger(pen: LedgerPen, { by, reason }: RequestOf<'ledger.unhold'>): Verdict {
  const { hold: pause } = pen.ledger;
  if (!pause) return deny('NOT_ALLOWED_NOW', 'The workspace is not paused.');
  pen.write({ kind: 'ledger.unheld', by, reason });
  return allow('the workspace is no longer paused', { held: { ...pause } });
}

/**
 * Who makes a request. An agent of a cast may not claim or move tasks by hand, because that would excuse its own changes.
 */
type Signed = { readonly by: string } & Pick<LedgerRequest, 'kind'>;

/** Records and answers the refusal; null where the request is allowed. `by` is the actor name recorded in the log. */
export function refuseAgent<T extends Signed>(pen: LedgerPen, input: T & LedgerRequest): Denied | null {
  const request: LedgerRequest = input;
  if (!isFromAgent(request)) return null;
  if (request.kind === 'task.create') return refuseConfigured(pen, request.packet, request.root ?? MAIN_ROOT);
  const claim = claimIn(request);
  if (claim === null) return null;
  const { asked, task, run } = claim;
  const reason =
    'An agent of a cast works on the task of its own turn and claims no other; report what else is to be done.';
  const name = { task, ...(run === undefined ? {} : { run }) };
  return refuse(pen, asked, name, deny('NOT_ALLOWED_NOW', reason, { task, by: input.by }));
}

function isFromAgent(request: LedgerRequest): boolean {
  return request.kind === 'task.move' ? request.actor === 'agent' : 'isAgent' in request && request.isAgent === true;
}

type Claim = { readonly asked: RequestKind; readonly task: string; readonly run: string | undefined };

/** The claim that a request makes: a move or a delta that starts a task is one, too. */
function claimIn(request: LedgerRequest): Claim | null {
  switch (request.kind) {
    case 'task.claim':
      return { asked: 'claim', task: request.task, run: request.run };
    case 'task.next':
      return { asked: 'next', task: '', run: request.run };
    case 'task.move':
      return request.to === 'in_progress' ? { asked: 'move', task: request.task, run: request.run } : null;
    case 'deltas.apply': {
      const start = request.stream.find(({ status }) => status === 'in_progress');
      return start ? { asked: 'deltas', task: String(start.task_id), run: request.run } : null;
    }
    default:
      return null;
  }
}

/** The owner of the task could write what its scope names. */
function refuseConfigured(pen: LedgerPen, { run_id, task }: JsonObject, root: string): Denied | null {
  const { task_id, lock_scope } = isObject(task) ? task : {};
  const scope = Array.isArray(lock_scope) ? lock_scope.filter(isString) : [];
  const path = scope.find((one) => {
    const normal = normalPath(`${root}/${one}`);
    return normal.ok && configuredBy(normal.path) !== null;
  });
  if (path === undefined) return null;
  const name = { run: String(run_id), task: String(task_id) };
  const reason = `${name.task} wants ${JSON.stringify(path)}, which configures agent programs or git, and no agent chooses that; take it out of lock_scope.`;
  return refuse(pen, 'create', name, deny('SCOPE_VIOLATION', reason, { task: name.task, resource: path }));
}
