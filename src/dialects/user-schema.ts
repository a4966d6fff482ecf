// A contract of the user's own: a JSON Schema 2020-12 that a socket's payload must fit in addition to the dialect's rules.
// The validator library is loaded when the first schema is used, because most commands never need it.
import { createRequire } from 'node:module';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../kernel/json.ts';

const PROBLEMS_MAX = 100;
/** Ample for any pattern that is not a trap, also on a busy machine. */
const PATTERN_MS_MAX = 1_000;

type SchemaProblem = { readonly path: string; readonly message: string };

type SchemaReading =
  | { readonly usable: true; readonly problems: readonly SchemaProblem[] }
  | { readonly usable: false; readonly why: string };

/** What of the payload does not fit, with paths such as `$.a.0`. */
export function readWithSchema(schema: JsonObject, payload: Json): SchemaReading {
  const validate = compile(schema);
  if (typeof validate === 'string') return { usable: false, why: validate };
  const fits = inTime(schema, () => validate(payload) as boolean);
  if (fits === null) return { usable: true, problems: [TOO_LONG] };
  if (fits) return { usable: true, problems: [] };
  const problems = (validate.errors ?? []).slice(0, PROBLEMS_MAX).map(({ instancePath, message, params }) => {
    const extra = (params as { additionalProperty?: string }).additionalProperty;
    const path = `$${instancePath.replaceAll('/', '.')}${extra === undefined ? '' : `.${extra}`}`;
    return { path, message: message ?? 'does not fit the schema of the socket' };
  });
  return { usable: true, problems };
}

const TOO_LONG: SchemaProblem = {
  path: '$',
  message: `could not be compared with the patterns of the schema within ${PATTERN_MS_MAX} ms; shorten the text, or write the patterns without nested repetition`,
};

/**
 * A pattern may take longer than the age of the world for a text that an agent writes, and nothing else happens meanwhile. So
 * whatever holds patterns is run where it can be stopped. Null when it had to be.
 */
function inTime(schema: JsonObject, run: () => boolean): boolean | null {
  if (!hasPattern(schema)) return run();
  const { createContext, Script } = createRequire(import.meta.url)('node:vm') as typeof import('node:vm');
  try {
    return new Script('run()').runInContext(createContext({ run }), { timeout: PATTERN_MS_MAX }) as boolean;
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
    throw error;
  }
}

const patterned = new WeakMap<JsonObject, boolean>();

function hasPattern(schema: JsonObject): boolean {
  let known = patterned.get(schema);
  if (known === undefined) {
    known = /"pattern(?:Properties)?":/.test(JSON.stringify(schema));
    patterned.set(schema, known);
  }
  return known;
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
