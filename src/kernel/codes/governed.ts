// Codes of the trust layer: the registry of pinned prompts, and the handoff envelopes checked against it. The refusals
// stand in the order in which their checks run; after them come remarks,
// and what a registry reports about itself.
import type { CodeRow, Retry } from './row.ts';

const row = (http: number, retry: Retry, means: string, fix: string): CodeRow => ({ http, retry, means, fix });

export const GOVERNED_CODES = {
  REGISTRY_UNUSABLE: row(
    503,
    'person',
    'the registry is missing, unreadable or inconsistent',
    'restore the manifest and the lock, then `baton registry verify`',
  ),

  PARSE: row(400, 'repaired', 'the envelope is not strict JSON', 'send one JSON object without duplicate members'),
  LIMIT_EXCEEDED: row(
    400,
    'repaired',
    'the envelope is larger or deeper than is read',
    'send less context, or pass it by reference',
  ),
  SIGNATURE_INVALID: row(
    401,
    'repaired',
    'a signature is required and is absent or wrong',
    'sign the exact bytes with a key registered for the source agent',
  ),

  SCHEMA_MISSING: row(400, 'repaired', 'a required member is absent', 'add the members named in details.problems'),
  SCHEMA_TYPE: row(400, 'repaired', 'a member has the wrong JSON type', 'use the type named in details.problems'),
  SCHEMA_ENUM: row(400, 'repaired', 'a member is none of its allowed values', 'use one of the values in the message'),
  SCHEMA_FORMAT: row(400, 'repaired', 'a string or list has the wrong form', 'use the form named in details.problems'),
  SCHEMA_UNKNOWN_MEMBER: row(400, 'repaired', 'strict checking met an unknown member', 'remove the member'),
  PROTOCOL_VERSION: row(400, 'repaired', 'the protocol version is not supported', 'send protocol_version 1.0.0'),

  TIMESTAMP_INVALID: row(
    400,
    'repaired',
    'the timestamp is no date and time with an offset',
    'write it like 2026-02-11T00:45:02Z',
  ),
  TIMESTAMP_STALE: row(400, 'repaired', 'the envelope is too old', 'send a new envelope with a new id and time'),
  TIMESTAMP_FUTURE: row(400, 'repaired', 'the envelope comes from the future', 'set the clock of the sender right'),
  REPLAY: row(
    409,
    'repaired',
    'this handoff_id was used before',
    'look up the earlier answer, or send a new handoff_id',
  ),

  AGENT_UNKNOWN: row(
    403,
    'repaired',
    'no agent has this canonical id',
    'use the exact id from the manifest; details may suggest one',
  ),
  AGENT_TYPE_MISMATCH: row(403, 'repaired', 'the agent is of another type', 'use the type the manifest gives it'),
  AGENT_RETIRED: row(403, 'repaired', 'the agent is retired', 'hand to an active agent'),
  QUARANTINED: row(
    423,
    'person',
    'the agent is blocked until a person has verified it',
    'verify its prompt, reconcile the lock, then `baton registry release`',
  ),
  VERSION_NOT_SEMVER: row(403, 'repaired', 'a version is not semver 2.0.0', 'write three numbers, such as 1.0.0'),
  VERSION_MISMATCH: row(403, 'repaired', 'a version is not the locked one', 'use the exact version from the lock'),
  LOCK_ENTRY_MISSING: row(
    423,
    'person',
    'the lock has no usable hash for the agent',
    'verify the prompt by hand, then `baton registry lock`',
  ),
  HASH_MISMATCH: row(
    423,
    'person',
    'the claimed prompt hash is not the locked one',
    'find out which prompt the sender runs; then send the hash from the lock',
  ),
  PROMPT_BYTES_MISMATCH: row(
    423,
    'person',
    'the prompt on disk is not the one that was locked',
    'restore the prompt, or give the change a new version and lock it',
  ),

  COMPOSITION_MISSING: row(422, 'person', 'an archetype has no composition', 'declare its domains and their shares'),
  COMPOSITION_UNKNOWN_DOMAIN: row(
    422,
    'person',
    'a composition names something that is no domain',
    'name domains of the manifest only',
  ),
  COMPOSITION_BAD_SHARE: row(
    422,
    'person',
    'a share is not a percentage above 0',
    'use numbers up to 100 with at most two decimals',
  ),
  COMPOSITION_SUM: row(422, 'person', 'the shares do not add up to 100', 'make them add up to exactly 100'),
  COMPOSITION_SIZE: row(422, 'person', 'an archetype has too few or too many domains', 'compose 2 to 4 domains'),
  COMPOSITION_CONSTITUENT_UNVERIFIED: row(
    422,
    'person',
    'a domain of the composition is not pinned',
    'lock the prompt of that domain',
  ),

  PATTERN_NOT_ALLOWED: row(
    403,
    'repaired',
    'agents of these types, or with this parent, do not hand to each other',
    'go through an orchestrator, or name the accepted handoff this one follows',
  ),
  SELF_HANDOFF: row(403, 'repaired', 'an agent hands to itself', 'do the work, or hand to another agent'),
  BOUNDARY_DENIED: row(403, 'repaired', 'the source denies this target', 'follow details.suggested_target'),
  BOUNDARY_NOT_ALLOWED: row(
    403,
    'repaired',
    'the boundaries of the source do not reach the target',
    'follow details.suggested_target, or go through an orchestrator',
  ),
  NOT_A_CONSTITUENT: row(
    403,
    'repaired',
    'the archetype does not contain the target',
    'hand to one of its own domains, or go through an orchestrator',
  ),
  HOP_LIMIT: row(403, 'never', 'the chain of handoffs is too long', 'finish the work, or start a new chain'),
  CYCLE: row(403, 'repaired', 'the same request passed between the same agents before', 'answer it or change it'),
  SCOPE_MISSING: row(403, 'repaired', 'the request names no scopes', 'add context.request.scopes'),
  SCOPE_UNKNOWN: row(403, 'repaired', 'no agent declares this scope', 'use a scope from the manifest'),
  SCOPE_NOT_COVERED: row(403, 'repaired', 'the target does not cover the scope', 'follow details.suggested_target'),

  INJECTION_KEY: row(422, 'repaired', 'a member name reaches for a prototype', 'rename or remove the member'),
  INJECTION_CONTROL: row(422, 'repaired', 'the context holds invisible control characters', 'remove the characters'),
  INJECTION_ROLE: row(
    422,
    'repaired',
    'the history speaks in a role it may not have',
    'use the roles user, assistant, agent or tool',
  ),
  INJECTION_TOKEN: row(422, 'repaired', 'the context holds tokens of a chat template', 'pass the text by reference'),
  INJECTION_OVERRIDE: row(
    422,
    'repaired',
    'the context tells the target to drop its instructions',
    'reword it, or pass the text by reference',
  ),
  INJECTION_EXFIL: row(
    422,
    'repaired',
    'the context asks for the system prompt',
    'reword it, or pass the text by reference',
  ),
  INJECTION_BYPASS: row(
    422,
    'repaired',
    'the context asks to skip a check',
    'reword it, or pass the text by reference',
  ),
  ATTESTATION_NEGATIVE: row(
    422,
    'repaired',
    'the sender itself reports a failed check',
    'mend what failed, then attest it',
  ),
  AUDIT_UNAVAILABLE: row(503, 'later', 'the decision could not be written down', 'make the log writable; nothing ran'),

  SCOPE_SOURCE_COULD_DO_IT: row(
    200,
    'never',
    'a remark: the source covers everything asked',
    'do it without a handoff',
  ),
  ARCHETYPE_NOT_NEEDED: row(200, 'never', 'a remark: one domain within reach covers everything asked', 'hand to it'),
  PARENT_UNCHECKED: row(
    200,
    'never',
    'a remark: the named parent handoff was not looked up',
    'verify where the earlier handoffs are known',
  ),

  REGISTRY_MISSING: row(503, 'person', 'the manifest or the lock is not there', 'restore the file, or `baton init`'),
  REGISTRY_NOT_JSON: row(503, 'person', 'the manifest or the lock is not strict JSON', 'mend the file'),
  REGISTRY_MALFORMED: row(503, 'person', 'the manifest or the lock has an unknown shape', 'mend the file'),
  REGISTRY_ALGORITHM: row(503, 'person', 'the lock uses another hash than SHA-256', 'lock the prompts with SHA-256'),
  REGISTRY_VERSION_SKEW: row(
    503,
    'person',
    'manifest and lock are of different versions',
    'bring both to the same version',
  ),
  REGISTRY_MANIFEST_TAMPERED: row(
    503,
    'person',
    'the manifest is not the one that was locked',
    'restore the manifest, or review the change and lock it',
  ),
  REGISTRY_NO_AGENTS: row(503, 'person', 'the manifest describes no agent', 'add domains, archetypes or orchestrators'),
  AGENT_ID_MALFORMED: row(422, 'person', 'an agent id is not canonical', 'use lower-case words joined by hyphens'),
  PROMPT_PATH: row(422, 'person', 'a prompt path leaves the registry', 'use a relative path without ..'),
  PROMPT_MISSING: row(422, 'person', 'a prompt file is missing or unreadable', 'restore the file'),
  TAXONOMY_COUNT: row(422, 'person', 'the taxonomy counts other agents than there are', 'correct the numbers'),
  UNKNOWN_MEMBER: row(422, 'person', 'a record has an unknown member', 'remove it or correct its name'),
  LOCK_ORPHAN: row(422, 'person', 'the lock pins an agent the manifest does not list', 'list the agent as retired'),
  BOUNDARY_MALFORMED: row(422, 'person', 'a boundary is not understood and permits nothing', 'mend the boundary'),
  BOUNDARY_UNKNOWN_TARGET: row(422, 'person', 'a boundary names no known agent', 'correct the name or remove it'),
  BOUNDARY_DRIFT: row(
    422,
    'person',
    'the boundaries in the prompt text differ from the manifest',
    'bring manifest and prompt into line',
  ),
  PRIMARY_SHARE: row(422, 'person', 'no domain of an archetype clearly leads', 'give the leading domain 40 to 60'),
} as const satisfies Record<string, CodeRow>;

export type GovernedCode = keyof typeof GOVERNED_CODES;
