// The operator contract knows fourteen codes. A task may be blocked by any code of the product; what other tools are told is
// then the nearest code of the contract, and the exact one beside it.

import { OPERATOR_CODES, type OperatorCode } from '../codes/operator.ts';
import type { OperatorRule } from '../codes/operator-rules.ts';
import type { Retry } from '../codes/row.ts';
import { CODES, type Code } from '../codes.ts';

/** Under which code a refusal by each rule of a gate is stored. */
export const CODE_OF_RULE: Readonly<Record<OperatorRule, OperatorCode>> = {
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

/** Codes that say more plainly than their kind of retry what they come to. */
const NEAREST: Readonly<Partial<Record<Code, OperatorCode>>> = {
  CONTRACT_VIOLATION: 'SCHEMA_INVALID',
  AGENT_FAILED: 'TASK_TIMEOUT',
  AGENT_CRASHED: 'TASK_TIMEOUT',
  AGENT_TIMEOUT: 'TASK_TIMEOUT',
  NO_OUTPUT: 'TASK_TIMEOUT',
  ILLEGAL_TRANSITION: 'INVALID_TRANSITION',
  WRITE_NOT_PERMITTED: 'SCOPE_VIOLATION',
  APPROVER_IS_AGENT: 'NON_COMPLIANT',
};

/** Of any other code: whether its cause goes away, is in the payload, is for a person to mend, or is final. */
const BY_RETRY: Readonly<Record<Retry, OperatorCode>> = {
  later: 'TASK_TIMEOUT',
  repaired: 'SCHEMA_INVALID',
  person: 'MISSING_REQUIRED_INPUT',
  never: 'NON_COMPLIANT',
};

export type CodeOnWire = { readonly code: OperatorCode; readonly x_code?: Code };

export function codeOnWire(code: Code): CodeOnWire {
  if (isOperatorCode(code)) return { code };
  const rules: Readonly<Record<string, OperatorCode>> = CODE_OF_RULE;
  return { code: NEAREST[code] ?? rules[code] ?? BY_RETRY[CODES[code].retry], x_code: code };
}

function isOperatorCode(code: Code): code is OperatorCode {
  return Object.hasOwn(OPERATOR_CODES, code);
}
