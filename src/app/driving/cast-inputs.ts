// The values that a cast is started with: read from the words of a call, checked by the schemas that the loadout declares, and completed
// by their defaults. All of that comes before anything is started.
import { parseJsonText } from '../../dialects/json-text.ts';
import { readWithSchema } from '../../dialects/user-schema.ts';
import type { Issue } from '../../kernel/graph/config.ts';
import { listed } from '../../kernel/graph/issue.ts';
import { inputsOf } from '../../kernel/graph/resolve-graph.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { scrubJson } from '../../kernel/secrets.ts';
import { nearestName } from '../../kernel/text.ts';

export type GivenInputs = {
  /** `KEY=VALUE` each. */
  readonly input?: readonly string[] | undefined;
  /** The text of a file with a JSON object. */
  readonly inputFile?: string | undefined;
  readonly inputs?: Json | undefined;
};

type Schemas = Readonly<Record<string, JsonObject>>;
type Fault = { readonly input: string; readonly message: string };

const BYTES_MAX = 262_144;

type CastInputs =
  | { readonly ok: true; readonly inputs: JsonObject | null }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The inputs of the cast, null for a loadout that declares none; or an issue for every input that is wrong. */
export function castInputs(schemas: Schemas, given: GivenInputs): CastInputs {
  const faults: Fault[] = [];
  const values = new Map<string, Json>();
  for (const [name, value] of Object.entries(objectIn(given.inputFile, faults))) values.set(name, value);
  if (given.inputs !== undefined && !isObject(given.inputs))
    faults.push({ input: 'inputs', message: 'inputs must be an object from names to values' });
  for (const [name, value] of Object.entries(isObject(given.inputs) ? given.inputs : {})) values.set(name, value);
  for (const each of given.input ?? []) {
    const at = each.indexOf('=');
    const name = at < 1 ? each : each.slice(0, at).trim();
    if (at < 1) faults.push({ input: name, message: `write NAME=VALUE, not ${JSON.stringify(each.slice(0, 60))}` });
    else values.set(name, readAs(each.slice(at + 1), schemas[name]));
  }
  const names = Object.keys(schemas);
  if (names.length === 0 && values.size === 0 && faults.length === 0) return { ok: true, inputs: null };
  const inputs: Record<string, Json> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const value = values.get(name) ?? schema.default;
    if (value !== undefined) inputs[name] = value;
    const isOptional = Object.hasOwn(schema, 'default');
    if (value === undefined)
      faults.push({ input: name, message: `it is missing: ${describeInput(schema)}. Say --input ${name}=…` });
    else if (!(value === null && isOptional)) faults.push(...problemsOf(name, value, schema));
  }
  for (const name of values.keys()) {
    if (Object.hasOwn(schemas, name)) continue;
    const near = nearestName(name, names);
    const guess = near === null ? '' : `Did you mean ${near}? `;
    const known = names.length === 0 ? 'The loadout declares no inputs.' : `${guess}There are: ${listed(names)}.`;
    faults.push({ input: name, message: `there is no such input. ${known}` });
  }
  if (Buffer.byteLength(JSON.stringify(inputs)) > BYTES_MAX)
    faults.push({
      input: 'inputs',
      message: `together they have more than ${BYTES_MAX} bytes; put the rest into files of the project`,
    });
  if (faults.length === 0) return { ok: true, inputs: scrubbed(inputs) };
  const issues = faults.map(({ input, message }): Issue => {
    return { code: 'INPUT_INVALID', level: 'error', path: `inputs.${input}`, message };
  });
  return { ok: false, issues };
}

function scrubbed(inputs: JsonObject): JsonObject {
  const clean = scrubJson(inputs).value;
  return isObject(clean) ? clean : {};
}

function objectIn(text: string | undefined, faults: Fault[]): JsonObject {
  if (text === undefined) return {};
  const parsed = parseJsonText(text, { maxBytes: BYTES_MAX });
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  const why = parsed.ok ? 'it holds no object' : `line ${parsed.line}: ${parsed.message}`;
  faults.push({ input: 'the file', message: `${why}; write a JSON object from names to values` });
  return {};
}

/** A text where the schema takes one, else the JSON that it spells. */
function readAs(text: string, schema: JsonObject | undefined): Json {
  if (schema && fits(text, schema)) return text;
  const parsed = parseJsonText(text, { maxBytes: BYTES_MAX });
  return parsed.ok ? parsed.value : text;
}

function fits(value: Json, schema: JsonObject): boolean {
  const read = readWithSchema(schema, value);
  return read.usable && read.problems.length === 0;
}

function problemsOf(name: string, value: Json, schema: JsonObject): readonly Fault[] {
  const read = readWithSchema(schema, value);
  if (!read.usable) return [{ input: name, message: read.why }];
  return read.problems.slice(0, 5).map(({ path, message }) => {
    const at = path === '$' ? '' : `at ${path.slice(2)}: `;
    return {
      input: name,
      message: `${at}${message}; it must be ${describeInput(schema)}, not ${JSON.stringify(value).slice(0, 80)}`,
    };
  });
}

/** `one of "low", "high"; what to look for` */
function describeInput(schema: JsonObject): string {
  const { type, enum: choices, description } = schema;
  const kind = Array.isArray(choices)
    ? `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
    : [type ?? 'any value'].flat().map(String).join(' or ');
  return typeof description === 'string' && description !== '' ? `${kind} (${description})` : kind;
}

/** What a cast of it is started with, each with what it may be. */
export function inputsIn(loadout: JsonObject): { readonly inputs?: readonly JsonObject[] } {
  const inputs = Object.entries(inputsOf(loadout)).map(([name, schema]) => {
    const isRequired = !Object.hasOwn(schema, 'default');
    return {
      name,
      isRequired,
      wants: describeInput(schema),
      ...(isRequired ? {} : { default: schema.default ?? null }),
      schema,
    };
  });
  return inputs.length === 0 ? {} : { inputs };
}
