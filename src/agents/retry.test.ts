// When an adapter tries again by itself, and what an agent sees of our environment.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { agentEnvironment, withBaton } from './environment.ts';
import { type FaultCode, patience, type RetryRules, waitBefore, waitInWords } from './fault.ts';
import { usageSince } from './report.ts';

const RULES: RetryRules = { retriesMax: 2, firstMs: 100, waitMaxMs: 1_000 };
const NOW = { retries: 0, retriesMax: 4, toolCalls: 0, leftMs: 10_000 };

test.each<[string, FaultCode, number | undefined, Partial<typeof NOW>, number | null]>([
  ['a rate limit', 'RATE_LIMITED', undefined, {}, 100],
  ['a broken provider', 'PROVIDER_ERROR', undefined, {}, 100],
  ['anything else', 'CONTEXT_OVERFLOW', undefined, {}, null],
  ['the second time', 'RATE_LIMITED', undefined, { retries: 1 }, 200],
  ['once too often', 'RATE_LIMITED', undefined, { retries: 2 }, null],
  ['more often than the turn may', 'RATE_LIMITED', undefined, { retries: 1, retriesMax: 1 }, null],
  ['after tools were used', 'RATE_LIMITED', undefined, { toolCalls: 1 }, null],
  ['as long as the provider asks', 'RATE_LIMITED', 700, {}, 700],
  ['never shorter than our own', 'RATE_LIMITED', 1, {}, 100],
  ['longer than anybody waits', 'RATE_LIMITED', 1_001, {}, null],
  ['longer than is left', 'RATE_LIMITED', 700, { leftMs: 700 }, null],
])('%s', (_what, code, retryAfterMs, state, waitMs) => {
  const fault = { fault: 'transport', code, reason: '', ...(retryAfterMs ? { retryAfterMs } : {}) } as const;
  expect(waitBefore(fault, { ...NOW, ...state }, RULES)).toBe(waitMs);
});

test.each([
  [1, '1 s'],
  [60_000, '60 s'],
  [120_000, '2 min'],
  [5_400_000, '90 min'],
  [7_200_000, '2 h'],
  [7_200_001, '3 h'],
])('a wait of %s ms is %s', (ms, words) => {
  expect(waitInWords(ms)).toBe(words);
});

test('patience ends with its time, or with the signal', async () => {
  expect(await patience(1, new AbortController().signal)).toBe(true);
  expect(await patience(60_000, AbortSignal.abort())).toBe(false);
  expect(await patience(60_000, AbortSignal.timeout(5))).toBe(false);
});

const OWN_BIN = fileURLToPath(new URL('../../bin', import.meta.url));

test.each<[string, string | undefined, string]>([
  ['where nothing is called so it is ours, and comes last', '/no/such:/nor', `/no/such:/nor:${OWN_BIN}`],
  ['where it is found nothing is added', `/no/such:${OWN_BIN}`, `/no/such:${OWN_BIN}`],
  ['without a path', undefined, OWN_BIN],
  ['with an empty one', '', OWN_BIN],
])("the word baton in an agent's shell: %s", (_what, path, expected) => {
  expect(withBaton(path)).toBe(expected);
});

test('an agent sees the usual, its own, what is listed, what is set, and who it is', () => {
  const inherited = {
    PATH: `/bin:${OWN_BIN}`,
    HOME: '/h',
    OWN: 'o',
    LISTED: 'l',
    OTHER: 'x',
    AWS_KEY: 'x',
    BATON_FENCE: '9',
  };
  const sources = { program: ['OWN', 'UNSET'], listed: ['LISTED'], set: { HOME: '/other' } };
  const turn = { cast: 'c', turn: 3, attempt: 2, task: { id: 'T-1', owner: 'o', fence: 7, silentMs: 1, beatMs: 1 } };
  expect(
    agentEnvironment(inherited, sources, turn, { attemptDir: '/s/attempts/c-3.2', configDir: '/w/.baton' }),
  ).toEqual({
    PATH: `/bin:${OWN_BIN}`,
    HOME: '/other',
    OWN: 'o',
    LISTED: 'l',
    BATON_HOME: '/s',
    BATON_WORKSPACE: '/w',
    BATON_CAST: 'c',
    BATON_ATTEMPT: '3.2',
    BATON_TASK: 'T-1',
    BATON_FENCE: '7',
  });
});

test('a turn costs what it added to its conversation, and never less than nothing', () => {
  const before = { input: 100, output: 10, cost: 1 };
  expect(usageSince({ input: 250, output: 30, cost: 1 }, before)).toEqual({ input: 150, output: 20, cost: 0 });
  expect(usageSince({ input: 5, output: 5, cost: 0 }, before)).toEqual({ input: 0, output: 0, cost: 0 });
});
