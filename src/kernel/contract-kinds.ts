// The kinds of payloads that can be checked on their own.
export const OPERATOR_KINDS = [
  'assignment',
  'result',
  'orchestrator',
  'worklog',
  'bundle',
  'locks',
  'deltas',
  'reconcile',
  'watchdog',
] as const;

export const KINDS = [
  'materia',
  'gaia',
  'gaia/merge',
  'gaia/transition',
  ...OPERATOR_KINDS.map((name) => `operator/${name}` as const),
  'governed/handoff',
] as const;
