// Who is turned away is noted once for each of them and minute.
import { expect, test } from 'vitest';
import { dialects } from '../../dialects/index.ts';
import { decide } from '../decide.ts';
import type { Fact } from '../fact.ts';
import type { Input, Request } from '../input.ts';
import { emptyState } from '../state.ts';
import { deny } from '../verdict.ts';
import { keysUsedBy, keysWanted } from './once.ts';

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
  expect(fact && keysUsedBy(fact)).toEqual(keysWanted(request));
  expect(keysWanted({ ...request, minute: '2030-01-01T12:01' } as Request)).not.toEqual(keysWanted(request));
});

test('the next one is none', () => {
  expect(asked(Object.fromEntries(keysWanted(request).map((key) => [key, 3])))).toEqual([]);
});
