// The orchestrator's envelope: how the ledger changes, what is assigned now, what is locked, what stands still and why.
import { OPERATOR_CODES } from '../../kernel/codes/operator.ts';
import { isObject, isSameJson, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { validateAssignment } from './assignment.ts';
import { checkBlockers } from './blocker.ts';
import { ENVELOPE, type Options } from './contract.ts';
import { checkDeltas, type Delta, deltasOf } from './delta-record.ts';
import { checkExtensions } from './extension.ts';
import { checkPresence, checkStrings, listOf, objectsOf } from './field.ts';
import { Findings } from './findings.ts';
import { checkHead, payloadOf } from './head.ts';
import { checkConflicts, checkLockRecords } from './locks.ts';
import { checkVersion } from './version.ts';

export type WorkItem = { readonly title: string; readonly context: string };

export function validateOrchestrator(input: unknown, options: Options = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const envelope = given.payload;
  const found = new Findings(options);
  const refusal = found.through([
    () => checkPresence(found, envelope, ENVELOPE),
    () => checkVersion(found, envelope.schema_version),
    () => {
      checkHead(found, envelope);
      checkDeltas(found, envelope.ledger_delta, 'ledger_delta');
      if (!Array.isArray(envelope.assignments)) {
        found.add('SCHEMA_INVALID', 'assignments', 'must be an array of assignment packets');
      }
      checkLockRecords(found, envelope.active_locks, 'active_locks');
      checkBlockers(found, envelope.blockers, 'blockers', OPERATOR_CODES);
      checkStrings(found, envelope.next_actions, 'next_actions');
      checkExtensions(found, envelope, ENVELOPE, '');
    },
    () => checkAssignments(found, envelope, options),
    () => checkDeltaIds(found, envelope.ledger_delta),
    () => checkBlockedAreListed(found, envelope),
    () => checkConflicts(found, envelope.active_locks, 'active_locks'),
  ]);
  const counts = {
    assignment_count: listOf(envelope.assignments).length,
    delta_count: listOf(envelope.ledger_delta).length,
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
function checkAssignments(found: Findings, envelope: JsonObject, options: Options): void {
  const assigned = new Set<Json>();
  for (const [index, packet] of listOf(envelope.assignments).entries()) {
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
function checkDeltaIds(found: Findings, value: Json | undefined): void {
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
function checkBlockedAreListed(found: Findings, { ledger_delta, blockers }: JsonObject): void {
  const last = new Map(deltasOf(ledger_delta).map((delta) => [delta.task_id, delta.status]));
  const listed = new Set(objectsOf(blockers).map((blocker) => blocker.task_id));
  const missing = [...last].filter(([id, status]) => status === 'blocked' && !listed.has(id)).map(([id]) => id);
  if (missing.length === 0) return;
  const message = `must say why ${missing.slice(0, 5).join(', ')} ${missing.length === 1 ? 'is' : 'are'} blocked`;
  found.add('MISSING_REQUIRED_INPUT', 'blockers', message, { missing });
}
