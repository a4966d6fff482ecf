// Quarantine: what was found to be wrong is blocked, and only a person lets it go again, for a reason, once manifest, lock
// and prompt agree. Putting the file back makes the release possible; it does not release anything.
import type { Input } from '../input.ts';
import type { JsonObject } from '../json.ts';
import type { Pen } from '../pen.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import type { Outcome } from './fact.ts';
import type { CarriedBlock } from './request.ts';
import type { Refusal } from './sighting.ts';
import { keyOfBlocked, type Pin, type Quarantine, type Trust } from './state.ts';
import { isHigher } from './version.ts';

/** Blocks what a refusal names. Where it is blocked already, it is counted. */
export function block({ state, write }: Pen, { verdict, blocks }: Refusal, where: JsonObject): void {
  if (!blocks) return;
  const key = keyOfBlocked(blocks);
  const pin = blocks.agent === null ? null : firstPin(state.trust, blocks.agent);
  const { code, reason } = verdict;
  write({ kind: 'quarantine.opened', key, blocks, code, reason, pin, where });
}

/** Blocks again what another log of this workspace had blocked, and no person has released. */
export function carryOver({ state, write }: Pen, blocked: readonly CarriedBlock[]): Verdict {
  const missing = blocked.filter(({ key }) => !Object.hasOwn(state.trust.quarantine, key));
  for (const { key, agent, hash, context, code, reason, pin } of missing)
    write({ kind: 'quarantine.opened', key, blocks: { agent, hash, context }, code, reason, pin, where: CARRIED });
  return allow(`${missing.length} blocks were carried over`);
}

const CARRIED = { carried: 'from another state folder' } as const;

type Release = Extract<Input, { kind: 'quarantine.release' }>;

export function release(pen: Pen, input: Release): Verdict {
  const { id, isAgent } = input;
  if (isAgent)
    return deny('APPROVER_IS_AGENT', 'only a person releases a quarantine; this process was started by an agent', {
      id,
    });
  const { quarantine } = pen.state.trust;
  const exact = Object.hasOwn(quarantine, id) ? quarantine[id] : undefined;
  const found = exact ? [exact] : Object.values(quarantine).filter(({ agent }) => agent === id);
  if (found.length === 0)
    return deny('NOT_ALLOWED_NOW', `nothing blocks ${id}; \`baton registry quarantine\` lists what is blocked`, { id });
  for (const one of found) {
    const refusal = refusalOf(pen.state.trust, one, input);
    if (refusal) return refusal;
  }
  for (const one of found) {
    const now = nowOf(one, input);
    const outcome = input.outcome ?? outcomeOf(pen.state.trust, one, now);
    pen.write({ kind: 'quarantine.released', key: one.key, outcome, reason: input.reason, before: one.pin, now });
  }
  return allow(`released: ${found.map(({ key }) => key).join(', ')}`, { released: found.map(({ key }) => key) });
}

function refusalOf(trust: Trust, one: Quarantine, input: Release): Verdict | null {
  const { agent, hash } = one;
  // A context is released by whoever has read it; a claimed prompt that is not ours says nothing about our own.
  if (agent === null || (hash !== null && input.registry === null)) return null;
  if (!input.registry) {
    return deny(
      'REGISTRY_UNUSABLE',
      'the registry cannot be used, so nothing shows that the prompt is in order again',
      { key: one.key },
    );
  }
  const fault = Object.hasOwn(input.faults, agent) ? input.faults[agent] : undefined;
  if (fault !== undefined) {
    const reason = `${agent} is still not in order: ${fault}. Restore its prompt, or raise its version and lock it with \`baton registry lock\`; then release it`;
    return deny('PROMPT_BYTES_MISMATCH', reason, { key: one.key, agent });
  }
  const now = nowOf(one, input);
  const isChanged = now !== null && one.pin !== null && !isRestored(trust, agent, one.pin, now);
  if ((isChanged || input.outcome === 'legitimate_change') && !isHigher(now?.version ?? '', one.pin?.version ?? '')) {
    const reason = `the prompt of ${agent} was changed and its version stays ${now?.version}; raise the version in the manifest, lock it again, then release it`;
    return deny('VERSION_MISMATCH', reason, { key: one.key, agent, version: now?.version ?? null });
  }
  return null;
}

/** The pin in force, with the first prompt of its version: the lock in force may be the tampered one. */
function firstPin(trust: Trust, agent: string): Pin | null {
  const pin = pinOf(trust.registry?.agents, agent);
  return pin && { ...pin, hash: originalOf(trust, agent, pin.version) ?? pin.hash };
}

/** Whether an agent is as it was before it was blocked, or as it was under an earlier version. */
function isRestored(trust: Trust, agent: string, before: Pin, now: Pin): boolean {
  if (isHigher(now.version, before.version)) return false;
  const hash = now.version === before.version ? before.hash : originalOf(trust, agent, now.version);
  return hash === now.hash;
}

function originalOf({ originals }: Trust, agent: string, version: string): string | null {
  const known = Object.hasOwn(originals, agent) ? originals[agent] : undefined;
  return (known && Object.hasOwn(known, version) && known[version]) || null;
}

function outcomeOf(trust: Trust, { agent, hash, pin }: Quarantine, now: Pin | null): Outcome {
  if (agent === null) return 'harmless';
  if (pin && now && pin.hash !== now.hash && !isRestored(trust, agent, pin, now)) return 'legitimate_change';
  return hash === null ? 'checkout_artifact' : 'stale_sender';
}

function nowOf({ agent }: Quarantine, { registry }: Release): Pin | null {
  return (agent !== null && registry && pinOf(registry.agents, agent)) || null;
}

function pinOf(agents: Readonly<Record<string, Pin>> | undefined, id: string): Pin | null {
  return (agents && Object.hasOwn(agents, id) && agents[id]) || null;
}
