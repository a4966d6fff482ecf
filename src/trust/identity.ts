// Whether the two agents an envelope names are who it says: known, of this type, of this version, and pinned to exactly
// this prompt. Each check looks at the source, then at the target.
import type { GovernedCode } from '../kernel/codes/governed.ts';
import { type Problem, quote } from '../kernel/trust/problem.ts';
import type { Agent, Registry } from './agent.ts';
import type { AgentRef, Envelope } from './envelope.ts';
import { isSemver } from './manifest.ts';

export type EndRole = 'source_agent' | 'target_agent';
const END_ROLES = ['source_agent', 'target_agent'] as const;

/** One end of a handoff: what the envelope says of an agent, and the agent. */
export type End = { readonly role: EndRole; readonly ref: AgentRef; readonly agent: Agent };

/** The ends that resolve, and what is wrong with those that do not. */
export function resolveEnds(registry: Registry, envelope: Envelope): { ends: readonly End[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const ends: End[] = [];
  for (const role of END_ROLES) {
    const ref = envelope[role];
    const agent = registry.agents.get(ref.agent_id);
    if (!agent || hasFault(agent, 'AGENT_UNKNOWN')) {
      const message = `the manifest has no agent with the canonical id ${quote(ref.agent_id)}`;
      problems.push(problem(role, 'agent_id', 'AGENT_UNKNOWN', message));
      continue;
    }
    if (ref.agent_type !== agent.type || hasFault(agent, 'AGENT_TYPE_MISMATCH')) {
      problems.push(problem(role, 'agent_type', 'AGENT_TYPE_MISMATCH', `${agent.id} is not of this type`));
    }
    if (agent.status === 'retired') problems.push(problem(role, 'agent_id', 'AGENT_RETIRED', `${agent.id} is retired`));
    ends.push({ role, ref, agent });
  }
  return { ends, problems };
}

export function checkQuarantine(
  ends: readonly End[],
  quarantined: (agentId: string, promptHash: string) => boolean,
): Problem[] {
  return ends
    .filter(({ agent, ref }) => quarantined(agent.id, ref.prompt_hash))
    .map(({ role, agent }) =>
      problem(role, 'agent_id', 'QUARANTINED', `${agent.id} is blocked until a person releases it`),
    );
}

export function checkVersions(ends: readonly End[]): Problem[] {
  const notSemver: Problem[] = [];
  const other: Problem[] = [];
  for (const { role, ref, agent } of ends) {
    // A version that is not semver would have been a fault of the agent.
    if (ref.agent_version === agent.version && agent.faults.length === 0) continue;
    const isVersion = isSemver(ref.agent_version);
    if (!isVersion || hasFault(agent, 'VERSION_NOT_SEMVER')) {
      const message = `the version of ${agent.id} is not semver`;
      notSemver.push(problem(role, 'agent_version', 'VERSION_NOT_SEMVER', message));
    }
    if (isVersion && (ref.agent_version !== agent.version || hasFault(agent, 'VERSION_MISMATCH'))) {
      const message = `this is not the locked version of ${agent.id}`;
      other.push(problem(role, 'agent_version', 'VERSION_MISMATCH', message));
    }
  }
  return [...notSemver, ...other];
}

/**
 * The lock against the bytes, and the claimed hash against the lock; neither replaces the other. A changed file comes first,
 * because it blocks its agent. A wrong claim blocks only that claim.
 */
export function checkHashes(ends: readonly End[]): Problem[] {
  const missing: Problem[] = [];
  const claimed: Problem[] = [];
  const stored: Problem[] = [];
  for (const { role, ref, agent } of ends) {
    if (agent.lockedHash === null) {
      const message = `the lock has no usable hash for ${agent.id}`;
      missing.push(problem(role, 'agent_id', 'LOCK_ENTRY_MISSING', message));
      continue;
    }
    if (ref.prompt_hash !== agent.lockedHash) {
      claimed.push(problem(role, 'prompt_hash', 'HASH_MISMATCH', `this is not the locked hash of ${agent.id}`));
    }
    if (!agent.bytesMatch) {
      stored.push(problem(role, 'agent_id', 'PROMPT_BYTES_MISMATCH', `${agent.id}: ${promptFault(agent)}`));
    }
  }
  return [...missing, ...stored, ...claimed];
}

const PROMPT_FAULTS: readonly GovernedCode[] = ['PROMPT_BYTES_MISMATCH', 'PROMPT_MISSING', 'PROMPT_PATH'];

function promptFault(agent: Agent): string {
  const fault = agent.faults.find(({ code }) => PROMPT_FAULTS.includes(code));
  return fault?.message ?? 'its prompt could not be checked';
}

function hasFault(agent: Agent, code: GovernedCode): boolean {
  return agent.faults.some((fault) => fault.code === code);
}

function problem(role: EndRole, member: keyof AgentRef, code: GovernedCode, message: string): Problem {
  return { code, pointer: `/${role}/${member}`, message };
}
