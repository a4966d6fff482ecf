// Codes of approvals and of shared knowledge.
import type { CodeRow } from './row.ts';

/** What waits for a person, and why an approved command may not run. */
export const APPROVAL_CODES = {
  APPROVAL_NEEDED: {
    http: 403,
    retry: 'person',
    means: 'a command changes state and was not approved',
    cause: 'an agent was about to run a command of tier T3; a sealed approval waits now under the id in details',
    fix: 'report APPROVAL_REQUEST with that approval_id and end the turn; once a person approved it, run `baton exec --approval ID -- …`',
  },
  APPROVAL_PENDING: {
    http: 409,
    retry: 'later',
    means: 'the approval was asked for and not decided',
    cause: '`baton exec` was called before a person approved',
    fix: 'a person says `baton approve ID` or `baton reject ID`; then run it',
  },
  APPROVAL_REJECTED: {
    http: 403,
    retry: 'never',
    means: 'a person rejected it',
    cause: '`baton reject` was called for this approval',
    fix: 'do not run it; look at the reason, and ask for something else',
  },
  APPROVAL_EXPIRED: {
    http: 410,
    retry: 'person',
    means: 'no decision came in time, or the approved command was not run in time',
    cause: 'approvals.pendingHours or approvals.grantMinutes went by',
    fix: 'ask again; a new approval is made, and a person decides again; a cast that waits for it tells its agent when it is carried on, with `baton continue CAST`',
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
    cause: 'it destroys what cannot be restored, grants itself what only people grant, or is in approvals.blocked',
    fix: 'do it another way; a person who wants it runs it without an agent',
  },
} as const satisfies Record<string, CodeRow>;

/** Codes of what a workspace knows: sections that agents and people write, and what is suggested to be remembered. */
export const KNOWLEDGE_CODES = {
  PAYLOAD_NOT_OBJECT: {
    http: 422,
    retry: 'repaired',
    means: 'what was to be written to a section is not an object',
    cause: 'the payload is a list, a text, a number or null; a section is merged member by member',
    fix: 'write an object with the members to add or to update',
  },
  LIVE_STATE: {
    http: 422,
    retry: 'repaired',
    means: 'what was to be written is what a running system happens to be at the moment',
    cause:
      'the words on the way to a value name something that runs, and how many there are, how it is or where it is; or a text has the form of an address or of an id that a cloud gave',
    fix: 'leave out the places that the reason names; write what exists in the project, what is wanted below a word such as `spec` or `desired`, and look the rest up when it is needed',
  },
  SECTION_NAME_INVALID: {
    http: 422,
    retry: 'repaired',
    means: 'a section of the shared knowledge cannot be called so',
    cause:
      'the name is empty, too long, is `memory` or `evidence`, or has characters other than letters, digits, dot, dash and underscore',
    fix: 'choose a name of at most 64 letters, digits, dots, dashes and underscores that begins with a letter or digit',
  },
  SECTION_TOO_LARGE: {
    http: 413,
    retry: 'repaired',
    means: 'a section would be larger than one may be',
    cause: 'merged with what is stored the section takes more than 64 KiB',
    fix: 'write less, use another section, or let a person shorten it with `baton context set SECTION FILE --replace`',
  },
  CONTEXT_LIMIT: {
    http: 409,
    retry: 'person',
    means: 'the shared knowledge takes no more',
    cause: 'there are 256 sections already, or one report writes more than 64 entries',
    fix: 'combine what belongs to one section into one entry; use a section that is there',
  },
  EVIDENCE_INVALID: {
    http: 422,
    retry: 'repaired',
    means: 'a piece of evidence that a report deposits lacks the promised shape; none of its evidence is taken',
    cause:
      'brief_id is no whole number, ac_id is blank, type is none of the five, or not exactly one of text and artifact_path is given',
    fix: 'correct the member that the path names and deposit all evidence of the report again',
  },
  EVIDENCE_OUTSIDE: {
    http: 422,
    retry: 'repaired',
    means:
      'a file that is named as evidence does not lie in the workspace; none of the evidence of the report is taken',
    cause: 'artifact_path is absolute, climbs out with `..`, or goes through a link that leads elsewhere',
    fix: 'copy the file into the folder you work in and name it relative to that',
  },
  EVIDENCE_TOO_LARGE: {
    http: 413,
    retry: 'repaired',
    means: 'a piece of evidence is larger than one may be; none of the evidence of the report is taken',
    cause: 'the text takes more than 64 KiB, or the file more than 64 MiB',
    fix: 'deposit the part that shows it; write a long text to a file and name its path',
  },
  EVIDENCE_WITHHELD: {
    http: 422,
    retry: 'repaired',
    means: 'a piece of evidence is in order and not taken, because another one of the same report is not',
    cause: 'the evidence of a report is taken all together or not at all',
    fix: 'correct the other one, and deposit all of it again',
  },
  EVIDENCE_MISSING: {
    http: 404,
    retry: 'repaired',
    means: 'a file that is named as evidence is not there; the evidence is taken all the same',
    cause: 'the report names an artifact_path at which nothing was found when the turn ended',
    fix: 'write the file before reporting, or correct the path and deposit it again',
  },
  CONTEXT_UNCHANGED: {
    http: 200,
    retry: 'never',
    means: 'a section holds all of what was written to it already, so that it got no new version',
    cause: 'the payload repeats members that are stored with the same values',
    fix: 'nothing; leave the entry out next time',
  },
  UNKNOWN_SECTION: {
    http: 404,
    retry: 'repaired',
    means: 'there is no such section',
    cause: 'nothing was ever written under this name',
    fix: '`baton context show` lists the sections',
  },
  UNKNOWN_VERSION: {
    http: 404,
    retry: 'repaired',
    means: 'the section never had this version',
    cause: 'versions are numbered from 1; 0 means the section before anything was written to it',
    fix: '`baton context history SECTION` lists the versions',
  },
  UNKNOWN_MEMORY: {
    http: 404,
    retry: 'repaired',
    means: 'there is no such suggestion and no such memory',
    cause: 'the id was never given, or somebody has decided about it already',
    fix: '`baton memory list` shows what waits; with --all what was accepted, too',
  },
  MEMORY_FULL: {
    http: 409,
    retry: 'person',
    means: 'no more can be remembered',
    cause: '256 suggestions were accepted, or 500 wait for a person',
    fix: 'drop what is not needed any more with `baton memory drop ID --reason TEXT`',
  },
} as const satisfies Record<string, CodeRow>;
