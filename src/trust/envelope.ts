// A handoff envelope as a type, and the schema stage: whether a JSON value has its shape. The published schema finds
// everything; each kind of finding has its code.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import { type Json, type JsonObject, nameOfType } from '../kernel/json.ts';
import { type Problem, quote } from '../kernel/trust/problem.ts';
import { type AgentType, ENVELOPE_SCHEMA, type RequestType, type Schema } from './schema.ts';
import { type SchemaMismatch, schemaMismatches } from './shape.ts';

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

const CLAIMS = ['source_agent_verified', 'target_agent_verified', 'composition_valid', 'boundaries_respected'] as const;
type GovernanceClaim = (typeof CLAIMS)[number];

export type Envelope = {
  readonly handoff_id: string;
  readonly timestamp: string;
  readonly protocol_version: string;
  readonly source_agent: AgentRef;
  readonly target_agent: AgentRef;
  readonly context: { readonly request: HandoffRequest; readonly state: HandoffState };
  readonly governance: { readonly [claim in GovernanceClaim]: boolean } & { readonly audit_trail: string };
  readonly links?: {
    readonly parent_handoff_id?: string;
    readonly root_handoff_id?: string;
    readonly traceparent?: string;
    readonly tracestate?: string;
    readonly correlation_id?: string;
  };
};

/** `unknown` are the members nobody reads: a warning, or in strict checking a problem. */
type SchemaFindings = { readonly problems: readonly Problem[]; readonly unknown: readonly Problem[] };

export function checkSchema(value: Json): SchemaFindings {
  const found = schemaMismatches(value, ENVELOPE_SCHEMA, '').map(toProblem);
  return {
    problems: found.filter((problem) => problem.code !== 'SCHEMA_UNKNOWN_MEMBER'),
    unknown: found.filter((problem) => problem.code === 'SCHEMA_UNKNOWN_MEMBER'),
  };
}

const CODE_BY_RULE: Readonly<Record<SchemaMismatch['rule'], GovernedCode>> = {
  required: 'SCHEMA_MISSING',
  unknown: 'SCHEMA_UNKNOWN_MEMBER',
  type: 'SCHEMA_TYPE',
  enum: 'SCHEMA_ENUM',
  form: 'SCHEMA_FORMAT',
};

function toProblem(mismatch: SchemaMismatch): Problem {
  const { at, rule } = mismatch;
  const name = at === '' ? 'the envelope' : at.length > 200 ? `${at.slice(0, 200).toWellFormed()}…` : at;
  return { code: CODE_BY_RULE[rule], pointer: at, message: `${name} ${sentence(mismatch)}` };
}

function sentence({ rule, schema, value }: SchemaMismatch): string {
  switch (rule) {
    case 'required':
      return 'is missing';
    case 'unknown':
      return 'is not a member of the envelope';
    case 'type':
      return `must be ${typeWords(schema)}, not ${nameOfType(value)}`;
    case 'enum':
      return `must be one of ${(schema.enum ?? []).join(', ')}, not ${quote(String(value))}`;
    case 'form':
      return `must be ${schema.description}`;
  }
}

function typeWords({ type }: Schema): string {
  const words = [type].flat().map((one) => (/^[aeiou]/.test(one) ? `an ${one}` : `a ${one}`));
  return words.join(' or ');
}

// What the sender claims about its handoff, and what the verifier found. A claim is never evidence: true helps nobody,
// and false is taken at its word.
type Claimed = { readonly [claim in GovernanceClaim]: boolean };

/** Null where a check never ran because an earlier one refused. */
export type Recomputed = { [claim in GovernanceClaim]: boolean | null };

export function nothingRecomputed(): Recomputed {
  return {
    source_agent_verified: null,
    target_agent_verified: null,
    composition_valid: null,
    boundaries_respected: null,
  };
}

export function claimedBy(envelope: Envelope): Claimed {
  const { source_agent_verified, target_agent_verified, composition_valid, boundaries_respected } = envelope.governance;
  return { source_agent_verified, target_agent_verified, composition_valid, boundaries_respected };
}

export function falseClaims(claimed: Claimed, recomputed: Readonly<Recomputed>): readonly GovernanceClaim[] {
  return CLAIMS.filter((claim) => claimed[claim] && recomputed[claim] === false);
}

/** A sender that reports a failed check is not overruled. */
export function checkClaims(claimed: Claimed): readonly Problem[] {
  if (CLAIMS.every((claim) => claimed[claim])) return [];
  return CLAIMS.filter((claim) => !claimed[claim]).map((claim) => ({
    code: 'ATTESTATION_NEGATIVE',
    pointer: `/governance/${claim}`,
    message: `the sender itself reports that ${claim} does not hold`,
  }));
}
