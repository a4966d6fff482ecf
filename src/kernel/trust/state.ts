// What a workspace knows about trust: the registry it was last run with, what waits for a person, and what a person has
// let pass. Small: agents of one registry, open quarantines, a few cleared texts.
import type { Code } from '../codes.ts';

export type Trust = {
  /** Null until a registry was loaded here for the first time: then nothing is attested. It never goes back to null. */
  registry: LoadedRegistry | null;
  /** By key: an agent, an agent with one claimed prompt, or one context. */
  quarantine: Record<string, Quarantine>;
  /**
   * By agent and version, the first prompt that was in force under that version. A version whose prompt changed later was
   * tampered with, so this is what an agent is put back to.
   */
  originals: Record<string, Record<string, string>>;
  /** Digests of contexts that a person has read and let pass. */
  cleared: Record<string, true>;
};

/** The registry in short: enough to tell whether an agent was pinned otherwise before. */
export type LoadedRegistry = {
  /** Over manifest and lock in their normal forms. */
  readonly digest: string;
  /** Over the lock's own bytes. */
  readonly lock: string;
  readonly version: string;
  readonly agents: Readonly<Record<string, Pin>>;
};

/** Manifest and lock, word for word: with them a verdict can be derived again after the registry has moved on. */
export type RegistryTexts = { readonly manifest: string; readonly lock: string };

export type Pin = { readonly version: string; readonly hash: string };

export type Quarantine = {
  readonly key: string;
  /** Null where a context is blocked and no agent. */
  readonly agent: string | null;
  /** The claimed hash, where only this agent with this hash is blocked. */
  readonly hash: string | null;
  /** The digest of the context, where only this context is blocked. */
  readonly context: string | null;
  readonly code: Code;
  readonly reason: string;
  /** How the agent was pinned before it was blocked: the version in force, with its first prompt. */
  readonly pin: Pin | null;
  readonly since: number;
  times: number;
};

export type Blocked = Pick<Quarantine, 'agent' | 'hash' | 'context'>;

export function noTrust(): Trust {
  return { registry: null, quarantine: {}, originals: {}, cleared: {} };
}

export function keyOfBlocked({ agent, hash, context }: Blocked): string {
  if (context !== null) return `context:${context}`;
  return hash === null ? `${agent}` : `${agent}@${hash}`;
}

/** What blocks an agent that speaks with this prompt; null where nothing does. */
export function quarantineOf(trust: Trust, agent: string, hash: string | null): Quarantine | null {
  const { quarantine } = trust;
  const keys = [agent, ...(hash === null ? [] : [`${agent}@${hash}`])];
  for (const key of keys) if (Object.hasOwn(quarantine, key)) return quarantine[key] ?? null;
  return null;
}
