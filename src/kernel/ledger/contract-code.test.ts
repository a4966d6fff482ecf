import { expect, test } from 'vitest';
import { OPERATOR_CODES } from '../codes/operator.ts';
import { CODES, type Code } from '../codes.ts';
import { CODE_OF_RULE, contractCode } from './wire.ts';

test.each<[Code, string]>([
  ['CONTRACT_VIOLATION', 'SCHEMA_INVALID'],
  ['AGENT_FAILED', 'TASK_TIMEOUT'],
  ['AGENT_TIMEOUT', 'TASK_TIMEOUT'],
  ['R-PO-004', 'UNTRUSTED_CONTEXT_BLOCK'],
  ['ABORTED', 'MISSING_REQUIRED_INPUT'],
  ['RATE_LIMITED', 'TASK_TIMEOUT'],
])('%s is told as %s, with the exact code beside it', (code, told) => {
  expect(contractCode(code)).toEqual({ code: told, x_code: code });
});

// Each rule of a gate and the code under which a ledger stores its refusal.
test.each<[string, readonly string[]]>([
  ['MISSING_REQUIRED_INPUT', ['R-PD-001']],
  ['SCHEMA_INVALID', ['R-PD-002', 'R-PD-005', 'R-PD-006', 'R-PD-007', 'R-PO-001', 'R-WD-002']],
  ['LOCK_CONFLICT', ['R-PD-003', 'R-LK-001']],
  ['SCOPE_VIOLATION', ['R-PD-004', 'R-PW-001', 'R-PW-002', 'R-PO-002']],
  ['DEPENDENCY_NOT_MET', ['R-PE-001']],
  ['NON_COMPLIANT', ['R-PO-003']],
  ['UNTRUSTED_CONTEXT_BLOCK', ['R-PO-004']],
  ['ACCEPTANCE_FAILED', ['R-PC-001', 'R-PC-002', 'R-PC-003']],
  ['TASK_TIMEOUT', ['R-WD-001']],
])('%s is what is stored for %j', (code, rules) => {
  const stored = Object.entries(CODE_OF_RULE).flatMap(([rule, each]) => (each === code ? [rule] : []));
  expect(stored.sort()).toEqual([...rules].sort());
  for (const rule of rules) expect(contractCode(rule as Code)).toEqual({ code, x_code: rule });
});

test('a code of the contract stays as it is, and every other one has a nearest', () => {
  for (const code of Object.keys(OPERATOR_CODES) as (keyof typeof OPERATOR_CODES)[]) {
    expect(contractCode(code)).toEqual({ code });
  }
  for (const code of Object.keys(CODES) as Code[]) expect(OPERATOR_CODES).toHaveProperty(contractCode(code).code);
});
