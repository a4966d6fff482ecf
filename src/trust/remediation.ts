// What a sender, or the person behind it, can do about a refusal.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import type { Suggestion } from './suggestion.ts';

export type Action =
  | 'fix_field'
  | 'use_canonical_id'
  | 'change_target'
  | 'use_archetype'
  | 'use_orchestrator'
  | 'split_request'
  | 'refresh_lock'
  | 'new_handoff_id'
  | 'sync_clock'
  | 'clean_context'
  | 'pass_by_reference'
  | 'manual_verification'
  | 'fix_composition';
export type Remedy = { readonly action: Action; readonly detail: string };

const remedy = (action: Action, detail: string): Remedy => ({ action, detail });

const FIX_FIELD = remedy('fix_field', 'correct the members named in problems');
const NEW_ID = remedy('new_handoff_id', 'send the corrected envelope with a new handoff_id and the present time');
const VERIFY = remedy('manual_verification', 'a person must compare prompt, lock and manifest before anything runs');
const CANONICAL = remedy('use_canonical_id', 'use id and type exactly as the manifest gives them');
const CHANGE = remedy('change_target', 'hand to an agent the source may hand to');
const COMPOSE = remedy('fix_composition', 'correct the composition in the manifest and lock it again');
const REFERENCE = remedy('pass_by_reference', 'pass the text as input_data: {"ref": …, "sha256": …}');
const CLEAN = remedy('clean_context', 'remove the places named in problems from the context');
const REFRESH = remedy('refresh_lock', 'lock the registry again after a person has verified the prompts');
const SPLIT = remedy('split_request', 'ask each agent only for the scopes it covers');
const CLOCK = remedy('sync_clock', 'set the clock of the sender right');

const WRITABLE = remedy(
  'manual_verification',
  'a person must see why the log cannot be written; then send the same again',
);

const REMEDIES: Readonly<Partial<Record<GovernedCode, readonly Remedy[]>>> = {
  REGISTRY_UNUSABLE: [VERIFY],
  LIMIT_EXCEEDED: [REFERENCE],
  TIMESTAMP_STALE: [NEW_ID, CLOCK],
  TIMESTAMP_FUTURE: [CLOCK, NEW_ID],
  REPLAY: [NEW_ID],
  AGENT_UNKNOWN: [CANONICAL],
  AGENT_TYPE_MISMATCH: [CANONICAL],
  AGENT_RETIRED: [CHANGE],
  QUARANTINED: [VERIFY],
  VERSION_MISMATCH: [remedy('fix_field', 'use the exact version from the lock'), REFRESH],
  LOCK_ENTRY_MISSING: [VERIFY, REFRESH],
  HASH_MISMATCH: [VERIFY],
  PROMPT_BYTES_MISMATCH: [VERIFY, REFRESH],
  COMPOSITION_MISSING: [COMPOSE],
  COMPOSITION_UNKNOWN_DOMAIN: [COMPOSE],
  COMPOSITION_BAD_SHARE: [COMPOSE],
  COMPOSITION_SUM: [COMPOSE],
  COMPOSITION_SIZE: [COMPOSE],
  COMPOSITION_CONSTITUENT_UNVERIFIED: [VERIFY, REFRESH],
  PATTERN_NOT_ALLOWED: [CHANGE],
  SELF_HANDOFF: [CHANGE],
  BOUNDARY_NOT_ALLOWED: [CHANGE],
  BOUNDARY_DENIED: [CHANGE],
  NOT_A_CONSTITUENT: [CHANGE],
  HOP_LIMIT: [remedy('split_request', 'finish this chain and begin a new one')],
  CYCLE: [remedy('split_request', 'answer the request, or change it before handing it on')],
  SCOPE_NOT_COVERED: [CHANGE, SPLIT],
  INJECTION_KEY: [CLEAN],
  INJECTION_CONTROL: [CLEAN],
  INJECTION_ROLE: [CLEAN],
  INJECTION_TOKEN: [CLEAN, REFERENCE],
  INJECTION_OVERRIDE: [CLEAN, REFERENCE],
  INJECTION_EXFIL: [CLEAN, REFERENCE],
  INJECTION_BYPASS: [CLEAN, REFERENCE],
  AUDIT_UNAVAILABLE: [WRITABLE],
};

export function remediesFor(code: GovernedCode, suggestion: Suggestion | null): readonly Remedy[] {
  const general = REMEDIES[code] ?? [FIX_FIELD];
  if (!suggestion) return general;
  const named = `${suggestion.agent_id}: ${suggestion.why}`;
  if (code === 'AGENT_UNKNOWN') return [remedy('use_canonical_id', named)];
  const action = { direct: 'change_target', archetype: 'use_archetype', orchestrator: 'use_orchestrator' } as const;
  return [remedy(action[suggestion.via], named), ...general.filter(({ action }) => action !== 'change_target')];
}
