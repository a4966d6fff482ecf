// A registry in a folder: reads it, writes its lock, imports it from another folder, and attests the agent of a turn against it. A lock
// says which exact bytes each agent's prompt has. Manifest, lock and prompts are read once for each dispatch. While every byte stays the
// same, so does the result. The text that goes to the agent is hashed itself and compared with the pinned one.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseJsonText } from '../dialects/json-text.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { isHigher } from '../kernel/trust/quarantine.ts';
import type { LoadedRegistry, RegistryTexts, Sighting } from '../kernel/trust/state.ts';
import type { Member, TrustWatch } from '../kernel/trust/watch.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import type { Agent, Registry } from '../trust/agent.ts';
import { attest } from '../trust/attest.ts';
import { proseBoundaries } from '../trust/boundary.ts';
import { lockOf, type PromptLock, type ReadFile, type Relock, readLock, safePath } from '../trust/lock.ts';
import { type AgentRecord, toManifestJson } from '../trust/manifest.ts';
import { LOCK_PATH, loadedFrom, loadRegistry, MANIFEST_PATH, readRegistry } from '../trust/registry.ts';
import { hashBytes, loadRegistryFolder, readerOf } from '../trust/registry-folder.ts';
import { BUNDLED } from './find-config.ts';
import { readJsonFile } from './load-config.ts';

export type Pinned = {
  readonly file: string;
  /** The agents whose prompts are pinned now. An agent whose prompt cannot be read is not among them. */
  readonly agents: readonly string[];
  /** The agents whose pin differs from the earlier lock. */
  readonly changed: readonly string[];
  /** Those of them without a higher version. */
  readonly sameVersion: readonly string[];
};

/** The pinned prompts, one file for each agent, for comparison and for prompts without another file. */
export function pinnedPath(id: string): string {
  return `versions/pinned/${id}.md`;
}

/** The input of a lock. `read` reads prompts that are not in the folder. */
export type Locking = Omit<Relock, 'before'> & { readonly read?: ReadFile };

/** Whether the folder already has a manifest or a lock, which an import must not overwrite. */
export function hasRegistry(dir: string): boolean {
  return [MANIFEST_PATH, LOCK_PATH].some((path) => existsSync(join(dir, path)));
}

/**
 * Pins every agent of the folder's manifest to the bytes its prompt has now. An older lock is replaced atomically. Its
 * different pins stay in the history of the new one.
 */
export function writeRegistryLock(dir: string, { read = readerOf(dir), ...relock }: Locking = {}): Pinned {
  const before = lockIn(dir);
  const json = lockOf(readJsonFile(join(dir, MANIFEST_PATH)), read, hashBytes, {
    ...relock,
    ...(before ? { before } : {}),
  });
  const file = join(dir, LOCK_PATH);
  mkdirSync(dirname(file), { recursive: true });
  const now = readLock(json);
  for (const [id, entry] of now.entries) {
    const bytes = entry.file === null ? null : read(entry.file);
    if (bytes && hashBytes(bytes) === entry.hash) replace(join(dir, pinnedPath(id)), bytes);
  }
  writeWhole(file, json);
  const changed = before ? [...now.entries.keys()].filter((id) => isRepinned(before, now, id)) : [];
  const sameVersion = changed.filter(
    (id) => !isHigher(now.entries.get(id)?.version ?? '', before?.entries.get(id)?.version ?? ''),
  );
  return { file, agents: isObject(json.prompts) ? Object.keys(json.prompts) : [], changed, sameVersion };
}

/** The registry with this manifest and such a lock. Nothing is written. */
export function registryOnceLocked(
  dir: string,
  manifest: Json,
  { read = readerOf(dir), ...relock }: Locking = {},
): Registry {
  const before = lockIn(dir);
  return readRegistry(
    manifest,
    lockOf(manifest, read, hashBytes, { ...relock, ...(before ? { before } : {}) }),
    read,
    hashBytes,
  );
}

/** A reader sees the old or the new file, never a part. */
export function writeWhole(file: string, json: unknown): void {
  replace(file, `${JSON.stringify(json, null, 2)}\n`);
}

/** A link is replaced, and its target stays unchanged. */
function replace(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}.draft`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, content);
  renameSync(draft, file);
}

function isRepinned(before: PromptLock, now: PromptLock, id: string): boolean {
  const hash = before.entries.get(id)?.hash ?? null;
  return hash !== null && hash !== now.entries.get(id)?.hash;
}

/** Nothing can be taken from an unreadable lock. */
export function lockIn(dir: string): PromptLock | null {
  try {
    const parsed = parseJsonText(readFileSync(join(dir, LOCK_PATH), 'utf8'));
    return parsed.ok ? readLock(parsed.value) : null;
  } catch {
    return null;
  }
}

// A registry as it lies in a folder, read when it is asked for.
/** A registry with the digest of its lock's bytes and, if it is usable, its form for the log. */
type RegistryKept = {
  readonly registry: Registry;
  readonly lockHash: string;
  readonly loaded: LoadedRegistry | null;
  readonly texts: RegistryTexts | null;
};

/**
 * The registry of a project in the form for its log, or null. An unusable one has no agents, so no agent is dispatched before
 * it is repaired.
 */
export function registryFound(
  dir: string,
): (Pick<RegistryKept, 'loaded' | 'texts'> & { readonly loaded: LoadedRegistry }) | null {
  const home = join(dir, '.baton');
  if (!hasRegistry(home)) return null;
  const { loaded, lockHash, texts } = keeperOf(home)();
  return { loaded: loaded ?? { digest: '', lock: lockHash, version: '', agents: {} }, texts };
}

/** Reads a registry's folder, and evaluates it again only after a change. */
export function keeperOf(dir: string): () => RegistryKept {
  const read = readerOf(dir);
  let known: RegistryKept | null = null;
  let files = new Map<string, Uint8Array | null>();
  return () => {
    if (known && [...files].every(([path, bytes]) => isSame(bytes, read(path)))) return known;
    files = new Map();
    const note = (path: string) => {
      const bytes = read(path);
      files.set(path, bytes);
      return bytes;
    };
    const noting: ReadFile = Object.assign(note, { leaves: (path: string) => read.leaves?.(path) ?? false });
    const registry = loadRegistry('', noting, hashBytes);
    const lockHash = hashBytes(files.get(LOCK_PATH) ?? new Uint8Array());
    const loaded = loadedFrom(registry, lockHash);
    known = { registry, lockHash, loaded, texts: loaded && textsOf(files) };
    return known;
  };
}

function textsOf(files: ReadonlyMap<string, Uint8Array | null>): RegistryTexts {
  const text = (path: string) => Buffer.from(files.get(path) ?? []).toString('utf8');
  return { manifest: text(MANIFEST_PATH), lock: text(LOCK_PATH) };
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0;
}

// Imports a registry of any known form from another folder: its agents, compositions and boundaries in our form, and the
// prompts with the locked bytes. Boundaries that only a prompt states in prose are recorded for a person to confirm.
/** `home` is the `.baton` folder, `at` the time of the import. Nothing is written unless everything is valid. */
export function importRegistry(from: string, home: string, at: string): Verdict {
  const registry = loadRegistryFolder(from);
  const refusal = refusalOf(registry, home);
  if (refusal) return refusal;
  const ids = [...registry.agents.keys()];
  const agents = [...registry.agents.values()].map((agent) => taken(agent, ids));
  const clash = agents.find(({ record, bytes }) => bytes && isOther(join(home, record.file ?? ''), bytes));
  if (clash) {
    const reason = `${clash.record.file} is there already with another text; move it away, then import again`;
    return deny('PROMPT_PATH', reason, { agent: clash.record.id, file: clash.record.file });
  }
  for (const { record, bytes } of agents) if (bytes && record.file !== null) put(join(home, record.file), bytes);
  const manifest = toManifestJson(
    registry.version,
    agents.map(({ record }) => record),
  );
  mkdirSync(join(home, dirname(MANIFEST_PATH)), { recursive: true });
  writeWhole(join(home, MANIFEST_PATH), manifest);
  writeRegistryLock(home, { at });
  const fromProse = agents.filter(({ isProse }) => isProse).map(({ record }) => record.id);
  const warnings = registry.diagnostics.map(({ code, agent, message }) => ({ code, agent, message }));
  return allow(`${ids.length} agents imported and locked`, { agents: ids, boundariesFromProse: fromProse, warnings });
}

function refusalOf(registry: Registry, home: string): Denied | null {
  if (hasRegistry(home)) {
    const reason = 'this workspace has a registry already; move .baton/versions away first';
    return deny('NOT_ALLOWED_NOW', reason, {});
  }
  const problems = registry.diagnostics.filter(({ level }) => level !== 'warning');
  const [first] = problems;
  if (!first) return null;
  const found = problems.map(({ code, agent, message }) => ({ code, agent, message }));
  const who = first.agent === null ? '' : `${first.agent}: `;
  return deny(first.code, `${who}${first.message}; nothing was imported`, { problems: found });
}

type Taken = { readonly record: AgentRecord; readonly bytes: Uint8Array | null; readonly isProse: boolean };

function taken(agent: Agent, ids: readonly string[]): Taken {
  const { prompt, file, id } = agent;
  const says = agent.collaboration.allow.length > 0 || agent.collaboration.deny.length > 0;
  const prose = says || !prompt ? null : proseBoundaries(new TextDecoder().decode(prompt), ids);
  // A prompt inside the lock has no file yet.
  const place = (file !== null && safePath(file)) || `prompts/${id}.md`;
  const record = { ...agent, file: place, ...(prose ? { collaboration: prose } : {}) };
  return { record, bytes: prompt, isProse: prose !== null };
}

function isOther(file: string, bytes: Uint8Array): boolean {
  return existsSync(file) && Buffer.compare(readFileSync(file), bytes) !== 0;
}

function put(file: string, bytes: Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}

type Attester = (watch: TrustWatch, handoffId: string, timestamp: string) => Sighting;

const NOWHERE: Sighting = { origin: 'none', registry: null, attestation: null, envelope: null, refusal: null };

/** `dir` is the project. Its own registry counts, or that of the bundled loadouts if it never had one. */
export function attesterOf(dir: string): Attester {
  const own = keeperOf(join(dir, '.baton'));
  const bundled = keeperOf(dirname(BUNDLED));
  return (watch, handoffId, timestamp) => {
    const given = { handoffId, mediationId: randomUUID(), timestamp, promptHash: hashBytes(watch.prompt) };
    if (watch.isOn || hasRegistry(join(dir, '.baton'))) {
      const { registry, lockHash, loaded, texts } = own();
      const isKnown = watch.inForce?.digest === loaded?.digest && watch.inForce?.lock === loaded?.lock;
      const more = texts && !isKnown ? { texts } : {};
      return { origin: 'workspace', registry: loaded, ...more, ...attest(registry, lockHash, watch, given) };
    }
    const { registry, lockHash, loaded } = bundled();
    // A cast is attested completely or not at all, so that `trust: on` does not hide unattested agents.
    if (![...watch.team, { identity: watch.target, prompt: watch.prompt }].every(isPinnedIn(registry))) return NOWHERE;
    return { origin: 'bundled', registry: loaded, ...attest(registry, lockHash, watch, given) };
  };
}

/** Whether an agent, by its identity and its prompt, ships with the product. */
export function bundledAgents(): (identity: string | null, prompt: string) => boolean {
  const isPinned = isPinnedIn(keeperOf(dirname(BUNDLED))().registry);
  return (identity, prompt) => isPinned({ identity, prompt });
}

function isPinnedIn({ agents }: Registry): (member: Member) => boolean {
  return ({ identity, prompt }) => agents.get(identity ?? '')?.lockedHash === hashBytes(prompt);
}
