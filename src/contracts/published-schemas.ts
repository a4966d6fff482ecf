// The schemas we publish for others, by file name. They are generated from the same sources the validators read.
import { INPUT_SCHEMA, MERGE_SCHEMA, REPORT_SCHEMA, TRANSITION_SCHEMA } from '../dialects/gaia/contract.ts';
import { handoffSchema } from '../dialects/materia/contract.ts';
import { OPERATOR_SCHEMAS } from '../dialects/operator/contract.ts';
import { jsonSchemaOf } from '../kernel/field-schema.ts';
import { CONFIG_SCHEMA } from '../kernel/graph/config-fields.ts';
import type { JsonObject } from '../kernel/json.ts';
import { ENVELOPE, PROTOCOL_VERSION } from '../trust/envelope.ts';
import { TIMESTAMP_PATTERN } from '../trust/lineage.ts';

export const PUBLISHED_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  config: CONFIG_SCHEMA,
  materia: handoffSchema,
  gaia: REPORT_SCHEMA,
  'gaia-input': INPUT_SCHEMA,
  'gaia-merge': MERGE_SCHEMA,
  'gaia-transition': TRANSITION_SCHEMA,
  'governed-handoff': envelopeSchema(),
  ...Object.fromEntries(Object.entries(OPERATOR_SCHEMAS).map(([kind, schema]) => [`operator-${kind}`, schema])),
};

/** With what the verifier judges after the schema stage, and under codes of its own. */
function envelopeSchema(): JsonObject {
  const { fields } = ENVELOPE;
  const timestamp = { ...fields.timestamp, form: TIMESTAMP_PATTERN };
  const protocol_version = { ...fields.protocol_version, type: 'const', value: PROTOCOL_VERSION } as const;
  return jsonSchemaOf(
    { ...ENVELOPE, fields: { ...fields, timestamp, protocol_version } },
    { title: `Agent handoff envelope ${PROTOCOL_VERSION}` },
  );
}

export function schemaText(name: string): string {
  return `${JSON.stringify(PUBLISHED_SCHEMAS[name], null, 2)}\n`;
}
