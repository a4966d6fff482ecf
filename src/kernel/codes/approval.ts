// Codes of approvals: what waits for a person, and why what was approved may not run as it is presented.
import type { CodeRow } from './row.ts';

export const APPROVAL_CODES = {
  APPROVAL_NEEDED: {
    http: 403,
    retry: 'person',
    means: 'a command changes state and nobody has approved it',
    cause: 'an agent was about to run a command of tier T3; a sealed approval waits now under the id in details',
    fix: 'report APPROVAL_REQUEST with that approval_id and end the turn; once a person approved it, run `baton exec --approval ID -- …`',
  },
  APPROVAL_PENDING: {
    http: 409,
    retry: 'later',
    means: 'the approval was asked for and not decided',
    cause: '`baton exec` was called before a person said yes',
    fix: 'a person says `baton approve ID` or `baton reject ID`; then run it',
  },
  APPROVAL_REJECTED: {
    http: 403,
    retry: 'never',
    means: 'a person said no',
    cause: '`baton reject` was said for this approval',
    fix: 'do not run it; look at the reason, and ask for something else',
  },
  APPROVAL_EXPIRED: {
    http: 410,
    retry: 'person',
    means: 'nobody decided in time, or what was approved was not run in time',
    cause: 'approvals.pendingHours or approvals.grantMinutes went by',
    fix: 'ask again; a new approval is made, and a person decides anew; a cast that waits for it tells its agent when it is carried on, with `baton continue CAST`',
  },
  APPROVAL_WITHDRAWN: {
    http: 410,
    retry: 'never',
    means: 'what asked for the approval ended, or went on without it',
    cause: 'its turn was accepted or sent on, its agent reported something else, or its cast is over',
    fix: 'there is nothing to decide any more; an agent that still wants it asks again',
  },
  APPROVAL_USED: {
    http: 409,
    retry: 'person',
    means: 'the approval is used up, or runs at this moment',
    cause: 'each command of an approval runs once',
    fix: 'ask again if it has to run another time',
  },
  APPROVAL_MISMATCH: {
    http: 409,
    retry: 'repaired',
    means: 'what is to be run is not what was approved',
    cause:
      'an argument, the folder, a program, a file, a variable, the policy or the requester differs; details.differences names each',
    fix: 'run it exactly as it was approved, or ask for an approval of what it is now',
  },
  ENVIRONMENT_CHANGED: {
    http: 409,
    retry: 'repaired',
    means: 'a variable that the command is handed has another value than when it was asked for',
    cause:
      'HOME, a variable in `env` of the materia or one in approvals.env was set, changed or taken away; details.differences names each',
    fix: 'set the variable to the value it had, or ask for an approval with the value it has now',
  },
  DECISION_UNSEALED: {
    http: 403,
    retry: 'person',
    means: 'the yes in the log is not sealed with the key of this user',
    cause:
      'it was given to a version that did not seal decisions, was sealed with another key, or was written into the log by somebody else',
    fix: 'a person looks at the command and says `baton approve ID` again; `baton audit verify` shows whether the yes was forged',
  },
  APPROVAL_NOT_RUN: {
    http: 422,
    retry: 'repaired',
    means: 'a report says that a command ran which never ran under its approval',
    cause: 'evidence_report.commands_run names a command whose approval was refused, expired, or given and not used',
    fix: 'run it with `baton exec --approval ID -- …` while the approval holds, or report what was really done',
  },
  APPROVAL_IN_WORDS: {
    http: 409,
    retry: 'repaired',
    means: 'the approval is a permission in words and covers no command',
    cause: 'the approval_request named no command in exact_content or command_set',
    fix: 'ask for the command itself, word for word; what was agreed to in words needs no `baton exec`',
  },
  UNKNOWN_APPROVAL: {
    http: 404,
    retry: 'never',
    means: 'there is no such approval',
    cause: 'the id was misspelt, shortened too much, or belongs to another workspace',
    fix: '`baton approvals` lists what is open',
  },
  COMMAND_BLOCKED: {
    http: 403,
    retry: 'never',
    means: 'the command can never be approved',
    cause: 'it destroys what nobody can bring back, grants itself what people grant, or stands in approvals.blocked',
    fix: 'do it another way; a person who wants it runs it without an agent',
  },
} as const satisfies Record<string, CodeRow>;
