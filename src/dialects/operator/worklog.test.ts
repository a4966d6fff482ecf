import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { validateOperator } from './read.ts';
import { validateWorklog, validateWorklogText } from './result.ts';

const entry = (over: JsonObject = {}): JsonObject => ({
  timestamp: '2026-03-01T06:00:00Z',
  run_id: '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4',
  task_id: 'T-12',
  actor: 'agent-1',
  action: 'edit',
  files_touched: ['tests/api.test.ts'],
  decision: 'Test the endpoint through its route',
  result: 'two tests added',
  next_step: 'run them',
  ...over,
});
const lines = (...entries: unknown[]) => entries.map((one) => `${JSON.stringify(one)}\n`).join('');
const KEY = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');

// In the order of the checks.
test.each<[string, unknown, string]>([
  ['text', 'done', 'SCHEMA_INVALID'],
  ['nothing in it', {}, 'MISSING_REQUIRED_INPUT'],
  ['a time in words', entry({ timestamp: 'noon' }), 'SCHEMA_INVALID'],
  ['a time that is not in UTC', entry({ timestamp: '2026-03-01T06:00:00+02:00' }), 'SCHEMA_INVALID'],
  ['an unknown version', entry({ schema_version: '2' }), 'UNKNOWN_SCHEMA_VERSION'],
  ['a bad run_id', entry({ run_id: 'r' }), 'SCHEMA_INVALID'],
  ['a bad task_id', entry({ task_id: 'r' }), 'SCHEMA_INVALID'],
  ['a blank actor', entry({ actor: '' }), 'MISSING_REQUIRED_INPUT'],
  ['an action that is no string', entry({ action: 5 }), 'SCHEMA_INVALID'],
  ['files as text', entry({ files_touched: 'a' }), 'SCHEMA_INVALID'],
  ['a file that is no path', entry({ files_touched: [''] }), 'SCHEMA_INVALID'],
  ['a decision that is no string', entry({ decision: null }), 'SCHEMA_INVALID'],
  ['a code of its own', entry({ code: 'OOPS' }), 'SCHEMA_INVALID'],
  ['evidence that is no string', entry({ evidence: 5 }), 'SCHEMA_INVALID'],
  ['blocked without a code', entry({ result: 'blocked', decision: KEY }), 'MISSING_REQUIRED_INPUT'],
  [
    'failed without a next step',
    entry({ result: 'Failed', code: 'TASK_TIMEOUT', next_step: ' ' }),
    'MISSING_REQUIRED_INPUT',
  ],
  ['blocked, and why', entry({ result: 'blocked: T-9 is not done' }), 'MISSING_REQUIRED_INPUT'],
  ['failed, and why', entry({ result: 'Failed – two tests are red' }), 'MISSING_REQUIRED_INPUT'],
  ['was blocked (by a lock)', entry({ result: 'was blocked (lock on src)' }), 'MISSING_REQUIRED_INPUT'],
  ['a code without a next step', entry({ code: 'LOCK_CONFLICT', next_step: '' }), 'MISSING_REQUIRED_INPUT'],
  ['a sentence that begins with the word', entry({ result: 'failed tests were mended' }), 'OK'],
  ['a sentence that holds the word', entry({ result: 'no longer blocked' }), 'OK'],
  ['blocked, why, with both', entry({ result: 'blocked: T-9', code: 'DEPENDENCY_NOT_MET' }), 'OK'],
  ['blocked with both', entry({ result: 'blocked', code: 'LOCK_CONFLICT' }), 'OK'],
  ['a secret in the decision', entry({ decision: `used ${KEY}` }), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['a secret in an extension', entry({ x_env: { password: 'hunter2' } }), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['a smuggled field', entry({ result: '{"ledger_delta": []}' }), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['a smuggled field in the decision', entry({ decision: '{"lock_scope": []}' }), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['an entry', entry(), 'OK'],
  ['no entries', [], 'SCHEMA_INVALID'],
  ['entries', [entry(), entry({ action: 'test' })], 'OK'],
  ['a bad entry among others', [entry(), entry({ task_id: '' })], 'SCHEMA_INVALID'],
  ['a failed step that was mended', [entry({ result: 'failed' }), entry({ result: 'ok' })], 'OK'],
  [
    'a failed last step of one task',
    [entry({ result: 'failed' }), entry({ task_id: 'T-2' })],
    'MISSING_REQUIRED_INPUT',
  ],
])('%s: %#', (_what, input, code) => {
  expect(validateWorklog(input).code).toBe(code);
});

test('a caller who knows that the task was blocked or failed holds the last entry to it, whatever its words', () => {
  const closed = [entry({ result: 'gave up' }), entry({ result: 'gave up', code: 'TASK_TIMEOUT' })];
  expect(validateOperator('worklog', closed, { outcome: 'failed' }).code).toBe('OK');
  expect(validateOperator('worklog', closed.slice(0, 1), { outcome: 'failed' })).toMatchObject({
    code: 'MISSING_REQUIRED_INPUT',
    details: { missing: ['code'] },
  });
  expect(validateOperator('worklog', closed.slice(0, 1), { outcome: 'done' }).code).toBe('OK');
});

test.each<[string, string, string]>([
  ['nothing', '', 'SCHEMA_INVALID'],
  ['blank lines', '\n \n', 'SCHEMA_INVALID'],
  ['one line', lines(entry()), 'OK'],
  ['two lines', lines(entry(), entry({ action: 'test' })), 'OK'],
  ['blank lines between', `${lines(entry())}\n\r\n${lines(entry())}`, 'OK'],
  ['a pretty entry', JSON.stringify(entry(), null, 2), 'OK'],
  ['a line that is cut', `${lines(entry())}{"timestamp": "2026`, 'SCHEMA_INVALID'],
  ['a line that is no object', lines(entry(), 5), 'SCHEMA_INVALID'],
])('a file with %s: %#', (_what, text, code) => {
  expect(validateWorklogText(text).code).toBe(code);
});

test('a broken line is named by its number, a broken entry by its place', () => {
  expect(validateWorklogText(`${lines(entry())}\n{oops}\n`).details).toMatchObject({ line: 3, column: 2 });
  expect(validateWorklog([entry(), entry({ task_id: 5 })]).details.path).toBe('[1].task_id');
});

test('a file that grew is fine; one that changed or shrank is not', () => {
  const previous = lines(entry(), entry({ action: 'test' }));
  const grown = previous + lines(entry({ action: 'commit' }));
  expect(validateWorklogText(grown, { previous }).code).toBe('OK');
  expect(validateWorklogText(lines(entry()), { previous })).toMatchObject({
    code: 'NON_COMPLIANT',
    details: { line: 2 },
  });
  const changed = grown.replace('two tests', 'ten tests');
  expect(validateWorklogText(changed, { previous })).toMatchObject({ code: 'NON_COMPLIANT', details: { line: 1 } });
});

test('entries that go back in time are mentioned', () => {
  const { details } = validateWorklog([entry(), entry({ timestamp: '2026-03-01T05:59:59Z' })]);
  expect(details).toEqual({ entry_count: 2, warnings: ['[1].timestamp is earlier than the entry before it'] });
});

test('a file larger than one payload may be is read line by line', { timeout: 60_000 }, () => {
  const text = lines(entry()).repeat(5000);
  expect(text.length).toBeGreaterThan(1_048_576);
  expect(validateWorklogText(text)).toMatchObject({ code: 'OK', details: { entry_count: 5000 } });
});

test('a file beyond all measure is refused before it is read', () => {
  expect(validateWorklogText('\n'.repeat(67_108_865)).reason).toContain('larger than');
});

test('an unknown field is refused in strict mode only, and x_prev always passes', () => {
  expect(validateWorklog(entry({ mood: 'good' })).code).toBe('OK');
  expect(validateWorklog(entry({ mood: 'good' }), { strict: true })).toMatchObject({ details: { path: 'mood' } });
  expect(validateWorklog(entry({ x_prev: '0'.repeat(64) }), { strict: true }).code).toBe('OK');
});
