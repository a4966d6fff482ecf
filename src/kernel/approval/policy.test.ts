// The `approvals` section: what is refused in it, and what it means where nothing is said.
import { expect, test } from 'vitest';
import { checkApprovals } from '../graph/check-config.ts';
import type { Json } from '../json.ts';
import { DEFAULT_POLICY, policyOf } from './request.ts';

test.each<[Json, string]>([
  ['on', 'approvals'],
  [{ tiers: [] }, 'approvals.tiers'],
  [{ tiers: { 'make deploy': 'T9' } }, 'approvals.tiers.make deploy'],
  [{ blocked: 'rm' }, 'approvals.blocked'],
  [{ blocked: [''] }, 'approvals.blocked'],
  [{ env: ['A B'] }, 'approvals.env'],
  [{ writes: 'never' }, 'approvals.writes'],
  [{ hook: 'on' }, 'approvals.hook'],
  [{ pendingHours: 0 }, 'approvals.pendingHours'],
  [{ grantMinutes: 1.5 }, 'approvals.grantMinutes'],
  [{ grantHours: 1 }, 'approvals.grantHours'],
])('%j is found at %s', (section, path) => {
  expect([...checkApprovals(section)].map((issue) => issue.path)).toEqual([path]);
});

test('a section that is in order has no issues and counts', () => {
  const section = {
    tiers: { 'make deploy': 'T1' },
    blocked: ['x'],
    env: ['A'],
    writes: 'T3',
    hook: 'ask',
    pendingHours: 1,
    grantMinutes: 2,
  };
  expect([...checkApprovals(section)]).toEqual([]);
  expect(policyOf(section)).toEqual(section);
});

test('without a section there are defaults', () => {
  expect([policyOf(undefined), policyOf({})]).toEqual([DEFAULT_POLICY, DEFAULT_POLICY]);
});
