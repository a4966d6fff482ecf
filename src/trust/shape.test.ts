import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonSchemaOf } from '../kernel/field-schema.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { checkSchema, ENVELOPE } from './envelope.ts';
import { envelope, put } from './fixtures/world.ts';

const isEnvelope = new Ajv2020({ ownProperties: true, allowUnionTypes: true }).compile(jsonSchemaOf(ENVELOPE));

const PLACES = [
  '/handoff_id',
  '/source_agent',
  '/source_agent/agent_type',
  '/target_agent/prompt_hash',
  '/context/request/description',
  '/context/request/input_data',
  '/context/request/constraints',
  '/context/request/scopes',
  '/context/state/conversation_history',
  '/context/state/accumulated_context',
  '/governance/composition_valid',
  '/governance/audit_trail',
  '/links',
  '/links/parent_handoff_id',
  '/links/traceparent',
];

const value = fc.oneof(
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.array(fc.constantFrom('a', 'b', 'a-b', 'A', '', 'x'.repeat(64), 'x'.repeat(65)), { maxLength: 25 }),
  fc.array(fc.constantFrom<Json>({}, { a: 1 }, [], 'x', null), { maxLength: 4 }),
  fc.constantFrom<Json>('domain', 'task', ' ', '\u3000', '\u200b', 'é'.repeat(256), '👍'.repeat(256), '👍'.repeat(257)),
  fc.constantFrom<Json>(
    '550e8400-e29b-41d4-a716-446655440000',
    'f'.repeat(64),
    `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  ),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
);

test('agrees with a general validator on the published schema', { timeout: 600_000 }, () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...PLACES), value), { minLength: 1, maxLength: 2 }), (changes) => {
      const changed = changes.reduce<Json>((before, [place, member]) => put(before, place, member), envelope());
      const { problems } = checkSchema(changed);
      expect(problems.length === 0).toBe(isEnvelope(changed));
      if (problems.length === 0) accepted += 1;
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
  expect(accepted).toBeGreaterThan(0);
});

test('an object says first what it lacks, then what is wrong with its members; the same for what is unknown', () => {
  const { handoff_id: _, ...rest } = put(
    put(envelope(), '/source_agent/agent_id'),
    '/source_agent/nick',
    1,
  ) as JsonObject;
  const { problems, unknown } = checkSchema({ extra: 1, ...rest, protocol_version: 1, timestamp: null, another: 2 });
  expect(problems.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
    'SCHEMA_MISSING /handoff_id',
    'SCHEMA_TYPE /timestamp',
    'SCHEMA_TYPE /protocol_version',
    'SCHEMA_MISSING /source_agent/agent_id',
  ]);
  expect(unknown.map(({ pointer }) => pointer)).toEqual(['/extra', '/another', '/source_agent/nick']);
});

test('what is wrong with a list as a whole comes once, and before its entries', () => {
  const scopes = ['Not', ...Array.from({ length: 21 }, () => 'a')];
  const { problems } = checkSchema(put(envelope(), '/context/request/scopes', scopes));
  expect(problems.map(({ message }) => message)).toEqual([
    '/context/request/scopes must be a list of 1 to 20 different scope ids',
    '/context/request/scopes/0 must be a scope id',
  ]);
});
