// The JSON Schemas of gaia: the report, the INPUT, and the requests of `gaia/merge` and `gaia/transition`. The schema of the report
// is stricter than the checks. What fits it is accepted, except for what the INPUT or a loop_state asks in addition.

import type { JsonObject } from '../../kernel/json.ts';
import { MEMORIALIZE_CLASSES, MEMORIALIZE_TYPES } from '../../kernel/knowledge/memory.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from '../../kernel/report/sections.ts';
import { PLAN_STATUSES, type PlanStatus } from '../../kernel/report/status.ts';
import {
  APPROVAL_ADVISORY_KEYS,
  APPROVAL_BLOCKING_KEYS,
  OWNERSHIP_ASSESSMENTS,
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

// Requests. A malformed entry or an unknown status fits: it is part of the answer.
const $schema = 'https://json-schema.org/draft/2020-12/schema';

export const MERGE_SCHEMA: JsonObject = {
  $schema,
  title: 'Entries to merge into stored sections',
  type: 'object',
  properties: {
    base: { type: ['object', 'null'], description: 'the stored sections by name; empty when left out' },
    entries: {
      type: ['array', 'null'],
      description: 'objects of contract, the name of a section, and payload, an object',
      examples: [[{ contract: 'services', payload: { login: { port: 8080 } } }]],
    },
    writable_sections: { type: ['array', 'null'], items: { type: 'string' }, description: 'none when left out' },
  },
};

export const TRANSITION_SCHEMA: JsonObject = {
  $schema,
  title: 'The statuses one agent reported, in order',
  type: 'object',
  required: ['reports'],
  properties: {
    reports: {
      type: 'array',
      minItems: 1,
      description: `each one of ${PLAN_STATUSES.join(', ')}`,
      examples: [['IN_PROGRESS', 'COMPLETE']],
    },
  },
};

// INPUT. Flags are booleans here, although any value that holds something sets one.
const STRING = { type: 'string' } as const;
const STRINGS = { type: 'array', items: STRING } as const;
const BOOLEAN = { type: 'boolean' } as const;
const MODE = { enum: ['reconnaissance', 'single_surface', 'sequential', 'parallel'] } as const;
const object = (properties: JsonObject): JsonObject => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

export const INPUT_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'INPUT envelope of a gaia turn',
  ...object({
    project_knowledge: { type: 'object', additionalProperties: { type: 'object' } },
    surface_routing: object({
      active_surfaces: STRINGS,
      primary_surface: STRING,
      multi_surface: BOOLEAN,
      dispatch_mode: MODE,
      confidence: { type: 'number', minimum: 0, maximum: 1 },
      recommended_agents: STRINGS,
      matched_signals: { type: 'object', additionalProperties: STRINGS },
      reconnaissance_agent: STRING,
    }),
    agent_contract_handoff: object({
      goal: STRING,
      acceptance_criteria: STRINGS,
      scope: STRINGS,
      agent_role: { enum: ['primary', 'cross_check', 'adjacent', 'reconnaissance'] },
      primary_surface: STRING,
      active_surfaces: STRINGS,
      adjacent_surfaces: STRINGS,
      dispatch_mode: MODE,
      cross_check_required: BOOLEAN,
      consolidation_required: BOOLEAN,
      consolidation_fields: { type: 'array', items: { enum: [...CONSOLIDATION_KEYS] } },
      evidence_required: { type: 'array', items: { enum: [...EVIDENCE_KEYS] } },
      patterns_required: { const: true },
      contract_sections_to_anchor: STRINGS,
      required_checks: STRINGS,
      recommended_peer_agents: STRINGS,
      stop_conditions: STRINGS,
    }),
    write_permissions: object({
      readable_sections: STRINGS,
      writable_sections: STRINGS,
      empty_sections: STRINGS,
      source: STRING,
    }),
    metadata: { type: 'object' },
  }),
};
