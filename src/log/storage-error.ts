// A fault of the storage that a person can mend: one line that says what, where and how.
import type { Code } from '../kernel/codes.ts';

export class StorageError extends Error {
  readonly code: Code;
  constructor(code: Code, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}
