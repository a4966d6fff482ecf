// What a request about trust leaves in the log, and what it answers.
import { expect, test } from 'vitest';
import { newPen } from '../pen.ts';
import { emptyState } from '../state.ts';
import { deny } from '../verdict.ts';
import { decideTrust } from './decide.ts';
import type { CarriedBlock, LoadedRegistry, TrustRequest } from './state.ts';

const state = emptyState();
const registry: LoadedRegistry = { digest: 'd'.repeat(64), lock: 'l', version: '1.0.0', agents: {} };

function asked(request: TrustRequest, used?: Readonly<Record<string, number>>, at = state) {
  const pen = newPen(at, 0, {} as never);
  const verdict = decideTrust(pen, { ...request, at: 0, by: 'user:ann', ...(used ? { used } : {}) });
  return { verdict, facts: pen.facts };
}

test.each<[string, object]>([
  ['nothing', {}],
  ['why', { reason: 'locked anew' }],
  ['its texts', { texts: { manifest: 'm', lock: 'l' } }],
])('a registry comes into force with %s beside it', (_what, more) => {
  const { verdict, facts } = asked({ kind: 'registry.load', registry, ...more }, undefined, emptyState());
  expect(facts).toStrictEqual([{ kind: 'registry.loaded', registry, ...more }]);
  expect(verdict).toMatchObject({ code: 'OK', reason: 'the registry dddddddddddd is in force' });
});

test.each<[string, Partial<LoadedRegistry>, number]>([
  ['the same registry', {}, 0],
  ['another lock', { lock: 'other' }, 1],
  ['another manifest', { digest: 'e'.repeat(64) }, 1],
])('%s after the first is noted %i times', (_what, change, count) => {
  const at = emptyState();
  asked({ kind: 'registry.load', registry }, undefined, at);
  expect(asked({ kind: 'registry.load', registry: { ...registry, ...change } }, undefined, at).facts).toHaveLength(
    count,
  );
});

test('a block of another state folder is carried over once, with the prompt that was in force', () => {
  const at = emptyState();
  const blocks = { agent: 'build', hash: null, context: null };
  const why = { code: 'PROMPT_BYTES_MISMATCH', reason: 'changed', pin: { version: '1.0.0', hash: 'a' } } as const;
  const block: CarriedBlock = { key: 'build', ...blocks, ...why };
  const carry = { kind: 'quarantine.carry', blocked: [block] } as const;
  const { verdict, facts } = asked(carry, undefined, at);
  expect(verdict.code).toBe('OK');
  expect(facts).toMatchObject([{ kind: 'quarantine.opened', key: 'build', blocks, ...why }]);
  expect(at.trust.quarantine.build).toMatchObject({ ...block, times: 1 });
  expect(asked(carry, undefined, at)).toMatchObject({ verdict: { code: 'OK' }, facts: [] });
});

const told = { who: 'agent:build', minute: '2030-01-01T12:00', times: 1 };
const refusal: TrustRequest = { kind: 'access.refuse', ...told, verdict: deny('ROLE_TOO_LOW', 'it may not') };
const REFUSED = { kind: 'access.refused', ...told, code: 'ROLE_TOO_LOW', reason: 'it may not' };

test.each<[string, object]>([
  ['nothing else', {}],
  ['what was tried', { what: 'registry release' }],
  ['when the server ended', { ended: '2030-01-01T12:00:30.000Z' }],
])('a refusal is noted with %s', (_what, more) => {
  const { verdict, facts } = asked({ ...refusal, ...more });
  expect(facts).toStrictEqual([{ ...REFUSED, ...more }]);
  expect(verdict).toMatchObject({ code: 'OK', details: { noted: true } });
});

test('a refusal that was noted in this minute is not noted again, and the answer says so', () => {
  expect(asked(refusal, { 'access:agent:build': 3 })).toMatchObject({
    verdict: { code: 'OK', details: { noted: false } },
    facts: [],
  });
});
