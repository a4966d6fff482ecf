// agent_status: who reports, how the work stands, what is left, and what comes next.
import type { Json, JsonObject } from '../../kernel/json.ts';
import { isAgentId, isPlanStatus, normaliseStatus, PLAN_STATUSES, type PlanStatus } from './contract.ts';
import { type Finding, invalid, missing, textOf } from './finding.ts';
import { either, isAbsent, usable } from './presence.ts';

export type Status = {
  /** As reported, in capitals; null when nothing was reported. Only `plan` may steer anything. */
  readonly reported: string | null;
  readonly plan: PlanStatus | null;
  readonly agentId: string | null;
  readonly findings: readonly Finding[];
};

/** `issuedId` is the id the runtime gave to this turn; null when it gave none that could be routed to. */
export function checkStatus(report: JsonObject, issuedId: string | null): Status {
  const section = usable(report.agent_status);
  const reported = reportedStatus(section?.plan_status);
  const agentId = section?.agent_id;
  return {
    reported,
    plan: isPlanStatus(reported) ? reported : null,
    agentId: isAbsent(agentId) ? null : textOf(agentId),
    findings: [
      ...(section
        ? []
        : [missing('AGENT_STATUS', 'agent_status', 'give agent_status as an object with its four fields')]),
      ...checkPlanStatus(reported),
      ...checkPresent(section, 'pending_steps', 'list the steps that are left; [] when there are none'),
      ...checkPresent(section, 'next_action', 'say what should happen next; "done" when nothing should'),
      ...checkAgentId(agentId, issuedId),
    ],
  };
}

/** The findings of a reply in which no report could be found. */
export function nothingReported(): readonly Finding[] {
  return checkStatus({}, null).findings;
}

function reportedStatus(value: Json | undefined): string | null {
  return isAbsent(value) ? null : normaliseStatus(textOf(value)) || null;
}

function checkPlanStatus(reported: string | null): Finding[] {
  const path = 'agent_status.plan_status';
  const advice = `use one of ${PLAN_STATUSES.join(', ')}`;
  if (reported === null) return [missing('PLAN_STATUS', path, `plan_status is missing: ${advice}`)];
  return isPlanStatus(reported) ? [] : [invalid('PLAN_STATUS', reported, path, `not a plan_status: ${advice}`)];
}

function checkPresent(section: JsonObject | null, key: string, advice: string): Finding[] {
  if (!isAbsent(either(section, key))) return [];
  return [missing(key.toUpperCase(), `agent_status.${key}`, `${key} is missing: ${advice}`)];
}

function checkAgentId(value: Json | undefined, issuedId: string | null): Finding[] {
  const path = 'agent_status.agent_id';
  const advice =
    issuedId === null ? '`a` and at least five lower-case hex digits' : `the id of this turn is ${issuedId}`;
  if (isAbsent(value)) return [missing('AGENT_ID', path, `agent_id is missing: ${advice}`)];
  if (isAgentId(value) && (issuedId === null || value === issuedId)) return [];
  return [invalid('AGENT_ID', value, path, `not the agent_id of this turn: ${advice}`)];
}
