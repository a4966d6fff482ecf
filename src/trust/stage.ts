// The stages of verification in their order, the coarse class of each refusal, and the policy with which a workspace
// tightens or loosens the checks.
import type { GovernedCode } from '../kernel/codes/governed.ts';

export const STAGES = {
  registry: { number: 1, class: 'hash_mismatch' },
  parse: { number: 2, class: 'schema' },
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

const FLAGGED_STAGES: readonly StageName[] = [
  ...(['registry', 'replay', 'quarantine', 'hash', 'injection', 'audit'] as const),
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

export type Policy = {
  /** A request must name its scopes. */
  readonly requireScopes: boolean;
  /** Unknown members of the envelope refuse it. */
  readonly strictMembers: boolean;
  /** An archetype has 2 to 4 domains. */
  readonly compositionSize: boolean;
  /** Every constituent's prompt must match and not be quarantined; otherwise its lock entry is enough. */
  readonly constituentBytes: boolean;
  /** An orchestrator may hand to another orchestrator. */
  readonly orchestratorChain: boolean;
  /** An orchestrator must name the handoff it mediates, unless its own handoff begins a chain. */
  readonly requireParent: boolean;
  /**
   * What suspicious phrases do. Where they only flag, so does odd structure that agents of one cast may well write about;
   * what no output may carry refuses everywhere.
   */
  readonly phrases: 'refuse' | 'flag';
};

export const TRUST_POLICY: Policy = {
  requireScopes: false,
  strictMembers: false,
  compositionSize: true,
  constituentBytes: false,
  orchestratorChain: false,
  requireParent: false,
  phrases: 'refuse',
};
