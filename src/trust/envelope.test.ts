import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { PROBLEMS_MAX } from '../kernel/trust/problem.ts';
import { checkSchema } from './envelope.ts';
import { envelope, ID, put } from './fixtures/world.ts';

const REQUIRED = [
  '/handoff_id',
  '/timestamp',
  '/protocol_version',
  '/source_agent',
  '/source_agent/agent_type',
  '/source_agent/agent_id',
  '/source_agent/agent_version',
  '/source_agent/prompt_hash',
  '/target_agent',
  '/target_agent/agent_type',
  '/target_agent/agent_id',
  '/target_agent/agent_version',
  '/target_agent/prompt_hash',
  '/context',
  '/context/request',
  '/context/request/type',
  '/context/request/description',
  '/context/request/input_data',
  '/context/request/constraints',
  '/context/request/expected_output',
  '/context/state',
  '/context/state/conversation_history',
  '/context/state/accumulated_context',
  '/context/state/decisions_made',
  '/governance',
  '/governance/source_agent_verified',
  '/governance/target_agent_verified',
  '/governance/composition_valid',
  '/governance/boundaries_respected',
  '/governance/audit_trail',
];

test.each(REQUIRED)('%s is required', (pointer) => {
  const { problems } = checkSchema(put(envelope(), pointer));
  expect(problems).toEqual([{ code: 'SCHEMA_MISSING', pointer, message: `${pointer} is missing` }]);
});

test.each(REQUIRED)('%s is never null', (pointer) => {
  const { problems } = checkSchema(put(envelope(), pointer, null));
  expect(problems.map((problem) => [problem.code, problem.pointer])).toContainEqual(['SCHEMA_TYPE', pointer]);
});

const hash = 'a'.repeat(64);

test.each<[string, Json, string | null]>([
  ['/context/request/input_data', [], 'SCHEMA_TYPE'],
  ['/context/request/input_data', 5, 'SCHEMA_TYPE'],
  ['/context/request/input_data', 'text', null],
  ['/context/request/constraints', 'x', 'SCHEMA_TYPE'],
  ['/context/request/constraints', [1], 'SCHEMA_TYPE'],
  ['/context/request/constraints', [], null],
  ['/context/request/expected_output', '', null],
  ['/context/state/accumulated_context', [], 'SCHEMA_TYPE'],
  ['/context/state/conversation_history', ['hello'], 'SCHEMA_TYPE'],
  ['/context/state/decisions_made', [[]], 'SCHEMA_TYPE'],
  ['/governance/composition_valid', 'true', 'SCHEMA_TYPE'],
  ['/governance/composition_valid', 1, 'SCHEMA_TYPE'],
  ['/context/request/type', 'Query', 'SCHEMA_ENUM'],
  ['/context/request/type', 'decision', null],
  ['/source_agent/agent_type', 'human', 'SCHEMA_ENUM'],
  ['/handoff_id', '00000000-0000-0000-0000-000000000000', 'SCHEMA_FORMAT'],
  ['/handoff_id', '2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d', 'SCHEMA_FORMAT'],
  ['/handoff_id', '01890a5d-ac96-774b-bcce-b302099a8057', 'SCHEMA_FORMAT'],
  ['/handoff_id', '550e8400-e29b-41d4-c716-446655440000', 'SCHEMA_FORMAT'],
  ['/handoff_id', `${ID}\n`, 'SCHEMA_FORMAT'],
  ['/handoff_id', ID.toUpperCase(), null],
  ['/source_agent/prompt_hash', hash.toUpperCase(), 'SCHEMA_FORMAT'],
  ['/source_agent/prompt_hash', `sha256:${hash}`, 'SCHEMA_FORMAT'],
  ['/target_agent/prompt_hash', hash.slice(1), 'SCHEMA_FORMAT'],
  ['/context/request/description', '', 'SCHEMA_FORMAT'],
  ['/context/request/description', ' \n\t', 'SCHEMA_FORMAT'],
  ['/governance/audit_trail', '', 'SCHEMA_FORMAT'],
  ['/governance/audit_trail', 'x'.repeat(257), 'SCHEMA_FORMAT'],
  ['/governance/audit_trail', '../../secret', null],
  ['/context/request/scopes', [], 'SCHEMA_FORMAT'],
  ['/context/request/scopes', ['a', 'a'], 'SCHEMA_FORMAT'],
  ['/context/request/scopes', ['Not an id'], 'SCHEMA_FORMAT'],
  ['/context/request/scopes', ['a'.repeat(65)], 'SCHEMA_FORMAT'],
  ['/context/request/scopes', Array.from({ length: 21 }, (_, index) => `s${index}`), 'SCHEMA_FORMAT'],
  ['/context/request/scopes', 'statistics', 'SCHEMA_TYPE'],
  ['/links', { parent_handoff_id: 'x' }, 'SCHEMA_FORMAT'],
  ['/links', { traceparent: '00-xyz' }, 'SCHEMA_FORMAT'],
  ['/links', { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, correlation_id: 'c' }, null],
  // These forms are judged later, each with a code of its own.
  ['/timestamp', 'yesterday', null],
  ['/protocol_version', '2.0.0', null],
  ['/source_agent/agent_id', '', null],
  ['/source_agent/agent_version', 'latest', null],
])('%s = %j: %s', (pointer, value, code) => {
  const { problems } = checkSchema(put(envelope(), pointer, value));
  expect(problems[0]?.code ?? null).toBe(code);
  if (code) expect(problems[0]?.pointer.startsWith(pointer)).toBe(true);
});

test.each<[string, Json, string]>([
  ['/handoff_id', 5, 'must be a UUID version 4, not a number'],
  ['/context/request/type', 'chat', 'must be one of query, task, analysis, decision, not "chat"'],
  ['/context/request/input_data', [], 'must be an object, or a string, not an array'],
  ['/context/request/scopes', ['a', 'a'], 'must be a list of 1 to 20 different scope ids'],
  ['/context/state/decisions_made', 'none', 'must be a list of objects, not a string'],
  ['/governance/audit_trail', 'x'.repeat(257), 'has 257 characters; at most 256 are allowed'],
])('the message about %s = %j names the form that it must have', (pointer, value, words) => {
  const { problems } = checkSchema(put(envelope(), pointer, value));
  expect(problems.map(({ message }) => message)).toEqual([`${pointer} ${words}`]);
});

test.each<[Json]>([[[]], ['x'], [null], [5], [true]])('%j is no envelope', (value) => {
  expect(checkSchema(value).problems.map(({ code, pointer }) => [code, pointer])).toEqual([['SCHEMA_TYPE', '']]);
});

test('three absent members are three problems', () => {
  const broken = put(put(put(envelope(), '/timestamp'), '/context/request/type'), '/governance/audit_trail');
  expect(checkSchema(broken).problems.map(({ pointer }) => pointer)).toEqual([
    '/timestamp',
    '/context/request/type',
    '/governance/audit_trail',
  ]);
});

test('members nobody reads are named, with their place escaped, and only where the shape is ours', () => {
  const extended = put(
    put(put(envelope(), '/extra', 1), '/source_agent/nick', 'x'),
    '/context/request/input_data/any',
    1,
  );
  const strange = { ...extended, 'a/b~c': 1 };
  expect(checkSchema(strange).problems).toEqual([]);
  expect(checkSchema(strange).unknown.map(({ pointer }) => pointer)).toEqual([
    '/extra',
    '/a~1b~0c',
    '/source_agent/nick',
  ]);
});

test('inherited members do not stand for absent ones', () => {
  expect(checkSchema(Object.create(envelope())).problems.length).toBeGreaterThan(0);
});

test('a list of wrong items is answered without end but cut by the verdict', () => {
  const many = put(envelope(), '/context/request/constraints', Array(9_000).fill(1));
  expect(checkSchema(many).problems.length).toBeGreaterThan(PROBLEMS_MAX);
});
