// What a workspace may tighten or loosen about verification. Everything not named here cannot be switched off.

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
  /** A valid signature is required. */
  readonly requireSignature: boolean;
};

export const TRUST_POLICY: Policy = {
  requireScopes: false,
  strictMembers: false,
  compositionSize: true,
  constituentBytes: false,
  orchestratorChain: false,
  requireParent: false,
  phrases: 'refuse',
  requireSignature: false,
};
