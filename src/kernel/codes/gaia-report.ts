// What a report of the gaia contract can lack or get wrong: the names that stand in `details.missing`, `details.invalid`
// and `details.warnings`. The part after a colon in a finding is the value or the place.
import type { CodeRow } from './row.ts';

const row = (means: string, fix: string): CodeRow => ({ http: 422, retry: 'repaired', means, fix });
const evidence = (holds: string): CodeRow =>
  row(`evidence_report lacks this key: ${holds}`, 'add the key; an empty list is allowed');
const consolidation = (holds: string): CodeRow =>
  row(`consolidation_report lacks this key: ${holds}`, 'add the key, as the INPUT asks for a consolidation');

export const GAIA_REPORT_CODES = {
  AGENT_STATUS: row('the report has no agent_status', 'add agent_status with its four fields'),
  PLAN_STATUS: row(
    'plan_status is missing or none of the five',
    'report IN_PROGRESS, APPROVAL_REQUEST, COMPLETE, BLOCKED or NEEDS_INPUT',
  ),
  AGENT_ID: row(
    'agent_id is missing, malformed or not the one that was issued',
    'repeat the agent_id of the brief exactly',
  ),
  PENDING_STEPS: row('agent_status.pending_steps is missing', 'add it; an empty list is allowed'),
  NEXT_ACTION: row('agent_status.next_action is missing', 'say what happens next'),
  EVIDENCE_REPORT: row('the report has no evidence_report', 'add it with its seven keys'),
  PATTERNS_CHECKED: evidence('search patterns that were run'),
  FILES_CHECKED: evidence('files that were read'),
  COMMANDS_RUN: evidence('commands that were executed'),
  KEY_OUTPUTS: evidence('distilled findings'),
  VERBATIM_OUTPUTS: evidence('raw excerpts'),
  CROSS_LAYER_IMPACTS: evidence('adjacent components that are affected'),
  OPEN_GAPS: evidence('what remains unresolved (also a key of consolidation_report)'),
  CONSOLIDATION_REPORT: row('the INPUT asks for a consolidation_report and there is none', 'add it with its six keys'),
  OWNERSHIP_ASSESSMENT: consolidation('owned_here, cross_surface_dependency or not_my_surface'),
  CONFIRMED_FINDINGS: consolidation('what was verified'),
  SUSPECTED_FINDINGS: consolidation('what is suspected'),
  CONFLICTS: consolidation('contradictions across surfaces'),
  NEXT_BEST_AGENT: consolidation('who should go on'),
  VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE: row(
    'COMPLETE was reported without a verification',
    'add evidence_report.verification with its result',
  ),
  VERIFICATION_RESULT_MUST_BE_PASS: row(
    'COMPLETE was reported with a verification that did not pass',
    'report another status, or make it pass',
  ),
  APPROVAL_REQUEST: row('APPROVAL_REQUEST was reported without an approval_request', 'add approval_request'),
  APPROVAL_REQUEST_ROLLBACK: row('the approval request does not say how to undo it', 'add rollback'),
  APPROVAL_REQUEST_VERIFICATION: row('the approval request does not say how success is confirmed', 'add verification'),
  APPROVAL_REQUEST_FIELD_MISSING: row(
    'an advisory field of the approval request is missing',
    'add the field named after the colon',
  ),
  APPROVAL_REQUEST_INVALID_RISK_LEVEL: row('the risk level is none of the four', 'use LOW, MEDIUM, HIGH or CRITICAL'),
  LOOP_STATE_INCOMPLETE: row(
    'COMPLETE was reported while the metric is below its threshold and iterations remain',
    'go on, or report another status',
  ),
} as const satisfies Record<string, CodeRow>;
