// What an agent of a cast may not ask of the ledger by hand. A path that another task holds is not held against the turn that
// runs there, so an agent that could claim tasks would excuse its own changes.
import { orderedBy } from '../gate/orders.ts';
import { isObject, isString, type JsonObject } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import type { Asked } from './fact.ts';
import { normalPath } from './path.ts';
import { type LedgerPen, refuse } from './pen.ts';
import type { LedgerRequest } from './request.ts';
import { MAIN_ROOT } from './state.ts';

type Signed = { readonly by: string } & Pick<LedgerRequest, 'kind'>;

/** Notes and answers the refusal, or null where anybody may ask it. `by` is the actor as the log names it. */
export function refuseAgent<T extends Signed>(pen: LedgerPen, input: T & LedgerRequest): Denied | null {
  if (!input.by.startsWith('agent:')) return null;
  const request: LedgerRequest = input;
  if (request.kind === 'task.create') return refuseConfigured(pen, request.packet, request.root ?? MAIN_ROOT);
  const claim = claimIn(request);
  if (claim === null) return null;
  const { asked, task, run } = claim;
  const reason =
    'An agent of a cast works on the task of its own turn and claims no other; report what else is to be done.';
  const name = { task, ...(run === undefined ? {} : { run }) };
  return refuse(pen, asked, name, deny('NOT_ALLOWED_NOW', reason, { task, by: input.by }));
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
    return normal.ok && orderedBy(normal.path) !== null;
  });
  if (path === undefined) return null;
  const name = { run: String(run_id), task: String(task_id) };
  const reason = `${name.task} wants ${JSON.stringify(path)}, which configures agent programs or git, and no agent chooses that; take it out of lock_scope.`;
  return refuse(pen, 'create', name, deny('SCOPE_VIOLATION', reason, { task: name.task, resource: path }));
}
