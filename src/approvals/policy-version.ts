// The version by which an approval knows the policy again under which it was asked for.
import type { ApprovalPolicy } from '../kernel/approval/policy.ts';
import type { Json } from '../kernel/json.ts';
import { canonicalJson } from '../kernel/json.ts';
import { sha256 } from './look.ts';
import { RISK_TABLE } from './risk-table.ts';

/** The digest of everything that decides about tiers. */
export function versionOf(policy: ApprovalPolicy): string {
  const table = JSON.stringify(RISK_TABLE, (_, value) => (value instanceof RegExp ? value.source : value));
  return sha256(canonicalJson({ policy, table } as unknown as Json));
}
