// The keys of a report that the runtime itself speaks of: what it asks for in the INPUT, and what it gathers afterwards.

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
