// Codes of the trust layer: handoff envelopes, and the registry of pinned prompts that they are checked against.
import { HANDOFF_CODES } from './governed-handoff.ts';
import { type CodeRow, row } from './row.ts';

/** What a registry of pinned prompts reports about itself. */
const REGISTRY_CODES = {
  REGISTRY_MISSING: row(
    503,
    'person',
    'the manifest or the lock is not there',
    'the folder is no registry, a file was not checked out, or may not be read',
    'restore the file, or write it with `baton registry lock`',
  ),
  REGISTRY_NOT_JSON: row(
    503,
    'person',
    'the manifest or the lock is not strict JSON',
    'a file was edited by hand and has a stray comma, a comment, a member twice or another encoding',
    'correct the file at the line the problem names, then `baton registry verify`',
  ),
  REGISTRY_MALFORMED: row(
    503,
    'person',
    'the manifest or the lock has an unknown shape',
    'a section is missing or of another type, or the version is no version',
    'compare the file with docs/contracts/governed.md and correct the section the problem names',
  ),
  REGISTRY_ALGORITHM: row(
    503,
    'person',
    'the lock uses another hash than SHA-256',
    'the lock was made by another tool',
    'lock the prompts with SHA-256',
  ),
  REGISTRY_VERSION_SKEW: row(
    503,
    'person',
    'manifest and lock are of different versions',
    'one of the two files was updated without the other',
    'bring both to the same version',
  ),
  REGISTRY_MANIFEST_TAMPERED: row(
    503,
    'person',
    'the manifest is not the one that was locked',
    'the manifest was edited after it was locked',
    'restore the manifest, or review the change and lock it',
  ),
  REGISTRY_NO_AGENTS: row(
    503,
    'person',
    'the manifest describes no agent',
    'the manifest is new and empty, or its sections have other names',
    'add domains, archetypes or orchestrators',
  ),
  AGENT_ID_MALFORMED: row(
    422,
    'person',
    'an agent id is not canonical',
    'an id has capital letters, spaces, underscores, or more than 64 characters',
    'use lower-case words joined by hyphens',
  ),
  PROMPT_PATH: row(
    422,
    'person',
    'a prompt path leaves the registry',
    'a record names its prompt by an absolute path, with `..`, or through a link that leads outside',
    'use a relative path without `..`',
  ),
  PROMPT_MISSING: row(
    422,
    'person',
    'a prompt file is missing or unreadable',
    'the prompt file was moved, renamed, or never checked in',
    'restore the file',
  ),
  PROMPT_NOT_TEXT: row(
    422,
    'person',
    'a prompt is pinned that no cast can send: a remark about the registry, and a refusal of the dispatch',
    'the file holds bytes that are not UTF-8, so that what an agent gets would not be what was hashed',
    'save the prompt as UTF-8, raise its version and lock it, if casts are to use it',
  ),
  TAXONOMY_COUNT: row(
    422,
    'person',
    'the taxonomy counts other agents than there are',
    'an agent was added or removed and the counts next to the list were not corrected',
    'correct the numbers',
  ),
  UNKNOWN_MEMBER: row(
    422,
    'person',
    'a record has an unknown member',
    'a name was misspelt, or the record was written for a newer format',
    'remove it or correct its name',
  ),
  LOCK_ORPHAN: row(
    422,
    'person',
    'the lock pins an agent the manifest does not list',
    'an agent was removed from the manifest and not from the lock',
    'list the agent as retired',
  ),
  BOUNDARY_MALFORMED: row(
    422,
    'person',
    'a boundary is not understood and permits nothing',
    'a boundary is written as prose, or lacks its target',
    'write the boundary as {"target": ID}, with scopes and types where it has limits',
  ),
  BOUNDARY_UNKNOWN_TARGET: row(
    422,
    'person',
    'a boundary names no known agent',
    'a boundary names an agent that was renamed, removed or never registered',
    'correct the name or remove it',
  ),
  BOUNDARY_DRIFT: row(
    422,
    'person',
    'the boundaries in the prompt text differ from the manifest',
    'the prompt was reworded, or the manifest changed, and the other was not',
    'bring manifest and prompt into line',
  ),
  PROMPT_SLOT: row(
    422,
    'person',
    'a pinned prompt holds a slot that nothing fills',
    'the prompt was written with `{{slot}}` before it was pinned; pinned bytes go out as they are',
    'take the slot out of the prompt: the brief brings request, item and results by itself',
  ),
  APPROVAL_DRIFT: row(
    422,
    'person',
    'an agent runs with other means than it was approved with',
    'runner, model or tools of its materia were changed after the registry was locked',
    'restore them, or approve them with `baton registry lock`',
  ),
  VERSION_NOT_RAISED: row(
    422,
    'person',
    'an agent was locked again without the version that its change needs',
    'the prompt was edited and the version was not raised, or scopes, boundaries or composition changed and the major version was not',
    'raise the version of the agent in the manifest (for scopes, boundaries and composition its first number), then `baton registry lock`',
  ),
  LOCK_ENTRY_GONE: row(
    422,
    'person',
    'an agent that was in force is not listed any more',
    'an agent was removed from manifest and lock instead of being retired',
    'list it with the status retired',
  ),
  PRIMARY_SHARE: row(
    422,
    'person',
    'no domain of an archetype clearly leads',
    'the largest share is a tie, below 40 or above 60',
    'give the leading domain 40 to 60',
  ),
} as const satisfies Record<string, CodeRow>;

/** Codes of the trust layer: the handoff envelopes, and the registry of pinned prompts that they are checked against. */
export const GOVERNED_CODES = { ...HANDOFF_CODES, ...REGISTRY_CODES } as const;

export type GovernedCode = keyof typeof GOVERNED_CODES;
