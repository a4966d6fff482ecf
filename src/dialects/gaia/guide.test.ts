import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json } from '../../kernel/json.ts';
import {
  APPROVAL_ADVISORY_KEYS,
  CONSOLIDATION_KEYS,
  EVIDENCE_KEYS,
  MEMORIALIZE_CLASSES,
  MEMORIALIZE_TYPES,
  OWNERSHIP_ASSESSMENTS,
  PLAN_STATUSES,
  RISK_LEVELS,
} from './contract.ts';
import { validateGaia, validateMerge, validateTransition } from './validate.ts';

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
