// The words of the agent_contract_handoff: field names, closed sets of values, and what each field is for.
// Checks, brief, schema and documentation all read these lists, so that none of them can promise something else.

/** Names the fence of the OUTPUT block, and one section of the INPUT envelope. */
export const TAG = 'agent_contract_handoff';

export const PLAN_STATUSES = ['IN_PROGRESS', 'APPROVAL_REQUEST', 'COMPLETE', 'BLOCKED', 'NEEDS_INPUT'] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];

export const STATUS_MEANS: Readonly<Record<PlanStatus, string>> = {
  IN_PROGRESS: 'you are in the middle of the work, or its verification failed and you will try again',
  APPROVAL_REQUEST: 'a command needs the consent of a person; fill in approval_request',
  COMPLETE: 'the increment is finished and evidence_report.verification.result is "pass"',
  BLOCKED: 'you cannot go on alone; name the gap in evidence_report.open_gaps',
  NEEDS_INPUT: 'a person has to decide; list the options in next_action',
};

export const STATUS_KEYS = ['plan_status', 'agent_id', 'pending_steps', 'next_action'] as const;

export const EVIDENCE_KEYS = [
  'patterns_checked',
  'files_checked',
  'commands_run',
  'key_outputs',
  'verbatim_outputs',
  'cross_layer_impacts',
  'open_gaps',
] as const;

export const CONSOLIDATION_KEYS = [
  'ownership_assessment',
  'confirmed_findings',
  'suspected_findings',
  'conflicts',
  'open_gaps',
  'next_best_agent',
] as const;

export const OWNERSHIP_ASSESSMENTS = ['owned_here', 'cross_surface_dependency', 'not_my_surface'] as const;

export const APPROVAL_BLOCKING_KEYS = ['rollback', 'verification'] as const;
export const APPROVAL_ADVISORY_KEYS = ['operation', 'exact_content', 'scope', 'risk_level'] as const;
export const RISK_LEVELS = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;

export const MEMORIALIZE_TYPES = ['atom', 'decision', 'negative'] as const;
export const MEMORIALIZE_CLASSES = ['anchor', 'thread', 'log'] as const;

const AGENT_ID = /^a[0-9a-f]{5,}$/;

/** Whether a repair can be routed back to an agent of this name. */
export function isAgentId(value: unknown): value is string {
  return typeof value === 'string' && AGENT_ID.test(value);
}

export function isPlanStatus(value: unknown): value is PlanStatus {
  return isOneOf(PLAN_STATUSES, value);
}

/** Letter case and trailing punctuation are forgiven; white space around the word is not. */
export function normaliseStatus(text: string): string {
  let end = text.length;
  while (end > 0 && '.,;'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).toUpperCase();
}

export function isOneOf<T extends string>(words: readonly T[], value: unknown): value is T {
  return words.some((word) => word === value);
}
