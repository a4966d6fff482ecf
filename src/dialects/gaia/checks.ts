// The checks of a report, one function per section. Each returns findings with the codes and the order of the seed.
import { namesCommand } from '../../kernel/approval/request.ts';
import type { Contract } from '../../kernel/dialect.ts';
import { hasPath } from '../../kernel/graph/path.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import {
  type Finding,
  findingWarning,
  findLiveState,
  isAbsent,
  isEmpty,
  normaliseReferences,
  textOf,
} from '../../kernel/knowledge/live-state.ts';
import { claimedCommands } from '../../kernel/report/commands.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from '../../kernel/report/sections.ts';
import {
  codeOfLoop,
  isPlanStatus,
  isUnfinished,
  loopStateIn,
  normaliseStatus,
  PLAN_STATUSES,
  type PlanStatus,
} from '../../kernel/report/status.ts';
import { readWithSchema } from '../user-schema.ts';
import {
  APPROVAL_ADVISORY_KEYS,
  APPROVAL_BLOCKING_KEYS,
  either,
  invalid,
  isAgentId,
  isOneOf,
  missing,
  OWNERSHIP_ASSESSMENTS,
  RISK_LEVELS,
  usable,
} from './contract.ts';

export type StatusCheck = {
  /** As reported, in capitals; null when nothing was reported. Only `plan` may steer anything. */
  readonly reported: string | null;
  readonly plan: PlanStatus | null;
  readonly agentId: string | null;
  readonly findings: readonly Finding[];
};

/** `issuedId` is the id the runtime gave to this turn; null when it gave none that could be routed to. */
export function checkStatus(report: JsonObject, issuedId: string | null): StatusCheck {
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

/** Every valid status needs the seven keys. What they hold is the agent's affair: even null is an answer. */
export function checkEvidence(report: JsonObject): Finding[] {
  const section = usable(report.evidence_report);
  const absent = EVIDENCE_KEYS.filter((key) => !section || !holds(section, key)).map((key) =>
    missing(key.toUpperCase(), `evidence_report.${key}`, `${key} is missing: give a list, [] when there is nothing`),
  );
  if (section) return absent;
  return [
    missing('EVIDENCE_REPORT', 'evidence_report', 'give evidence_report as an object with its seven keys'),
    ...absent,
  ];
}

/** COMPLETE has to be backed by a verification that passed; other statuses may carry any, even a failed one. */
export function checkVerification(report: JsonObject, plan: PlanStatus | null): Finding[] {
  if (plan !== 'COMPLETE') return [];
  const path = 'evidence_report.verification';
  const verification = isObject(report.evidence_report) ? report.evidence_report.verification : undefined;
  if (!isObject(verification)) {
    const advice =
      'COMPLETE needs an object with method, checks and result; report IN_PROGRESS if nothing was verified';
    return [missing('VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE', path, advice)];
  }
  const { result } = verification;
  if (typeof result === 'string' && result.trim().toLowerCase() === 'pass') return [];
  const advice = 'COMPLETE needs the result "pass"; report IN_PROGRESS or BLOCKED if the verification did not pass';
  return [missing('VERIFICATION_RESULT_MUST_BE_PASS', `${path}.result`, advice)];
}

/** Commands were run and none of their output is quoted: worth a look, never a refusal. */
export function lacksVerbatimOutput(report: JsonObject): boolean {
  if (claimedCommands(report).length === 0) return false;
  return entriesOf(report, 'verbatim_outputs').every((entry) => PLACEHOLDERS.has(plain(textOf(entry))));
}

const PLACEHOLDERS = new Set([
  '',
  '[]',
  '-',
  'n/a',
  'na',
  'none',
  'no output',
  'no output captured',
  'no output to capture',
  'not applicable',
  'not available',
  'no command run',
  'no commands run',
  'no command(s) run',
  'no verbatim output',
]);

function plain(text: string): string {
  const word = text.trim().toLowerCase();
  return word.endsWith('.') ? word.slice(0, -1) : word;
}

function holds(section: JsonObject, key: string): boolean {
  return Object.hasOwn(section, key) || Object.hasOwn(section, key.toUpperCase());
}

function entriesOf(report: JsonObject, key: string): readonly Json[] {
  const value = either(usable(report.evidence_report), key);
  if (Array.isArray(value)) return value.filter((entry) => entry !== null);
  return value === undefined || isEmpty(value) ? [] : [value];
}

/** Looked at only when the INPUT asked for it. Every key must be there; a list may be empty. */
export function checkConsolidation(report: JsonObject, required: boolean): Finding[] {
  if (!required) return [];
  const section = usable(report.consolidation_report);
  const findings = CONSOLIDATION_KEYS.flatMap((key) => checkKey(section, key));
  if (section) return findings;
  const advice = 'the INPUT asks for a consolidation_report: give an object with its six keys';
  return [missing('CONSOLIDATION_REPORT', 'consolidation_report', advice), ...findings];
}

function checkKey(section: JsonObject | null, key: (typeof CONSOLIDATION_KEYS)[number]): Finding[] {
  const path = `consolidation_report.${key}`;
  const value = either(section, key);
  const words = OWNERSHIP_ASSESSMENTS.join(', ');
  if (value === undefined || (isEmpty(value) && !(isListKey(key) && Array.isArray(value)))) {
    const advice = isListKey(key)
      ? '[] says there is nothing'
      : key === 'ownership_assessment'
        ? `use one of ${words}`
        : 'name an agent, or "none"';
    return [missing(key.toUpperCase(), path, `${key} is missing: ${advice}`)];
  }
  if (key !== 'ownership_assessment' || isOneOf(OWNERSHIP_ASSESSMENTS, value)) return [];
  return [invalid('OWNERSHIP_ASSESSMENT', value, path, `not an ownership_assessment: use one of ${words}`)];
}

function isListKey(key: (typeof CONSOLIDATION_KEYS)[number]): boolean {
  return key !== 'ownership_assessment' && key !== 'next_best_agent';
}

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
    findingWarning(`APPROVAL_REQUEST_FIELD_MISSING:${key}`, `approval_request.${key}`, `${key} should be given`),
  );
}

/** An element that is no command is left out of a list, with a warning. */
function checkSet({ command_set: set }: JsonObject): Finding[] {
  if (!Array.isArray(set)) return [];
  return set.flatMap((one, index) => {
    if (namesCommand(one)) return [];
    const path = `approval_request.command_set.${index}`;
    const advice = 'it is left out: each entry is an object with command and rationale';
    return [findingWarning(`APPROVAL_REQUEST_COMMAND_LEFT_OUT:${index}`, path, advice)];
  });
}

function checkRisk(section: JsonObject): Finding[] {
  const value = section.risk_level;
  if (value === undefined || (value !== null && isAbsent(value))) return [];
  const level = textOf(value).toUpperCase();
  if (isOneOf(RISK_LEVELS, level)) return [];
  const advice = `risk_level should be one of ${RISK_LEVELS.join(', ')}`;
  return [findingWarning(`APPROVAL_REQUEST_INVALID_RISK_LEVEL:${level}`, 'approval_request.risk_level', advice)];
}

/** Only a COMPLETE can disprove itself. */
export function checkLoopState(report: JsonObject, plan: PlanStatus | null): Finding[] {
  const loop = plan === 'COMPLETE' ? loopStateIn(report) : null;
  if (!loop || !isUnfinished(loop)) return [];
  const message = 'iterations are left and the threshold is not reached: go on with the next iteration';
  return [missing(codeOfLoop(loop), 'loop_state', message)];
}

/**
 * The socket: the paths its assignments read, and its own schema. Only COMPLETE hands something on, so only COMPLETE is
 * checked.
 */
export function checkAssigned(report: JsonObject, contract: Pick<Contract, 'assign' | 'schema'>): Finding[] {
  if (!isComplete(report)) return [];
  const absent = slotSources(contract).filter((source) => !hasPath(report, source));
  return [
    ...absent.map((source) => missing(`ASSIGN:${source}`, source, 'the socket hands this on: give it a value')),
    ...(contract.schema ? checkSchema(report, contract.schema) : []),
  ];
}

/** The paths into the report that the assignments of a socket read, each once. */
export function slotSources({ assign }: Pick<Contract, 'assign'>): string[] {
  return [...new Set(Object.values(assign).filter((source) => source.startsWith('$.')))];
}

function isComplete(report: JsonObject): boolean {
  const status = isObject(report.agent_status) ? report.agent_status.plan_status : undefined;
  return typeof status === 'string' && normaliseStatus(status) === 'COMPLETE';
}

function checkSchema(report: JsonObject, schema: JsonObject): Finding[] {
  const reading = readWithSchema(schema, report);
  if (!reading.usable) {
    return [missing('SCHEMA:unusable', '$', `the schema of the socket cannot be used: ${reading.why}`)];
  }
  return reading.problems.map(({ path, message }) => missing(`SCHEMA:${path}`, path, `${path} ${message}`));
}

/** References in their canonical spelling; that, and what looks like live state, is pointed out. */
export function prepare(payload: JsonObject, contract: string, findings: Finding[]): JsonObject {
  const normalised = normaliseReferences(payload, contract, findings);
  findLiveState(normalised, contract, findings);
  return normalised;
}
