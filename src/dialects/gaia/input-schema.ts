// The INPUT envelope as a JSON Schema, for runtimes that build one themselves. Flags are truth values here, although any
// value that holds something sets one; what is left out of an envelope asks for nothing.
import type { JsonObject } from '../../kernel/json.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from './contract.ts';

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
