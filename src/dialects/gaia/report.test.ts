import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { exampleReport } from './brief.ts';
import { contextConsumption, judgeReport, rollbackExecuted, userFacingSummary } from './read.ts';
import { mergeContracts } from './validate.ts';

// The names of the contract, written out: a name that is lost there is missed here.
const PLAN_STATUSES = ['IN_PROGRESS', 'APPROVAL_REQUEST', 'COMPLETE', 'BLOCKED', 'NEEDS_INPUT'] as const;
const EVIDENCE_KEYS = [
  'patterns_checked',
  'files_checked',
  'commands_run',
  'key_outputs',
  'verbatim_outputs',
  'cross_layer_impacts',
  'open_gaps',
] as const;
const CONSOLIDATION_KEYS = [
  'ownership_assessment',
  'confirmed_findings',
  'suspected_findings',
  'conflicts',
  'open_gaps',
  'next_best_agent',
] as const;

const COMPLETE = exampleReport({}) as {
  agent_status: JsonObject;
  evidence_report: JsonObject;
};
const upper = (keys: readonly string[]) => keys.map((key) => key.toUpperCase());
const without = (section: JsonObject, key: string) =>
  Object.fromEntries(Object.entries(section).filter(([name]) => name !== key));

/** A report that keeps the contract, with these fields replaced. */
const report = (fields: JsonObject): JsonObject => ({ ...COMPLETE, ...fields });
const status = (fields: JsonObject): JsonObject => report({ agent_status: { ...COMPLETE.agent_status, ...fields } });
const evidence = (fields: JsonObject, plan = 'COMPLETE'): JsonObject =>
  report({
    agent_status: { ...COMPLETE.agent_status, plan_status: plan },
    evidence_report: { ...COMPLETE.evidence_report, ...fields },
  });
const blocked = (fields: JsonObject): JsonObject => ({ ...evidence({}, 'BLOCKED'), ...fields });
const found = (judged: JsonObject, given = {}) => {
  const { code, details } = judgeReport(judged, given);
  return { code, missing: details.missing, invalid: details.invalid, warnings: details.warnings };
};
const finds = (missing: string[], invalid: string[] = [], warnings: string[] = []) => ({
  code: missing.length + invalid.length > 0 ? 'CONTRACT_VIOLATION' : 'OK',
  missing,
  invalid,
  warnings,
});

const STATUS_CODES = ['AGENT_STATUS', 'PLAN_STATUS', 'PENDING_STEPS', 'NEXT_ACTION', 'AGENT_ID'];
const STATUS_ROWS: [string, JsonObject, ReturnType<typeof finds>][] = [
  ['a report that keeps the contract', report({}), finds([])],
  ['an empty report', {}, finds(STATUS_CODES)],
  ['agent_status null', report({ agent_status: null }), finds(STATUS_CODES)],
  ['agent_status a string', report({ agent_status: 'COMPLETE' }), finds(STATUS_CODES)],
  ['agent_status an array', report({ agent_status: ['COMPLETE'] }), finds(STATUS_CODES)],
  ['plan_status in lower case with a full stop', status({ plan_status: 'complete.' }), finds([])],
  ['plan_status with a run of punctuation', status({ plan_status: 'Complete.,;' }), finds([])],
  ['plan_status with a blank before', status({ plan_status: ' COMPLETE' }), finds([], ['PLAN_STATUS: COMPLETE'])],
  ['plan_status with a blank behind', status({ plan_status: 'COMPLETE ' }), finds([], ['PLAN_STATUS:COMPLETE '])],
  ['plan_status empty', status({ plan_status: '' }), finds(['PLAN_STATUS'])],
  ['plan_status null', status({ plan_status: null }), finds(['PLAN_STATUS'])],
  ['plan_status only punctuation', status({ plan_status: '...' }), finds(['PLAN_STATUS'])],
  ['plan_status a number', status({ plan_status: 7 }), finds([], ['PLAN_STATUS:7'])],
  ['plan_status in capitals as a key', status({ plan_status: null, PLAN_STATUS: 'COMPLETE' }), finds(['PLAN_STATUS'])],
  [
    'plan_status off the list without evidence',
    { agent_status: { ...COMPLETE.agent_status, plan_status: 'DONE' } },
    finds([], ['PLAN_STATUS:DONE']),
  ],
  ['pending_steps empty list', status({ pending_steps: [] }), finds([])],
  ['pending_steps null', status({ pending_steps: null }), finds(['PENDING_STEPS'])],
  ['pending_steps empty text', status({ pending_steps: '' }), finds(['PENDING_STEPS'])],
  ['pending_steps in capitals', status({ pending_steps: null, PENDING_STEPS: [] }), finds([])],
  ['next_action empty', status({ next_action: '' }), finds(['NEXT_ACTION'])],
  ['next_action blanks', status({ next_action: '  ' }), finds([])],
  ['agent_id null', status({ agent_id: null }), finds(['AGENT_ID'])],
  ['agent_id a name', status({ agent_id: 'dev-agent' }), finds([], ['AGENT_ID:dev-agent'])],
  ['agent_id too short', status({ agent_id: 'a1b2c' }), finds([], ['AGENT_ID:a1b2c'])],
  ['agent_id at its shortest', status({ agent_id: 'a1b2c3' }), finds([])],
  ['agent_id in capitals', status({ agent_id: 'A1B2C3' }), finds([], ['AGENT_ID:A1B2C3'])],
  ['agent_id with a line break', status({ agent_id: 'a1b2c3\n' }), finds([], ['AGENT_ID:a1b2c3\n'])],
  ['agent_id a list', status({ agent_id: [] }), finds([], ['AGENT_ID:[]'])],
];

test.each(STATUS_ROWS)('agent_status: %s', (_name, judged, expected) => {
  expect(found(judged)).toEqual(expected);
});

test.each(PLAN_STATUSES.filter((plan) => plan !== 'APPROVAL_REQUEST'))('%s with evidence is accepted', (plan) => {
  const verdict = judgeReport(evidence({}, plan), {});
  expect(verdict).toMatchObject({ allow: true, details: { plan_status: plan, agent_id: 'a0c0ffee' } });
});

const ALL_EVIDENCE = ['EVIDENCE_REPORT', ...upper(EVIDENCE_KEYS)];
const REQUIRED = 'VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE';
const MUST_PASS = 'VERIFICATION_RESULT_MUST_BE_PASS';

test.each(EVIDENCE_KEYS)('evidence_report without %s lacks exactly that', (key) => {
  const judged = report({ evidence_report: without(COMPLETE.evidence_report, key) });
  expect(found(judged)).toEqual(finds([key.toUpperCase()]));
});

const EVIDENCE_ROWS: [string, JsonObject, ReturnType<typeof finds>][] = [
  ['absent', blocked({ evidence_report: null }), finds(ALL_EVIDENCE)],
  ['empty', blocked({ evidence_report: {} }), finds(ALL_EVIDENCE)],
  ['a string', blocked({ evidence_report: 'I looked' }), finds(ALL_EVIDENCE)],
  ['a string on COMPLETE', report({ evidence_report: 'I looked' }), finds([...ALL_EVIDENCE, REQUIRED])],
  ['keys with null', evidence({ open_gaps: null }), finds([])],
  ['keys with text', evidence({ open_gaps: 'none' }), finds([])],
  ['verification absent', evidence({ verification: null }), finds([REQUIRED])],
  ['verification a string', evidence({ verification: 'pass' }), finds([REQUIRED])],
  ['verification true', evidence({ verification: true }), finds([REQUIRED])],
  ['verification a list', evidence({ verification: ['pass'] }), finds([REQUIRED])],
  [
    'verification on top only',
    { ...evidence({ verification: null }), verification: { result: 'pass' } },
    finds([REQUIRED]),
  ],
  ['result fail', evidence({ verification: { result: 'fail' } }), finds([MUST_PASS])],
  ['result passed', evidence({ verification: { result: 'passed' } }), finds([MUST_PASS])],
  ['result true', evidence({ verification: { result: true } }), finds([MUST_PASS])],
  ['result absent', evidence({ verification: {} }), finds([MUST_PASS])],
  ['result in other case with blanks', evidence({ verification: { result: ' Pass ' } }), finds([])],
  ['result fail on BLOCKED', evidence({ verification: { result: 'fail' } }, 'BLOCKED'), finds([])],
];

test.each(EVIDENCE_ROWS)('evidence_report: %s', (_name, judged, expected) => {
  expect(found(judged)).toEqual(expected);
});

test('evidence keys are accepted in capitals', () => {
  const keys = Object.fromEntries(upper(EVIDENCE_KEYS).map((key) => [key, []]));
  expect(found(blocked({ evidence_report: keys }))).toEqual(finds([]));
});

const CONSOLIDATION = {
  ownership_assessment: 'owned_here',
  confirmed_findings: ['found'],
  suspected_findings: ['none'],
  conflicts: ['none'],
  open_gaps: ['none'],
  next_best_agent: 'reviewer',
};
const consolidated = (fields: JsonObject): JsonObject =>
  report({ consolidation_report: { ...CONSOLIDATION, ...fields } });
const MULTI = { injectedContext: { surface_routing: { multi_surface: true } } };
const ALL_CONSOLIDATION = ['CONSOLIDATION_REPORT', ...upper(CONSOLIDATION_KEYS)];

const CONSOLIDATION_ROWS: [string, JsonObject, JsonObject, ReturnType<typeof finds>][] = [
  ['required and complete', consolidated({}), MULTI, finds([])],
  ['required and null', report({ consolidation_report: null }), MULTI, finds(ALL_CONSOLIDATION)],
  ['required and a list', report({ consolidation_report: [1] }), MULTI, finds(ALL_CONSOLIDATION)],
  ['required, ownership absent', consolidated({ ownership_assessment: null }), MULTI, finds(['OWNERSHIP_ASSESSMENT'])],
  [
    'required, ownership in capitals',
    consolidated({ ownership_assessment: 'OWNED_HERE' }),
    MULTI,
    finds([], ['OWNERSHIP_ASSESSMENT:OWNED_HERE']),
  ],
  [
    'required, lists empty',
    consolidated({ confirmed_findings: [], suspected_findings: [], conflicts: [], open_gaps: [] }),
    MULTI,
    finds([]),
  ],
  ['required, conflicts null', consolidated({ conflicts: null }), MULTI, finds(['CONFLICTS'])],
  ['required, conflicts an empty text', consolidated({ conflicts: '' }), MULTI, finds(['CONFLICTS'])],
  ['required, next_best_agent empty', consolidated({ next_best_agent: '' }), MULTI, finds(['NEXT_BEST_AGENT'])],
  ['required, next_best_agent a list', consolidated({ next_best_agent: ['reviewer'] }), MULTI, finds([])],
  ['required, findings as text', consolidated({ confirmed_findings: 'one' }), MULTI, finds([])],
  [
    'open_gaps absent in both places',
    {
      ...consolidated({ open_gaps: null }),
      evidence_report: without(COMPLETE.evidence_report, 'open_gaps'),
    },
    MULTI,
    finds(['OPEN_GAPS', 'OPEN_GAPS']),
  ],
  ['not required, wrong ownership', consolidated({ ownership_assessment: 'mine' }), {}, finds([])],
];

test.each(CONSOLIDATION_ROWS)('consolidation_report: %s', (_name, judged, given, expected) => {
  expect(found(judged, given)).toEqual(expected);
});

test.each(CONSOLIDATION_KEYS)('consolidation_report without %s lacks exactly that', (key) => {
  const judged = report({ consolidation_report: without(CONSOLIDATION, key) });
  expect(found(judged, MULTI)).toEqual(finds([key.toUpperCase()]));
});

test('consolidation keys are accepted in capitals', () => {
  const keys = Object.fromEntries(Object.entries(CONSOLIDATION).map(([key, value]) => [key.toUpperCase(), value]));
  expect(found(report({ consolidation_report: keys }), MULTI)).toEqual(finds([]));
});

const APPROVAL = {
  operation: 'push a branch',
  exact_content: 'git push origin main',
  scope: 'origin/main',
  risk_level: 'HIGH',
  rollback: 'git push origin +HEAD~1:main',
  verification: 'git ls-remote shows the commit',
};
const asking = (fields: JsonObject | null): JsonObject => ({
  ...evidence({}, 'APPROVAL_REQUEST'),
  approval_request: fields && { ...APPROVAL, ...fields },
});
const FIELD = 'APPROVAL_REQUEST_FIELD_MISSING';
const RISK = 'APPROVAL_REQUEST_INVALID_RISK_LEVEL';

const APPROVAL_ROWS: [string, JsonObject, ReturnType<typeof finds>][] = [
  ['complete', asking({}), finds([])],
  ['absent', asking(null), finds(['APPROVAL_REQUEST'])],
  ['empty', { ...asking(null), approval_request: {} }, finds(['APPROVAL_REQUEST'])],
  ['a string', { ...asking(null), approval_request: 'may I?' }, finds(['APPROVAL_REQUEST'])],
  ['absent on COMPLETE', report({}), finds([])],
  ['rollback null', asking({ rollback: null }), finds(['APPROVAL_REQUEST_ROLLBACK'])],
  ['rollback blanks', asking({ rollback: ' ' }), finds([])],
  ['verification empty', asking({ verification: '' }), finds(['APPROVAL_REQUEST_VERIFICATION'])],
  [
    'keys in capitals count as absent',
    asking({ rollback: null, ROLLBACK: 'undo' }),
    finds(['APPROVAL_REQUEST_ROLLBACK']),
  ],
  [
    'on COMPLETE without verification',
    report({ approval_request: { ...APPROVAL, verification: null } }),
    finds(['APPROVAL_REQUEST_VERIFICATION']),
  ],
  [
    'operation, exact_content and scope empty',
    asking({ operation: '', exact_content: null, scope: [] }),
    finds([], [], [`${FIELD}:operation`, `${FIELD}:exact_content`, `${FIELD}:scope`]),
  ],
  [
    'risk_level absent',
    { ...asking({}), approval_request: without(APPROVAL, 'risk_level') },
    finds([], [], [`${FIELD}:risk_level`]),
  ],
  ['risk_level empty', asking({ risk_level: '' }), finds([], [], [`${FIELD}:risk_level`])],
  ['risk_level null', asking({ risk_level: null }), finds([], [], [`${FIELD}:risk_level`, `${RISK}:NULL`])],
  ['risk_level off the list', asking({ risk_level: 'severe' }), finds([], [], [`${RISK}:SEVERE`])],
  ['risk_level in lower case', asking({ risk_level: 'low' }), finds([])],
  ['approval_id of any form', asking({ approval_id: 7 }), finds([])],
];

test.each(APPROVAL_ROWS)('approval_request: %s', (_name, judged, expected) => {
  expect(found(judged)).toEqual(expected);
});

const LOOP = { iteration: 2, max_iterations: 5, metric: 0.4, threshold: 0.9 };
const looping = (fields: JsonObject, plan = 'COMPLETE'): JsonObject => ({
  ...evidence({}, plan),
  loop_state: { ...LOOP, ...fields },
});
const INCOMPLETE = 'LOOP_STATE_INCOMPLETE:iteration=2<max=5,metric=0.4<threshold=0.9';

const LOOP_ROWS: [string, JsonObject, ReturnType<typeof finds>][] = [
  ['iterations left below the threshold', looping({}), finds([INCOMPLETE])],
  ['the same while in progress', looping({}, 'IN_PROGRESS'), finds([])],
  [
    'numbers as text',
    looping({ iteration: ' 2 ', max_iterations: '5', metric: '0.4', threshold: '9e-1' }),
    finds([INCOMPLETE]),
  ],
  ['fractions of iterations are cut', looping({ iteration: 2.9 }), finds([INCOMPLETE])],
  [
    'whole measures are printed as decimals',
    looping({ iteration: true, metric: 0, threshold: 1 }),
    finds(['LOOP_STATE_INCOMPLETE:iteration=1<max=5,metric=0.0<threshold=1.0']),
  ],
  ['no iteration left', looping({ iteration: 5 }), finds([])],
  ['the threshold is met', looping({ metric: 0.9 }), finds([])],
  ['no metric', looping({ metric: null }), finds([])],
  ['a metric that is no number', looping({ metric: 'nan' }), finds([])],
  ['no maximum', looping({ max_iterations: null }), finds([])],
  ['an iteration as a decimal text', looping({ iteration: '2.0' }), finds([])],
  ['an iteration in hexadecimal', looping({ iteration: '0x2' }), finds([])],
  ['an empty iteration', looping({ iteration: '' }), finds([])],
  ['not an object', report({ loop_state: [2, 5] }), finds([])],
];

test.each(LOOP_ROWS)('loop_state: %s', (_name, judged, expected) => {
  expect(found(judged)).toEqual(expected);
});

test('every check reports, in a fixed order', () => {
  const judged = { approval_request: { operation: 'x' }, consolidation_report: {} };
  expect(found(judged, MULTI)).toEqual(
    finds(
      [...STATUS_CODES, ...ALL_CONSOLIDATION, 'APPROVAL_REQUEST_ROLLBACK', 'APPROVAL_REQUEST_VERIFICATION'],
      [],
      [`${FIELD}:exact_content`, `${FIELD}:scope`, `${FIELD}:risk_level`],
    ),
  );
});

const OPTIONAL_ROWS: [string, Json][] = [
  ['user_facing_summary', 7],
  ['memory_suggestions', 'a note'],
  ['memorialize_suggestions', { body: 'x' }],
  ['memorialize_suggestions', [null, { description: 'x' }]],
  ['update_contracts', 'all of it'],
  ['update_contracts', [{ contract: 'x' }]],
  ['rollback_executed', { a: 1 }],
  ['context_consumption', 'much'],
  ['something_else', [1, 2]],
];

test.each(OPTIONAL_ROWS)('an unusable %s never breaks the contract', (key, value) => {
  expect(judgeReport(report({ [key]: value }), {}).code).toBe('OK');
});

test('codes repeat refused values only up to a bound', () => {
  const [code] = found(status({ agent_id: 'x'.repeat(10_000) })).invalid as string[];
  expect(code).toBe(`AGENT_ID:${'x'.repeat(200)}…`);
});

const REPAIR_ROWS: [string, string | null, string, string | null][] = [
  ['dev-agent', null, 'escalate_contract_repair', null],
  ['dev-agent', 'a0f0f0f', 'resume_same_agent_contract_repair', 'a0f0f0f'],
  ['dev-agent', 'task-1', 'escalate_contract_repair', null],
  ['a1b2c3', null, 'resume_same_agent_contract_repair', 'a1b2c3'],
  ['a1b2c3', 'a0f0f0f', 'resume_same_agent_contract_repair', 'a0f0f0f'],
];

test.each(REPAIR_ROWS)('agent %s, issued %s: %s to %s', (agent_id, taskAgentId, action, agent) => {
  const judged = { ...status({ agent_id }), evidence_report: without(COMPLETE.evidence_report, 'open_gaps') };
  const { details } = judgeReport(judged, { taskAgentId });
  expect(details).toMatchObject({ recommended_action: action, repair_agent_id: agent, missing: ['OPEN_GAPS'] });
});

const ISSUED_ROWS: [string, string | null, string[]][] = [
  ['a0f0f0f', 'a0f0f0f', []],
  ['a1b2c3', 'a0f0f0f', ['AGENT_ID:a1b2c3']],
  ['a1b2c3', 'task-1', []],
  ['a1b2c3', null, []],
];

test.each(ISSUED_ROWS)('agent %s reports for the turn of %s', (agent_id, taskAgentId, refused) => {
  expect(judgeReport(status({ agent_id }), { taskAgentId }).details.invalid).toEqual(refused);
});

test('an accepted report needs no repair', () => {
  expect(judgeReport(report({}), {}).details).toMatchObject({ recommended_action: 'none', repair_agent_id: null });
});

test('a section off the list is warned about and the report is accepted', () => {
  const judged = report({
    update_contracts: [
      { contract: 'cluster', payload: { name: 'main' } },
      { contract: 'Cluster', payload: { name: 'main' } },
      { contract: 'apps', payload: [] },
    ],
  });
  const injectedContext = { write_permissions: { writable_sections: ['cluster', 'apps'] } };
  const verdict = judgeReport(judged, { injectedContext });
  expect(verdict.allow).toBe(true);
  expect(verdict.details.warnings).toEqual(['UPDATE_CONTRACTS_REJECTED:Cluster', 'UPDATE_CONTRACTS_REJECTED:apps']);
  expect(verdict.details.update_contracts).toEqual({ contracts: ['cluster'], rejected: ['Cluster', 'apps'] });
});

test('what a cast would not store as it is written is pointed out as a merge points it out', () => {
  const payload = { ip: '10.0.0.1', uses: ['git@github.com:Acme/IaC.git:tf_modules/network'] };
  const entries = [
    { contract: 's', payload },
    { contract: 'off', payload },
  ];
  const context = { write_permissions: { writable_sections: ['s'] } };
  const { allow, details } = judgeReport(report({ update_contracts: entries }), { injectedContext: context });
  const merged = mergeContracts({ base: {}, entries, writable_sections: ['s'] });
  expect(allow).toBe(true);
  expect(details.warnings).toEqual([
    'UPDATE_CONTRACTS_REJECTED:off',
    'REFERENCE_NORMALISED:s.uses[0]',
    'LIVE_STATE:s.ip',
  ]);
  expect(details.warnings).toEqual(merged.details.warnings);
});

test('an INPUT that lists no writable section permits none, and no INPUT says nothing about it', () => {
  const judged = report({ update_contracts: [{ contract: 'apps', payload: {} }] });
  expect(judgeReport(judged, { injectedContext: {} }).details.update_contracts).toMatchObject({ rejected: ['apps'] });
  expect(judgeReport(judged, {}).details.update_contracts).toMatchObject({ contracts: ['apps'] });
});

test('a flood of warnings is cut', () => {
  const verdict = judgeReport(report({ memorialize_suggestions: Array.from({ length: 200_000 }, () => 0) }), {});
  expect(verdict.allow).toBe(true);
  expect(verdict.details.warnings).toHaveLength(100);
});

test('commands without any quoted output are an anomaly, not a fault', () => {
  const verdict = judgeReport(evidence({ verbatim_outputs: ['N/A.'] }), {});
  expect(verdict).toMatchObject({ allow: true, details: { anomalies: ['verbatim_outputs_missing'], warnings: [] } });
});

const SUMMARY_ROWS: [Json, string | null][] = [
  [' Done. ', 'Done.'],
  ['  ', null],
  [null, null],
  [7, null],
];

test.each(SUMMARY_ROWS)('user_facing_summary %j reads as %j', (user_facing_summary, expected) => {
  expect(userFacingSummary({ user_facing_summary })).toBe(expected);
});

test('rollback_executed tells silence from none', () => {
  expect(rollbackExecuted({})).toBeUndefined();
  expect(rollbackExecuted({ rollback_executed: null })).toBeNull();
  expect(rollbackExecuted({ rollback_executed: { a: 1 } })).toBe('{"a":1}');
});

const CONSUMPTION_ROWS: [Json, Json][] = [
  [
    { tokens_used: '12', pct_window: 0.5 },
    { tokens_used: 12, pct_window: 0.5 },
  ],
  [
    { tokens_used: 12.9, pct_window: 'half' },
    { tokens_used: 12, pct_window: null },
  ],
  [{}, { tokens_used: null, pct_window: null }],
  ['much', null],
];

test.each(CONSUMPTION_ROWS)('context_consumption %j reads as %j', (context_consumption, expected) => {
  expect(contextConsumption({ context_consumption })).toEqual(expected);
});
