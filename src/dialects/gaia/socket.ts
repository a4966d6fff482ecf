// What a socket asks of a finished report beside the contract of the turn: the paths its assignments read, and the
// schema it was given. Only COMPLETE hands anything on, so an agent that is blocked or asks is not held to it.
import type { Contract } from '../../kernel/dialect.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { readWithSchema } from '../user-schema.ts';
import { normaliseStatus } from './contract.ts';
import { type Finding, missing } from './finding.ts';

export function checkSocket(report: JsonObject, contract: Pick<Contract, 'assign' | 'schema'>): Finding[] {
  if (!isComplete(report)) return [];
  const absent = sourcesOf(contract).filter((source) => !holds(report, source));
  return [
    ...absent.map((source) => missing(`ASSIGN:${source}`, source, 'the socket hands this on: give it a value')),
    ...(contract.schema ? checkSchema(report, contract.schema) : []),
  ];
}

/** The paths into the report that the assignments of a socket read, each once. */
export function sourcesOf({ assign }: Pick<Contract, 'assign'>): string[] {
  return [...new Set(Object.values(assign).filter((source) => source.startsWith('$.')))];
}

function isComplete(report: JsonObject): boolean {
  const status = isObject(report.agent_status) ? report.agent_status.plan_status : undefined;
  return typeof status === 'string' && normaliseStatus(status) === 'COMPLETE';
}

function holds(report: JsonObject, source: string): boolean {
  let value: Json | undefined = report;
  for (const segment of source.slice(2).split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return false;
    value = (value as JsonObject)[segment];
  }
  return true;
}

function checkSchema(report: JsonObject, schema: JsonObject): Finding[] {
  const reading = readWithSchema(schema, report);
  if (!reading.usable) {
    return [missing('SCHEMA:unusable', '$', `the schema of the socket cannot be used: ${reading.why}`)];
  }
  return reading.problems.map(({ path, message }) => missing(`SCHEMA:${path}`, path, `${path} ${message}`));
}
