// The schemas we publish for others, by file name. They are generated from the same sources the validators read.
import { CONFIG_SCHEMA } from '../kernel/graph/config-schema.ts';
import type { JsonObject } from '../kernel/json.ts';
import { REPORT_SCHEMA } from './gaia/schema.ts';
import { ENVELOPE_SCHEMA } from './governed/schema.ts';
import { handoffSchema } from './materia/schema.ts';
import { OPERATOR_SCHEMAS } from './operator/schema.ts';

export const PUBLISHED_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  config: CONFIG_SCHEMA,
  materia: handoffSchema,
  gaia: REPORT_SCHEMA as unknown as JsonObject,
  'governed-handoff': ENVELOPE_SCHEMA as unknown as JsonObject,
  ...Object.fromEntries(Object.entries(OPERATOR_SCHEMAS).map(([kind, schema]) => [`operator-${kind}`, schema])),
};

export function schemaText(name: string): string {
  return `${JSON.stringify(PUBLISHED_SCHEMAS[name], null, 2)}\n`;
}
