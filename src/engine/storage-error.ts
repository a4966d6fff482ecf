// What adapters throw: a fault of the storage, and a turn that cannot be inspected.
import type { Code } from '../kernel/codes.ts';

/** A person can repair it: one line says what, where and how. It is never the fault of what was submitted. */
export class StorageError extends Error {
  readonly code: Code;
  /** What is stored is damaged. Otherwise it could not be reached, which says nothing about what it holds. */
  readonly isDamage: boolean;
  constructor(code: Code, message: string, options: { cause?: unknown; isDamage?: boolean } = {}) {
    super(message, options);
    this.code = code;
    this.isDamage = options.isDamage ?? false;
  }
}

/** Nothing is decided on a history that is not whole, and nothing is told of it as if it were. */
export function missingEntry(seq: number): StorageError {
  const how = '`baton audit verify` says what is wrong with it; put a copy of the state folder back';
  return new StorageError('STORAGE_FAILED', `entry ${seq} of the log is missing: ${how}`);
}

/** A witness cannot tell what a turn changes, and the turn must be inspectable: it ends the turn. */
export class Uninspectable extends Error {}
