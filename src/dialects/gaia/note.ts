// What a report comes to, in a line or two and in the agent's own words: what it found, what is missing, what it asks.
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { saysNothing } from '../../kernel/report/note.ts';
import { sectionAt, valueAt } from '../../kernel/report/sections.ts';
import type { PlanStatus } from './contract.ts';
import { isEmpty } from './presence.ts';

const NOTE_CHARS_MAX = 1_200;

export function noteOf(plan: PlanStatus, report: JsonObject): string {
  const evidence = isObject(report.evidence_report) ? report.evidence_report : {};
  const status = isObject(report.agent_status) ? report.agent_status : {};
  const said: Readonly<Record<PlanStatus, readonly string[]>> = {
    COMPLETE: linesOf(evidence.key_outputs),
    BLOCKED: or(gapsIn(report), withoutGap(status.next_action)),
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

function gapsIn(report: JsonObject): readonly string[] {
  const sections = [sectionAt(report, 'evidence_report'), sectionAt(report, 'consolidation_report')];
  const gaps = sections.flatMap((section) => linesOf(valueAt(section, 'open_gaps')));
  return [...new Set(gaps)].filter((gap) => !saysNothing(gap));
}

/** What should happen next is no gap, and read as one it would say that it is done. */
function withoutGap(next: Json | undefined): readonly string[] {
  const said = linesOf(next).map((line) => `"${line}"`);
  return [`its agent reported BLOCKED and named no gap${said.length > 0 ? `; next_action: ${said.join(', ')}` : ''}`];
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
