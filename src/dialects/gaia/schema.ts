// The JSON Schemas of gaia: the report, the INPUT, and the requests of `gaia/merge` and `gaia/transition`. The schema of the report
// is stricter than the checks. What fits it is accepted, except for what the INPUT or a loop_state asks in addition.
import { jsonSchemaOf } from '../../kernel/field-schema.ts';
import type { Field, Fields } from '../../kernel/fields.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { MEMORIALIZE_CLASSES, MEMORIALIZE_TYPES } from '../../kernel/knowledge/memory.ts';
import { INPUT } from '../../kernel/report/envelope.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from '../../kernel/report/sections.ts';
import { PLAN_STATUSES, type PlanStatus } from '../../kernel/report/status.ts';
import { APPROVAL_ADVISORY_KEYS, APPROVAL_BLOCKING_KEYS, OWNERSHIP_ASSESSMENTS, RISK_LEVELS } from './contract.ts';

const ANY = { type: 'json' } as const;
const TEXT = { type: 'text' } as const;
const LIST = { type: 'list', of: ANY } as const;
const STRING = { type: 'text', mayBeEmpty: true } as const;
const NUMBER = { type: 'number', nullable: true } as const;

const required = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, required: true }]));
const all = (names: readonly string[], field: Field): Fields => Object.fromEntries(names.map((name) => [name, field]));
const object = (fields: Fields): Field => ({ type: 'object', unknown: 'free', fields });

/** The shape of a report as it should be written. The checks accept more, and know what the turn asks for. */
const REPORT: Field = object({
  ...required({
    agent_status: object(
      required({
        plan_status: { type: 'choice', of: PLAN_STATUSES },
        agent_id: { type: 'text', form: '^a[0-9a-f]{5,}$' },
        pending_steps: LIST,
        next_action: TEXT,
      }),
    ),
    evidence_report: object({ ...required(all(EVIDENCE_KEYS, LIST)), verification: object({}) }),
  }),
  consolidation_report: {
    ...object(
      required({
        ...all(CONSOLIDATION_KEYS, LIST),
        ownership_assessment: { type: 'choice', of: OWNERSHIP_ASSESSMENTS },
        next_best_agent: TEXT,
      }),
    ),
    nullable: true,
  },
  approval_request: {
    ...object({
      ...required({
        ...all([...APPROVAL_ADVISORY_KEYS, ...APPROVAL_BLOCKING_KEYS], TEXT),
        risk_level: { type: 'choice', of: RISK_LEVELS },
      }),
      approval_id: { ...STRING, nullable: true },
    }),
    nullable: true,
  },
  loop_state: {
    ...object({
      ...all(['iteration', 'max_iterations'], { type: 'count' }),
      ...all(['metric', 'threshold'], NUMBER),
    }),
    nullable: true,
  },
  user_facing_summary: { ...STRING, nullable: true },
  memory_suggestions: { type: 'list', of: STRING },
  memorialize_suggestions: {
    type: 'list',
    of: object({
      ...required(all(['description', 'body'], TEXT)),
      ...all(['slug', 'rationale'], STRING),
      type: { type: 'choice', of: MEMORIALIZE_TYPES },
      class: { type: 'choice', of: MEMORIALIZE_CLASSES },
    }),
  },
  update_contracts: { type: 'list', of: object(required({ contract: TEXT, payload: object({}) })) },
  rollback_executed: { ...STRING, nullable: true },
  context_consumption: { ...object(all(['tokens_used', 'pct_window'], NUMBER)), nullable: true },
});

const WHEN_COMPLETE = {
  evidence_report: {
    required: ['verification'],
    properties: { verification: { required: ['result'], properties: { result: { const: 'pass' } } } },
  },
} as const;

export const REPORT_SCHEMA: JsonObject = {
  ...jsonSchemaOf(REPORT, { title: 'agent_contract_handoff' }),
  allOf: [
    { anyOf: [isNot('COMPLETE'), { properties: WHEN_COMPLETE }] },
    {
      anyOf: [
        isNot('APPROVAL_REQUEST'),
        { required: ['approval_request'], properties: { approval_request: { type: 'object' } } },
      ],
    },
  ],
};

function isNot(status: PlanStatus) {
  return { properties: { agent_status: { properties: { plan_status: { not: { const: status } } } } } };
}

// Requests. A malformed entry or an unknown status fits: it is part of the answer.
const MERGE = {
  type: 'object',
  unknown: 'free',
  fields: {
    base: { type: 'map', of: ANY, nullable: true, means: 'the stored sections by name; empty when left out' },
    entries: {
      type: 'list',
      of: ANY,
      nullable: true,
      means: 'objects of contract, the name of a section, and payload, an object',
      example: [{ contract: 'services', payload: { login: { port: 8080 } } }],
    },
    writable_sections: {
      type: 'list',
      of: { type: 'text', mayBeEmpty: true },
      nullable: true,
      means: 'none when left out',
    },
  },
} as const satisfies Field;

export const MERGE_SCHEMA: JsonObject = jsonSchemaOf(MERGE, { title: 'Entries to merge into stored sections' });

const TRANSITION = {
  type: 'object',
  unknown: 'free',
  fields: {
    reports: {
      type: 'list',
      of: ANY,
      itemsMin: 1,
      required: true,
      means: `each one of ${PLAN_STATUSES.join(', ')}`,
      example: ['IN_PROGRESS', 'COMPLETE'],
    },
  },
} as const satisfies Field;

export const TRANSITION_SCHEMA: JsonObject = jsonSchemaOf(TRANSITION, {
  title: 'The statuses one agent reported, in order',
});

// INPUT. Flags are booleans here, although any value that holds something sets one.
export const INPUT_SCHEMA: JsonObject = jsonSchemaOf(INPUT, { title: 'INPUT envelope of a gaia turn' });
