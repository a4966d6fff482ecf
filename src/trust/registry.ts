// A registry: every agent that may take part in handoffs, what it declares, and whether its prompt is the pinned one.
// Built once from manifest, lock and prompts and never changed; one bad agent leaves the others usable. Look-ups go
// through a Map, where `constructor` and `__proto__` are ids like any other that nobody has.
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Approval } from './approval.ts';
import { driftOf } from './boundary-prose.ts';
import { digestOf, type Sha256 } from './canonical.ts';
import { checkComposition, remarksOnShares } from './composition.ts';
import { type Diagnostic, fatal, faulty, warning } from './diagnostic.ts';
import { type Lock, type LockEntry, readLock, toLockJson } from './lock.ts';
import { type AgentRecord, type Manifest, readManifest, toManifestJson } from './manifest.ts';
import { DEFAULT_POLICY } from './policy.ts';
import { checkPrompt, type ReadFile } from './prompt.ts';
import { isSemver } from './semver.ts';

export type Agent = Omit<AgentRecord, 'version'> & {
  /** The locked version; the manifest's where the lock gives none. */
  readonly version: string;
  /** Null when the lock has no usable hash. */
  readonly lockedHash: string | null;
  readonly bytesMatch: boolean;
  /** What it was approved with, where the lock says. */
  readonly approval: Approval | null;
  /** The very bytes that were hashed. */
  readonly prompt: Uint8Array | null;
  /** What is wrong with this agent, each under the code that refuses its handoffs. */
  readonly faults: readonly Diagnostic[];
};

export type Registry = {
  readonly usable: boolean;
  readonly version: string | null;
  readonly agents: ReadonlyMap<string, Agent>;
  /** Every scope some agent declares. */
  readonly scopes: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
  /** Identifies manifest and lock together, so that a verdict can be derived again. Null when unusable. */
  readonly digest: string | null;
  /** Manifest and lock in their normal forms. */
  readonly manifest: JsonObject;
  readonly lock: JsonObject;
  readonly sha256: Sha256;
};

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
    digest: digestOf({ manifest: normalManifest, lock: normalLock }, sha256),
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

function disagreements(manifest: Manifest, lock: Lock, manifestJson: Json, sha256: Sha256): Diagnostic[] {
  const found: Diagnostic[] = [];
  if (manifest.version === null || manifest.version !== lock.version) {
    found.push(fatal('REGISTRY_VERSION_SKEW', 'manifest and lock do not carry the same version'));
  } else if (!isSemver(manifest.version)) {
    found.push(fatal('REGISTRY_MALFORMED', 'the version of manifest and lock is not semver'));
  }
  const digest = digestOf(manifestJson, sha256);
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

// Findings that need the other agents.
function remarks(agent: Agent, agents: ReadonlyMap<string, Agent>): Diagnostic[] {
  const { id, collaboration } = agent;
  const broken = checkComposition({ agents }, agent, '', DEFAULT_POLICY);
  const named = [
    ...collaboration.allow.map((edge) => edge.target),
    ...(collaboration.deny === 'everybody' ? [] : collaboration.deny),
  ];
  const strangers = [...new Set(named)].filter((target) => !agents.has(target));
  return [
    ...broken.map(({ code, message }) => faulty(id, code, message)),
    ...remarksOnShares(agent),
    ...strangers.map((target) => warning(id, 'BOUNDARY_UNKNOWN_TARGET', `its boundaries name ${target.slice(0, 64)}`)),
    ...driftOf(agent, [...agents.keys()]),
  ];
}

function orphans(lock: Lock, agents: ReadonlyMap<string, Agent>): Diagnostic[] {
  return [...lock.entries.keys()]
    .filter((id) => !agents.has(id))
    .map((id) => warning(null, 'LOCK_ORPHAN', `the lock pins ${id.slice(0, 64)}, which the manifest does not list`));
}
