// Who is turned away is noted once for each of them, for each code and minute, and for each thing that an agent tries.
import { expect, test } from 'vitest';
import { dialects } from '../../dialects/index.ts';
import { decide } from '../decide.ts';
import type { Fact } from '../fact.ts';
import type { Input, Request } from '../input.ts';
import { emptyState } from '../state.ts';
import { deny } from '../verdict.ts';
import { keysUsedBy, trustKeysNeeded } from './decide.ts';

const request: Request = {
  kind: 'access.refuse',
  who: 'token:ci',
  verdict: deny('TOKEN_REVOKED', 'the token ci was revoked'),
  minute: '2030-01-01T12:00',
  times: 7,
};

function asked(used: Input['used']): readonly Fact[] {
  const input = { ...request, at: 0, by: 'token:ci', ...(used ? { used } : {}) } as Input;
  return decide(dialects, emptyState(), input).facts;
}

test('the first refusal of a minute is a fact with its count, and uses the minute up', () => {
  const [fact] = asked(undefined);
  expect(fact).toMatchObject({ kind: 'access.refused', who: 'token:ci', code: 'TOKEN_REVOKED', times: 7 });
  expect(fact && keysUsedBy(fact)).toEqual(trustKeysNeeded(request));
});

test.each([
  ['another minute', { minute: '2030-01-01T12:01' }],
  ['another one', { who: 'token:other' }],
  ['another code', { verdict: deny('ROLE_TOO_LOW', 'an operator decides nothing') }],
  ['something else that was tried', { what: 'registry release' }],
  ['what a server had counted when it ended', { ended: '2030-01-01T12:00:30.000Z' }],
])('%s has a fact of its own', (_, change) => {
  const other = { ...request, ...change } as Request;
  expect(trustKeysNeeded(other)).not.toEqual(trustKeysNeeded(request));
  const [fact] = decide(dialects, emptyState(), { ...other, at: 0, by: 'token:ci' } as Input).facts;
  expect(fact && keysUsedBy(fact)).toEqual(trustKeysNeeded(other));
});

test('no secret is stored in the reason', () => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  const told = {
    ...request,
    verdict: deny('TOKEN_REVOKED', `the token ${secret} was revoked`),
    at: 0,
    by: 'x',
  } as Input;
  const { facts } = decide(dialects, emptyState(), told);
  expect(facts).toMatchObject([{ kind: 'access.refused', reason: 'the token [secret:github-token] was revoked' }]);
});

test('the next one is none', () => {
  expect(asked(Object.fromEntries(trustKeysNeeded(request).map((key) => [key, 3])))).toEqual([]);
});
