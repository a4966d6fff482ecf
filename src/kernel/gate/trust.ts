// Trust at the first door: which agent may speak now. What was seen of registry and prompt comes from outside; here it is
// put in order with what the workspace knows: whether there has to be a registry, and what waits for a person.
import type { WithCapabilities } from '../capabilities.ts';
import { CODES } from '../codes.ts';
import type { Materia } from '../graph/config.ts';
import { isObject, isString } from '../json.ts';
import type { Refusal, Sighting } from '../trust/sighting.ts';
import { keyOfBlocked, type Quarantine, quarantineOf, type Trust } from '../trust/state.ts';
import { isAttested } from '../trust/watch.ts';
import { type Denied, deny } from '../verdict.ts';

/** The numbers of the checks between which the state of the workspace is asked. */
export const STAGE = { registry: 1, replay: 7, agents: 8, quarantine: 9 } as const;

/** Why an agent may not be dispatched, or null. `source` is the registry id of the agent that hands to it. */
export function refusedByTrust(
  trust: Trust,
  rules: WithCapabilities,
  materia: Materia,
  source: string | null,
  sighting: Sighting | undefined,
): Refusal | null {
  if (!isAttested(trust, rules, materia)) return null;
  if (trust.registry === null && !sighting) return null;
  // An agent with an identity asks for a registry. Without one, nothing shows that it is that agent.
  if (trust.registry === null && sighting?.origin === 'none') return absent(materia.identity ?? '');
  if (!sighting || (trust.registry !== null && sighting.origin !== 'workspace')) return missing();
  const { refusal, attestation } = sighting;
  if (refusal && refusal.stage <= STAGE.agents) return refusal;
  const blocking =
    (materia.identity === null ? null : quarantineOf(trust, materia.identity, attestation?.promptHash ?? null)) ??
    (source === null ? null : quarantineOf(trust, source, null));
  if (blocking) return { stage: STAGE.quarantine, verdict: quarantined(blocking), blocks: refusal?.blocks ?? null };
  if (refusal) return refusal;
  return attestation ? null : missing();
}

function absent(identity: string): Refusal {
  const reason =
    `this agent has the identity ${identity}, and there is no registry; ` +
    'restore .baton/versions, import one with `baton registry import DIR`, or take `identity` out of the materia';
  const details = { stage: STAGE.registry, identity };
  return { stage: STAGE.registry, verdict: deny('REGISTRY_UNUSABLE', reason, details), blocks: null };
}

function missing(): Refusal {
  const reason =
    'this workspace has a registry, and it is missing or cannot be read now; restore .baton/versions, then `baton registry verify`';
  return { stage: STAGE.registry, verdict: deny('REGISTRY_UNUSABLE', reason, { stage: STAGE.registry }), blocks: null };
}

export function quarantined(blocking: Quarantine): Denied {
  const { key, agent, code, reason, since, times } = blocking;
  const what = agent ?? 'this context';
  const why = `${what} is blocked (${code}: ${reason}). When a person has put it right: baton registry release ${key} --reason "…"`;
  const details = { key, agent, cause: code, since: new Date(since).toISOString(), times, stage: STAGE.quarantine };
  return deny('QUARANTINED', why, { ...details, security_flag: true });
}

const SUGGESTED = 'details.suggested_target where one is named';

/** What a person does about it. A refusal of something that is blocked says so itself. */
export function remedyFor({ verdict, blocks }: Refusal): string {
  if (verdict.code === 'QUARANTINED' || verdict.code === 'REGISTRY_UNUSABLE') return '';
  // The text of a cast is frozen: nothing but another cast, or the old lock, brings the two together.
  if (verdict.code === 'HASH_MISMATCH')
    return '; it was started with another prompt than is locked: `baton check` says whether the configuration still has it; if not, start a new cast';
  const release = blocks ? `; then: baton registry release ${keyOfBlocked(blocks)} --reason "…"` : '';
  const target = verdict.details.suggested_target;
  const named = isObject(target) && isString(target.agent_id) ? target.agent_id : null;
  const suggested = named === null ? '' : `; suggested target: ${named}`;
  // Who reads this has no details beside it.
  const fix = CODES[verdict.code].fix.replace(SUGGESTED, named ?? 'an agent within its boundaries');
  return `${suggested}; ${fix}${release}`;
}

/** Trust with the registry that was seen in the workspace, which a dispatch loads first. */
export function withRegistry(trust: Trust, sighting: Sighting | undefined): Trust {
  return sighting?.origin === 'workspace' && sighting.registry ? { ...trust, registry: sighting.registry } : trust;
}
