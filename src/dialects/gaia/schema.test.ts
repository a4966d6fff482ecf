import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { PLAN_STATUSES } from '../../kernel/report/status.ts';
import { exampleReport } from './brief.ts';
import { REPORT_SCHEMA } from './contract.ts';
import { judgeReport } from './read.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const patient = { timeout: 20_000 + runs * 10 };
const fits = new Ajv2020({ strictTypes: false, strictRequired: false }).compile(REPORT_SCHEMA);
const REPORT = exampleReport({ consolidationRequired: true }) as {
  agent_status: JsonObject;
  evidence_report: JsonObject;
};
const APPROVAL = {
  operation: 'push',
  exact_content: 'git push',
  scope: 'origin',
  risk_level: 'LOW',
  rollback: 'undo',
  verification: 'look',
};

test('the example fits', () => {
  expect(fits(REPORT)).toBe(true);
});

const MISFITS: [string, JsonObject][] = [
  ['no evidence', { agent_status: REPORT.agent_status }],
  ['an agent id of another form', { ...REPORT, agent_status: { ...REPORT.agent_status, agent_id: 'me' } }],
  [
    'COMPLETE unverified',
    { ...REPORT, evidence_report: { ...REPORT.evidence_report, verification: { result: 'fail' } } },
  ],
  [
    'an approval without request',
    { ...REPORT, agent_status: { ...REPORT.agent_status, plan_status: 'APPROVAL_REQUEST' } },
  ],
  ['a request without rollback', { ...REPORT, approval_request: { ...APPROVAL, rollback: '' } }],
];

test.each(MISFITS)('%s does not fit', (_name, report) => {
  expect(fits(report)).toBe(false);
});

test('whatever fits the schema is accepted without a warning', patient, () => {
  // Mostly nothing is replaced, so that enough of the reports fit.
  const replace = (values: Record<string, fc.Arbitrary<Json>>) =>
    fc.oneof(
      { weight: 2, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.record(values, { requiredKeys: [] }) },
    );
  const list = fc.array(fc.jsonValue() as fc.Arbitrary<Json>, { maxLength: 2 });
  const report = fc
    .tuple(
      replace({ plan_status: fc.constantFrom(...PLAN_STATUSES), pending_steps: list, next_action: fc.string() }),
      replace({
        key_outputs: list,
        open_gaps: list,
        verification: fc.constantFrom<Json>(null, {}, { result: 'pass' }),
      }),
      replace({
        approval_request: fc.constantFrom<Json>(null, {}, APPROVAL),
        consolidation_report: fc.constantFrom<Json>(null, {}),
        user_facing_summary: fc.jsonValue() as fc.Arbitrary<Json>,
        memory_suggestions: list,
      }),
    )
    .map(
      ([status, evidence, rest]): JsonObject =>
        JSON.parse(
          JSON.stringify({
            ...REPORT,
            agent_status: { ...REPORT.agent_status, ...status },
            evidence_report: { ...REPORT.evidence_report, ...evidence },
            ...rest,
          }),
        ),
    );
  let fitting = 0;
  fc.assert(
    fc.property(report, (given: JsonObject) => {
      if (!fits(given)) return;
      fitting += 1;
      const injectedContext = { surface_routing: { multi_surface: given.consolidation_report !== null } };
      expect(judgeReport(given, { injectedContext })).toMatchObject({
        allow: true,
        details: { warnings: [] },
      });
    }),
    { numRuns: runs },
  );
  expect(fitting).toBeGreaterThan(runs / 10);
});
