// The one code of an answer that allows.
import type { CodeRow } from './row.ts';

export const ALLOWED_CODES = {
  OK: {
    http: 200,
    retry: 'never',
    means: 'the answer is yes: what was asked about keeps its contract, or may be done',
    cause: 'every check that applies was made and none of them refused',
    fix: 'nothing: go on; details.warnings may still hold remarks worth reading',
  },
} as const satisfies Record<string, CodeRow>;
