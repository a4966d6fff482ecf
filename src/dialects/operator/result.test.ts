import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { EXAMPLE_RESULT } from './brief.ts';
import { validateResult } from './result.ts';

const result = (over: JsonObject = {}): JsonObject => ({ ...EXAMPLE_RESULT, ...over });
const noted = (...notes: Json[]) => result({ notes_for_orchestrator: notes });
const check = (status: string, criterion = 'c', evidence = 'seen') => ({ criterion, status, evidence });
const KEY_HEADER = ['-----BEGIN RSA ', 'PRIVATE KEY-----'].join('');

// In the order of the checks.
test.each<[string, unknown, string]>([
  ['text', 'done', 'SCHEMA_INVALID'],
  ['nothing in it', {}, 'MISSING_REQUIRED_INPUT'],
  ['another major version', result({ schema_version: '3.0', run_id: '' }), 'UNKNOWN_SCHEMA_VERSION'],
  ['a bad run_id', result({ run_id: 'run-1' }), 'SCHEMA_INVALID'],
  ['a bad generated_at', result({ generated_at: 12 }), 'SCHEMA_INVALID'],
  ['a bad task_id', result({ task_id: 'T-' }), 'SCHEMA_INVALID'],
  ['status canceled', result({ status: 'canceled' }), 'SCHEMA_INVALID'],
  ['status as a list', result({ status: ['done'] }), 'SCHEMA_INVALID'],
  ['a blank worklog_path', result({ worklog_path: ' ', changes: 5 }), 'MISSING_REQUIRED_INPUT'],
  ['a worklog_path outside the workspace', result({ worklog_path: '../x' }), 'SCHEMA_INVALID'],
  ['a worklog_path that is too long', result({ worklog_path: 'x'.repeat(1001) }), 'SCHEMA_INVALID'],
  ['changes as an object', result({ changes: {} }), 'SCHEMA_INVALID'],
  ['a change without an action', result({ changes: [{ resource: 'a' }] }), 'SCHEMA_INVALID'],
  ['a change of nothing', result({ changes: [{ resource: '//', action: 'edit' }] }), 'SCHEMA_INVALID'],
  [
    'a change outside the workspace',
    result({ changes: [{ resource: 'a/../../b', action: 'edit' }] }),
    'SCOPE_VIOLATION',
  ],
  ['a blank resource', result({ changes: [{ resource: ' ', action: 'edit' }] }), 'SCHEMA_INVALID'],
  ['a resource that is no string', result({ changes: [{ resource: 5, action: 'edit' }] }), 'SCHEMA_INVALID'],
  ['a blank action', result({ changes: [{ resource: 'a', action: ' ' }] }), 'SCHEMA_INVALID'],
  ['a change without evidence', result({ changes: [{ resource: 'a', action: 'edit' }] }), 'OK'],
  ['a check that is no object', result({ acceptance_check: ['pass'] }), 'SCHEMA_INVALID'],
  ['a check in capitals', result({ acceptance_check: [check('PASS')] }), 'SCHEMA_INVALID'],
  ['a blank criterion', result({ acceptance_check: [check('pass', ' ')] }), 'SCHEMA_INVALID'],
  ['blank evidence', result({ acceptance_check: [check('pass', 'c', '   ')] }), 'SCHEMA_INVALID'],
  ['no evidence', result({ acceptance_check: [{ criterion: 'c', status: 'pass' }] }), 'SCHEMA_INVALID'],
  ['notes as text', result({ notes_for_orchestrator: 'fine' }), 'SCHEMA_INVALID'],
  ['a note that is no string', noted('a', 5), 'SCHEMA_INVALID'],
  ['a secret, then a note that is no string', noted('token=zz', 5), 'SCHEMA_INVALID'],
  ['six notes, the sixth a secret', noted('a', 'b', 'c', 'd', 'e', 'token=zz'), 'SCHEMA_INVALID'],
  ['five notes', noted('a', 'b', 'c', 'd', 'e'), 'OK'],
  ['no notes', noted(), 'OK'],
  ['a blank note, then a secret', noted('', 'token=zz'), 'SCHEMA_INVALID'],
  ['a secret, then a blank note', noted('token=zz', ''), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['a secret word', noted('Secret : swordfish'), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['a prefixed name', noted('DB_TOKEN=abc'), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['a password', noted('password=hunter2'), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['a bearer value', noted('bearer 9f8a7b6c5d4e3f2a1b0c'), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['prose about bearers', noted('the bearer of responsibilities is told'), 'OK'],
  ['prose about secrets', noted('secrets: none', 'token: not required'), 'OK'],
  ['a smuggled field', noted('{"acceptance_check": []}'), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['a secret outranks failed acceptance', { ...noted('token=zz'), acceptance_check: [] }, 'UNTRUSTED_CONTEXT_BLOCK'],
  [
    'failed, nothing changed, a key header',
    result({ status: 'failed', changes: [], notes_for_orchestrator: [KEY_HEADER] }),
    'UNTRUSTED_CONTEXT_BLOCK',
  ],
  ['done without checks', result({ acceptance_check: [] }), 'ACCEPTANCE_FAILED'],
  ['blocked without checks', result({ status: 'blocked', acceptance_check: [] }), 'OK'],
  ['done with a failing check', result({ acceptance_check: [check('pass'), check('fail')] }), 'ACCEPTANCE_FAILED'],
  ['failed with a failing check', result({ status: 'failed', acceptance_check: [check('fail')] }), 'OK'],
  ['failed although all passed', result({ status: 'failed' }), 'OK'],
  ['the example', result(), 'OK'],
])('%s: %#', (_what, input, code) => {
  expect(validateResult(input).code).toBe(code);
});

test.each<[string, string]>([
  [['AKIA', 'IOSFODNN7EXAMPLE'].join(''), 'aws_access_key_id'],
  [['sk-', 'a1B2c3D4e5F6g7H8i9J0'].join(''), 'openai_api_key'],
  [['sk-', 'ant-a1B2c3D4e5F6g7H8i9J0'].join(''), 'anthropic_api_key'],
  [KEY_HEADER, 'private_key_block'],
  ['Secret : swordfish', 'generic_secret_assignment'],
  [['token=AKIA', 'IOSFODNN7EXAMPLE'].join(''), 'aws_access_key_id'],
  [['token=zz and ghp', '_a1B2c3D4e5F6g7H8i9J0'].join(''), 'github_token'],
])('a secret is named by its kind and never repeated: %#', (secret, pattern) => {
  const { details, reason } = validateResult(noted('fine', secret));
  expect(details).toMatchObject({ index: 1, pattern });
  expect(JSON.stringify([details, reason])).not.toContain(secret);
});

test.each<[string, Json[], string, object]>([
  ['a blank note before a secret', ['', 'token=zz'], 'SCHEMA_INVALID', { index: 0 }],
  ['a secret before a blank note', ['token=zz', ''], 'UNTRUSTED_CONTEXT_BLOCK', { index: 0 }],
  ['a secret after a good note', ['fine', 'token=zz'], 'UNTRUSTED_CONTEXT_BLOCK', { index: 1 }],
  ['a note that is no string after a good one', ['fine', 5], 'SCHEMA_INVALID', { index: 1 }],
])('%s is named by its place', (_what, notes, code, details) => {
  expect(validateResult(noted(...notes))).toMatchObject({ code, details });
});

test('the failing criteria are listed in order', () => {
  const checks = [check('pass', 'a'), check('fail', 'b'), check('pass', 'c'), check('fail', 'd')];
  expect(validateResult(result({ acceptance_check: checks })).details.failing_criteria).toEqual(['b', 'd']);
});

test('a secret in evidence is allowed with a warning, because values are scrubbed before they are stored', () => {
  const { code, details } = validateResult(result({ acceptance_check: [check('pass', 'c', 'token=zz')] }));
  expect([code, details.warnings]).toMatchObject(['OK', [expect.stringContaining('acceptance_check[0].evidence')]]);
});

test('a secret in the evidence of a change is mentioned too', () => {
  const changes = [{ resource: 'a', action: 'edit', evidence: 'password=hunter2' }];
  expect(validateResult(result({ changes })).details.warnings).toEqual([
    expect.stringContaining('changes[0].evidence'),
  ]);
});

test.each([
  ['changes[0].size', result({ changes: [{ resource: 'a', action: 'edit', size: 3 }] })],
  ['acceptance_check[0].by', result({ acceptance_check: [{ ...check('pass'), by: 'me' }] })],
  ['summary', result({ summary: 'x' })],
])('%s is refused in strict mode only', (path, input) => {
  expect(validateResult(input).code).toBe('OK');
  expect(validateResult(input, { strict: true })).toMatchObject({ code: 'SCHEMA_INVALID', details: { path } });
});

/** One fault for each check, in the order in which the checks are made. */
const FAULTS: readonly (readonly [what: string, over: JsonObject, code: string])[] = [
  ['a field is missing', { task_id: undefined as never }, 'MISSING_REQUIRED_INPUT'],
  ['the version', { schema_version: '2' }, 'UNKNOWN_SCHEMA_VERSION'],
  ['run_id', { run_id: 'x' }, 'SCHEMA_INVALID'],
  ['task_id', { task_id: 'x' }, 'SCHEMA_INVALID'],
  ['status', { status: 'canceled' }, 'SCHEMA_INVALID'],
  ['worklog_path', { worklog_path: ' ' }, 'MISSING_REQUIRED_INPUT'],
  ['changes', { changes: {} }, 'SCHEMA_INVALID'],
  ['a check that is none', { acceptance_check: [5] }, 'SCHEMA_INVALID'],
  ['notes that are none', { notes_for_orchestrator: [5] }, 'SCHEMA_INVALID'],
  ['too many notes', { notes_for_orchestrator: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'SCHEMA_INVALID'],
  ['a blank note', { notes_for_orchestrator: [' '] }, 'SCHEMA_INVALID'],
  ['a secret in a note', { notes_for_orchestrator: ['token=zz'] }, 'UNTRUSTED_CONTEXT_BLOCK'],
  ['done without a check', { acceptance_check: [] }, 'ACCEPTANCE_FAILED'],
  ['done with a failing check', { acceptance_check: [check('fail')] }, 'ACCEPTANCE_FAILED'],
];

test('of any two faults the one that is looked for first gives the verdict', () => {
  const broken = (over: JsonObject, other: JsonObject = {}) => {
    const { code, details } = validateResult(JSON.parse(JSON.stringify({ ...result(over), ...other })));
    return [code, details.path ?? null, details.missing ?? null];
  };
  for (const [index, [what, over, code]] of FAULTS.entries()) {
    expect([what, broken(over)[0]]).toEqual([what, code]);
    for (const [later, other] of FAULTS.slice(index + 1)) {
      // Two faults of one field cannot stand beside each other.
      if (Object.keys(over).some((field) => Object.hasOwn(other, field))) continue;
      expect([what, later, broken(over, other)]).toEqual([what, later, broken(over)]);
    }
  }
});
