// The lock: which exact bytes each agent's prompt has. Several shapes exist in the world; a hash that is not a hash
// (a placeholder, say) is an entry nobody can pass, never one that needs no check.
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { type Diagnostic, fatal } from '../kernel/trust/problem.ts';
import { canonicalDigest, type Sha256 } from './canonical.ts';
import { declaredBy, isPinnedModel, type Manifest, readManifest } from './manifest.ts';
import { HASH_PATTERN } from './schema.ts';

export type LockEntry = {
  /** Null when what stands there is no SHA-256 in lower-case hex. */
  readonly hash: string | null;
  readonly file: string | null;
  readonly type: string | null;
  readonly version: string | null;
  /** The prompt itself, where the lock embeds it. */
  readonly systemPrompt: string | null;
  /** The digest of what the manifest declared about it when it was locked; null where the lock does not say. */
  readonly declared: string | null;
  readonly lockedAt: string | null;
  /** What the agent was approved with; null where the lock does not say. */
  readonly approval: ApprovedSetup | null;
};

export type PromptLock = {
  readonly version: string | null;
  readonly entries: ReadonlyMap<string, LockEntry>;
  readonly manifestHash: string | null;
  /** By agent, the pins that were superseded, oldest first. */
  readonly history: JsonObject;
  readonly diagnostics: readonly Diagnostic[];
};

const HASH = new RegExp(HASH_PATTERN);
const ALGORITHM = /^sha-?256$/i;

export function readLock(json: Json): PromptLock {
  if (!isObject(json)) return unreadable('the lock is not a JSON object');
  const table = json.prompts ?? json.hashes;
  if (!isObject(table)) return unreadable('the lock has no table of prompts');
  const diagnostics: Diagnostic[] = [];
  // The oldest locks name no algorithm; their hashes are SHA-256 or match nothing.
  const { algorithm = 'SHA-256' } = json;
  if (!isString(algorithm) || !ALGORITHM.test(algorithm)) {
    diagnostics.push(fatal('REGISTRY_ALGORITHM', 'the lock names another algorithm than SHA-256'));
  }
  const integrity = isObject(json.integrity) ? json.integrity : {};
  return {
    version: text(json.version),
    entries: new Map(Object.entries(table).map(([id, entry]) => [id, readEntry(entry)])),
    // Something there that is no hash must not count as nothing there.
    manifestHash: integrity.manifest_hash === undefined ? null : String(integrity.manifest_hash),
    history: isObject(json.history) ? json.history : {},
    diagnostics,
  };
}

/** The lock in its normal form. */
export function toLockJson(lock: Pick<PromptLock, 'version' | 'entries' | 'manifestHash' | 'history'>): JsonObject {
  const entries = [...lock.entries];
  const count = (type: string) => entries.filter(([, entry]) => entry.type === type).length;
  return {
    version: lock.version,
    lockfileVersion: 1,
    algorithm: 'SHA-256',
    prompts: Object.fromEntries(
      entries.map(([id, { file, hash, type, version, declared, lockedAt, approval }]) => [
        id,
        { file, hash, type, version, ...told({ declared, locked_at: lockedAt }), ...approvalJson(approval) },
      ]),
    ),
    integrity: {
      total_prompts: entries.length,
      domains: count('domain'),
      archetypes: count('archetype'),
      orchestrators: count('orchestrator'),
      ...(lock.manifestHash !== null && { manifest_hash: lock.manifestHash }),
    },
    ...(Object.keys(lock.history).length > 0 && { history: lock.history }),
  };
}

/** What a new lock takes over besides the bytes: approvals by agent, and the lock it replaces. */
export type Relock = {
  readonly approvals?: ReadonlyMap<string, ApprovedSetup>;
  readonly before?: PromptLock;
  /** When this is locked. */
  readonly at?: string;
  /** Only these are pinned again; the others keep the pin that they have. */
  readonly only?: ReadonlySet<string>;
};

/**
 * Pins every agent of a manifest to the bytes its prompt has now; agents whose prompt cannot be read get no entry. A pin
 * that is superseded is kept in the history.
 */
export function lockOf(
  manifestJson: Json,
  read: (path: string) => Uint8Array | null,
  sha256: Sha256,
  { approvals, before, at, only }: Relock = {},
): JsonObject {
  const manifest: Manifest = readManifest(manifestJson);
  const entries = new Map<string, LockEntry>();
  for (const agent of manifest.agents.values()) {
    const { id, file, type, version } = agent;
    const past = before?.entries.get(id);
    if (past && only?.has(id) === false) {
      entries.set(id, past);
      continue;
    }
    const bytes = file === null ? null : read(file);
    if (!bytes) continue;
    const approval = approvals?.get(id) ?? past?.approval ?? null;
    const pin = { hash: sha256(bytes), version, declared: canonicalDigest(declaredBy(agent), sha256) };
    const lockedAt = (past && isSamePin(past, pin) ? past.lockedAt : null) ?? at ?? null;
    entries.set(id, { ...pin, file, type, systemPrompt: null, lockedAt, approval });
  }
  const history = before ? historyAfter(before, entries, at) : {};
  return toLockJson({
    version: manifest.version,
    entries,
    manifestHash: canonicalDigest(manifestJson, sha256),
    history,
  });
}

/** Nothing that was pinned once disappears. */
function historyAfter(before: PromptLock, entries: ReadonlyMap<string, LockEntry>, at: string | undefined): JsonObject {
  const history: Record<string, Json> = { ...before.history };
  for (const [id, entry] of before.entries) {
    const { version, hash, file, declared, lockedAt } = entry;
    const now = entries.get(id);
    if (hash === null || (now && isSamePin(entry, now))) continue;
    const past = Object.hasOwn(history, id) ? history[id] : undefined;
    const pin = { version, hash, file, ...told({ declared, locked_at: lockedAt, until: at ?? null }) };
    history[id] = [...(Array.isArray(past) ? past : []), pin];
  }
  return history;
}

type PinnedAs = Pick<LockEntry, 'hash' | 'version' | 'declared'>;

/** A lock of before that does not say what was declared says nothing against it. */
function isSamePin(past: PinnedAs, now: PinnedAs): boolean {
  const isDeclaredSo = past.declared === null || past.declared === now.declared;
  return past.hash === now.hash && past.version === now.version && isDeclaredSo;
}

/** The pins of an agent that were superseded, oldest first. */
export function pastPins(history: JsonObject, id: string): readonly PinnedAs[] {
  const past = Object.hasOwn(history, id) ? history[id] : undefined;
  return (Array.isArray(past) ? past : []).map(readEntry);
}

function told(members: Readonly<Record<string, string | null>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function readEntry(json: Json): LockEntry {
  // The shape that is only a map of hashes has no records.
  const entry = isObject(json) ? json : { hash: json };
  return {
    hash: isString(entry.hash) && HASH.test(entry.hash) ? entry.hash : null,
    file: text(entry.file),
    type: text(entry.type),
    version: text(entry.version),
    systemPrompt: text(entry.system_prompt),
    declared: text(entry.declared),
    lockedAt: text(entry.locked_at),
    approval: readApproval(entry),
  };
}

function unreadable(message: string): PromptLock {
  const diagnostics = [fatal('REGISTRY_MALFORMED', message)];
  return { version: null, entries: new Map(), manifestHash: null, history: {}, diagnostics };
}

function text(json: Json | undefined): string | null {
  return isString(json) ? json : null;
}

// What an agent was approved with beside its prompt: runner, model and tools. They are in the lock. A difference is
// reported.
export type ApprovedSetup = {
  readonly runner: string;
  readonly model: string | null;
  readonly tools: Json;
};

/** Null where the lock says nothing about it. */
function readApproval(entry: JsonObject): ApprovedSetup | null {
  const { runner, model = null, tools = 'none' } = entry;
  if (!isString(runner) || (model !== null && !isString(model))) return null;
  return { runner, model, tools: isString(tools) || isObject(tools) ? tools : 'none' };
}

function approvalJson(approval: ApprovedSetup | null): JsonObject {
  return approval ? { ...approval, pinned: isPinnedModel(approval.model) } : {};
}

/** The parts in which what is used now differs from what was approved. */
export function driftFrom(approved: ApprovedSetup | null, used: ApprovedSetup): readonly string[] {
  if (!approved) return [];
  return (['runner', 'model', 'tools'] as const).filter((part) => written(approved[part]) !== written(used[part]));
}

/** The order of a list of tools means nothing. */
function written(value: Json): string {
  const tools = isObject(value) && Array.isArray(value.tools) ? value.tools.map(String).toSorted() : null;
  return JSON.stringify(tools ?? value);
}
