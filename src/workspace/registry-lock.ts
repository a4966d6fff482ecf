// The lock of a registry folder on disk: which exact bytes each agent's prompt has.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseJsonText } from '../dialects/json-text.ts';
import { isObject } from '../kernel/json.ts';
import { isHigher } from '../kernel/trust/version.ts';
import { type Lock, lockOf, type Relock, readLock } from '../trust/lock.ts';
import { type Registry, readRegistry } from '../trust/registry.ts';
import { readerOf, sha256 } from '../trust/registry-folder.ts';
import { LOCK_PATH, MANIFEST_PATH } from '../trust/registry-json.ts';
import { readJsonFile } from './load-config.ts';

export type Pinned = {
  readonly file: string;
  /** The agents whose prompts are pinned now. An agent whose prompt cannot be read is not among them. */
  readonly agents: readonly string[];
  /** The agents whose pin is another one than in the lock before. */
  readonly changed: readonly string[];
  /** Of these, the ones whose version was not raised. */
  readonly sameVersion: readonly string[];
};

/** Whether the folder already says who exists or which bytes are pinned: then neither is for others to write. */
export function hasRegistry(dir: string): boolean {
  return [MANIFEST_PATH, LOCK_PATH].some((path) => existsSync(join(dir, path)));
}

/**
 * Pins every agent of the folder's manifest to the bytes its prompt has now. An older lock is replaced, whole or not at
 * all; what it pinned otherwise is kept in the history of the new one.
 */
export function writeRegistryLock(dir: string, relock: Omit<Relock, 'before'> = {}): Pinned {
  const before = lockIn(dir);
  const json = lockOf(readJsonFile(join(dir, MANIFEST_PATH)), readerOf(dir), sha256, {
    ...relock,
    ...(before ? { before } : {}),
  });
  const file = join(dir, LOCK_PATH);
  mkdirSync(dirname(file), { recursive: true });
  writeWhole(file, json);
  const now = readLock(json);
  const changed = before ? [...now.entries.keys()].filter((id) => isRepinned(before, now, id)) : [];
  const sameVersion = changed.filter(
    (id) => !isHigher(now.entries.get(id)?.version ?? '', before?.entries.get(id)?.version ?? ''),
  );
  return { file, agents: isObject(json.prompts) ? Object.keys(json.prompts) : [], changed, sameVersion };
}

/** The registry as it would be with such a lock; nothing is written. */
export function registryOnceLocked(dir: string, relock: Omit<Relock, 'before'> = {}): Registry {
  const before = lockIn(dir);
  const manifest = readJsonFile(join(dir, MANIFEST_PATH));
  const read = readerOf(dir);
  return readRegistry(
    manifest,
    lockOf(manifest, read, sha256, { ...relock, ...(before ? { before } : {}) }),
    read,
    sha256,
  );
}

/** A reader meets the old file or the new one, never half of one. */
export function writeWhole(file: string, json: unknown): void {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, `${JSON.stringify(json, null, 2)}\n`);
  renameSync(draft, file);
}

function isRepinned(before: Lock, now: Lock, id: string): boolean {
  const hash = before.entries.get(id)?.hash ?? null;
  return hash !== null && hash !== now.entries.get(id)?.hash;
}

/** A lock that cannot be read has nothing to be taken over. */
function lockIn(dir: string): Lock | null {
  try {
    const parsed = parseJsonText(readFileSync(join(dir, LOCK_PATH), 'utf8'));
    return parsed.ok ? readLock(parsed.value) : null;
  } catch {
    return null;
  }
}
