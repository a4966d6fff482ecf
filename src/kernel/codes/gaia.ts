// Codes of the turn: what an agent reports, and what it may write.
import type { CodeRow } from './row.ts';

export const GAIA_CODES = {
  WRITE_NOT_PERMITTED: {
    http: 403,
    retry: 'repaired',
    means: 'a context section was written that the agent may not write',
    fix: 'write only sections listed in write_permissions.writable_sections',
  },
  ILLEGAL_TRANSITION: {
    http: 409,
    retry: 'repaired',
    means: 'the reported plan_status cannot follow the one before it',
    fix: 'report a status that may follow, as listed in details',
  },
  RETRY_LIMIT: {
    http: 409,
    retry: 'person',
    means: 'IN_PROGRESS was reported more often in a row than is allowed',
    fix: 'finish, or report BLOCKED or NEEDS_INPUT',
  },
} as const satisfies Record<string, CodeRow>;
