// What a socket asks of a payload beside the contract: the paths its assignments read, and the schema it was given. Only
// work that is done hands anything on, so an agent that is blocked or failed is not held to it.
import type { Contract } from '../../kernel/dialect.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { readWithSchema } from '../user-schema.ts';
import { Findings } from './findings.ts';

const DERIVED = ['$.workItems', '$.satisfied'];

/** The payload paths that assignments read. What the graph derives from the payload itself is not among them. */
export function sourcesOf({ assign }: Pick<Contract, 'assign'>): readonly string[] {
  const sources = new Set(Object.values(assign).filter((source) => source.startsWith('$.')));
  return [...sources].filter((source) => !DERIVED.some((path) => source === path || source.startsWith(`${path}.`)));
}

export function checkSocket(payload: JsonObject, contract: Contract): Findings {
  const found = new Findings();
  const missing = sourcesOf(contract).filter((source) => !holds(payload, source));
  if (missing.length > 0) {
    found.add('MISSING_REQUIRED_INPUT', '$', `this socket also hands on ${missing.join(', ')}; add it`, { missing });
  } else if (contract.schema) checkSchema(found, payload, contract.schema);
  return found;
}

function holds(payload: JsonObject, source: string): boolean {
  let value: Json | undefined = payload;
  for (const segment of source.slice(2).split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return false;
    value = (value as JsonObject)[segment];
  }
  return true;
}

function checkSchema(found: Findings, payload: JsonObject, schema: JsonObject): void {
  const reading = readWithSchema(schema, payload);
  if (!reading.usable) {
    return found.add('MISSING_VALIDATOR', '$', `the schema of the socket cannot be used: ${reading.why}`);
  }
  for (const { path, message } of reading.problems) found.add('SCHEMA_INVALID', path.replace(/^\$\./, ''), message);
}
