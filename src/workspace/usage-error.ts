// Something a person asked for cannot be done as it was asked: a wrong option, a name that means nothing, a file that
// cannot be read. One line says what is wrong and how to mend it.
import type { Code } from '../kernel/codes.ts';
import type { JsonObject } from '../kernel/json.ts';

export class UsageError extends Error {
  readonly code: Code;
  readonly details: JsonObject;
  constructor(message: string, code: Code = 'BAD_USAGE', details: JsonObject = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
