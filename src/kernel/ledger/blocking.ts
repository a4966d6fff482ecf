// Why a task stands still: the code it carries while it is blocked, and whether the same work may be tried again.
import { CODES, type Code } from '../codes.ts';
import { isString, isText, type Json, type JsonObject } from '../json.ts';
import type { Task } from './state.ts';

/** The packet or the plan is wrong; the same work would only fail again. */
const STRUCTURAL: readonly Code[] = ['SCHEMA_INVALID', 'SCOPE_VIOLATION', 'NON_COMPLIANT'];

export function isStructural(code: Code | null): boolean {
  return code !== null && STRUCTURAL.includes(code);
}

/** The code that a text names, or null. */
export function knownCode(value: Json | undefined): Code | null {
  return isString(value) && Object.hasOwn(CODES, value) ? (value as Code) : null;
}

/** Whether a task that stops now has used up its attempts. */
export function isSpent({ retries, retriesMax }: Task): boolean {
  return retries >= retriesMax;
}

/** The code of a result that is not done: its own, else that of the last worklog entry, else what its status means. */
export function codeOfResult(task: Task, result: JsonObject): Code {
  const said = knownCode(result.x_code) ?? knownCode(task.worklog.code);
  return said ?? (result.status === 'failed' ? 'ACCEPTANCE_FAILED' : 'MISSING_REQUIRED_INPUT');
}

/** What a result that is not done says about itself. */
export function reasonOfResult(result: JsonObject): string {
  const notes = Array.isArray(result.notes_for_orchestrator) ? result.notes_for_orchestrator.filter(isText) : [];
  return notes[0] ?? `the agent reported ${String(result.status)}`;
}

/** The code of a delta that blocks its task; one that says a task is still blocked keeps the code it has. */
export function codeOfDelta(delta: JsonObject, blockers: readonly JsonObject[], { code }: Task): Code {
  const blocker = blockers.find((each) => each.task_id === delta.task_id);
  const listed = knownCode(blocker?.x_code) ?? knownCode(blocker?.code);
  const said = knownCode(delta.x_code) ?? (delta.timed_out === true ? 'TASK_TIMEOUT' : listed);
  return said ?? code ?? 'MISSING_REQUIRED_INPUT';
}

/** Why a delta blocks its task: what the list of blockers says of it, else the reason of the delta itself. */
export function reasonOfDelta(delta: JsonObject, blockers: readonly JsonObject[]): string {
  const blocker = delta.status === 'blocked' ? blockers.find((each) => each.task_id === delta.task_id) : undefined;
  return isText(blocker?.reason) ? blocker.reason : String(delta.reason);
}
