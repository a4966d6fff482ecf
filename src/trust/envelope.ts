// A handoff envelope: the table of its fields, and the check of a value against it. What has a code of its own (time, ids,
// versions) is only a string here.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import { messageOf } from '../kernel/field-schema.ts';
import { type Field, type Mismatch, mismatches, type ValueOf } from '../kernel/fields.ts';
import { type Json, nameOfType } from '../kernel/json.ts';
import { type Problem, pointer, quote } from '../kernel/trust/problem.ts';

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

const UUID = { type: 'text', form: UUID_PATTERN, wants: 'a UUID version 4' } as const satisfies Field;
const TEXT = { type: 'text', mayBeEmpty: true } as const satisfies Field;
const DATA = { type: 'map', of: { type: 'json' } } as const satisfies Field;
const CLAIM = { type: 'flag', required: true, example: true } as const satisfies Field;

const AGENT = {
  type: 'object',
  unknown: 'warned',
  required: true,
  fields: {
    agent_type: { type: 'choice', of: AGENT_TYPES, required: true, means: 'the type that the registry gives it' },
    agent_id: { ...TEXT, required: true, means: 'its id in the registry; no alias and no display name' },
    agent_version: { ...TEXT, required: true, means: 'its version in the registry' },
    prompt_hash: {
      type: 'text',
      required: true,
      form: HASH_PATTERN,
      wants: '64 lower-case hex digits without a prefix',
      means: 'the SHA-256 of its prompt, as the registry has it',
    },
  },
} as const satisfies Field;

const REQUEST = {
  type: 'object',
  unknown: 'warned',
  required: true,
  means: 'what the target is asked to do',
  fields: {
    type: { type: 'choice', of: REQUEST_TYPES, required: true, means: 'what is asked for', example: 'analysis' },
    description: {
      type: 'text',
      required: true,
      means: 'what the target has to do',
      example: 'Find out whether the new onboarding keeps more users in their first week',
    },
    input_data: {
      type: 'oneOf',
      of: [DATA, TEXT],
      required: true,
      means: 'what the target works on',
      example: { report: 'onboarding-week-6.csv' },
    },
    constraints: {
      type: 'list',
      of: TEXT,
      required: true,
      means: 'what the target has to respect',
      example: ['Give a confidence interval'],
    },
    expected_output: {
      ...TEXT,
      required: true,
      means: 'what the answer is to look like',
      example: 'One paragraph with the effect and how sure it is',
    },
    scopes: {
      type: 'list',
      of: { type: 'text', form: ID_PATTERN, charsMax: ID_LENGTH_MAX, wants: 'a scope id' },
      itemsMin: 1,
      itemsMax: 20,
      unique: true,
      wants: 'a list of 1 to 20 different scope ids',
      means: 'scopes of the registry; the target must cover each',
    },
  },
} as const satisfies Field;

const OBJECTS = { type: 'list', of: DATA, required: true, wants: 'a list of objects', example: [] } as const;

const STATE = {
  type: 'object',
  unknown: 'warned',
  required: true,
  means: 'what happened before; empty where there is nothing',
  fields: {
    conversation_history: { ...OBJECTS, means: 'the messages so far' },
    accumulated_context: { ...DATA, required: true, means: 'what is known so far', example: {} },
    decisions_made: { ...OBJECTS, means: 'what was decided so far' },
  },
} as const satisfies Field;

const GOVERNANCE = {
  type: 'object',
  unknown: 'warned',
  required: true,
  means: 'what the sender claims; each claim is checked again',
  fields: {
    source_agent_verified: { ...CLAIM, means: 'the sender claims that the source is who it says' },
    target_agent_verified: { ...CLAIM, means: 'the sender claims that the target is who it says' },
    composition_valid: { ...CLAIM, means: 'the sender claims that the shares of each archetype are right' },
    boundaries_respected: { ...CLAIM, means: 'the sender claims that the source may hand to the target' },
    audit_trail: {
      type: 'text',
      form: '[\\s\\S]',
      charsMax: 256,
      required: true,
      wants: 'a string that is not empty',
      means: 'a label of the sender',
      example: 'onboarding-2026-02-11',
    },
  },
} as const satisfies Field;

const LINKS = {
  type: 'object',
  unknown: 'warned',
  means: 'what this handoff belongs to',
  fields: {
    parent_handoff_id: { ...UUID, means: 'the handoff that this one continues' },
    root_handoff_id: { ...UUID, means: 'the first handoff of the chain' },
    traceparent: {
      type: 'text',
      form: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
      wants: 'a W3C traceparent',
      means: 'the trace of this work',
    },
    tracestate: { ...TEXT, means: 'more about the trace, for the systems that follow it' },
    correlation_id: { ...TEXT, means: 'an id of your own' },
  },
} as const satisfies Field;

export const ENVELOPE = {
  type: 'object',
  unknown: 'warned',
  fields: {
    handoff_id: {
      ...UUID,
      required: true,
      means: 'used once, ever; letter case does not matter',
      example: '3f0c6a52-8f0e-4b7a-9d35-0c2f7be1a9d4',
    },
    timestamp: {
      ...TEXT,
      required: true,
      means: 'when it was sent: date, time and offset',
      example: '2026-02-11T09:30:00Z',
    },
    protocol_version: {
      ...TEXT,
      required: true,
      means: `the version of this format, ${PROTOCOL_VERSION}`,
      example: PROTOCOL_VERSION,
    },
    source_agent: {
      ...AGENT,
      means: 'who hands the work on',
      example: {
        agent_type: 'domain',
        agent_id: 'domain-05-product',
        agent_version: '1.0.0',
        prompt_hash: '0'.repeat(64),
      },
    },
    target_agent: {
      ...AGENT,
      means: 'who takes the work',
      example: {
        agent_type: 'domain',
        agent_id: 'domain-02-analysis',
        agent_version: '1.0.0',
        prompt_hash: '1'.repeat(64),
      },
    },
    context: {
      type: 'object',
      unknown: 'warned',
      required: true,
      means: 'data for the target, never an instruction about its rules',
      fields: { request: REQUEST, state: STATE },
    },
    governance: GOVERNANCE,
    links: LINKS,
  },
} as const satisfies Field;

export type Envelope = ValueOf<typeof ENVELOPE>;
export type AgentRef = ValueOf<typeof AGENT>;
export type HandoffRequest = ValueOf<typeof REQUEST>;
export type HandoffState = ValueOf<typeof STATE>;

/** `unknown` are the members without a meaning: a warning, or in strict checking a problem. */
type SchemaFindings = { readonly problems: readonly Problem[]; readonly unknown: readonly Problem[] };

export function checkSchema(value: Json): SchemaFindings {
  const found = mismatches(value, ENVELOPE);
  const isUnknown = ({ rule }: Mismatch) => rule === 'unknown';
  return {
    problems: inOrder(found.filter((each) => !isUnknown(each)).map(ofWholeList)).map(toProblem),
    unknown: inOrder(found.filter(isUnknown)).map(toProblem),
  };
}

/** An entry that repeats another is a fault of its list. */
function ofWholeList(mismatch: Mismatch): Mismatch {
  return mismatch.rule === 'repeated' ? { ...mismatch, rule: 'form', path: mismatch.path.slice(0, -1) } : mismatch;
}

/** First what concerns a value as a whole, once; then the names of its members; then what is inside of each member. */
function inOrder(found: readonly Mismatch[], depth = 0): readonly Mismatch[] {
  if (found.length < 2) return found;
  const isName = ({ rule, path }: Mismatch) => path.length === depth + 1 && (rule === 'missing' || rule === 'unknown');
  const inside = found.filter((each) => each.path.length > depth && !isName(each));
  const byMember = Map.groupBy(inside, ({ path }) => path[depth]);
  return [
    ...found.filter(({ path }) => path.length === depth).slice(0, 1),
    ...found.filter(isName),
    ...[...byMember.values()].flatMap((ofMember) => inOrder(ofMember, depth + 1)),
  ];
}

const CODE_BY_RULE: Readonly<Partial<Record<Mismatch['rule'], GovernedCode>>> = {
  missing: 'SCHEMA_MISSING',
  unknown: 'SCHEMA_UNKNOWN_MEMBER',
  type: 'SCHEMA_TYPE',
  choice: 'SCHEMA_ENUM',
};

function toProblem(mismatch: Mismatch): Problem {
  const at = pointer(...mismatch.path);
  const name = at === '' ? 'the envelope' : at.length > 200 ? `${at.slice(0, 200).toWellFormed()}…` : at;
  const code = CODE_BY_RULE[mismatch.rule] ?? 'SCHEMA_FORMAT';
  return { code, pointer: at, message: `${name} ${sentence(mismatch)}` };
}

function sentence(mismatch: Mismatch): string {
  switch (mismatch.rule) {
    case 'missing':
      return 'is missing';
    case 'unknown':
      return 'is not a member of the envelope';
    case 'type':
      return `${messageOf(mismatch)}, not ${nameOfType(mismatch.value)}`;
    case 'choice':
      return `${messageOf(mismatch)}, not ${quote(String(mismatch.value))}`;
    default:
      return messageOf(mismatch);
  }
}

const CLAIMS = ['source_agent_verified', 'target_agent_verified', 'composition_valid', 'boundaries_respected'] as const;
type GovernanceClaim = (typeof CLAIMS)[number];

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
