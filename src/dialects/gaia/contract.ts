// The words of the agent_contract_handoff: field names, closed sets of values, and what each field is for.
// Checks, brief, schema and documentation all read these lists, so that none of them can promise something else.
import type { PlanStatus } from '../../kernel/report/status.ts';

/** Names the fence of the OUTPUT block, and one section of the INPUT envelope. */
export const TAG = 'agent_contract_handoff';

export { isPlanStatus, normaliseStatus, PLAN_STATUSES, type PlanStatus } from '../../kernel/report/status.ts';

export const STATUS_MEANS: Readonly<Record<PlanStatus, string>> = {
  IN_PROGRESS: 'you are in the middle of the work, or its verification failed and you will try again',
  APPROVAL_REQUEST: 'a command needs the consent of a person; fill in approval_request',
  COMPLETE: 'the increment is finished and evidence_report.verification.result is "pass"',
  BLOCKED: 'you cannot go on alone; name the gap in evidence_report.open_gaps',
  NEEDS_INPUT: 'a person has to decide; list the options in next_action',
};

export const STATUS_KEYS = ['plan_status', 'agent_id', 'pending_steps', 'next_action'] as const;

export { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from '../../kernel/report/sections.ts';

export const OWNERSHIP_ASSESSMENTS = ['owned_here', 'cross_surface_dependency', 'not_my_surface'] as const;

export const APPROVAL_BLOCKING_KEYS = ['rollback', 'verification'] as const;
export const APPROVAL_ADVISORY_KEYS = ['operation', 'exact_content', 'scope', 'risk_level'] as const;
export const RISK_LEVELS = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;

export { MEMORIALIZE_CLASSES, MEMORIALIZE_TYPES } from '../../kernel/knowledge/suggestion.ts';

const AGENT_ID = /^a[0-9a-f]{5,}$/;

/** Whether a repair can be routed back to an agent of this name. */
export function isAgentId(value: unknown): value is string {
  return typeof value === 'string' && AGENT_ID.test(value);
}

export function isOneOf<T extends string>(words: readonly T[], value: unknown): value is T {
  return words.some((word) => word === value);
}
