// Reports that stand just inside or just outside a rule, as `baton validate` answers them: the verdict, and all that its
// details say about the field in question.
import { expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from '../../kernel/report/sections.ts';
import { exampleReport } from './brief.ts';
import { validateGaia, validateMerge, validateTransition } from './validate.ts';

const REPORT = exampleReport({}) as { agent_status: JsonObject; evidence_report: JsonObject };
const fenced = (body: string) => `Done.\n\`\`\`agent_contract_handoff\n${body}\n\`\`\`\n`;
const upper = (keys: readonly string[]) => keys.map((key) => key.toUpperCase());
const status = (fields: JsonObject): JsonObject => ({ ...REPORT, agent_status: { ...REPORT.agent_status, ...fields } });
/** The answer to the whole reply that carries the report. */
const judged = (report: Json, options: JsonObject = {}) => validateGaia(fenced(JSON.stringify(report)), options);
const without = (section: JsonObject, key: string) =>
  Object.fromEntries(Object.entries(section).filter(([name]) => name !== key));

const STATUS_CODES = ['AGENT_STATUS', 'PLAN_STATUS', 'PENDING_STEPS', 'NEXT_ACTION', 'AGENT_ID'];

test.each<[string, string, string]>([
  ['no fence', 'All done.', 'NO_BLOCK'],
  ['the root null', fenced('null'), 'NO_BLOCK'],
  ['a trailing comma', fenced('{"a": 1,}'), 'NOT_JSON'],
])('a reply with %s lacks the whole status, and nothing further is asked of it', (_name, raw, code) => {
  expect(validateGaia(raw)).toMatchObject({
    code,
    details: { missing: STATUS_CODES, invalid: [], plan_status: null, evidence_required: false },
  });
});

test.each<[string | null, string, string | null]>([
  [null, 'escalate_contract_repair', null],
  ['dev-agent', 'escalate_contract_repair', null],
  ['a0f0f0f', 'resume_same_agent_contract_repair', 'a0f0f0f'],
])('a reply without a block, for the turn of %j: %s to %j', (task_agent_id, action, agent) => {
  const { details } = validateGaia('All done.', { task_agent_id });
  expect(details).toMatchObject({ recommended_action: action, repair_agent_id: agent });
});

test.each<[Json, string, string | null, string[]]>([
  ['complete.', 'OK', 'COMPLETE', []],
  [' COMPLETE', 'CONTRACT_VIOLATION', ' COMPLETE', ['PLAN_STATUS: COMPLETE']],
  ['DONE', 'CONTRACT_VIOLATION', 'DONE', ['PLAN_STATUS:DONE']],
  ['', 'CONTRACT_VIOLATION', null, []],
])('plan_status %j is %s, told as %j', (plan_status, code, told, invalid) => {
  expect(judged(status({ plan_status }))).toMatchObject({ code, details: { plan_status: told, invalid } });
});

test('without evidence a status off the list is the only fault, and one on the list has eight more', () => {
  const bare = (plan_status: string) =>
    judged({ agent_status: { ...REPORT.agent_status, plan_status } }).details as Record<string, Json>;
  expect(bare('DONE')).toMatchObject({ missing: [], invalid: ['PLAN_STATUS:DONE'], evidence_required: false });
  expect(bare('BLOCKED')).toMatchObject({
    missing: ['EVIDENCE_REPORT', ...upper(EVIDENCE_KEYS)],
    invalid: [],
    evidence_required: true,
  });
});

test('COMPLETE needs a verification that is there', () => {
  const evidence_report = without(REPORT.evidence_report, 'verification');
  expect(judged({ ...REPORT, evidence_report }).details.missing).toEqual(['VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE']);
});

test.each<[string, JsonObject]>([
  ['several surfaces are at work', { surface_routing: { multi_surface: true } }],
  ['a flag is the text "false"', { surface_routing: { multi_surface: 'false' } }],
  ['a flag is a number', { agent_contract_handoff: { cross_check_required: 1 } }],
  ['the brief has its former name', { investigation_brief: { consolidation_required: true } }],
])('where %s, a report without consolidation lacks all of it', (_name, injected_context) => {
  expect(judged(REPORT, { injected_context })).toMatchObject({
    code: 'CONTRACT_VIOLATION',
    details: { consolidation_required: true, missing: ['CONSOLIDATION_REPORT', ...upper(CONSOLIDATION_KEYS)] },
  });
});

test.each<[string, JsonObject]>([
  ['no flag is set', {}],
  ['two surfaces are listed and none is flagged', { surface_routing: { active_surfaces: ['a', 'b'] } }],
])('where %s, a consolidation with any word in it is not looked at', (_name, injected_context) => {
  const report = { ...REPORT, consolidation_report: { ownership_assessment: 'mine' } };
  expect(judged(report, { injected_context })).toMatchObject({ code: 'OK', details: { invalid: [], warnings: [] } });
});

test('every fault of a COMPLETE is told at once, in the order of the fields', () => {
  const report = {
    agent_status: { plan_status: 'COMPLETE', agent_id: null, next_action: '', pending_steps: null },
    evidence_report: { verification: { result: 'fail' } },
    consolidation_report: { ownership_assessment: 'mine', conflicts: [] },
    approval_request: { operation: 'push' },
    loop_state: { iteration: 2, max_iterations: 5, metric: 0, threshold: 1 },
  };
  const injected_context = { surface_routing: { multi_surface: true } };
  expect(judged(report, { injected_context }).details).toMatchObject({
    missing: [
      'PENDING_STEPS',
      'NEXT_ACTION',
      'AGENT_ID',
      ...upper(EVIDENCE_KEYS),
      ...upper(CONSOLIDATION_KEYS).filter((key) => !['OWNERSHIP_ASSESSMENT', 'CONFLICTS'].includes(key)),
      'APPROVAL_REQUEST_ROLLBACK',
      'APPROVAL_REQUEST_VERIFICATION',
      'VERIFICATION_RESULT_MUST_BE_PASS',
      'LOOP_STATE_INCOMPLETE:iteration=2<max=5,metric=0.0<threshold=1.0',
    ],
    invalid: ['OWNERSHIP_ASSESSMENT:mine'],
  });
});

const MEMORIAL = { description: 'd', body: 'b' };

test.each<[string, JsonObject, JsonObject]>([
  [
    'a memorial without body is left out and warned about',
    { memorialize_suggestions: [MEMORIAL, { description: 'd' }] },
    {
      memorialize_suggestions: [MEMORIAL],
      warnings: ['memorialize_suggestions[1]: body missing, skipped'],
    },
  ],
  [
    'a memorial of a type off the list is kept and warned about',
    { memorialize_suggestions: [{ ...MEMORIAL, type: 'idea' }] },
    {
      memorialize_suggestions: [{ ...MEMORIAL, type: 'idea' }],
      warnings: ['memorialize_suggestions[0].type: not one of atom, decision, negative, kept as it is'],
    },
  ],
  ['notes become texts, nulls go', { memory_suggestions: ['a', 1, null] }, { memory_suggestions: ['a', '1'] }],
  ['a blank summary is none', { user_facing_summary: '  ' }, { user_facing_summary: null }],
])('%s', (_name, fields, details) => {
  expect(judged({ ...REPORT, ...fields })).toMatchObject({ code: 'OK', details });
});

test('a risk off the list is kept with one warning, one that is null has two', () => {
  const asks = (risk_level: Json) => {
    const block = { operation: 'o', exact_content: 'e', scope: 's', rollback: 'r', verification: 'v', risk_level };
    return judged({ ...status({ plan_status: 'APPROVAL_REQUEST' }), approval_request: block });
  };
  expect(asks('SEVERE')).toMatchObject({
    code: 'OK',
    details: { warnings: ['APPROVAL_REQUEST_INVALID_RISK_LEVEL:SEVERE'] },
  });
  expect(asks(null)).toMatchObject({
    code: 'OK',
    details: { warnings: ['APPROVAL_REQUEST_FIELD_MISSING:risk_level', 'APPROVAL_REQUEST_INVALID_RISK_LEVEL:NULL'] },
  });
});

// Lists keep the order in which their elements came: sorting them would lose what the order may mean.
test.each<[JsonObject, JsonObject, JsonObject, string[]]>([
  [{ a: 1, b: 2 }, { b: 3 }, { a: 1, b: 3 }, []],
  [{ l: ['b', 'a'] }, { l: ['c'] }, { l: ['b', 'a', 'c'] }, []],
  [{ l: [{ name: 'x', p: 1 }] }, { l: [{ name: 'x', q: 2 }] }, { l: [{ name: 'x', p: 1, q: 2 }] }, []],
  [{ l: [{ id: 1 }] }, { l: [{ id: 1, x: 0 }] }, { l: [{ id: 1 }, { id: 1, x: 0 }] }, []],
  [{ a: { x: 1 } }, { a: null }, { a: null }, ['TYPE_CHANGED:s.a:object->null']],
  [{ a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }, ['TYPE_CHANGED:s.a:array->object']],
])('%j and %j merge into %j', (stored, payload, merged, warnings) => {
  const entries = [{ contract: 's', payload }];
  expect(validateMerge({ base: { s: stored }, entries, writable_sections: ['s'] })).toMatchObject({
    code: 'OK',
    details: { result: { s: merged }, rejected: [], warnings },
  });
});

test('a section off the list is rejected by its name, and the others apply', () => {
  const entries = ['a', 'b', 'c'].map((contract) => ({ contract, payload: { x: 1 } }));
  expect(validateMerge({ base: {}, entries, writable_sections: ['a', 'c'] })).toMatchObject({
    code: 'WRITE_NOT_PERMITTED',
    details: { result: { a: { x: 1 }, c: { x: 1 } }, rejected: ['b'] },
  });
});

const [P, A, C, B, N] = ['IN_PROGRESS', 'APPROVAL_REQUEST', 'COMPLETE', 'BLOCKED', 'NEEDS_INPUT'] as const;

test.each<[string, string[], string[]]>([
  [
    'a third IN_PROGRESS is one too many, and COMPLETE may still follow',
    [P, P, P, C],
    ['OK', 'OK', 'RETRY_LIMIT', 'OK'],
  ],
  [
    'nothing but work follows a request for approval',
    [A, C, C, P],
    ['OK', 'ILLEGAL_TRANSITION', 'ILLEGAL_TRANSITION', 'OK'],
  ],
  ['work leads from a question to the end', [N, P, C], ['OK', 'OK', 'OK']],
  ['what follows COMPLETE is a new cycle', [C, B, P], ['OK', 'ILLEGAL_TRANSITION', 'OK']],
])('%s', (_name, reports, codes) => {
  const answers = reports.map((_, index) => validateTransition({ reports: reports.slice(0, index + 1) }));
  expect(answers.map(({ code }) => code)).toEqual(codes);
  // Whatever is refused leaves the agent where it stood: the same report is answered the same.
  for (const [index, { allow, code, details }] of answers.entries()) {
    if (allow) continue;
    const upToHere = reports.slice(0, index + 1);
    const again = validateTransition({ reports: [...upToHere, ...upToHere.slice(-1)] });
    expect([again.code, again.details]).toEqual([code, details]);
  }
});

test('keys of the evidence may be in capitals, keys of an approval may not', () => {
  const capitals = (section: JsonObject) =>
    Object.fromEntries(Object.entries(section).map(([key, value]) => [key.toUpperCase(), value]));
  const evidence = isObject(REPORT.evidence_report) ? capitals(without(REPORT.evidence_report, 'verification')) : {};
  const block = { rollback: 'r', verification: 'v' };
  const report = { ...status({ plan_status: B }), evidence_report: evidence };
  expect(judged({ ...report, approval_request: block }).details.missing).toEqual([]);
  expect(judged({ ...report, approval_request: capitals(block) }).details.missing).toEqual([
    'APPROVAL_REQUEST_ROLLBACK',
    'APPROVAL_REQUEST_VERIFICATION',
  ]);
});
