// The two files of a registry as JSON: where they stand, and how their bytes are read.

import { parseJsonText } from '../dialects/json-text.ts';
import { type Json, nameOfType } from '../kernel/json.ts';
import { type Diagnostic, fatal } from './diagnostic.ts';

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
