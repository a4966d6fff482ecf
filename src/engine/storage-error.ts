// A fault of the storage behind a log, which a person can mend: one line that says what, where and how. It is never the
// fault of what was submitted.
import type { Code } from '../kernel/codes.ts';

export class StorageError extends Error {
  readonly code: Code;
  constructor(code: Code, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}
