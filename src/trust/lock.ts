// Which exact bytes each agent's prompt has, with which runner, model and tools it was approved, and whether the bytes on
// disk are the locked ones. A hash that is no hash is an entry that no prompt passes.
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { type Diagnostic, fatal, faulty } from '../kernel/trust/problem.ts';
import { canonicalDigest, type Sha256 } from './canonical.ts';
import { HASH_PATTERN } from './envelope.ts';
import { declaredBy, isPinnedModel, type Manifest, readManifest } from './manifest.ts';

export type LockEntry = {
  /** Null when the value is no SHA-256 in lower-case hex. */
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
        { file, hash, type, version, ...given({ declared, locked_at: lockedAt }), ...approvalJson(approval) },
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
    const pin = { version, hash, file, ...given({ declared, locked_at: lockedAt, until: at ?? null }) };
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

function given(members: Readonly<Record<string, string | null>>): JsonObject {
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

/** Gives the bytes of a file by its path relative to the registry, or null when it cannot. */
export type ReadFile = {
  (path: string): Uint8Array | null;
  /** Whether a path that looks harmless leads out of the registry all the same, through a link. */
  leaves?(path: string): boolean;
};

type Prompt = {
  readonly bytes: Uint8Array | null;
  readonly matches: boolean;
  readonly diagnostics: readonly Diagnostic[];
};

export function checkPrompt(
  agent: string,
  file: string | null,
  entry: LockEntry | undefined,
  read: ReadFile,
  sha256: Sha256,
): Prompt {
  const diagnostics: Diagnostic[] = [];
  const path = file === null ? null : safePath(file);
  if (file !== null && path === null) {
    diagnostics.push(faulty(agent, 'PROMPT_PATH', 'the path of its prompt leaves the registry'));
  }
  const stored = path === null ? null : read(path);
  const embedded = typeof entry?.systemPrompt === 'string' ? new TextEncoder().encode(entry.systemPrompt) : null;
  const bytes = stored ?? embedded;
  if (!bytes) {
    const isOutside = path !== null && read.leaves?.(path) === true;
    if (isOutside) diagnostics.push(faulty(agent, 'PROMPT_PATH', 'its prompt is a link that leaves the registry'));
    else if (diagnostics.length === 0)
      diagnostics.push(faulty(agent, 'PROMPT_MISSING', 'its prompt is missing or cannot be read'));
    return { bytes: null, matches: false, diagnostics };
  }
  const locked = entry?.hash ?? null;
  if (locked === null || diagnostics.length > 0) return { bytes, matches: false, diagnostics };
  // Where a lock embeds the prompt and names a file too, both must be the locked one.
  const differing = [stored, embedded].filter((part) => part !== null).filter((part) => sha256(part) !== locked);
  const [first] = differing;
  if (!first) return { bytes, matches: true, diagnostics };
  const message = `its prompt is not the one that was locked${newlineHint(first, locked, sha256)}`;
  return { bytes, matches: false, diagnostics: [faulty(agent, 'PROMPT_BYTES_MISMATCH', message)] };
}

/** Whether bytes are UTF-8: no text that could be sent has the hash of any others. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** A relative path with `/` that stays where it starts, without its `.` segments; null for any other. */
export function safePath(path: string): string | null {
  if (path === '' || path.startsWith('/') || /[\\\0]/.test(path) || /^[A-Za-z]:/.test(path)) return null;
  const segments = path.split('/').filter((segment) => segment !== '.');
  if (segments.length === 0 || segments.includes('..') || segments.includes('')) return null;
  return segments.join('/');
}

/** A checkout that converts line ends is the usual innocent cause. */
function newlineHint(bytes: Uint8Array, locked: string, sha256: Sha256): string {
  const unix = withoutCarriageReturns(bytes);
  if (sha256(unix) === locked) return '; with LF line ends it would be: turn text conversion off in .gitattributes';
  if (sha256(withCarriageReturns(unix)) === locked) {
    return '; with CRLF line ends it would be: turn text conversion off in .gitattributes';
  }
  return '';
}

const CR = 0x0d;
const LF = 0x0a;

function withoutCarriageReturns(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte, index) => !(byte === CR && bytes[index + 1] === LF));
}

function withCarriageReturns(bytes: Uint8Array): Uint8Array {
  const wide = new Uint8Array(bytes.length + bytes.reduce((count, byte) => count + (byte === LF ? 1 : 0), 0));
  let at = 0;
  for (const byte of bytes) {
    if (byte === LF) wide[at++] = CR;
    wide[at++] = byte;
  }
  return wide;
}
