// The rules a gate answers with, and the contract code under which a refusal by each of them is stored.
import type { OperatorRule } from '../../kernel/codes/operator-rules.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OperatorCode } from './contract.ts';
import type { Findings } from './findings.ts';

export const CONTRACT_CODES: Readonly<Record<OperatorRule, OperatorCode>> = {
  'R-PD-001': 'MISSING_REQUIRED_INPUT',
  'R-PD-002': 'SCHEMA_INVALID',
  'R-PD-003': 'LOCK_CONFLICT',
  'R-PD-004': 'SCOPE_VIOLATION',
  'R-PD-005': 'SCHEMA_INVALID',
  'R-PD-006': 'SCHEMA_INVALID',
  'R-PD-007': 'SCHEMA_INVALID',
  'R-PE-001': 'DEPENDENCY_NOT_MET',
  'R-PW-001': 'SCOPE_VIOLATION',
  'R-PW-002': 'SCOPE_VIOLATION',
  'R-PO-001': 'SCHEMA_INVALID',
  'R-PO-002': 'SCOPE_VIOLATION',
  'R-PO-003': 'NON_COMPLIANT',
  'R-PO-004': 'UNTRUSTED_CONTEXT_BLOCK',
  'R-PC-001': 'ACCEPTANCE_FAILED',
  'R-PC-002': 'ACCEPTANCE_FAILED',
  'R-PC-003': 'ACCEPTANCE_FAILED',
  'R-LK-001': 'LOCK_CONFLICT',
  'R-WD-001': 'TASK_TIMEOUT',
  'R-WD-002': 'SCHEMA_INVALID',
};

export function breaks(
  found: Findings,
  rule: OperatorRule,
  path: string,
  message: string,
  details: JsonObject = {},
): void {
  found.add(rule, path, message, { contract_code: CONTRACT_CODES[rule], ...details });
}
