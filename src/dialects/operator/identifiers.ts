// The names by which runs, tasks and deltas are told apart.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Findings } from './findings.ts';

export const RUN_ID = /^[0-9a-fA-F-]{36}$/;
export const TASK_ID = /^(?:T-[0-9]+|[0-9a-fA-F-]{36})$/;
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export function isRunId(value: unknown): value is string {
  return typeof value === 'string' && RUN_ID.test(value);
}

export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && TASK_ID.test(value);
}

/** The form decides; that it is no UUID of version 4 is only mentioned. */
export function checkRunId(found: Findings, value: Json | undefined, path = 'run_id'): void {
  if (!isRunId(value)) {
    found.add('SCHEMA_INVALID', path, 'must be 36 characters out of hexadecimal digits and dashes, such as a UUID v4');
  } else if (!UUID_V4.test(value)) found.warn(`${path} is accepted but is no UUID v4`);
}

export function checkTaskId(found: Findings, value: Json | undefined, path: string, details: JsonObject = {}): void {
  if (isTaskId(value)) return;
  found.add('SCHEMA_INVALID', path, 'must be a task id: T- and digits, or the 36 characters of a UUID', details);
}
