// A registry: every agent that may take part in handoffs, what it declares, and whether its prompt is the pinned one.
// Built once from manifest, lock and prompts and never changed; one bad agent leaves the others usable. Look-ups go
// through a Map, where `constructor` and `__proto__` are ids like any other that no agent has.
import { parseJsonText } from '../dialects/json-text.ts';
import { type Json, nameOfType } from '../kernel/json.ts';
import { type Diagnostic, fatal, faulty, remark } from '../kernel/trust/problem.ts';
import type { LoadedRegistry } from '../kernel/trust/state.ts';
import type { Agent, Registry } from './agent.ts';
import { checkComposition, driftOf, remarksOnShares } from './boundary.ts';
import { canonicalDigest, type Sha256 } from './canonical.ts';
import { checkPrompt, type LockEntry, type PromptLock, type ReadFile, readLock, toLockJson } from './lock.ts';
import { type AgentRecord, isSemver, type Manifest, readManifest, toManifestJson } from './manifest.ts';
import { TRUST_POLICY } from './stage.ts';

export function readRegistry(manifestJson: Json, lockJson: Json, read: ReadFile, sha256: Sha256): Registry {
  const manifest = readManifest(manifestJson);
  const lock = readLock(lockJson);
  const findings = [
    ...manifest.diagnostics,
    ...lock.diagnostics,
    ...disagreements(manifest, lock, manifestJson, sha256),
  ];
  if (findings.some((diagnostic) => diagnostic.level === 'fatal')) return unusable(findings, sha256);

  const agents = new Map<string, Agent>();
  for (const record of manifest.agents.values()) {
    agents.set(record.id, join(record, lock.entries.get(record.id), read, sha256));
  }
  const normalManifest = toManifestJson(manifest.version, manifest.agents.values());
  const normalLock = toLockJson(lock);
  return {
    usable: true,
    version: manifest.version,
    agents,
    scopes: new Set([...agents.values()].flatMap((agent) => agent.scopes)),
    diagnostics: [
      ...findings,
      ...[...agents.values()].flatMap((agent) => [...agent.faults, ...remarks(agent, agents)]),
      ...orphans(lock, agents),
    ],
    digest: canonicalDigest({ manifest: normalManifest, lock: normalLock }, sha256),
    manifest: normalManifest,
    lock: normalLock,
    sha256,
  };
}

/** A registry that refuses every handoff and says why. */
export function unusable(diagnostics: readonly Diagnostic[], sha256: Sha256): Registry {
  return {
    usable: false,
    version: null,
    agents: new Map(),
    scopes: new Set(),
    diagnostics,
    digest: null,
    manifest: {},
    lock: {},
    sha256,
  };
}

function disagreements(manifest: Manifest, lock: PromptLock, manifestJson: Json, sha256: Sha256): Diagnostic[] {
  const found: Diagnostic[] = [];
  if (manifest.version === null || manifest.version !== lock.version) {
    found.push(fatal('REGISTRY_VERSION_SKEW', 'manifest and lock do not carry the same version'));
  } else if (!isSemver(manifest.version)) {
    found.push(fatal('REGISTRY_MALFORMED', 'the version of manifest and lock is not semver'));
  }
  const digest = canonicalDigest(manifestJson, sha256);
  if (digest === null) {
    found.push(fatal('REGISTRY_NOT_JSON', 'the manifest holds text that is not well-formed Unicode'));
  } else if (lock.manifestHash !== null && lock.manifestHash !== digest) {
    found.push(fatal('REGISTRY_MANIFEST_TAMPERED', 'the manifest is not the one the lock was made for'));
  }
  return found;
}

function join(record: AgentRecord, entry: LockEntry | undefined, read: ReadFile, sha256: Sha256): Agent {
  const { id } = record;
  const faults: Diagnostic[] = [];
  if (record.canonicalId !== id) {
    faults.push(faulty(id, 'AGENT_UNKNOWN', 'its canonical_id is not its key in the manifest'));
  }
  if (entry && entry.type !== null && entry.type !== record.type) {
    faults.push(faulty(id, 'AGENT_TYPE_MISMATCH', 'manifest and lock give it different types'));
  }
  const version = entry?.version ?? record.version ?? '';
  if (!isSemver(version) || (record.version !== null && !isSemver(record.version))) {
    faults.push(faulty(id, 'VERSION_NOT_SEMVER', 'its version in the registry is not semver'));
  } else if (record.version !== null && record.version !== version) {
    faults.push(faulty(id, 'VERSION_MISMATCH', 'manifest and lock give it different versions'));
  }
  if (!entry) faults.push(faulty(id, 'LOCK_ENTRY_MISSING', 'the lock has no entry for it'));
  else if (entry.hash === null) faults.push(faulty(id, 'LOCK_ENTRY_MISSING', 'its lock entry holds no SHA-256'));
  const prompt = checkPrompt(id, record.file ?? entry?.file ?? null, entry, read, sha256);
  return {
    ...record,
    version,
    lockedHash: entry?.hash ?? null,
    approval: entry?.approval ?? null,
    bytesMatch: prompt.matches,
    prompt: prompt.bytes,
    faults: [...faults, ...prompt.diagnostics],
  };
}

/** Findings that need the other agents. */
function remarks(agent: Agent, agents: ReadonlyMap<string, Agent>): Diagnostic[] {
  const { id, collaboration } = agent;
  const broken = checkComposition({ agents }, agent, '', TRUST_POLICY);
  const named = [
    ...collaboration.allow.map((edge) => edge.target),
    ...(collaboration.deny === 'everybody' ? [] : collaboration.deny),
  ];
  const strangers = [...new Set(named)].filter((target) => !agents.has(target));
  return [
    ...broken.map(({ code, message }) => faulty(id, code, message)),
    ...remarksOnShares(agent),
    ...strangers.map((target) => remark(id, 'BOUNDARY_UNKNOWN_TARGET', `its boundaries name ${target.slice(0, 64)}`)),
    ...driftOf(agent, [...agents.keys()]),
  ];
}

function orphans(lock: PromptLock, agents: ReadonlyMap<string, Agent>): Diagnostic[] {
  return [...lock.entries.keys()]
    .filter((id) => !agents.has(id))
    .map((id) => remark(null, 'LOCK_ORPHAN', `the lock pins ${id.slice(0, 64)}, which the manifest does not list`));
}

/** `dir` is the folder of the registry within what `read` can see; empty for its root. */
export function loadRegistry(dir: string, read: ReadFile, sha256: Sha256): Registry {
  const within = (path: string) => (dir === '' ? path : `${dir.replace(/\/+$/, '')}/${path}`);
  const inside: ReadFile = Object.assign((path: string) => read(within(path)), {
    leaves: (path: string) => read.leaves?.(within(path)) ?? false,
  });
  const manifest = readRegistryJson('manifest', inside(MANIFEST_PATH));
  const lock = readRegistryJson('lock', inside(LOCK_PATH));
  const failed = [manifest, lock].filter((file) => 'code' in file);
  if ('code' in manifest || 'code' in lock) return unusable(failed, sha256);
  return readRegistry(manifest.json, lock.json, inside, sha256);
}

/** The two files of a registry as JSON: their paths, and how their bytes are read. */
export const MANIFEST_PATH = 'versions/prompt-manifest.json';
export const LOCK_PATH = 'versions/prompt-lock.json';
const FILE_BYTES_MAX = 16 * 1_048_576;

/** `name` is what a person calls the file. */
export function readRegistryJson(name: string, bytes: unknown): { readonly json: Json } | Diagnostic {
  if (bytes === null || bytes === undefined) {
    return fatal('REGISTRY_MISSING', `the ${name} is missing or cannot be read`);
  }
  if (!(bytes instanceof Uint8Array)) {
    return fatal('REGISTRY_MISSING', `the ${name} was read as ${nameOfType(bytes)}, not as bytes`);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return fatal('REGISTRY_NOT_JSON', `the ${name} is not UTF-8 text`);
  }
  const reading = parseJsonText(text, { maxBytes: FILE_BYTES_MAX });
  if (reading.ok) return { json: reading.value };
  return fatal('REGISTRY_NOT_JSON', `the ${name} is not strict JSON: ${reading.message} (line ${reading.line})`);
}

/** What of a registry is remembered with the log. Null where it cannot be used. */
export function loadedFrom(registry: Registry, lockHash: string): LoadedRegistry | null {
  if (!registry.usable || registry.digest === null) return null;
  const pins = [...registry.agents.values()].map(({ id, version, lockedHash }) => [
    id,
    { version, hash: lockedHash ?? '' },
  ]);
  return { digest: registry.digest, lock: lockHash, version: registry.version ?? '', agents: Object.fromEntries(pins) };
}
