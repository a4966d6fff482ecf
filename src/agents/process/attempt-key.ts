// The secret of one attempt. Its supervisor makes it and hands it to the child alone, in the environment; the attempt's
// folder keeps only a digest, so that whoever can read the folder cannot speak as the attempt.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Loaded when it is used: it takes as long to load as the rest of a short command. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** The variable in which everything that an attempt starts inherits its secret. */
export const KEY = 'BATON_ATTEMPT_KEY';

const FILE = 'key';
const BYTES = 32;
const KEY_CHARS_MAX = 200;

/** A new secret for the attempt in this folder. It looks like our tokens, which are taken out of every text that is kept. */
export function makeKey(folder: string): string {
  const key = `baton_${crypto().randomBytes(BYTES).toString('base64url')}`;
  writeFileSync(join(folder, FILE), digestOf(key), { mode: 0o600 });
  return key;
}

/** Whether this is the secret of the attempt in this folder. */
export function isKeyOf(folder: string, key: string): boolean {
  if (key === '' || key.length > KEY_CHARS_MAX) return false;
  const kept = Buffer.from(readKept(folder));
  const given = Buffer.from(digestOf(key));
  return kept.length === given.length && crypto().timingSafeEqual(kept, given);
}

function digestOf(key: string): string {
  return crypto().hash('sha256', key, 'hex');
}

function readKept(folder: string): string {
  try {
    return readFileSync(join(folder, FILE), 'utf8');
  } catch {
    return ''; // It has none yet, or was cleared away.
  }
}
