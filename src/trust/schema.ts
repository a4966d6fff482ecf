// The shape of a handoff envelope as JSON Schema 2020-12: the published contract and the source of the schema stage.
// What is judged later and with a code of its own (protocol version, time, agent ids, versions) is only a string here.
// A `description` completes the sentence "must be …" and stands in messages.

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
