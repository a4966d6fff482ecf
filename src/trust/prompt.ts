// The prompt of one agent: whether its bytes are the locked ones. The bytes are hashed exactly as stored, and the buffer
// that was hashed is the one that may be handed to a model.

import { type Diagnostic, faulty } from '../kernel/trust/problem.ts';
import type { Sha256 } from './canonical.ts';
import type { LockEntry } from './lock.ts';

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

// A checkout that converts line ends is the usual innocent cause.
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
