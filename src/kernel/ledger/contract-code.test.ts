import { expect, test } from 'vitest';
import { OPERATOR_CODES } from '../codes/operator.ts';
import { CODES, type Code } from '../codes.ts';
import { codeOnWire } from './contract-code.ts';

test.each<[Code, string]>([
  ['CONTRACT_VIOLATION', 'SCHEMA_INVALID'],
  ['AGENT_FAILED', 'TASK_TIMEOUT'],
  ['AGENT_TIMEOUT', 'TASK_TIMEOUT'],
  ['R-PO-004', 'UNTRUSTED_CONTEXT_BLOCK'],
  ['ABORTED', 'MISSING_REQUIRED_INPUT'],
  ['RATE_LIMITED', 'TASK_TIMEOUT'],
])('%s is told as %s, with the exact code beside it', (code, told) => {
  expect(codeOnWire(code)).toEqual({ code: told, x_code: code });
});

test('a code of the contract stays as it is, and every other one has a nearest', () => {
  for (const code of Object.keys(OPERATOR_CODES) as (keyof typeof OPERATOR_CODES)[]) {
    expect(codeOnWire(code)).toEqual({ code });
  }
  for (const code of Object.keys(CODES) as Code[]) expect(OPERATOR_CODES).toHaveProperty(codeOnWire(code).code);
});
