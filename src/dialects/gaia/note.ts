// What a report comes to, in a line or two and in the agent's own words: what it found, what is missing, what it asks.
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import type { PlanStatus } from './contract.ts';
import { isEmpty } from './presence.ts';

const NOTE_CHARS_MAX = 1_200;

export function noteOf(plan: PlanStatus, report: JsonObject): string {
  const evidence = isObject(report.evidence_report) ? report.evidence_report : {};
  const status = isObject(report.agent_status) ? report.agent_status : {};
  const said: Readonly<Record<PlanStatus, readonly string[]>> = {
    COMPLETE: linesOf(evidence.key_outputs),
    BLOCKED: or(linesOf(evidence.open_gaps), linesOf(status.next_action)),
    NEEDS_INPUT: linesOf(status.next_action),
    IN_PROGRESS: [...linesOf(status.next_action), ...linesOf(status.pending_steps)],
    APPROVAL_REQUEST: approvalLines(report.approval_request),
  };
  const note = said[plan].join('; ');
  return note.length <= NOTE_CHARS_MAX ? note : `${note.slice(0, NOTE_CHARS_MAX - 1).trimEnd()}…`;
}

function or(first: readonly string[], second: readonly string[]): readonly string[] {
  return first.length > 0 ? first : second;
}

function approvalLines(request: Json | undefined): readonly string[] {
  if (!isObject(request)) return [];
  const set = Array.isArray(request.command_set) ? (request.command_set as readonly Json[]) : [];
  const listed = set.map((one) => (isObject(one) ? (one.command ?? null) : one));
  return [...linesOf(request.operation), ...linesOf(request.exact_content), ...linesOf(listed)];
}

function linesOf(value: Json | undefined): readonly string[] {
  if (value === undefined || isEmpty(value)) return [];
  const list = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return list.map((each) => (isString(each) ? each : JSON.stringify(each)).replace(/\s+/g, ' ').trim());
}
