// A handoff envelope: its type, its published JSON Schema, and the check of a value against it. Our own check is used
// because loading a general validator takes longer than checking one small file. What has a code of its own (time, ids,
// versions) is only a string here.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import { isObject, type Json, type JsonObject, nameOfType } from '../kernel/json.ts';
import { type Problem, pointer, quote } from '../kernel/trust/problem.ts';

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

/** `unknown` are the members without a meaning: a warning, or in strict checking a problem. */
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

/**
 * The sender's claims about its handoff, and the verifier's findings. A claim is never evidence: true proves nothing, and
 * false is believed.
 */
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

type JsonType = 'object' | 'array' | 'string' | 'boolean';
/** The part of JSON Schema that describes an envelope. */
export type Schema = {
  readonly $schema?: string;
  readonly title?: string;
  readonly type: JsonType | readonly JsonType[];
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
};

export const AGENT_TYPES = ['domain', 'archetype', 'orchestrator'] as const;
export type AgentType = (typeof AGENT_TYPES)[number];
export const REQUEST_TYPES = ['query', 'task', 'analysis', 'decision'] as const;
export type RequestType = (typeof REQUEST_TYPES)[number];
export const PROTOCOL_VERSION = '1.0.0';

/** Agent ids and scope ids: lower-case words joined by hyphens, at most 64 characters. */
export const ID_PATTERN = '^[a-z0-9]+(-[a-z0-9]+)*$';
export const ID_LENGTH_MAX = 64;
export const HASH_PATTERN = '^[0-9a-f]{64}$';
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$';

const text = { type: 'string' } as const;
const claim = { type: 'boolean' } as const;
const uuid = { type: 'string', pattern: UUID_PATTERN, description: 'a UUID version 4' } as const;
const objects = { type: 'array', items: { type: 'object' } } as const;

const agent = object(['agent_type', 'agent_id', 'agent_version', 'prompt_hash'], {
  agent_type: { type: 'string', enum: AGENT_TYPES },
  agent_id: text,
  agent_version: text,
  prompt_hash: { type: 'string', pattern: HASH_PATTERN, description: '64 lower-case hex digits without a prefix' },
});

const request = object(['type', 'description', 'input_data', 'constraints', 'expected_output'], {
  type: { type: 'string', enum: REQUEST_TYPES },
  description: { type: 'string', pattern: '\\S', description: 'a text that is not blank' },
  input_data: { type: ['object', 'string'] },
  constraints: { type: 'array', items: text },
  expected_output: text,
  scopes: {
    type: 'array',
    items: { type: 'string', pattern: ID_PATTERN, maxLength: ID_LENGTH_MAX, description: 'a scope id' },
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    description: 'a list of 1 to 20 different scope ids',
  },
});

const state = object(['conversation_history', 'accumulated_context', 'decisions_made'], {
  conversation_history: objects,
  accumulated_context: { type: 'object' },
  decisions_made: objects,
});

const governance = object(
  ['source_agent_verified', 'target_agent_verified', 'composition_valid', 'boundaries_respected', 'audit_trail'],
  {
    source_agent_verified: claim,
    target_agent_verified: claim,
    composition_valid: claim,
    boundaries_respected: claim,
    audit_trail: { type: 'string', minLength: 1, maxLength: 256, description: 'a label of 1 to 256 characters' },
  },
);

const links = object([], {
  parent_handoff_id: uuid,
  root_handoff_id: uuid,
  traceparent: {
    type: 'string',
    pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    description: 'a W3C traceparent',
  },
  tracestate: text,
  correlation_id: text,
});

export const ENVELOPE_SCHEMA: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Agent handoff envelope 1.0.0',
  ...object(['handoff_id', 'timestamp', 'protocol_version', 'source_agent', 'target_agent', 'context', 'governance'], {
    handoff_id: uuid,
    timestamp: text,
    protocol_version: text,
    source_agent: agent,
    target_agent: agent,
    context: object(['request', 'state'], { request, state }),
    governance,
    links,
  }),
};

function object(required: readonly string[], properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', required, properties };
}

/** The places where a value does not fit its schema. `unknown` are members besides the named ones. */
type SchemaMismatch = {
  readonly rule: 'type' | 'required' | 'unknown' | 'enum' | 'form';
  readonly at: string;
  readonly schema: Schema;
  readonly value: Json | undefined;
};

/** All of them: an object's absent members first, then its unknown ones, then what its members say themselves. */
export function schemaMismatches(value: Json, schema: Schema, at: string): SchemaMismatch[] {
  const search: Search = { found: [], at, path: [] };
  visit(value, shapeOf(schema), search);
  return search.found;
}

/** A schema made ready for many values. */
type Shape = {
  readonly schema: Schema;
  readonly pattern: RegExp | null;
  readonly members: readonly Member[] | null;
  readonly items: Shape | null;
};
type Member = { readonly name: string; readonly shape: Shape; readonly isRequired: boolean };

const shapes = new WeakMap<Schema, Shape>();

function shapeOf(schema: Schema): Shape {
  const known = shapes.get(schema);
  if (known) return known;
  const { pattern, properties, items, required = [] } = schema;
  const members = Object.entries(properties ?? {}).map(([name, member]) => ({
    name,
    shape: shapeOf(member),
    isRequired: required.includes(name),
  }));
  const shape = {
    schema,
    pattern: pattern === undefined ? null : new RegExp(pattern, 'u'),
    members: properties ? members : null,
    items: items ? shapeOf(items) : null,
  };
  shapes.set(schema, shape);
  return shape;
}

/** The finds, and the names from `at` to the present place. A place is spelled only for a find. */
type Search = { readonly found: SchemaMismatch[]; readonly at: string; readonly path: (string | number)[] };

function visit(value: Json, shape: Shape, search: Search): void {
  const { schema, members, items } = shape;
  if (!isOfType(value, schema)) note('type', value, schema, search);
  else if (typeof value === 'string') {
    if (schema.enum && !schema.enum.includes(value)) note('enum', value, schema, search);
    else if (!hasForm(value, shape)) note('form', value, schema, search);
  } else if (Array.isArray(value)) visitList(value, schema, items, search);
  else if (members && isObject(value)) visitObject(value, schema, members, search);
}

function visitObject(value: JsonObject, schema: Schema, members: readonly Member[], search: Search): void {
  const first = search.found.length;
  // Most senders keep to the order of the schema; then the next member need not be looked up by its name.
  const names = Object.keys(value);
  const values = Object.values(value);
  let known = 0;
  let isComplete = true;
  for (let index = 0; index < members.length; index++) {
    const member = members[index] as Member;
    if (names[known] === member.name) visitMember(values[known++] as Json, member.shape, search, member.name);
    else if (Object.hasOwn(value, member.name)) {
      visitMember(value[member.name] as Json, member.shape, search, member.name);
      known += 1;
    } else if (member.isRequired) isComplete = false;
  }
  if (isComplete && known === names.length) return;
  // Names come before what the members say, which was found first.
  const ofMembers = search.found.splice(first);
  noteNames(value, schema, members, search);
  for (const mismatch of ofMembers) search.found.push(mismatch);
}

function noteNames(value: JsonObject, schema: Schema, members: readonly Member[], search: Search): void {
  const names = new Set(members.map(({ name }) => name));
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) note('required', undefined, schema, search, name);
  }
  for (const name of Object.keys(value)) {
    if (!names.has(name)) note('unknown', undefined, schema, search, name);
  }
}

function visitList(value: readonly Json[], schema: Schema, items: Shape | null, search: Search): void {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const repeats = schema.uniqueItems === true && new Set(value).size < value.length;
  if (value.length < minItems || value.length > maxItems || repeats) note('form', value, schema, search);
  if (!items) return;
  value.forEach((item, index) => {
    visitMember(item, items, search, index);
  });
}

function visitMember(value: Json, shape: Shape, search: Search, name: string | number): void {
  // Most members are texts and truth values in order; only about others is there something to say.
  if (typeof value === 'string' ? isFine(value, shape) : value === true && shape.schema.type === 'boolean') return;
  search.path.push(name);
  visit(value, shape, search);
  search.path.pop();
}

function note(
  rule: SchemaMismatch['rule'],
  value: Json | undefined,
  schema: Schema,
  { found, at, path }: Search,
  ...member: readonly string[]
): void {
  found.push({ rule, at: at + pointer(...path, ...member), schema, value });
}

/** Lengths count characters, not the halves in which some are stored. */
function hasForm(value: string, { schema, pattern }: Shape): boolean {
  const { minLength, maxLength } = schema;
  if (minLength !== undefined && value.length < minLength) return false;
  if (maxLength !== undefined && value.length > maxLength) {
    if (value.length > 2 * maxLength || [...value].length > maxLength) return false;
  }
  return pattern === null || pattern.test(value);
}

function isFine(value: string, shape: Shape): boolean {
  const { schema } = shape;
  if (schema.type !== 'string') return false;
  return schema.enum ? schema.enum.includes(value) && hasForm(value, shape) : hasForm(value, shape);
}

function isOfType(value: Json, { type }: Schema): boolean {
  const actual = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  return actual === type || (typeof type !== 'string' && type.some((allowed) => allowed === actual));
}
