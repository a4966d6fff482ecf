// Whether a registry is still the one that its lock was made for: the manifest and every prompt, by their hashes. A lock is
// written only for a registry that can be used, so that nothing else need be read and loaded to know that this one can.
// Whatever is not plainly so is left to the reader of registries, which says what is wrong.
import { isUtf8 } from 'node:buffer';
import { isObject, isString, type Json } from '../kernel/json.ts';
import { libraryText } from '../trust/library-text.ts';
import { readInside } from '../trust/read-inside.ts';

/** The locked hashes by agent; null where there is any doubt. `agents` are those of the manifest. */
export function lockedHashes(
  dir: string,
  manifest: Json,
  lock: Json,
  agents: ReadonlyMap<string, { readonly version: string | null }>,
): ReadonlyMap<string, string> | null {
  if (!isObject(manifest) || !isObject(lock) || lock.algorithm !== 'SHA-256' || lock.version !== manifest.version)
    return null;
  const { prompts, integrity } = lock;
  if (!isObject(prompts) || !isObject(integrity) || integrity.manifest_hash !== hashOf(manifest)) return null;
  const hashes = new Map<string, string>();
  for (const [id, entry] of Object.entries(prompts)) {
    if (!isObject(entry) || !isString(entry.file) || !isString(entry.hash) || 'systemPrompt' in entry) return null;
    if (!PLAIN.test(entry.file) || agents.get(id)?.version !== entry.version) return null;
    const bytes = readInside(dir, entry.file);
    if (!bytes || !isUtf8(bytes) || sha256(bytes) !== entry.hash) return null;
    hashes.set(id, entry.hash);
  }
  return hashes.size === agents.size ? hashes : null;
}

/** Names with no way out of the folder. */
const PLAIN = /^(?!.*(?:^|\/)\.\.?(?:\/|$))[\w.-]+(?:\/[\w.-]+)*$/;

function hashOf(value: Json): string | null {
  const text = libraryText(value);
  return text === undefined ? null : sha256(text);
}

export function sha256(content: Uint8Array | string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', content, 'hex');
}
