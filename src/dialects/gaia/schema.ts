// The OUTPUT report as a JSON Schema, for runners that can hold a model to one and for editors. It describes what to
// write, and is stricter than what is accepted: whatever fits it is accepted, except a COMPLETE whose own loop_state
// says that it is not, and what the INPUT of a turn asks for in addition.
import {
  APPROVAL_ADVISORY_KEYS,
  APPROVAL_BLOCKING_KEYS,
  CONSOLIDATION_KEYS,
  EVIDENCE_KEYS,
  MEMORIALIZE_CLASSES,
  MEMORIALIZE_TYPES,
  OWNERSHIP_ASSESSMENTS,
  PLAN_STATUSES,
  type PlanStatus,
  RISK_LEVELS,
  STATUS_KEYS,
} from './contract.ts';

const TEXT = { type: 'string', minLength: 1 } as const;
const LIST = { type: 'array' } as const;
const FILLED_LIST = { type: 'array', minItems: 1 } as const;

const WHEN_COMPLETE = {
  evidence_report: {
    required: ['verification'],
    properties: { verification: { required: ['result'], properties: { result: { const: 'pass' } } } },
  },
} as const;

export const REPORT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'agent_contract_handoff',
  type: 'object',
  required: ['agent_status', 'evidence_report'],
  properties: {
    agent_status: {
      type: 'object',
      required: [...STATUS_KEYS],
      properties: {
        plan_status: { enum: [...PLAN_STATUSES] },
        agent_id: { type: 'string', pattern: '^a[0-9a-f]{5,}$' },
        pending_steps: LIST,
        next_action: TEXT,
      },
    },
    evidence_report: {
      type: 'object',
      required: [...EVIDENCE_KEYS],
      properties: { ...keys(EVIDENCE_KEYS, LIST), verification: { type: 'object' } },
    },
    consolidation_report: {
      type: ['object', 'null'],
      required: [...CONSOLIDATION_KEYS],
      properties: {
        ...keys(CONSOLIDATION_KEYS, FILLED_LIST),
        ownership_assessment: { enum: [...OWNERSHIP_ASSESSMENTS] },
        next_best_agent: TEXT,
      },
    },
    approval_request: {
      type: ['object', 'null'],
      required: [...APPROVAL_ADVISORY_KEYS, ...APPROVAL_BLOCKING_KEYS],
      properties: {
        ...keys([...APPROVAL_ADVISORY_KEYS, ...APPROVAL_BLOCKING_KEYS], TEXT),
        risk_level: { enum: [...RISK_LEVELS] },
        approval_id: { type: ['string', 'null'] },
      },
    },
    loop_state: {
      type: ['object', 'null'],
      properties: {
        ...keys(['iteration', 'max_iterations'], { type: 'integer' }),
        ...keys(['metric', 'threshold'], { type: ['number', 'null'] }),
      },
    },
    user_facing_summary: { type: ['string', 'null'] },
    memory_suggestions: { type: 'array', items: { type: 'string' } },
    memorialize_suggestions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['description', 'body'],
        properties: {
          ...keys(['description', 'body'], TEXT),
          ...keys(['slug', 'rationale'], { type: 'string' }),
          type: { enum: [...MEMORIALIZE_TYPES] },
          class: { enum: [...MEMORIALIZE_CLASSES] },
        },
      },
    },
    update_contracts: {
      type: 'array',
      items: {
        type: 'object',
        required: ['contract', 'payload'],
        properties: { contract: TEXT, payload: { type: 'object' } },
      },
    },
    rollback_executed: { type: ['string', 'null'] },
    context_consumption: {
      type: ['object', 'null'],
      properties: keys(['tokens_used', 'pct_window'], { type: ['number', 'null'] }),
    },
  },
  allOf: [
    { anyOf: [isNot('COMPLETE'), { properties: WHEN_COMPLETE }] },
    {
      anyOf: [
        isNot('APPROVAL_REQUEST'),
        { required: ['approval_request'], properties: { approval_request: { type: 'object' } } },
      ],
    },
  ],
} as const;

function keys<T>(names: readonly string[], schema: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

function isNot(status: PlanStatus) {
  return { properties: { agent_status: { properties: { plan_status: { not: { const: status } } } } } };
}
