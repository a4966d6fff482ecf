import { expect, test } from 'vitest';
import type { Contract } from '../../kernel/dialect.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { operator } from '../index.ts';
import { workItemsOf } from './assignment.ts';
import { EXAMPLE_ENVELOPE, EXAMPLE_RESULT } from './brief.ts';
import { payloadFromText } from './read.ts';

const contract = (over: Partial<Contract> = {}): Contract => ({
  dialect: 'operator',
  generator: false,
  utility: false,
  requires: [],
  assign: {},
  schema: null,
  ...over,
});
const GENERATOR = contract({ generator: true, requires: ['workItems'], assign: { workItems: '$.workItems' } });
const result = (over: JsonObject = {}): JsonObject => ({ ...EXAMPLE_RESULT, ...over });
const codeOf = (raw: string, of: Contract) => {
  const reading = operator.read(raw, of);
  return reading.ok ? 'OK' : reading.verdict.code;
};

test.each([
  ['done', 'done', true],
  ['blocked', 'blocked', false],
  ['failed', 'blocked', false],
])('a result that is %s is handed on as %s, satisfied: %s', (status, outcome, satisfied) => {
  const payload = result({ status });
  expect(operator.read(JSON.stringify(payload), contract())).toEqual({
    ok: true,
    handoff: { outcome, satisfied, payload: { ...payload, satisfied } },
  });
});

test('a result is read up to the limit of its socket', () => {
  const raw = JSON.stringify(result({ notes_for_orchestrator: ['x'.repeat(500)] }));
  const codes = [raw.length, raw.length - 1].map((maxBytes) => codeOf(raw, contract({ maxBytes })));
  expect(codes).toEqual(['OK', 'SCHEMA_INVALID']);
});

test('an envelope is handed on with its assignments as work items', () => {
  expect(operator.read(JSON.stringify(EXAMPLE_ENVELOPE), GENERATOR)).toEqual({
    ok: true,
    handoff: {
      outcome: 'done',
      satisfied: true,
      payload: { ...EXAMPLE_ENVELOPE, workItems: workItemsOf(EXAMPLE_ENVELOPE) },
    },
  });
});

test('an orchestrator that assigns nothing and names a blocker is blocked', () => {
  const blockers = [{ task_id: 'T-1', code: 'DEPENDENCY_NOT_MET', reason: 'T-0 is open' }];
  const stuck = { ...EXAMPLE_ENVELOPE, assignments: [], ledger_delta: [], blockers };
  expect(operator.read(JSON.stringify(stuck), GENERATOR)).toMatchObject({
    handoff: { outcome: 'blocked', satisfied: false },
  });
  const both = { ...EXAMPLE_ENVELOPE, blockers };
  expect(operator.read(JSON.stringify(both), GENERATOR)).toMatchObject({ handoff: { outcome: 'done' } });
  const finished = { ...stuck, blockers: [] };
  expect(operator.read(JSON.stringify(finished), contract({ generator: true }))).toMatchObject({
    handoff: { outcome: 'done', satisfied: true },
  });
});

const RESULT = JSON.stringify(EXAMPLE_RESULT);
const REPORT = [
  '---',
  'schema_version: 1.0.0',
  'run_id: 3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4',
  'task_id: T-12',
  'status: blocked',
  'worklog_path: w.jsonl',
  '---',
  '```json',
  '{"an": "example in the prose"}',
  '```',
].join('\n');

test.each<[string, string, Contract, string]>([
  ['JSON', RESULT, contract(), 'OK'],
  ['JSON in a fence', `\`\`\`json\n${RESULT}\n\`\`\``, contract(), 'OK'],
  ['JSON in prose', `Here is my result:\n${RESULT}\nDone.`, contract(), 'OK'],
  ['a result and an object about something else', `{"name":"x"}\n${RESULT}`, contract(), 'OK'],
  ['two results that differ', `${RESULT}\n{"status":"failed"}`, contract(), 'SCHEMA_INVALID'],
  ['JSON in prose on a strict socket', `Done: ${RESULT}`, contract({ strict: true }), 'SCHEMA_INVALID'],
  ['a report, whatever its prose holds', REPORT, contract(), 'OK'],
  ['prose', 'I am done.', contract(), 'SCHEMA_INVALID'],
  ['nothing', '', contract(), 'SCHEMA_INVALID'],
  ['an array', '[]', contract(), 'SCHEMA_INVALID'],
  ['JSON that is cut', RESULT.slice(0, -9), contract(), 'SCHEMA_INVALID'],
  ['an envelope where a result is due', JSON.stringify(EXAMPLE_ENVELOPE), contract(), 'MISSING_REQUIRED_INPUT'],
  ['a result where an envelope is due', RESULT, GENERATOR, 'MISSING_REQUIRED_INPUT'],
  ['a report where an envelope is due', REPORT, GENERATOR, 'MISSING_REQUIRED_INPUT'],
  ['another version', JSON.stringify(result({ schema_version: '2.0.0' })), contract(), 'UNKNOWN_SCHEMA_VERSION'],
  ['a failed criterion', JSON.stringify(result({ acceptance_check: [] })), contract(), 'ACCEPTANCE_FAILED'],
  ['a secret', JSON.stringify(result({ notes_for_orchestrator: ['token=zz'] })), contract(), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['an orchestrator that declines', 'BLOCKED: objective, constraints', GENERATOR, 'OK'],
  ['an orchestrator that broke a rule', 'NON_COMPLIANT: R-7 | REASON: it implemented', GENERATOR, 'OK'],
  ['a refusal of 2000 characters', `BLOCKED: ${'x'.repeat(1991)}`, GENERATOR, 'OK'],
  ['a long text that begins like a refusal', `BLOCKED: ${'x'.repeat(1992)}`, GENERATOR, 'SCHEMA_INVALID'],
  ['a refusal that names nothing', 'BLOCKED: ', GENERATOR, 'SCHEMA_INVALID'],
  ['prose that mentions a refusal', 'I am not BLOCKED: objective', GENERATOR, 'SCHEMA_INVALID'],
  ['prose that mentions a rule', 'Not NON_COMPLIANT: R-7 | REASON: x', GENERATOR, 'SCHEMA_INVALID'],
  ['a subagent that declines in the same words', 'BLOCKED: objective', contract(), 'SCHEMA_INVALID'],
  [
    'an assigned field that is there',
    JSON.stringify(result({ x_cost: { usd: 1 } })),
    contract({ assign: { c: '$.x_cost.usd' } }),
    'OK',
  ],
  ['an assigned field that is missing', RESULT, contract({ assign: { c: '$.x_cost.usd' } }), 'MISSING_REQUIRED_INPUT'],
  [
    'an assigned field of work that is blocked',
    JSON.stringify(result({ status: 'blocked' })),
    contract({ assign: { c: '$.x_cost' } }),
    'OK',
  ],
  ['what the graph derives itself', RESULT, contract({ assign: { ok: '$.satisfied' }, requires: ['satisfied'] }), 'OK'],
  ['a socket with a schema', RESULT, contract({ schema: { required: ['x_cost'] } }), 'SCHEMA_INVALID'],
  ['a schema that fits', RESULT, contract({ schema: { required: ['changes'] } }), 'OK'],
  ['a schema that is none', RESULT, contract({ schema: { type: 'nonsense' } }), 'MISSING_VALIDATOR'],
])('%s: %#', (_what, raw, of, code) => {
  expect(codeOf(raw, of)).toBe(code);
});

test.each<[string, string, string]>([
  [' BLOCKED: objective, constraints\n', 'MISSING_REQUIRED_INPUT', 'MISSING_REQUIRED_INPUT: objective, constraints'],
  ['BLOCKED:objective,, \n constraints,', 'MISSING_REQUIRED_INPUT', 'MISSING_REQUIRED_INPUT: objective, constraints'],
  ['NON_COMPLIANT: R-7 | REASON: it implemented', 'NON_COMPLIANT', 'NON_COMPLIANT: R-7: it implemented'],
  ['NON_COMPLIANT:R-7|REASON:it implemented', 'NON_COMPLIANT', 'NON_COMPLIANT: R-7: it implemented'],
])('an orchestrator that says %j is blocked by %s, and nothing is asked of it again', (raw, code, note) => {
  expect(operator.read(raw, GENERATOR)).toMatchObject({
    ok: true,
    handoff: { outcome: 'blocked', satisfied: false, payload: { x_code: code, satisfied: false, workItems: [] }, note },
  });
});

test.each<[string, JsonObject[]]>([
  [
    'BLOCKED: objective, constraints',
    [
      { code: 'MISSING_REQUIRED_INPUT', path: '$', message: 'missing: objective' },
      { code: 'MISSING_REQUIRED_INPUT', path: '$', message: 'missing: constraints' },
    ],
  ],
  ['NON_COMPLIANT: R-7 | REASON: it implemented', [{ code: 'NON_COMPLIANT', path: '$', message: 'it implemented' }]],
])('the issues of %j are listed one by one', (raw, issues) => {
  expect(operator.read(raw, GENERATOR)).toMatchObject({ handoff: { payload: { x_details: { issues } } } });
});

test.each<[string, number, number]>([
  ['[]', 1, 1],
  ['"text"', 1, 1],
  ['{\n  "status": done\n}', 2, 13],
  ['{} and prose', 1, 4],
])('the text %j is not one JSON object, from line %i, column %i on', (text, line, column) => {
  expect(payloadFromText(text)).toMatchObject({
    ok: false,
    verdict: { code: 'SCHEMA_INVALID', details: { line, column, issues: [{ path: '$', line, column }] } },
  });
});

test('a fault in the text is found by line and column', () => {
  const reading = operator.read('{\n  "status": done\n}', contract());
  expect(reading).toMatchObject({ ok: false, verdict: { details: { line: 2, column: 13 } } });
});
