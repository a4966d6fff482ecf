import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reportOf } from '../../../test/reports.ts';
import type { ReportNote } from '../cast/state.ts';
import type { Json, JsonObject } from '../json.ts';
import { reportNote } from './consolidation.ts';

const WHO = { socket: 'Socket-1', agent: 'Spec', agentId: 'a0c0ffee', item: null };
const noted = (report: JsonObject) => reportNote(report, 'COMPLETE', WHO);
const withEvidence = (evidence: JsonObject) => noted({ evidence_report: evidence });
const withConsolidation = (report: JsonObject) => noted({ consolidation_report: report });

test.each<[string, JsonObject, Partial<ReportNote>]>([
  ['lists', { key_outputs: ['a', 'b'] }, { keyOutputs: ['a', 'b'] }],
  ['a text instead of a list', { key_outputs: 'a' }, { keyOutputs: ['a'] }],
  ['keys in capitals', { KEY_OUTPUTS: ['a'], OPEN_GAPS: ['b'] }, { keyOutputs: ['a'], openGaps: ['b'] }],
  ['a documented key beside one in capitals', { key_outputs: ['a'], KEY_OUTPUTS: ['b'] }, { keyOutputs: ['a'] }],
  ['commands with results', { key_outputs: [{ cmd: 'ls', result: 'x' }] }, { keyOutputs: ['`ls` -> x'] }],
  ['commands without', { key_outputs: [{ command: 'ls' }] }, { keyOutputs: ['`ls`'] }],
  ['other objects', { open_gaps: [{ why: 'x' }] }, { openGaps: ['{"why":"x"}'] }],
  ['lines and gaps in a text', { open_gaps: ['a\n  b'] }, { openGaps: ['a b'] }],
  ['filler', { open_gaps: ['none', 'N/A', 'No gaps.', '-', '', null, 'None found'] }, { openGaps: [] }],
  ['what only begins like filler', { open_gaps: ['no access'] }, { openGaps: ['no access'] }],
  ['impacts', { cross_layer_impacts: ['the UI'] }, { crossLayerImpacts: ['the UI'] }],
  ['a verification', { verification: { result: ' pass ', method: 'test' } }, { verification: 'pass: test' }],
  ['one with details', { verification: { result: 'fail', details: 'two' } }, { verification: 'fail: two' }],
  ['one without a result', { verification: { method: 'test' } }, { verification: null }],
])('of the evidence: %s', (_what, evidence, kept) => {
  expect(withEvidence(evidence)).toMatchObject(kept);
});

test.each<[string, JsonObject, Partial<ReportNote>]>([
  ['ownership', { ownership_assessment: 'owned_here' }, { ownership: 'owned_here' }],
  ['findings', { confirmed_findings: ['a'], suspected_findings: ['b'] }, { confirmed: ['a'], suspected: ['b'] }],
  ['conflicts, none of them', { conflicts: ['none'] }, { conflicts: [] }],
  ['gaps', { open_gaps: ['a', 'a'] }, { openGaps: ['a'] }],
  ['the next agent', { next_best_agent: 'Fix' }, { nextBestAgent: 'Fix' }],
  [
    'a list of next agents',
    { next_best_agent: ['none', 'Fix', 'Doc'] },
    { nextBestAgent: 'Fix', alsoBestAgents: ['Doc'] },
  ],
  ['nobody next', { next_best_agent: 'none' }, { nextBestAgent: null }],
])('of the consolidation: %s', (_what, report, kept) => {
  expect(withConsolidation(report)).toMatchObject(kept);
});

test('gaps of both sections are one list, and a gap in both is told once', () => {
  const report = { evidence_report: { open_gaps: ['a', 'b'] }, consolidation_report: { open_gaps: ['b', 'c'] } };
  expect(noted(report).openGaps).toEqual(['a', 'b', 'c']);
});

test.each<[string, Json | undefined, string | null]>([
  ['absent', undefined, null],
  ['null', null, null],
  ['false', false, null],
  ['filler', 'No rollback needed.', null],
  ['a text', 'git revert 1a2b', 'git revert 1a2b'],
  ['true', true, 'true'],
  ['an object', { commit: '1a2b' }, '{"commit":"1a2b"}'],
])('a rollback that is %s', (_what, value, kept) => {
  expect(noted(value === undefined ? {} : { rollback_executed: value }).rollback).toBe(kept);
});

test.each<[string, Json, JsonObject | null]>([
  ['both', { tokens_used: 10, pct_window: 0.5 }, { tokens_used: 10, pct_window: 0.5 }],
  ['numbers as texts', { tokens_used: '10' }, { tokens_used: 10 }],
  ['one that is no number', { tokens_used: 'many', pct_window: 3 }, { pct_window: 3 }],
  ['what only could be taken for a number', { tokens_used: true, pct_window: '' }, null],
  ['no object', [1], null],
])('consumption: %s', (_what, value, kept) => {
  expect(noted({ context_consumption: value }).contextConsumption).toEqual(kept);
});

test.each<[string, Json, string | null]>([
  ['a text', ' Done. ', 'Done.'],
  ['nothing but space', '  ', null],
  ['no text', 7, null],
])('a summary that is %s', (_what, value, kept) => {
  expect(noted({ user_facing_summary: value }).summary).toBe(kept);
});

test('whatever a report holds, its note is small, and holds no half of a character', () => {
  const valid = reportOf('COMPLETE', { key_outputs: ['x'], more: { consolidation_report: { conflicts: ['y'] } } });
  const any = fc.oneof(
    fc.object({ key: fc.constantFrom('evidence_report', 'key_outputs', 'verification', 'result', 'open_gaps', 'x') }),
    fc.jsonValue().map((value) => ({ ...valid, evidence_report: value, rollback_executed: value })),
    fc.jsonValue().map((value) => ({ ...valid, consolidation_report: { conflicts: value, next_best_agent: [value] } })),
  );
  fc.assert(
    fc.property(any, (value) => {
      const report = JSON.parse(JSON.stringify(value) ?? '{}') as JsonObject;
      expect(JSON.stringify(noted(report)).length).toBeLessThan(50_000);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
  expect(withEvidence({ key_outputs: ['😀'.repeat(1_000)] }).keyOutputs[0]?.isWellFormed()).toBe(true);
});
