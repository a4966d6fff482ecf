// Every refusal says what to do about it, in words that a program can act on.
import { expect, test } from 'vitest';
import { GOVERNED_CODES, type GovernedCode } from '../kernel/codes/governed.ts';
import { remediesFor } from './answer.ts';

const suggestion = (via: 'direct' | 'archetype' | 'orchestrator') =>
  ({ agent_id: 'x', agent_type: 'domain', via, why: 'it covers that' }) as const;
const actions = (code: GovernedCode, via?: Parameters<typeof suggestion>[0]) =>
  remediesFor(code, via ? suggestion(via) : null).map(({ action }) => action);

test.each<[GovernedCode, string[]]>([
  ['PARSE', ['fix_field']],
  ['SCHEMA_MISSING', ['fix_field']],
  ['VERSION_MISMATCH', ['fix_field', 'refresh_lock']],
  ['AGENT_UNKNOWN', ['use_canonical_id']],
  ['BOUNDARY_NOT_ALLOWED', ['change_target']],
  ['SCOPE_NOT_COVERED', ['change_target', 'split_request']],
  ['REPLAY', ['new_handoff_id']],
  ['TIMESTAMP_FUTURE', ['sync_clock', 'new_handoff_id']],
  ['LIMIT_EXCEEDED', ['pass_by_reference']],
  ['INJECTION_OVERRIDE', ['clean_context', 'pass_by_reference']],
  ['HASH_MISMATCH', ['manual_verification']],
  ['COMPOSITION_SUM', ['fix_composition']],
])('%s: %j', (code, expected) => {
  expect(actions(code)).toEqual(expected);
});

test.each([
  ['direct', 'change_target'],
  ['archetype', 'use_archetype'],
  ['orchestrator', 'use_orchestrator'],
] as const)('an agent that is suggested %s comes first: %s', (via, action) => {
  expect(actions('SCOPE_NOT_COVERED', via)).toEqual([action, 'split_request']);
});

test('no code is without a way out', () => {
  for (const code of Object.keys(GOVERNED_CODES) as GovernedCode[]) expect(actions(code)).not.toEqual([]);
});
