import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { infrastructureFailure } from './fault.ts';

const failed = (part: Record<string, Json>, rest: Record<string, Json> = {}): Json => ({
  satisfied: false,
  state: { vcs: { ok: false, ...part } },
  ...rest,
});

test.each<[string, Json, string | null]>([
  ['text', 'ok: false', null],
  ['a list', [{ satisfied: false }], null],
  ['a satisfied result', { satisfied: true, state: { vcs: { ok: false, error: 'no git' } } }, null],
  ['a result without satisfied', { state: { vcs: { ok: false, error: 'no git' } } }, null],
  ['satisfied as text', { satisfied: 'false', state: { vcs: { ok: false } } }, null],
  ['an unsatisfied result alone', { satisfied: false, context: 'tests fail' }, null],
  ['a state that is a list', { satisfied: false, state: [{ ok: false }] }, null],
  ['a state in which all is well', { satisfied: false, state: { vcs: { ok: true }, n: 1, none: null } }, null],
  ['ok false on the state itself', { satisfied: false, state: { ok: false } }, null],
  ['ok as text', { satisfied: false, state: { vcs: { ok: 'false' } } }, null],
  ['its error before all', failed({ error: 'no git', message: 'part' }, { context: 'told', message: 'top' }), 'no git'],
  ['the context after a blank error', failed({ error: ' ', message: 'part' }, { context: 'told' }), 'told'],
  ['its message after the context', failed({ error: 7, message: 'part' }, { message: 'top' }), 'part'],
  ['the message on top at last', failed({}, { message: 'top' }), 'top'],
  ['no reason at all', failed({}), 'the utility reported ok: false in state.vcs and gave no reason'],
  [
    'the first of two parts',
    {
      satisfied: false,
      state: { a: { ok: true }, b: { ok: false, error: 'first' }, c: { ok: false, error: 'second' } },
    },
    'first',
  ],
])('%s', (_name, payload, reason) => {
  expect(infrastructureFailure(payload)).toBe(reason);
});

test('any payload gets a reason or none, and only an unsatisfied one gets a reason', () => {
  const part = fc.record(
    { ok: fc.oneof(fc.boolean(), fc.jsonValue()), error: fc.oneof(fc.string(), fc.jsonValue()) },
    { requiredKeys: ['ok'] },
  );
  const likely = fc.record(
    {
      satisfied: fc.oneof(fc.constant(false), fc.boolean(), fc.jsonValue()),
      state: fc.dictionary(fc.string(), part, { minKeys: 1 }),
      context: fc.jsonValue(),
    },
    { requiredKeys: ['satisfied', 'state'] },
  );
  const numRuns = Number(process.env.FUZZ_RUNS ?? 500);
  let reasons = 0;
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), likely), (value) => {
      const payload = JSON.parse(JSON.stringify(value)) as Json;
      const reason = infrastructureFailure(payload);
      if (reason === null) return;
      reasons += 1;
      expect(reason.trim()).not.toBe('');
      expect(payload).toMatchObject({ satisfied: false });
    }),
    { numRuns },
  );
  expect(reasons).toBeGreaterThan(numRuns / 10);
});
