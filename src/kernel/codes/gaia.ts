// Codes of the turn: what an agent reports, and what it may write.
import type { CodeRow } from './row.ts';

export const GAIA_CODES = {
  WRITE_NOT_PERMITTED: {
    http: 403,
    retry: 'repaired',
    means: 'a context section was written that the agent may not write',
    cause: 'update_contracts names a section that the INPUT did not list as writable for this agent',
    fix: 'write only sections listed in write_permissions.writable_sections',
  },
  ILLEGAL_TRANSITION: {
    http: 409,
    retry: 'repaired',
    means: 'the reported plan_status cannot follow the one before it',
    cause: 'the agent reported a status that its last one does not lead to, such as anything after COMPLETE',
    fix: 'report a status that may follow, as listed in details',
  },
  RETRY_LIMIT: {
    http: 409,
    retry: 'person',
    means: 'IN_PROGRESS was reported more often in a row than is allowed',
    cause: 'the agent said three times in a row that it is still at work',
    fix: 'finish, or report BLOCKED or NEEDS_INPUT',
  },
} as const satisfies Record<string, CodeRow>;
