// What an orchestrator hands on: the envelope with changes of the ledger, assignments and blockers, and the bundle from which a
// new session continues.
import { isObject, isSameJson, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import type { TaskStatus } from '../../kernel/ledger/state.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { validateAssignment } from './assignment.ts';
import { BUNDLE, DELTAS_LIST, ENVELOPE, type OperatorOptions } from './contract.ts';
import {
  checkExtensions,
  checkMembers,
  checkPresence,
  checkValue,
  elementsOf,
  HEAD,
  OperatorFindings,
  objectsOf,
  payloadOf,
  warnOfRunId,
} from './findings.ts';
import { checkConflicts } from './locks.ts';

export type WorkItem = { readonly title: string; readonly context: string };

export function validateOrchestrator(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const envelope = given.payload;
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => checkPresence(found, envelope, ENVELOPE),
    () => checkMembers(found, envelope, ENVELOPE, ['schema_version']),
    () => {
      checkMembers(found, envelope, ENVELOPE, HEAD);
      checkDeltas(found, envelope.ledger_delta, 'ledger_delta');
      checkMembers(found, envelope, ENVELOPE, ['assignments'], { only: ({ path }) => path.length === 0 });
      checkMembers(found, envelope, ENVELOPE, ['active_locks', 'blockers', 'next_actions']);
      warnOfRunId(found, envelope);
      checkExtensions(found, envelope, ENVELOPE, '');
    },
    () => checkAssignments(found, envelope, options),
    () => checkDeltaIds(found, envelope.ledger_delta),
    () => checkBlockedAreListed(found, envelope),
    () => checkConflicts(found, envelope.active_locks, 'active_locks'),
  ]);
  const counts = {
    assignment_count: elementsOf(envelope.assignments).length,
    delta_count: elementsOf(envelope.ledger_delta).length,
  };
  return refusal ?? found.allowed('the envelope keeps its contract', counts);
}

/** The work items of a valid envelope: each assignment is one, and its packet is all the context it needs. */
export function workItemsOf(envelope: JsonObject): readonly WorkItem[] {
  return objectsOf(envelope.assignments).map((packet) => {
    const task = isObject(packet.task) ? packet.task : {};
    const title = [task.title, task.task_id].find(isString) ?? 'Untitled task';
    return { title, context: `[ASSIGNMENT PACKET]\n${JSON.stringify(packet, null, 2)}` };
  });
}

/** Each assignment is a whole packet of this run, for a task that is assigned once. */
function checkAssignments(found: OperatorFindings, envelope: JsonObject, options: OperatorOptions): void {
  const assigned = new Set<Json>();
  for (const [index, packet] of elementsOf(envelope.assignments).entries()) {
    const path = `assignments[${index}]`;
    const before = found.count;
    found.adopt(validateAssignment(packet, options), path);
    if (found.count > before || !isObject(packet) || !isObject(packet.task)) continue;
    const id = packet.task.task_id ?? null;
    if (packet.run_id !== envelope.run_id) {
      found.add('SCHEMA_INVALID', `${path}.run_id`, 'must be the run_id of the envelope', { index });
    }
    if (assigned.has(id)) found.add('SCHEMA_INVALID', `${path}.task.task_id`, 'is assigned twice', { index });
    assigned.add(id);
  }
}

/** The same delta twice is harmless; one id on two different deltas is not. */
function checkDeltaIds(found: OperatorFindings, value: Json | undefined): void {
  const seen = new Map<string, Delta>();
  for (const [index, delta] of deltasOf(value).entries()) {
    const { delta_id, task_id } = delta;
    const earlier = seen.get(delta_id);
    if (!earlier) seen.set(delta_id, delta);
    else if (isSameJson(earlier, delta)) found.warn(`ledger_delta[${index}] repeats a delta and is ignored`);
    else {
      const message = 'has the delta_id of another delta; each id belongs to one delta of the run';
      found.add('CONCURRENCY_CONFLICT', `ledger_delta[${index}]`, message, { index, delta_id, task_id });
    }
  }
}

/** A task that ends up blocked is named among the blockers, with its code. */
function checkBlockedAreListed(found: OperatorFindings, { ledger_delta, blockers }: JsonObject): void {
  const last = new Map(deltasOf(ledger_delta).map((delta) => [delta.task_id, delta.status]));
  const listed = new Set(objectsOf(blockers).map((blocker) => blocker.task_id));
  const missing = [...last].filter(([id, status]) => status === 'blocked' && !listed.has(id)).map(([id]) => id);
  if (missing.length === 0) return;
  const message = `must say why ${missing.slice(0, 5).join(', ')} ${missing.length === 1 ? 'is' : 'are'} blocked`;
  found.add('MISSING_REQUIRED_INPUT', 'blockers', message, { missing });
}

// The record of one change to one row of the ledger, as an orchestrator emits it.
/** A record whose shape was checked. */
export type Delta = JsonObject & {
  readonly task_id: string;
  readonly status: TaskStatus;
  readonly owner: string;
  readonly reason: string;
  readonly delta_id: string;
};

export function checkDeltas(found: OperatorFindings, deltas: Json | undefined, path: string): void {
  for (const [index, { timed_out, status }] of objectsOf(deltas).entries()) {
    if (timed_out !== true || status === 'blocked') continue;
    found.warn(`${path}[${index}]: a task that timed out should be blocked`);
  }
  checkValue(found, deltas, DELTAS_LIST, path);
}

/** The records of a list that was checked. */
export function deltasOf(value: Json | undefined): readonly Delta[] {
  return objectsOf(value) as readonly Delta[];
}

// The handoff bundle: everything a new session needs to go on with a run, without the conversation that came before.
export function validateBundle(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const bundle = given.payload;
  const found = new OperatorFindings(options);
  const refusal = found.through([
    () => checkPresence(found, bundle, BUNDLE),
    () => checkMembers(found, bundle, BUNDLE, ['schema_version']),
    () => {
      checkMembers(found, bundle, BUNDLE, Object.keys(BUNDLE.fields));
      warnOfRunId(found, bundle);
      checkExtensions(found, bundle, BUNDLE, '');
    },
    () => checkUnique(found, bundle.ledger),
    () => checkConflicts(found, bundle.active_locks, 'active_locks'),
  ]);
  if (refusal) return refusal;
  warnOfStrangers(found, bundle);
  return found.allowed('the bundle keeps its contract', { task_count: objectsOf(bundle.ledger).length });
}

function checkUnique(found: OperatorFindings, ledger: Json | undefined): void {
  const seen = new Set<Json | undefined>();
  for (const [index, { task_id }] of objectsOf(ledger).entries()) {
    if (seen.has(task_id)) {
      found.add('LEDGER_INCONSISTENT', `ledger[${index}].task_id`, 'stands in the ledger twice', {
        index,
        task_id: task_id ?? null,
      });
    }
    seen.add(task_id);
  }
}

/** A bundle may name tasks that it does not carry; reconciliation decides about them, but it should not be a surprise. */
function warnOfStrangers(found: OperatorFindings, bundle: JsonObject): void {
  const rows = new Set(objectsOf(bundle.ledger).map((row) => row.task_id));
  for (const name of ['active_locks', 'dependencies', 'open_blockers', 'acceptance_targets']) {
    for (const [index, entry] of objectsOf(bundle[name]).entries()) {
      const ids = [entry.task_id, entry.depends_on_task_id].filter((id) => id !== undefined);
      if (ids.some((id) => !rows.has(id))) found.warn(`${name}[${index}] names a task that is not in the ledger`);
    }
  }
}
