// The version by which an approval knows the policy again under which it was asked for.
import type { ApprovalPolicy } from '../kernel/approval/policy.ts';
import type { Json } from '../kernel/json.ts';
import { canonicalJson } from '../kernel/json.ts';
import { sha256 } from './look.ts';
import { GLOBALS, ROWS, SIMULATES } from './tier-table.ts';

/** The digest of everything that decides about tiers. */
export function versionOf(policy: ApprovalPolicy): string {
  const effective = {
    policy,
    table: [...ROWS].map((row) => [...row]),
    globals: GLOBALS,
    simulates: [...SIMULATES].map((row) => [...row]),
  };
  return sha256(canonicalJson(effective as unknown as Json));
}
