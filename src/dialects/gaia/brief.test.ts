import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Contract, Reading } from '../../kernel/dialect.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { MEMORIALIZE_CLASSES, MEMORIALIZE_TYPES } from '../../kernel/knowledge/memory.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from '../../kernel/report/sections.ts';
import { PLAN_STATUSES } from '../../kernel/report/status.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { gaia } from '../index.ts';
import { exampleReport, gaiaBriefFor } from './brief.ts';
import { APPROVAL_ADVISORY_KEYS, OWNERSHIP_ASSESSMENTS, RISK_LEVELS } from './contract.ts';
import { findBlock, readReport } from './read.ts';
import { validateGaia, validateMerge, validateTransition } from './validate.ts';

const contract = (fields: Partial<Contract> = {}): Contract => ({
  dialect: 'gaia',
  generator: false,
  utility: false,
  requires: [],
  assign: {},
  schema: null,
  ...fields,
});

/**
 * An agent that knows nothing but the text it was given: it copies the example, reports the status it was asked for,
 * and adds the sections and paths the text says it must.
 */
function answer(brief: string, plan: string): string {
  const block = findBlock(brief);
  const report: Record<string, unknown> = block.found ? JSON.parse(block.body) : {};
  const statusLine = brief.split('\n').find((line) => line.startsWith(`  - ${plan}: `)) ?? '';
  report.agent_status = { ...(report.agent_status as object), plan_status: plan };
  for (const section of statusLine.match(/approval_request/) ?? []) {
    const line = brief.split('\n').find((candidate) => candidate.startsWith(`${section}, `)) ?? '';
    const keys = /an object with ([a-z_, ]+)/.exec(line)?.[1]?.split(', ') ?? [];
    report[section] = Object.fromEntries(keys.map((key) => [key, 'LOW']));
  }
  for (const [, key] of brief.matchAll(/^- \$\.([a-z_]+)$/gm)) if (key) report[key] ??= 'mine';
  return `I am done.\n\n\`\`\`agent_contract_handoff\n${JSON.stringify(report)}\n\`\`\``;
}

test.each(PLAN_STATUSES)('whoever knows only the brief can report %s', (plan) => {
  const socket = contract({ assign: { verdict: '$.verdict', gaps: '$.evidence_report.open_gaps' } });
  const reading = gaia.read(answer(gaia.brief(socket), plan), socket);
  expect(reading).toMatchObject({ ok: true });
});

test('a brief for a known turn leads to a report that fits the turn', () => {
  const situation = { agentId: 'a12345f', consolidationRequired: true, writableSections: ['apps'] };
  const text = gaiaBriefFor(contract(), situation);
  const given = { injectedContext: { surface_routing: { multi_surface: true } }, taskAgentId: 'a12345f' };
  expect(readReport(answer(text, 'COMPLETE'), given).code).toBe('OK');
  expect(text).toContain('sections you may write: apps');
});

const SITUATIONS = [false, true].flatMap((consolidationRequired) =>
  [false, true].flatMap((mayAskPermission) =>
    [false, true].map((iterates) => ({ consolidationRequired, mayAskPermission, iterates })),
  ),
);

test.each(SITUATIONS)(
  'a brief for %o tells of what the turn needs, of nothing else, and can be followed',
  (situation) => {
    const text = gaiaBriefFor(contract(), situation);
    expect(text.includes('consolidation_report')).toBe(situation.consolidationRequired);
    expect(text.includes('approval_request')).toBe(situation.mayAskPermission);
    expect(text.includes('APPROVAL_REQUEST')).toBe(situation.mayAskPermission);
    expect(text.includes('`baton exec --approval ID -- `')).toBe(situation.mayAskPermission);
    expect(text.includes('loop_state')).toBe(situation.iterates);
    const given = { injectedContext: { surface_routing: { multi_surface: situation.consolidationRequired } } };
    const offered = PLAN_STATUSES.filter((plan) => text.includes(`  - ${plan}: `));
    expect(offered).toHaveLength(situation.mayAskPermission ? 5 : 4);
    for (const plan of offered) {
      expect([plan, readReport(answer(text, plan), given)]).toMatchObject([
        plan,
        { code: 'OK', details: { warnings: [] } },
      ]);
    }
  },
);

test.each([
  [{ assign: { owner: '$.consolidation_report.ownership_assessment' } }, 'consolidation_report, required in this turn'],
  [{ schema: { required: ['consolidation_report'] } }, 'consolidation_report, required in this turn'],
  [{ assign: { loop: '$.loop_state' } }, 'loop_state, required in this turn'],
])('a socket that hands on %j has it explained', (fields, line) => {
  const socket = contract(fields);
  expect(gaia.brief(socket)).toContain(line);
  expect(gaia.read(answer(gaia.brief(socket), 'COMPLETE'), socket)).toMatchObject({ ok: true });
});

test('a repair explains the sections that were missed', () => {
  const given = { injectedContext: { surface_routing: { multi_surface: true } } };
  const raw = answer(gaia.brief(contract()), 'COMPLETE');
  const refusal = readReport(raw, given);
  expect(refusal.code).toBe('CONTRACT_VIOLATION');
  const text = refusal.allow ? '' : gaia.repair(refusal, raw, contract());
  expect(readReport(answer(text, 'COMPLETE'), given).code).toBe('OK');
});

test('a brief without writable sections says to leave update_contracts out', () => {
  expect(gaiaBriefFor(contract(), { writableSections: [] })).toContain('Leave out update_contracts');
});

test('a brief shows only what its socket needs', () => {
  expect(gaia.brief(contract())).not.toContain('must also');
  expect(gaia.brief(contract({ schema: { required: ['verdict'] } }))).toContain('{"required":["verdict"]}');
});

const refusalOf = (reading: Reading): Denied => (reading.ok ? deny('INTERNAL', 'was accepted') : reading.verdict);
const fenced = (body: string) => `Done.\n\`\`\`agent_contract_handoff\n${body}\n\`\`\``;

test('a repair names every code that breaks the contract, once more with the format', () => {
  const { agent_status, evidence_report } = exampleReport({});
  const status = isObject(agent_status) ? agent_status : {};
  const { open_gaps: _gaps, ...evidence } = isObject(evidence_report) ? evidence_report : ({} as JsonObject);
  const report = { agent_status: { ...status, agent_id: 'me' }, evidence_report: evidence, memorialize_suggestions: 1 };
  const raw = fenced(JSON.stringify(report));
  const text = gaia.repair(refusalOf(gaia.read(raw, contract())), raw, contract());
  expect(text).toContain('(CONTRACT_VIOLATION)');
  expect(text).toContain('- invalid AGENT_ID:me at agent_status.agent_id: ');
  expect(text).toContain('- missing OPEN_GAPS at evidence_report.open_gaps: ');
  expect(text).not.toContain('expected array');
  expect(text).toContain(gaia.brief(contract()));
});

test('a repair of broken JSON shows the place', () => {
  const raw = fenced('{\n  "a": 1,\n}');
  const text = gaia.repair(refusalOf(gaia.read(raw, contract())), raw, contract());
  expect(text).toContain('(NOT_JSON)');
  expect(text).toContain('Line 5, with »here« at column 1: »here«}');
});

test('a repair of a missing block says so and stays short', () => {
  const raw = 'x'.repeat(500_000);
  const text = gaia.repair(refusalOf(gaia.read(raw, contract())), raw, contract());
  expect(text).toContain('(NO_BLOCK): the reply has no fenced block');
  expect(text.length).toBeLessThan(10_000);
});

test('a repair lists a bounded number of issues', () => {
  const assign = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`t${n}`, `$.path${n}`]));
  const raw = answer(gaia.brief(contract()), 'COMPLETE');
  const text = gaia.repair(refusalOf(gaia.read(raw, contract({ assign }))), raw, contract());
  expect(text).toContain('- and 80 more');
});

const GUIDE = readFileSync(new URL('../../../docs/contracts/gaia.md', import.meta.url), 'utf8');
const REPORTS = [...GUIDE.matchAll(/```agent_contract_handoff\n[^`]*```/g)].map(([block]) => block);

/** The JSON block behind a mark in the guide. */
function json(mark: string): Json {
  const block = new RegExp(`<!-- ${mark} -->\n\`\`\`json\n([^\`]*)\`\`\``).exec(GUIDE)?.[1];
  return JSON.parse(block ?? 'null');
}

test('the guide shows two reports', () => {
  expect(REPORTS).toHaveLength(2);
});

test.each(REPORTS)('the report %# of the guide is accepted without a warning', (block) => {
  const options = {
    injected_context: {
      surface_routing: { multi_surface: block.includes('consolidation_report') },
      write_permissions: { writable_sections: ['services'] },
    },
    task_agent_id: 'a0c0ffee',
  };
  expect(validateGaia(`Done.\n\n${block}\n`, options)).toMatchObject({
    code: 'OK',
    details: { warnings: [], anomalies: [] },
  });
});

test('the merge of the guide gives the result of the guide', () => {
  const verdict = validateMerge(json('gaia/merge'));
  expect(verdict.code).toBe('WRITE_NOT_PERMITTED');
  expect(verdict.details).toMatchObject(json('gaia/merge details') as object);
});

test('the transition of the guide is legal', () => {
  expect(validateTransition(json('gaia/transition')).code).toBe('OK');
});

const WORDS = [
  PLAN_STATUSES,
  EVIDENCE_KEYS,
  CONSOLIDATION_KEYS,
  OWNERSHIP_ASSESSMENTS,
  APPROVAL_ADVISORY_KEYS,
  RISK_LEVELS,
  MEMORIALIZE_TYPES,
  MEMORIALIZE_CLASSES,
].flat();

test.each(WORDS)('the guide explains %s', (word) => {
  expect(GUIDE).toContain(`\`${word}\``);
});
