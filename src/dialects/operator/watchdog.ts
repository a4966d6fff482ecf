// Finds the tasks in progress that have been silent for longer than their limit. The time is an input.
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { isAhead, isSilent, SKEW_MS_MAX } from '../../kernel/ledger/beat.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { type Options, TIMEOUT_SECONDS_MIN, WATCHDOG } from './contract.ts';
import {
  checkExtensions,
  checkInteger,
  checkOptionalHead,
  checkTaskId,
  Findings,
  listOf,
  payloadOf,
  readInstant,
} from './findings.ts';

export const TIMEOUT_RULE = 'R-WD-001';
export const SKEW_RULE = 'R-WD-002';

type Silent = {
  readonly task_id: string;
  readonly last_heartbeat_at: string;
  readonly timeout_seconds: number;
  readonly age_seconds: number;
};

/** Checks `{now, tasks: [{task_id, status, timeout_seconds, last_heartbeat_at}]}`; `options.now` stands in for `now`. */
export function validateWatchdog(input: unknown, options: Options = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { payload } = given;
  const found = new Findings(options);
  const now = payload.now === undefined ? options.now : payload.now;
  const instant = isString(now) ? readInstant(now) : null;
  const silent: Silent[] = [];
  const refusal = found.through([
    () => checkInputs(found, now, payload.tasks),
    () => {
      checkOptionalHead(found, payload);
      checkExtensions(found, payload, WATCHDOG, '');
      if (!instant) found.add('SCHEMA_INVALID', 'now', 'must be a time, such as 2026-01-31T09:30:00Z');
    },
    // A row that cannot be judged is reported first, and hides none of the silent ones.
    () => silent.push(...findSilent(found, payload.tasks, instant?.seconds ?? 0)),
    () => {
      if (silent.length > 0) {
        const names = silent.slice(0, 5).map(({ task_id }) => task_id);
        const message = `no heartbeat within the limit: ${names.join(', ')}${silent.length > 5 ? ' and others' : ''}`;
        found.add(TIMEOUT_RULE, 'tasks', message, { contract_code: 'TASK_TIMEOUT', timed_out: silent });
      }
    },
  ]);
  if (!refusal) return found.allowed('no task is silent for too long', { timed_out_count: 0 });
  if (silent.length === 0 || refusal.code === TIMEOUT_RULE) return refusal;
  return { ...refusal, details: { ...refusal.details, timed_out: silent } };
}

function checkInputs(found: Findings, now: unknown, tasks: Json | undefined): void {
  const missing = [];
  if (!isText(now)) missing.push('now');
  if (!Array.isArray(tasks)) missing.push('tasks');
  if (missing.length === 0) return;
  const message = `required: ${missing.join(', ')}; now is a time and tasks is an array`;
  found.add('MISSING_REQUIRED_INPUT', '$', message, { missing });
}

function findSilent(found: Findings, tasks: Json | undefined, now: number): readonly Silent[] {
  const rows = listOf(tasks);
  return rows.flatMap((task, index) => {
    const path = `tasks[${index}]`;
    if (!isObject(task)) {
      found.add('SCHEMA_INVALID', path, 'must be an object', { index });
      return [];
    }
    return task.status === 'in_progress' ? judge(found, task, path, index, now) : [];
  });
}

function judge(found: Findings, task: JsonObject, path: string, index: number, now: number): readonly Silent[] {
  const { task_id, timeout_seconds, last_heartbeat_at } = task;
  const before = found.count;
  checkTaskId(found, task_id, `${path}.task_id`, { index });
  checkInteger(found, timeout_seconds, `${path}.timeout_seconds`, TIMEOUT_SECONDS_MIN);
  const heartbeat = isString(last_heartbeat_at) ? readInstant(last_heartbeat_at) : null;
  if (!heartbeat) {
    found.add('SCHEMA_INVALID', `${path}.last_heartbeat_at`, 'must be the time of the last heartbeat', { index });
  }
  if (!heartbeat || found.count > before || !isString(task_id) || !isString(last_heartbeat_at)) return [];
  const age_seconds = now - heartbeat.seconds;
  if (isAhead(heartbeat.seconds * 1000, now * 1000)) {
    const message = `lies ${-age_seconds} s in the future; at most ${SKEW_MS_MAX / 1000} s of skew are tolerated`;
    const details = { index, contract_code: 'SCHEMA_INVALID', task_id, age_seconds };
    found.add(SKEW_RULE, `${path}.last_heartbeat_at`, message, details);
  }
  const limit = Number(timeout_seconds);
  return isSilent(age_seconds, limit) ? [{ task_id, last_heartbeat_at, timeout_seconds: limit, age_seconds }] : [];
}
