// The record of one change to one row of the ledger, as an orchestrator emits it.
import { isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { TASK_STATUSES, type TaskStatus } from '../../kernel/ledger/state.ts';
import { DELTA } from './contract.ts';
import {
  checkInteger,
  checkObjects,
  checkOneOf,
  checkString,
  checkText,
  checkUtcTimestamp,
  objectsOf,
} from './field.ts';
import type { Findings } from './findings.ts';
import { checkTaskId } from './identifiers.ts';

/** A record whose shape was checked. */
export type Delta = JsonObject & {
  readonly task_id: string;
  readonly status: TaskStatus;
  readonly owner: string;
  readonly reason: string;
  readonly delta_id: string;
};

export function checkDeltas(found: Findings, value: Json | undefined, path: string): void {
  const check = (delta: JsonObject, place: string, index: number) => checkDelta(found, delta, place, index);
  checkObjects(found, value, path, DELTA, check, 'MISSING_REQUIRED_INPUT');
}

/** The records of a list that was checked. */
export function deltasOf(value: Json | undefined): readonly Delta[] {
  return objectsOf(value) as readonly Delta[];
}

/**
 * Whether the record means to create its row: a new task starts as `todo`, and says so with `x_create: true` or by
 * bringing a title. Anything less would let a mistyped task id pass for a new task. A title is no field of a delta, so that in
 * strict mode only the marker is left.
 */
export function isCreateIntent(delta: JsonObject): boolean {
  return delta.status === 'todo' && (delta.x_create === true || isText(delta.title));
}

function checkDelta(found: Findings, delta: JsonObject, path: string, index: number): void {
  checkTaskId(found, delta.task_id, `${path}.task_id`, { index });
  checkOneOf(found, delta.status, `${path}.status`, TASK_STATUSES, { index });
  checkString(found, delta.owner, `${path}.owner`, { index });
  checkString(found, delta.reason, `${path}.reason`, { index });
  checkText(found, delta.delta_id, `${path}.delta_id`, {}, { index });
  if (delta.last_heartbeat_at !== undefined) {
    checkUtcTimestamp(found, delta.last_heartbeat_at, `${path}.last_heartbeat_at`, { index });
  }
  if (delta.timed_out !== undefined && typeof delta.timed_out !== 'boolean') {
    found.add('SCHEMA_INVALID', `${path}.timed_out`, 'must be true or false', { index });
  }
  if (delta.retry_after_ms !== undefined) checkInteger(found, delta.retry_after_ms, `${path}.retry_after_ms`, 0);
  if (delta.timed_out === true && delta.status !== 'blocked') {
    found.warn(`${path}: a task that timed out should be blocked`);
  }
}
