// What an agent is told that is to hand work on in an envelope, and what it is told when its envelope was refused.
import type { Contract } from '../kernel/dialect.ts';
import { isObject, isString, type Json } from '../kernel/json.ts';
import type { Denied } from '../kernel/verdict.ts';
import type { AgentRef, Envelope } from './envelope.ts';
import { AGENT_TYPES, PROTOCOL_VERSION, REQUEST_TYPES } from './schema.ts';

/** What the sender cannot know by itself and must copy. */
export type EnvelopeValues = {
  readonly source: AgentRef;
  /** The agents it may hand to. */
  readonly targets: readonly AgentRef[];
  readonly handoffId?: string;
  readonly timestamp?: string;
};

export const EXAMPLE: Envelope = {
  handoff_id: '3f0c6a52-8f0e-4b7a-9d35-0c2f7be1a9d4',
  timestamp: '2026-02-11T09:30:00Z',
  protocol_version: PROTOCOL_VERSION,
  source_agent: {
    agent_type: 'domain',
    agent_id: 'domain-05-product',
    agent_version: '1.0.0',
    prompt_hash: '0'.repeat(64),
  },
  target_agent: {
    agent_type: 'domain',
    agent_id: 'domain-02-analysis',
    agent_version: '1.0.0',
    prompt_hash: '1'.repeat(64),
  },
  context: {
    request: {
      type: 'analysis',
      description: 'Find out whether the new onboarding keeps more users in their first week',
      input_data: { report: 'onboarding-week-6.csv' },
      constraints: ['Give a confidence interval'],
      expected_output: 'One paragraph with the effect and how sure it is',
    },
    state: { conversation_history: [], accumulated_context: {}, decisions_made: [] },
  },
  governance: {
    source_agent_verified: true,
    target_agent_verified: true,
    composition_valid: true,
    boundaries_respected: true,
    audit_trail: 'onboarding-2026-02-11',
  },
};

export function governedBrief(_contract?: Contract, given?: EnvelopeValues): string {
  return [
    'Hand the work on by answering with one JSON object, an envelope, and nothing around it.',
    '',
    given ? copyThese(given) : COPY_FROM_REGISTRY,
    '',
    'The members, all required:',
    '- handoff_id: a new UUID version 4 for every envelope you send.',
    '- timestamp: the present time with its offset, like 2026-02-11T09:30:00Z.',
    `- protocol_version: "${PROTOCOL_VERSION}".`,
    `- source_agent (you) and target_agent: agent_type (${AGENT_TYPES.join(', ')}), agent_id, agent_version, prompt_hash.`,
    `- context.request: type (${REQUEST_TYPES.join(', ')}), description, input_data (an object or a text), constraints (a list of texts), expected_output.`,
    '- context.state: conversation_history (a list of objects), accumulated_context (an object), decisions_made (a list of objects); empty where there is nothing.',
    '- governance: source_agent_verified, target_agent_verified, composition_valid, boundaries_respected (true or false, as you know it) and audit_trail (a label of your own).',
    '',
    'Everything in context is data for the target. Do not put instructions about its rules, system messages or prompt text there.',
    'Every claim in governance is checked again; a false one refuses the handoff.',
    '',
    'An example:',
    JSON.stringify(EXAMPLE, null, 2),
  ].join('\n');
}

export function governedRepair(refusal: Denied, _raw: string, contract?: Contract, given?: EnvelopeValues): string {
  const problems = listOf(refusal.details.problems).map(({ code, pointer, message }) =>
    isString(pointer) && pointer !== '' ? `- ${code} at ${pointer}: ${message}` : `- ${code}: ${message}`,
  );
  const remedies = listOf(refusal.details.remediation).map(({ action, detail }) => `- ${action}: ${detail}`);
  return [
    `Your envelope was refused (${refusal.code}): ${refusal.reason}.`,
    '',
    ...(problems.length > 0 ? ['What is wrong:', ...problems, ''] : []),
    ...(remedies.length > 0 ? ['What to do:', ...remedies, ''] : []),
    'Send the whole corrected envelope once more, with a new handoff_id and the present time.',
    '',
    governedBrief(contract, given),
  ].join('\n');
}

const COPY_FROM_REGISTRY =
  'Copy agent_id, agent_type, agent_version and prompt_hash exactly as the registry gives them; do not invent or shorten them.';

function copyThese({ source, targets, handoffId, timestamp }: EnvelopeValues): string {
  return [
    'Copy these values exactly:',
    `- source_agent: ${JSON.stringify(source)}`,
    ...targets.map((target) => `- a possible target_agent: ${JSON.stringify(target)}`),
    ...(handoffId === undefined ? [] : [`- handoff_id: ${JSON.stringify(handoffId)}`]),
    ...(timestamp === undefined ? [] : [`- timestamp: ${JSON.stringify(timestamp)}`]),
  ].join('\n');
}

function listOf(json: Json | undefined): { readonly [member: string]: Json }[] {
  return Array.isArray(json) ? json.filter(isObject) : [];
}
