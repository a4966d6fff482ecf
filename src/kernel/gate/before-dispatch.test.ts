// Which refusals before a dispatch only put a turn off, and until when.
import { expect, test } from 'vitest';
import { postponedBy } from '../cast/state.ts';
import type { Code } from '../codes.ts';
import { deny } from '../verdict.ts';
import { isLiftedByTime } from './before-dispatch.ts';

test.each<[Exclude<Code, 'OK'>, boolean]>([
  ['LOCK_CONFLICT', true],
  ['DEPENDENCY_NOT_MET', true],
  ['NOT_ALLOWED_NOW', true],
  ['DAILY_CAP_REACHED', true],
  ['BUDGET_EXHAUSTED', false],
  ['SCOPE_VIOLATION', false],
  ['QUARANTINED', false],
])('waiting helps against %s: %s', (code, helps) => {
  expect(isLiftedByTime(deny(code, 'no'))).toBe(helps);
});

test('a turn is put off until the time that the refusal names, or until something else lifts it', () => {
  expect(postponedBy(deny('DAILY_CAP_REACHED', 'no more today', { notBefore: 7 }))).toEqual({
    code: 'DAILY_CAP_REACHED',
    reason: 'no more today',
    until: 7,
  });
  expect(postponedBy(deny('LOCK_CONFLICT', 'held'))).toMatchObject({ until: null });
  expect(postponedBy(deny('LOCK_CONFLICT', 'held', { notBefore: 'soon' }))).toMatchObject({ until: null });
});
