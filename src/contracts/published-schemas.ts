// The schemas we publish for others, by file name. They are generated from the same sources the validators read.
import { INPUT_SCHEMA, MERGE_SCHEMA, REPORT_SCHEMA, TRANSITION_SCHEMA } from '../dialects/gaia/contract.ts';
import { handoffSchema } from '../dialects/materia/contract.ts';
import { OPERATOR_SCHEMAS } from '../dialects/operator/contract.ts';
import { CONFIG_SCHEMA } from '../kernel/graph/config-fields.ts';
import type { JsonObject } from '../kernel/json.ts';
import { ENVELOPE_SCHEMA, PROTOCOL_VERSION } from '../trust/envelope.ts';
import { TIMESTAMP_PATTERN } from '../trust/lineage.ts';

export const PUBLISHED_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  config: CONFIG_SCHEMA,
  materia: handoffSchema,
  gaia: REPORT_SCHEMA,
  'gaia-input': INPUT_SCHEMA,
  'gaia-merge': MERGE_SCHEMA,
  'gaia-transition': TRANSITION_SCHEMA,
  'governed-handoff': envelopeSchema() as unknown as JsonObject,
  ...Object.fromEntries(Object.entries(OPERATOR_SCHEMAS).map(([kind, schema]) => [`operator-${kind}`, schema])),
};

/** With what the verifier judges after the schema stage, and under codes of its own. */
function envelopeSchema() {
  const { timestamp, protocol_version, ...properties } = ENVELOPE_SCHEMA.properties ?? {};
  return {
    ...ENVELOPE_SCHEMA,
    properties: {
      timestamp: { ...timestamp, pattern: TIMESTAMP_PATTERN },
      protocol_version: { ...protocol_version, const: PROTOCOL_VERSION },
      ...properties,
    },
  };
}

export function schemaText(name: string): string {
  return `${JSON.stringify(PUBLISHED_SCHEMAS[name], null, 2)}\n`;
}
