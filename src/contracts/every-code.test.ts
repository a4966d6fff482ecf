// Every code that a reader of materia, gaia or operator can answer with, brought about by one payload each: what the table
// of codes promises can happen, and what can happen is in the table.
import { expect, test } from 'vitest';
import { exampleReport } from '../dialects/gaia/brief.ts';
import { gaia } from '../dialects/index.ts';
import { EXAMPLE_ASSIGNMENT, EXAMPLE_ENVELOPE, EXAMPLE_RESULT } from '../dialects/operator/brief.ts';
import { OPERATOR_CODES } from '../kernel/codes/operator.ts';
import { GAIA_CODES, GAIA_REPORT_CODES } from '../kernel/codes/turn.ts';
import { ANSWERS } from '../kernel/codes.ts';
import type { Contract } from '../kernel/dialect.ts';
import { isString, type Json, type JsonObject } from '../kernel/json.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { validate } from './validate.ts';

type Row = [code: string, kind: string, input: Json, options?: JsonObject];

const MULTI = { injected_context: { surface_routing: { multi_surface: true } } };
const REPORT = exampleReport({});
const CONSOLIDATED = exampleReport({ consolidationRequired: true });
const FENCED = (body: string) => `\`\`\`agent_contract_handoff\n${body}\n\`\`\``;

/** An object without one of its members, at a path such as `a.b`. */
function without(object: JsonObject, path: string): JsonObject {
  const [name = '', ...rest] = path.split('.');
  const { [name]: member, ...others } = object;
  return rest.length === 0 ? others : { ...others, [name]: without(member as JsonObject, rest.join('.')) };
}

const status = (fields: JsonObject): JsonObject => ({
  ...REPORT,
  agent_status: { ...(REPORT.agent_status as JsonObject), ...fields },
});
const evidence = (fields: JsonObject): JsonObject => ({
  ...REPORT,
  evidence_report: { ...(REPORT.evidence_report as JsonObject), ...fields },
});
const asking = (request: JsonObject | null): JsonObject => ({
  ...status({ plan_status: 'APPROVAL_REQUEST' }),
  approval_request: request,
});
const REQUEST = {
  operation: 'o',
  exact_content: 'c',
  scope: 's',
  risk_level: 'LOW',
  rollback: 'r',
  verification: 'v',
};
const writing = (...entries: Json[]): JsonObject => ({ ...REPORT, update_contracts: entries });
const MEMBERS: readonly (readonly [string, string])[] = [
  ['AGENT_STATUS', 'agent_status'],
  ['PLAN_STATUS', 'agent_status.plan_status'],
  ['AGENT_ID', 'agent_status.agent_id'],
  ['PENDING_STEPS', 'agent_status.pending_steps'],
  ['NEXT_ACTION', 'agent_status.next_action'],
  ['EVIDENCE_REPORT', 'evidence_report'],
  ['PATTERNS_CHECKED', 'evidence_report.patterns_checked'],
  ['FILES_CHECKED', 'evidence_report.files_checked'],
  ['COMMANDS_RUN', 'evidence_report.commands_run'],
  ['KEY_OUTPUTS', 'evidence_report.key_outputs'],
  ['VERBATIM_OUTPUTS', 'evidence_report.verbatim_outputs'],
  ['CROSS_LAYER_IMPACTS', 'evidence_report.cross_layer_impacts'],
  ['OPEN_GAPS', 'evidence_report.open_gaps'],
  ['CONSOLIDATION_REPORT', 'consolidation_report'],
  ['OWNERSHIP_ASSESSMENT', 'consolidation_report.ownership_assessment'],
  ['CONFIRMED_FINDINGS', 'consolidation_report.confirmed_findings'],
  ['SUSPECTED_FINDINGS', 'consolidation_report.suspected_findings'],
  ['CONFLICTS', 'consolidation_report.conflicts'],
  ['NEXT_BEST_AGENT', 'consolidation_report.next_best_agent'],
  ['VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE', 'evidence_report.verification'],
];

const MATERIA: readonly Row[] = [
  ['BAD_USAGE', 'materia', {}, { require: [] }],
  ['NOT_JSON', 'materia', 'no'],
  ['NOT_JSON', 'materia', `{"context":"${'x'.repeat(1_100_000)}"}`],
  ['AMBIGUOUS_OUTPUT', 'materia', '{"satisfied":true} {"satisfied":false}'],
  ['CONTRACT_VIOLATION', 'materia', '[]'],
  ['CONTRACT_VIOLATION', 'materia', { passed: true }],
  ['OK', 'materia', {}],
];

const GAIA: readonly Row[] = [
  ['BAD_USAGE', 'gaia', REPORT, { task_agent_id: 5 }],
  ['NO_BLOCK', 'gaia', JSON.stringify(REPORT)],
  ['NOT_JSON', 'gaia', FENCED('{')],
  ['NOT_JSON', 'gaia', FENCED(`"${'x'.repeat(1_100_000)}"`)],
  ['DUPLICATE_KEY', 'gaia', FENCED(`{"user_facing_summary":"","user_facing_summary":"","agent_status":{}}`)],
  ...MEMBERS.map(([code, path]): Row => [code, 'gaia', without(CONSOLIDATED, path), MULTI]),
  ['PLAN_STATUS', 'gaia', status({ plan_status: 'DONE' })],
  ['AGENT_ID', 'gaia', REPORT, { task_agent_id: 'a11111' }],
  ['VERIFICATION_RESULT_MUST_BE_PASS', 'gaia', evidence({ verification: { result: 'fail' } })],
  ['VERBATIM_OUTPUTS_MISSING', 'gaia', evidence({ verbatim_outputs: [] })],
  ['APPROVAL_REQUEST', 'gaia', asking(null)],
  ['APPROVAL_REQUEST_ROLLBACK', 'gaia', asking(without(REQUEST, 'rollback'))],
  ['APPROVAL_REQUEST_VERIFICATION', 'gaia', asking(without(REQUEST, 'verification'))],
  ['APPROVAL_REQUEST_FIELD_MISSING', 'gaia', asking(without(REQUEST, 'scope'))],
  ['APPROVAL_REQUEST_INVALID_RISK_LEVEL', 'gaia', asking({ ...REQUEST, risk_level: 'huge' })],
  [
    'LOOP_STATE_INCOMPLETE',
    'gaia',
    { ...REPORT, loop_state: { iteration: 1, max_iterations: 2, metric: 0, threshold: 1 } },
  ],
  ['UPDATE_CONTRACTS_REJECTED', 'gaia', writing({ contract: 'a', payload: {} }), { injected_context: {} }],
  ['UPDATE_CONTRACTS_SKIPPED', 'gaia', writing(5)],
  ['LIVE_STATE', 'gaia', writing({ contract: 'a', payload: { ip: '10.0.0.1' } })],
  ['REFERENCE_NORMALISED', 'gaia', writing({ contract: 'a', payload: { uses: 'https://h.io/o/r:t/n' } })],
  ['NOT_JSON', 'gaia/merge', '{'],
  ['CONTRACT_VIOLATION', 'gaia/merge', []],
  ['WRITE_NOT_PERMITTED', 'gaia/merge', { entries: [{ contract: 'a', payload: {} }] }],
  [
    'TYPE_CHANGED',
    'gaia/merge',
    { base: { a: { b: 1 } }, entries: [{ contract: 'a', payload: { b: 'x' } }], writable_sections: ['a'] },
  ],
  ['ILLEGAL_TRANSITION', 'gaia/transition', { reports: ['COMPLETE', 'COMPLETE'] }],
  ['RETRY_LIMIT', 'gaia/transition', { reports: ['IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS'] }],
  ['OK', 'gaia', REPORT],
];

const task = (fields: JsonObject): JsonObject => ({
  ...EXAMPLE_ASSIGNMENT,
  task: { ...(EXAMPLE_ASSIGNMENT.task as JsonObject), ...fields },
});
const row = (task_id: string, fields: JsonObject = {}) => ({ task_id, status: 'todo', ...fields });
const delta = (task_id: string, state: string) => ({
  task_id,
  status: state,
  owner: 'a',
  reason: 'r',
  delta_id: 'd-1',
});
const lock = (task_id: string) => ({ task_id, resource: 'a', active: true });

const OPERATOR: readonly Row[] = [
  ['BAD_USAGE', 'operator/locks', { locks: [] }, { strict: 'true' }],
  ['SCHEMA_INVALID', 'operator/result', 'no'],
  ['MISSING_REQUIRED_INPUT', 'operator/result', {}],
  ['UNKNOWN_SCHEMA_VERSION', 'operator/result', { ...EXAMPLE_RESULT, schema_version: '2' }],
  ['LOCK_CONFLICT', 'operator/locks', { locks: [lock('T-1'), lock('T-2')] }],
  ['SCOPE_VIOLATION', 'operator/assignment', task({ lock_scope: ['src/a'] })],
  ['INVALID_TRANSITION', 'operator/deltas', { ledger: [row('T-1')], deltas: [delta('T-1', 'done')] }],
  [
    'DEPENDENCY_NOT_MET',
    'operator/deltas',
    { ledger: [row('T-1', { dependencies: ['T-2'] })], deltas: [delta('T-1', 'in_progress')] },
  ],
  [
    'CONCURRENCY_CONFLICT',
    'operator/deltas',
    { ledger: [row('T-1', { version: 1 })], deltas: [delta('T-1', 'blocked')], base_versions: { 'T-1': 0 } },
  ],
  [
    'TASK_TIMEOUT',
    'operator/watchdog',
    {
      now: '2026-03-01T06:00:00Z',
      tasks: [row('T-1', { status: 'in_progress', timeout_seconds: 30, last_heartbeat_at: '2026-03-01T05:00:00Z' })],
    },
  ],
  ['ACCEPTANCE_FAILED', 'operator/result', { ...EXAMPLE_RESULT, acceptance_check: [] }],
  ['LEDGER_INCONSISTENT', 'operator/reconcile', { ledger: [row('T-1'), row('T-1')] }],
  ['NON_COMPLIANT', 'operator/orchestrator', 'NON_COMPLIANT: R-7 | REASON: it implemented'],
  [
    'MISSING_VALIDATOR',
    'operator/assignment',
    task({ x_checkers: { 'All endpoint tests pass': 'x' } }),
    { checkers: [] },
  ],
  ['UNTRUSTED_CONTEXT_BLOCK', 'operator/result', { ...EXAMPLE_RESULT, notes_for_orchestrator: ['token=zz'] }],
  ['OK', 'operator/orchestrator', EXAMPLE_ENVELOPE],
];

/** Everything in a verdict that is a code: its own, the one a ledger stores, and those that a report of gaia is found to break. */
function codesIn({ code, details }: Verdict, kind: string): readonly string[] {
  const { contract_code: stored, missing, invalid, warnings, anomalies } = details;
  const lists = kind.startsWith('gaia') ? [missing, invalid, warnings, anomalies] : [];
  const found = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isString) : []));
  const names = found.map((finding) => (finding.split(':')[0] ?? '').toUpperCase());
  return [code, ...(isString(stored) ? [stored] : []), ...names];
}

test.each<Row>([...MATERIA, ...GAIA, ...OPERATOR])('%s is answered by %s', async (code, kind, input, options = {}) => {
  const verdict = await validate(kind, isString(input) ? { text: input } : { value: input }, { options });
  expect(codesIn(verdict, kind)).toContain(code);
  expect(codesIn(verdict, kind).filter((one) => !Object.hasOwn(ANSWERS, one))).toEqual([]);
});

const socket: Contract = {
  dialect: 'gaia',
  generator: false,
  utility: false,
  requires: [],
  assign: { a: '$.foo' },
  schema: { required: ['bar'] },
};

test.each(['ASSIGN', 'SCHEMA'])('%s is answered by a socket of gaia', (code) => {
  const reading = gaia.read(FENCED(JSON.stringify(REPORT)), socket);
  expect(reading.ok ? [] : codesIn(reading.verdict, 'gaia')).toContain(code);
});

test.each<[string, readonly Row[], Readonly<Record<string, unknown>>, readonly string[]]>([
  ['materia', MATERIA, { NOT_JSON: 1, CONTRACT_VIOLATION: 1 }, []],
  // What a socket asks has rows of its own above.
  ['gaia', GAIA, { NO_BLOCK: 1, NOT_JSON: 1, ...GAIA_CODES, ...GAIA_REPORT_CODES }, ['ASSIGN', 'SCHEMA']],
  ['operator', OPERATOR, OPERATOR_CODES, []],
])('every code of %s has a row', (_dialect, rows, table, elsewhere) => {
  const covered = new Set<string>([...rows.map(([code]) => code), ...elsewhere]);
  expect(Object.keys(table).filter((code) => !covered.has(code))).toEqual([]);
});
