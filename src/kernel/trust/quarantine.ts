// Which agents may not speak. A finding blocks an agent, a prompt or a context. Only a person releases it, with a reason,
// once manifest, lock and prompt agree. The gate before dispatch asks here.
import type { WithCapabilities } from '../capabilities.ts';
import { CODES } from '../codes.ts';
import type { Materia } from '../graph/config.ts';
import type { Input } from '../input.ts';
import { isObject, isString, type JsonObject } from '../json.ts';
import type { Pen } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import {
  type CarriedBlock,
  keyOfBlocked,
  type Pin,
  type Quarantine,
  quarantineOf,
  type Refusal,
  type ReleaseOutcome,
  type Sighting,
  type Trust,
} from './state.ts';
import { isAttested } from './watch.ts';

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
  // A context is released by a person who read it. A claimed prompt that is not ours says nothing about our own.
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

function outcomeOf(trust: Trust, { agent, hash, pin }: Quarantine, now: Pin | null): ReleaseOutcome {
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

/** Whether `version` is higher than `before`. A text that is no version is never higher. */
export function isHigher(version: string, before: string): boolean {
  const [a, b] = [partsOf(version), partsOf(before)];
  if (!a) return false;
  if (!b) return true;
  for (const [index, number] of a.core.entries()) {
    const other = b.core[index] ?? 0;
    if (number !== other) return number > other;
  }
  return comparePre(a.pre, b.pre) > 0;
}

/** Whether the first number of `version` is higher than that of `before`. A text that is no version is never higher. */
export function isMajorHigher(version: string, before: string): boolean {
  const [a, b] = [partsOf(version), partsOf(before)];
  return a !== null && (b === null || (a.core[0] ?? 0) > (b.core[0] ?? 0));
}

type Parts = { readonly core: readonly number[]; readonly pre: readonly string[] };

function partsOf(version: string): Parts | null {
  const [, core, pre] = /^(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(version) ?? [];
  if (core === undefined) return null;
  return { core: core.split('.').map(Number), pre: pre === undefined ? [] : pre.split('.') };
}

function comparePre(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [one, other] = [a[index], b[index]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    if (one === other) continue;
    const numbers = [one, other].map((part) => (/^\d+$/.test(part) ? Number(part) : null));
    const [first = null, second = null] = numbers;
    if (first !== null && second !== null) return first - second;
    if (first !== null || second !== null) return first !== null ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
}

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
  // The reader of this sees no details.
  const fix = CODES[verdict.code].fix.replace(SUGGESTED, named ?? 'an agent within its boundaries');
  return `${suggested}; ${fix}${release}`;
}

/** Trust with the registry that was seen in the workspace, which a dispatch loads first. */
export function withRegistry(trust: Trust, sighting: Sighting | undefined): Trust {
  return sighting?.origin === 'workspace' && sighting.registry ? { ...trust, registry: sighting.registry } : trust;
}
