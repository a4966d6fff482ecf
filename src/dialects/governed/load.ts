// Loads a registry through a function that reads files, so that disk, archive and memory are the same to it.
import { type Json, nameOfType } from '../../kernel/json.ts';
import { parseJsonText } from '../json-text.ts';
import type { Sha256 } from './canonical.ts';
import { type Diagnostic, fatal } from './diagnostic.ts';
import type { ReadFile } from './prompt.ts';
import { type Registry, readRegistry, unusable } from './registry.ts';

export const MANIFEST_PATH = 'versions/prompt-manifest.json';
export const LOCK_PATH = 'versions/prompt-lock.json';
const FILE_BYTES_MAX = 16 * 1_048_576;

/** `dir` is where the registry stands within what `read` can see; empty for its root. */
export function loadRegistry(dir: string, read: ReadFile, sha256: Sha256): Registry {
  const inside: ReadFile = (path) => read(dir === '' ? path : `${dir.replace(/\/+$/, '')}/${path}`);
  const manifest = readJson('manifest', inside(MANIFEST_PATH));
  const lock = readJson('lock', inside(LOCK_PATH));
  const failed = [manifest, lock].filter((file) => 'code' in file);
  if ('code' in manifest || 'code' in lock) return unusable(failed, sha256);
  return readRegistry(manifest.json, lock.json, inside, sha256);
}

function readJson(name: string, bytes: unknown): { readonly json: Json } | Diagnostic {
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
