// The stages as a sender sees them: their order, and what a refusal of each is called.
import { expect, test } from 'vitest';
import { GOVERNED_CODES, type GovernedCode } from '../kernel/codes/governed.ts';
import { refusal } from './answer.ts';
import { STAGES, type StageName } from './stage.ts';

/** What a refusal of each stage is called, for the sender, for older senders, and over HTTP. */
const STAGE_ROWS: readonly (readonly [StageName, number, readonly GovernedCode[], string, string, number])[] = [
  ['registry', 1, ['REGISTRY_UNUSABLE'], 'hash_mismatch', 'HASH_VERIFICATION_FAILURE', 503],
  ['parse', 2, ['PARSE', 'LIMIT_EXCEEDED'], 'schema', 'INVALID_HANDOFF', 400],
  [
    'schema',
    4,
    ['SCHEMA_MISSING', 'SCHEMA_TYPE', 'SCHEMA_ENUM', 'SCHEMA_FORMAT', 'SCHEMA_UNKNOWN_MEMBER'],
    'schema',
    'INVALID_HANDOFF',
    400,
  ],
  ['protocol', 5, ['PROTOCOL_VERSION'], 'version', 'INVALID_HANDOFF', 400],
  ['timestamp', 6, ['TIMESTAMP_INVALID', 'TIMESTAMP_STALE', 'TIMESTAMP_FUTURE'], 'timestamp', 'INVALID_HANDOFF', 400],
  ['replay', 7, ['REPLAY'], 'replay', 'INVALID_HANDOFF', 409],
  [
    'agents',
    8,
    ['AGENT_UNKNOWN', 'AGENT_TYPE_MISMATCH', 'AGENT_RETIRED'],
    'unknown_agent',
    'INVALID_AGENT_REFERENCE',
    403,
  ],
  ['quarantine', 9, ['QUARANTINED'], 'hash_mismatch', 'HASH_VERIFICATION_FAILURE', 423],
  ['version', 10, ['VERSION_NOT_SEMVER', 'VERSION_MISMATCH'], 'version', 'INVALID_HANDOFF', 403],
  [
    'hash',
    11,
    ['LOCK_ENTRY_MISSING', 'HASH_MISMATCH', 'PROMPT_BYTES_MISMATCH'],
    'hash_mismatch',
    'HASH_VERIFICATION_FAILURE',
    423,
  ],
  [
    'composition',
    12,
    [
      'COMPOSITION_MISSING',
      'COMPOSITION_UNKNOWN_DOMAIN',
      'COMPOSITION_BAD_SHARE',
      'COMPOSITION_SUM',
      'COMPOSITION_SIZE',
      'COMPOSITION_CONSTITUENT_UNVERIFIED',
    ],
    'composition',
    'COMPOSITION_VIOLATION',
    422,
  ],
  [
    'boundary',
    13,
    [
      'PATTERN_NOT_ALLOWED',
      'BOUNDARY_NOT_ALLOWED',
      'BOUNDARY_DENIED',
      'SELF_HANDOFF',
      'NOT_A_CONSTITUENT',
      'HOP_LIMIT',
      'CYCLE',
    ],
    'boundary',
    'BOUNDARY_VIOLATION',
    403,
  ],
  ['scope', 14, ['SCOPE_MISSING', 'SCOPE_UNKNOWN', 'SCOPE_NOT_COVERED'], 'scope', 'OUT_OF_SCOPE', 403],
  [
    'injection',
    15,
    [
      'INJECTION_KEY',
      'INJECTION_CONTROL',
      'INJECTION_ROLE',
      'INJECTION_TOKEN',
      'INJECTION_OVERRIDE',
      'INJECTION_EXFIL',
      'INJECTION_BYPASS',
    ],
    'injection',
    'INVALID_HANDOFF',
    422,
  ],
  ['attestation', 16, ['ATTESTATION_NEGATIVE'], 'schema', 'INVALID_HANDOFF', 422],
  ['audit', 17, ['AUDIT_UNAVAILABLE'], 'schema', 'INVALID_HANDOFF', 503],
];

const FLAGGED: readonly StageName[] = [
  ...(['registry', 'replay', 'quarantine', 'hash', 'injection', 'audit'] as const),
];

test('every stage has a row, in its order', () => {
  expect(STAGE_ROWS.map(([name]) => name)).toEqual(Object.keys(STAGES));
});

test.each(STAGE_ROWS)(
  '%s, stage %i: %j are %s, %s to older senders, %i over HTTP',
  (name, number, codes, kind, older, http) => {
    for (const code of codes) {
      const { details } = refusal(name, [{ code, pointer: '', message: 'no' }]);
      expect(details).toMatchObject({ stage: number, stage_name: name, reason_class: kind, refusal_reason: older });
      expect(details.security_flag).toBe(FLAGGED.includes(name) || /^TIMESTAMP_(STALE|FUTURE)$/.test(code));
      expect(GOVERNED_CODES[code].http).toBe(http);
    }
  },
);

test('every code of a refusal belongs to one stage', () => {
  const codes = Object.keys(GOVERNED_CODES);
  const refusals = codes.slice(0, codes.indexOf('SCOPE_SOURCE_COULD_DO_IT'));
  expect(STAGE_ROWS.flatMap(([, , of]) => of).toSorted()).toEqual(refusals.toSorted());
});
