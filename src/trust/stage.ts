// The stages of verification in their order, with the coarse class each refusal belongs to.
import type { GovernedCode } from '../kernel/codes/governed.ts';

export const STAGES = {
  registry: { number: 1, class: 'hash_mismatch' },
  parse: { number: 2, class: 'schema' },
  signature: { number: 3, class: 'schema' },
  schema: { number: 4, class: 'schema' },
  protocol: { number: 5, class: 'version' },
  timestamp: { number: 6, class: 'timestamp' },
  replay: { number: 7, class: 'replay' },
  agents: { number: 8, class: 'unknown_agent' },
  quarantine: { number: 9, class: 'hash_mismatch' },
  version: { number: 10, class: 'version' },
  hash: { number: 11, class: 'hash_mismatch' },
  composition: { number: 12, class: 'composition' },
  boundary: { number: 13, class: 'boundary' },
  scope: { number: 14, class: 'scope' },
  injection: { number: 15, class: 'injection' },
  attestation: { number: 16, class: 'schema' },
  audit: { number: 17, class: 'schema' },
} as const;
export type StageName = keyof typeof STAGES;
type ReasonClass = (typeof STAGES)[StageName]['class'];

/** An envelope refused before this stage leaves its id unused, and may be corrected under the same id. */
export const FIRST_STAGE_THAT_USES_THE_ID = STAGES.replay.number;

const FLAGGED_STAGES: readonly StageName[] = [
  ...(['registry', 'signature', 'replay', 'quarantine', 'hash', 'injection', 'audit'] as const),
];

/** Whether a refusal may be an attack rather than a mistake. */
export function isSecurityEvent(stage: StageName, code: GovernedCode): boolean {
  return FLAGGED_STAGES.includes(stage) || code === 'TIMESTAMP_STALE' || code === 'TIMESTAMP_FUTURE';
}

/** The refusal in the words of the older protocol, for senders that know only those. */
export function refusalReason(reasonClass: ReasonClass): string {
  switch (reasonClass) {
    case 'hash_mismatch':
      return 'HASH_VERIFICATION_FAILURE';
    case 'unknown_agent':
      return 'INVALID_AGENT_REFERENCE';
    case 'boundary':
      return 'BOUNDARY_VIOLATION';
    case 'scope':
      return 'OUT_OF_SCOPE';
    case 'composition':
      return 'COMPOSITION_VIOLATION';
    default:
      return 'INVALID_HANDOFF';
  }
}
