// What the sender claims about its handoff, and what the verifier found. A claim is never evidence: true helps nobody,
// and false is taken at its word.

import type { Problem } from '../kernel/trust/problem.ts';
import { CLAIMS, type Claim, type Envelope } from './envelope.ts';

export type Claimed = { readonly [claim in Claim]: boolean };
/** Null where a check never ran because an earlier one refused. */
export type Recomputed = { [claim in Claim]: boolean | null };

export function nothingRecomputed(): Recomputed {
  return {
    source_agent_verified: null,
    target_agent_verified: null,
    composition_valid: null,
    boundaries_respected: null,
  };
}

export function claimedBy(envelope: Envelope): Claimed {
  const { source_agent_verified, target_agent_verified, composition_valid, boundaries_respected } = envelope.governance;
  return { source_agent_verified, target_agent_verified, composition_valid, boundaries_respected };
}

export function falseClaims(claimed: Claimed, recomputed: Readonly<Recomputed>): readonly Claim[] {
  return CLAIMS.filter((claim) => claimed[claim] && recomputed[claim] === false);
}

/** A sender that reports a failed check is not overruled. */
export function checkClaims(claimed: Claimed): readonly Problem[] {
  if (CLAIMS.every((claim) => claimed[claim])) return [];
  return CLAIMS.filter((claim) => !claimed[claim]).map((claim) => ({
    code: 'ATTESTATION_NEGATIVE',
    pointer: `/governance/${claim}`,
    message: `the sender itself reports that ${claim} does not hold`,
  }));
}
