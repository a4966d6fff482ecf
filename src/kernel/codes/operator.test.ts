import { expect, test } from 'vitest';
import { OPERATOR_CODES } from './operator.ts';

test('the codes of the contract are these and no others', () => {
  expect(Object.keys(OPERATOR_CODES)).toEqual([
    'SCHEMA_INVALID',
    'MISSING_REQUIRED_INPUT',
    'UNKNOWN_SCHEMA_VERSION',
    'LOCK_CONFLICT',
    'SCOPE_VIOLATION',
    'INVALID_TRANSITION',
    'DEPENDENCY_NOT_MET',
    'CONCURRENCY_CONFLICT',
    'TASK_TIMEOUT',
    'ACCEPTANCE_FAILED',
    'LEDGER_INCONSISTENT',
    'NON_COMPLIANT',
    'MISSING_VALIDATOR',
    'UNTRUSTED_CONTEXT_BLOCK',
  ]);
});

test('a role that was broken and a path outside the scope are never simply tried again', () => {
  expect([OPERATOR_CODES.NON_COMPLIANT.retry, OPERATOR_CODES.SCOPE_VIOLATION.retry]).toEqual(['never', 'never']);
});
