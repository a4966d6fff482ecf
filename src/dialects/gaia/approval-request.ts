// approval_request: what a person is asked to allow. How to undo it and how to see that it worked are indispensable;
// the rest is advice.
import { namesCommand } from '../../kernel/approval/request.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { APPROVAL_ADVISORY_KEYS, APPROVAL_BLOCKING_KEYS, isOneOf, type PlanStatus, RISK_LEVELS } from './contract.ts';
import { type Finding, missing, textOf, warning } from './finding.ts';
import { isAbsent, isEmpty, usable } from './presence.ts';

/** Required for the status APPROVAL_REQUEST; a block that is there under any other status is held to the same rules. */
export function checkApprovalRequest(report: JsonObject, plan: PlanStatus | null): Finding[] {
  const section = usable(report.approval_request);
  if (section)
    return [...checkBlocking(section), ...checkAdvisory(section), ...checkRisk(section), ...checkSet(section)];
  if (plan !== 'APPROVAL_REQUEST') return [];
  const keys = [...APPROVAL_ADVISORY_KEYS, ...APPROVAL_BLOCKING_KEYS].join(', ');
  return [missing('APPROVAL_REQUEST', 'approval_request', `APPROVAL_REQUEST needs an object with ${keys}`)];
}

/** What no request may lack, whichever way it comes. */
export function checkBlocking(section: JsonObject): Finding[] {
  const advice = { rollback: 'say how to undo it', verification: 'say how success is confirmed' };
  return APPROVAL_BLOCKING_KEYS.filter((key) => isEmpty(section[key])).map((key) =>
    missing(`APPROVAL_REQUEST_${key.toUpperCase()}`, `approval_request.${key}`, `${key} is missing: ${advice[key]}`),
  );
}

function checkAdvisory(section: JsonObject): Finding[] {
  return APPROVAL_ADVISORY_KEYS.filter((key) => isEmpty(section[key])).map((key) =>
    warning(`APPROVAL_REQUEST_FIELD_MISSING:${key}`, `approval_request.${key}`, `${key} should be given`),
  );
}

/** What is no command is left out of a list, and that is said. */
function checkSet({ command_set: set }: JsonObject): Finding[] {
  if (!Array.isArray(set)) return [];
  return set.flatMap((one, index) => {
    if (namesCommand(one)) return [];
    const path = `approval_request.command_set.${index}`;
    const advice = 'it is left out: each entry is an object with command and rationale';
    return [warning(`APPROVAL_REQUEST_COMMAND_LEFT_OUT:${index}`, path, advice)];
  });
}

function checkRisk(section: JsonObject): Finding[] {
  const value = section.risk_level;
  if (value === undefined || (value !== null && isAbsent(value))) return [];
  const level = textOf(value).toUpperCase();
  if (isOneOf(RISK_LEVELS, level)) return [];
  const advice = `risk_level should be one of ${RISK_LEVELS.join(', ')}`;
  return [warning(`APPROVAL_REQUEST_INVALID_RISK_LEVEL:${level}`, 'approval_request.risk_level', advice)];
}
