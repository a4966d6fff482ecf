// The version of the contract a payload was written for. Only the major number decides, and an unknown one is refused:
// a validator that does not know the rules must not guess them.
import type { Json } from '../../kernel/json.ts';
import { MAJOR_VERSION } from './contract.ts';
import type { Findings } from './findings.ts';

/** Whether the text before the first dot is exactly the supported number. */
export function isSupported(version: Json | undefined): boolean {
  return typeof version === 'string' && version.split('.', 1)[0] === MAJOR_VERSION;
}

export function checkVersion(found: Findings, version: Json | undefined): void {
  if (isSupported(version)) return;
  const message = `must name a supported version; emit "schema_version": "${MAJOR_VERSION}.x.y"`;
  found.add('UNKNOWN_SCHEMA_VERSION', 'schema_version', message, { supported: `${MAJOR_VERSION}.x.y` });
}
