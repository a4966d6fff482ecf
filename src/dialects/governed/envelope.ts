// A handoff envelope as a type, and the schema stage: whether a JSON value has its shape. One compiled schema finds
// everything; each kind of finding has its code.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { GovernedCode } from '../../kernel/codes/governed.ts';
import { type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { type Problem, pointer, quote } from './problem.ts';
import { type AgentType, closed, ENVELOPE_SCHEMA, type RequestType } from './schema.ts';

export type AgentRef = {
  readonly agent_type: AgentType;
  readonly agent_id: string;
  readonly agent_version: string;
  readonly prompt_hash: string;
};

export type HandoffRequest = {
  readonly type: RequestType;
  readonly description: string;
  readonly input_data: JsonObject | string;
  readonly constraints: readonly string[];
  readonly expected_output: string;
  readonly scopes?: readonly string[];
};

export type HandoffState = {
  readonly conversation_history: readonly JsonObject[];
  readonly accumulated_context: JsonObject;
  readonly decisions_made: readonly JsonObject[];
};

export const CLAIMS = [
  'source_agent_verified',
  'target_agent_verified',
  'composition_valid',
  'boundaries_respected',
] as const;
export type Claim = (typeof CLAIMS)[number];

export type Envelope = {
  readonly handoff_id: string;
  readonly timestamp: string;
  readonly protocol_version: string;
  readonly source_agent: AgentRef;
  readonly target_agent: AgentRef;
  readonly context: { readonly request: HandoffRequest; readonly state: HandoffState };
  readonly governance: { readonly [claim in Claim]: boolean } & { readonly audit_trail: string };
  readonly links?: {
    readonly parent_handoff_id?: string;
    readonly root_handoff_id?: string;
    readonly traceparent?: string;
    readonly tracestate?: string;
    readonly correlation_id?: string;
  };
};

/** `unknown` are the members nobody reads: a warning, or in strict checking a problem. */
export type SchemaFindings = { readonly problems: readonly Problem[]; readonly unknown: readonly Problem[] };

export function checkSchema(value: Json): SchemaFindings {
  validate ??= new Ajv2020({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    allowUnionTypes: true,
  }).compile<Envelope>(closed(ENVELOPE_SCHEMA));
  if (validate(value)) return { problems: [], unknown: [] };
  const found = (validate.errors ?? []).map(toProblem);
  return {
    problems: found.filter((problem) => problem.code !== 'SCHEMA_UNKNOWN_MEMBER'),
    unknown: found.filter((problem) => problem.code === 'SCHEMA_UNKNOWN_MEMBER'),
  };
}

// Compiled on first use: a process that verifies nothing does not pay for it.
let validate: ValidateFunction<Envelope> | undefined;

const CODE_BY_KEYWORD: Readonly<Record<string, GovernedCode>> = {
  required: 'SCHEMA_MISSING',
  type: 'SCHEMA_TYPE',
  enum: 'SCHEMA_ENUM',
  additionalProperties: 'SCHEMA_UNKNOWN_MEMBER',
};

function toProblem(error: ErrorObject): Problem {
  const code = CODE_BY_KEYWORD[error.keyword] ?? 'SCHEMA_FORMAT';
  const { missingProperty, additionalProperty } = error.params as Record<string, string>;
  const at = error.instancePath + pointer(...[missingProperty ?? additionalProperty ?? []].flat());
  const name = at === '' ? 'the envelope' : at.length > 200 ? `${at.slice(0, 200).toWellFormed()}…` : at;
  return { code, pointer: at, message: `${name} ${sentence(code, error)}` };
}

function sentence(code: GovernedCode, error: ErrorObject): string {
  const schema = error.parentSchema ?? {};
  switch (code) {
    case 'SCHEMA_MISSING':
      return 'is missing';
    case 'SCHEMA_UNKNOWN_MEMBER':
      return 'is not a member of the envelope';
    case 'SCHEMA_TYPE':
      return `must be ${typeWords(schema.type)}, not ${nameOfType(error.data)}`;
    case 'SCHEMA_ENUM':
      return `must be one of ${(schema.enum as readonly string[]).join(', ')}, not ${quote(String(error.data))}`;
    default:
      return `must be ${String(schema.description)}`;
  }
}

function typeWords(type: unknown): string {
  const words = [type].flat().map((one) => (/^[aeiou]/.test(String(one)) ? `an ${one}` : `a ${one}`));
  return words.join(' or ');
}
