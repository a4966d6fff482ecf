// A contract of the user's own: a JSON Schema 2020-12 that a socket's payload must fit, beside the dialect's rules.
// The validator library is loaded when the first schema is used, because most commands never need it.
import { createRequire } from 'node:module';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../kernel/json.ts';

const PROBLEMS_MAX = 100;

export type SchemaProblem = { readonly path: string; readonly message: string };

export type SchemaReading =
  | { readonly usable: true; readonly problems: readonly SchemaProblem[] }
  | { readonly usable: false; readonly why: string };

/** What of the payload does not fit, with paths such as `$.a.0`. */
export function readWithSchema(schema: JsonObject, payload: Json): SchemaReading {
  const validate = compile(schema);
  if (typeof validate === 'string') return { usable: false, why: validate };
  if (validate(payload)) return { usable: true, problems: [] };
  const problems = (validate.errors ?? []).slice(0, PROBLEMS_MAX).map(({ instancePath, message, params }) => {
    const extra = (params as { additionalProperty?: string }).additionalProperty;
    const path = `$${instancePath.replaceAll('/', '.')}${extra === undefined ? '' : `.${extra}`}`;
    return { path, message: message ?? 'does not fit the schema of the socket' };
  });
  return { usable: true, problems };
}

/** Why a schema cannot be used, or null. */
export function schemaFault(schema: JsonObject): string | null {
  const validate = compile(schema);
  return typeof validate === 'string' ? validate : null;
}

const compiled = new WeakMap<JsonObject, ValidateFunction | string>();

function compile(schema: JsonObject): ValidateFunction | string {
  let known = compiled.get(schema);
  if (known === undefined) {
    try {
      known = new (library())({ strict: false, logger: false, allErrors: true }).compile(schema);
    } catch (error) {
      known = error instanceof Error ? error.message : String(error);
    }
    compiled.set(schema, known);
  }
  return known;
}

function library(): typeof Ajv2020 {
  return (createRequire(import.meta.url)('ajv/dist/2020.js') as { Ajv2020: typeof Ajv2020 }).Ajv2020;
}
