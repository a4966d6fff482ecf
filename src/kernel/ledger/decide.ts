// Turns a request to the ledger into facts and a verdict, and holds the rules that belong to no single task.
import { configuredBy } from '../gate/agent-config.ts';
import { isObject, isString, isText, type JsonObject } from '../json.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { claim, claimNext } from './claim.ts';
import { createTask } from './create.ts';
import { applyDeltas } from './deltas.ts';
import { type Asked, type LedgerPen, type LedgerRequest, type RequestOf, refuse } from './fact.ts';
import { addWorklog, finishTask } from './finish.ts';
import { MAIN_ROOT } from './lock-tree.ts';
import { expireTask, hearTask, moveTask } from './move.ts';
import { normalPath } from './path.ts';

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
      return holdLedger(pen, request);
    case 'ledger.unhold':
      return unholdLedger(pen, request);
  }
}

// How the ledger compares paths. What is held stays held; from now on claims are compared the new way.
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

// Holding the workspace: what is in progress goes on and may finish, and nothing new is handed out.
function holdLedger(pen: LedgerPen, { by, reason }: RequestOf<'ledger.hold'>): Verdict {
  const { hold } = pen.ledger;
  if (!isText(reason)) {
    return deny('MISSING_REQUIRED_INPUT', 'Holding the workspace needs a reason; say why.', { missing: ['reason'] });
  }
  if (hold)
    return deny('NOT_ALLOWED_NOW', `${hold.by} holds the workspace already: ${hold.reason}.`, { hold: { ...hold } });
  pen.write({ kind: 'ledger.held', by, reason });
  return allow('the workspace is held; nothing is handed out', { by, reason });
}

function unholdLedger(pen: LedgerPen, { by, reason }: RequestOf<'ledger.unhold'>): Verdict {
  const { hold } = pen.ledger;
  if (!hold) return deny('NOT_ALLOWED_NOW', 'The workspace is not held.');
  pen.write({ kind: 'ledger.unheld', by, reason });
  return allow('the workspace is no longer held', { held: { ...hold } });
}

// What an agent of a cast may not ask of the ledger by hand. A path that another task holds is not held against the turn that
// runs there, so an agent that could claim tasks would excuse its own changes.
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

type Claim = { readonly asked: Asked; readonly task: string; readonly run: string | undefined };

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

/** Whoever works on the task could write what its scope names. */
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
