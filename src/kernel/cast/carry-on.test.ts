import { expect, test } from 'vitest';
import type { Cast, CastStatus } from './state.ts';
import { asMuchAgain, mayMean, spentAllowance, stepFor, type Verb } from './steer.ts';

const NOW = 1_000;

test.each<[Verb, CastStatus, string | null, string]>([
  ['resume', 'running', null, 'resume drive'],
  ['resume', 'paused', null, 'resume submit'],
  ['resume', 'waiting', 'ANSWER_NEEDED', 'resume nothing'],
  ['resume', 'failed', 'AGENT_FAILED', 'resume nothing'],
  ['resume', 'completed', null, 'resume nothing'],
  ['recast', 'failed', 'AGENT_FAILED', 'recast submit'],
  ['recast', 'aborted', 'ABORTED', 'recast submit'],
  ['recast', 'running', null, 'recast refuse'],
  ['revive', 'failed', 'EDGE_BUDGET_EXHAUSTED', 'revive submit'],
  ['revive', 'aborted', 'ABORTED', 'revive refuse'],
  ['continue', 'running', null, 'resume drive'],
  ['continue', 'paused', null, 'resume submit'],
  ['continue', 'waiting', 'TASKS_BLOCKED', 'resume submit'],
  ['continue', 'waiting', 'OUTCOME_UNKNOWN', 'resume nothing'],
  ['continue', 'waiting', 'ITEMS_PARKED', 'resume nothing'],
  ['continue', 'failed', 'EDGE_BUDGET_EXHAUSTED', 'recast submit'],
  ['continue', 'aborted', 'ABORTED', 'recast submit'],
  ['continue', 'completed', null, 'resume nothing'],
])('%s of a cast that is %s (%s): %s', (verb, status, code, expected) => {
  const { verb: exact, how } = stepFor(verb, { status, code, reason: '' }, NOW);
  expect(`${exact} ${how}`).toBe(expected);
});

test('a permission that nobody gave in time is carried on by every way to resume', () => {
  const stands = { status: 'waiting', code: 'APPROVAL_NEEDED', reason: '', until: NOW } as const;
  expect(stepFor('resume', stands, NOW)).toEqual({ verb: 'resume', how: 'submit' });
  expect(stepFor('resume', stands, NOW - 1)).toEqual({ verb: 'resume', how: 'nothing' });
});

test.each<[string | null, CastStatus, ReturnType<typeof spentAllowance>, string]>([
  ['EDGE_BUDGET_EXHAUSTED', 'failed', 'retries', 'revive'],
  ['BUDGET_EXHAUSTED', 'failed', 'budget', 'recast'],
  ['AGENT_FAILED', 'failed', null, 'recast'],
  [null, 'running', null, 'resume'],
])('%s of a cast that is %s: %s is spent, and extending it is %s', (code, status, spent, verb) => {
  const stands = { status, code, reason: '' };
  expect(spentAllowance(stands)).toBe(spent);
  expect(stepFor('continue', stands, NOW, true).verb).toBe(verb);
});

test.each<[Verb, CastStatus, string | null, boolean]>([
  ['continue', 'waiting', null, true],
  ['continue', 'failed', null, false],
  ['resume', 'paused', null, true],
  ['resume', 'waiting', null, false],
  ['revive', 'failed', 'EDGE_BUDGET_EXHAUSTED', true],
  ['revive', 'failed', 'AGENT_FAILED', false],
])('%s without a name may mean a cast that is %s (%s): %s', (verb, status, code, expected) => {
  expect(mayMean(verb, { status, code })).toBe(expected);
});

test('as much again is what a limit was at first, on top of what it is now', () => {
  const rules = { budget: { maxTokens: 100, maxCost: 2, maxDurationMs: null } };
  const cast = { budget: { maxTokens: 150, maxCost: null, maxDurationMs: 5 }, rules } as unknown as Cast;
  expect(asMuchAgain(cast)).toEqual({ maxTokens: 250 });
});
