// Codes of a turn: why an attempt gave no answer, and what is wrong with a report.
import type { CodeRow } from './row.ts';

/** Why an attempt gave no answer, why one waits, and who may not answer. */
export const AGENT_CODES = {
  AGENT_UNAVAILABLE: {
    http: 503,
    retry: 'person',
    means: 'the runner of a turn cannot be used on this machine',
    cause: 'its program is not installed or cannot be started, or it lacks the tools that the materia asks for',
    fix: '`baton agents` shows what is installed; install the program, name another runner or a fallback, then recast',
  },
  PREFLIGHT_FAILED: {
    http: 409,
    retry: 'person',
    means: 'a cast was not started, because something that it needs is missing',
    cause:
      'a look at the machine before the first turn found too little space, a folder that cannot be written, or the like',
    fix: 'the reason names it and says how to repair it; `baton doctor` looks again',
  },
  CONFIRMATION_NEEDED: {
    http: 409,
    retry: 'person',
    means: 'a person has to agree first, and no person could be asked',
    cause: 'a cast would use a bundled loadout that was not named, or its agents would write in the folder itself',
    fix: 'the reason names the option that says yes; at a terminal the question is asked instead',
  },
  AUTH_REQUIRED: {
    http: 401,
    retry: 'person',
    means: 'no account is signed in at the provider of an agent',
    cause: 'no key is set, the key was refused, or the sign-in of the program has expired',
    fix: 'sign in with the program itself or set its key, check with `baton agents test`, then recast',
  },
  MODEL_UNAVAILABLE: {
    http: 404,
    retry: 'person',
    means: 'the model of a materia cannot be had',
    cause: 'its name is misspelt, it was retired, or the account may not use it',
    fix: 'name a model this account can use, or list fallbacks, then recast',
  },
  RATE_LIMITED: {
    http: 429,
    retry: 'later',
    means: 'the provider wants to be left alone for a while',
    cause: 'more requests or tokens were used in a time than the account allows',
    fix: 'nothing for a short limit: it is waited for; for a long one recast later, or list fallbacks',
  },
  CONTEXT_OVERFLOW: {
    http: 413,
    retry: 'repaired',
    means: 'a turn is more than the window of its model holds',
    cause: 'the brief, or what the agent read with its tools, grew longer than the model can take in',
    fix: 'shorten the prompt, lower limits.maxBriefBytes, split the work item, or use a model with a larger window',
  },
  SESSION_LOST: {
    http: 410,
    retry: 'later',
    means: 'the conversation to continue is gone',
    cause: 'the program that kept it has cleaned up, or its folder was moved or emptied',
    fix: 'nothing: the turn goes on in a new conversation that gets everything again',
  },
  PROVIDER_ERROR: {
    http: 502,
    retry: 'later',
    means: 'the provider of a model had a fault of its own',
    cause: 'its servers were overloaded or answered with a status of 500 or more, several times in a row',
    fix: 'recast later, or list a fallback with another provider',
  },
  MODEL_SILENT: {
    http: 504,
    retry: 'later',
    means: 'a model did not answer for too long',
    cause: 'its provider hangs, or the model thinks for longer than `limits.modelSilenceMs` without a word',
    fix: 'recast later, list a fallback with another provider, or raise `limits.modelSilenceMs`',
  },
  PROVIDER_UNREACHABLE: {
    http: 503,
    retry: 'later',
    means: 'the provider of a model could not be reached',
    cause: 'there is no network, a proxy or baseUrl is wrong, or the connection was cut in the middle of an answer',
    fix: 'check the network and the baseUrl of the materia, then recast',
  },
  REQUEST_REFUSED: {
    http: 400,
    retry: 'person',
    means: 'the provider takes the request for wrong',
    cause: 'an argument, a model setting or the text itself is something the provider does not accept',
    fix: 'read what the provider says in the reason, change args, thinking or the prompt, then recast',
  },
  OUTPUT_FLOOD: {
    http: 413,
    retry: 'repaired',
    means: 'an agent printed more than is kept and never came to an end',
    cause: 'its program or one of its tools wrote without stopping, so that the answer was lost in it',
    fix: 'let the tool write to a file instead of the screen, then recast',
  },
  AGENT_CRASHED: {
    http: 502,
    retry: 'later',
    means: 'the program of an agent ended badly',
    cause: 'it was killed, ran out of memory or ended with an exit code and without an answer',
    fix: 'read its last words in the reason; `baton agents test` shows whether it works at all',
  },
  NO_OUTPUT: {
    http: 502,
    retry: 'later',
    means: 'an agent ended without an error and without an answer',
    cause: 'the model stopped after its last tool call, or gave an empty answer',
    fix: 'recast; if it happens again, let the prompt ask for the answer more plainly or use another model',
  },
  ANSWER_NEEDED: {
    http: 409,
    retry: 'person',
    means: 'a turn of the cast waits for the words of a person',
    cause: 'a socket with the runner `person` has its turn, or an agent has reported NEEDS_INPUT with a question',
    fix: '`baton why` says what is asked; `baton answer CAST` gives the answer and carries the cast on',
  },
  AGENT_BLOCKED: {
    http: 409,
    retry: 'person',
    means: 'an agent reported that it cannot go on alone',
    cause: 'it met a gap that it cannot close, and its report names it (plan_status BLOCKED)',
    fix: 'close the gap, then `baton continue CAST`; or tell the agent what it lacks with `baton answer CAST "…"`; or give it up with `baton decide CAST:TURN fail` or `baton abort CAST`',
  },
  APPROVER_IS_AGENT: {
    http: 403,
    retry: 'person',
    means: 'an agent tried to decide what is for a person to decide',
    cause: 'the command was given from inside an attempt that runs, by an agent or by something it started',
    fix: 'give it yourself, from a terminal of your own',
  },
  DAILY_CAP_REACHED: {
    http: 402,
    retry: 'later',
    means: 'the casts of the workspace used up what they may use in a day',
    cause: 'budget.maxTokensPerDay or budget.maxCostPerDay is set, and the turns of today came to as much',
    fix: 'nothing: the turn starts when the day is over by universal time; or raise the limit and start a new cast',
  },
} as const satisfies Record<string, CodeRow>;

/** Codes of the turn: what an agent reports, and what it may write. */
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
    cause: 'the agent reported three times in a row that it is still at work',
    fix: 'finish, or report BLOCKED or NEEDS_INPUT',
  },
} as const satisfies Record<string, CodeRow>;

/**
 * Faults of a gaia report: the names in `details.missing`, `details.invalid` and `details.warnings`. The part after a colon
 * is the value or the place.
 */
const row = (means: string, cause: string, fix: string): CodeRow => ({
  http: 422,
  retry: 'repaired',
  means,
  cause,
  fix,
});
const evidence = (holds: string, cause: string): CodeRow =>
  row(`evidence_report lacks this key: ${holds}`, cause, 'add the key; an empty list is allowed');
const consolidation = (holds: string, cause: string): CodeRow =>
  row(`consolidation_report lacks this key: ${holds}`, cause, 'add the key, as the INPUT asks for a consolidation');

export const GAIA_REPORT_CODES = {
  AGENT_STATUS: row(
    'the report has no agent_status',
    'the block begins with another section, or the status fields are at the top level instead',
    'add agent_status with its four fields',
  ),
  PLAN_STATUS: row(
    'plan_status is missing or none of the five',
    'a word such as DONE, or an old status, was used, or the field was forgotten',
    'report IN_PROGRESS, APPROVAL_REQUEST, COMPLETE, BLOCKED or NEEDS_INPUT',
  ),
  AGENT_ID: row(
    'agent_id is missing, malformed or not the one that was issued',
    'the agent made up an id, shortened it, or repeated that of another agent',
    'repeat the agent_id of the brief exactly',
  ),
  PENDING_STEPS: row(
    'agent_status.pending_steps is missing',
    'nothing was left to do, and the list was left out instead of being left empty',
    'add it; an empty list is allowed',
  ),
  NEXT_ACTION: row(
    'agent_status.next_action is missing',
    'the agent reported its status and not what follows',
    'say what happens next',
  ),
  EVIDENCE_REPORT: row(
    'the report has no evidence_report',
    'the agent wrote its findings above the block and not inside it',
    'add it with its seven keys',
  ),
  PATTERNS_CHECKED: evidence('search patterns that were run', 'nothing was searched for, and the key was left out'),
  FILES_CHECKED: evidence('files that were read', 'no file was opened, and the key was left out'),
  COMMANDS_RUN: evidence('commands that were executed', 'no command was run, and the key was left out'),
  KEY_OUTPUTS: evidence('distilled findings', 'the findings are elsewhere in the answer, and the key was left out'),
  VERBATIM_OUTPUTS: evidence('raw excerpts', 'nothing was worth quoting, and the key was left out'),
  CROSS_LAYER_IMPACTS: evidence(
    'adjacent components that are affected',
    'nothing else is affected, and the key was left out',
  ),
  OPEN_GAPS: evidence(
    'what remains unresolved (also a key of consolidation_report)',
    'nothing is open, and the key was left out',
  ),
  CONSOLIDATION_REPORT: row(
    'the INPUT asks for a consolidation_report and there is none',
    'the INPUT describes work over several surfaces or rounds, and the agent reported as for a single one',
    'add it with its six keys',
  ),
  OWNERSHIP_ASSESSMENT: consolidation(
    'owned_here, cross_surface_dependency or not_my_surface',
    'the agent did not say, or not in one of the three words, whether the matter lies on its surface',
  ),
  CONFIRMED_FINDINGS: consolidation(
    'what was verified',
    'nothing was confirmed, and the list was left out instead of being left empty',
  ),
  SUSPECTED_FINDINGS: consolidation(
    'what is suspected',
    'nothing is merely suspected, and the list was left out instead of being left empty',
  ),
  CONFLICTS: consolidation(
    'contradictions across surfaces',
    'no surfaces contradict each other, and the list was left out instead of being left empty',
  ),
  NEXT_BEST_AGENT: consolidation(
    'who should go on',
    'the agent thinks no other agent is needed and left the field out',
  ),
  VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE: row(
    'COMPLETE was reported without a verification',
    'the work was called complete before anything was tried out, or the result was not written down',
    'add evidence_report.verification with its result',
  ),
  VERIFICATION_RESULT_MUST_BE_PASS: row(
    'COMPLETE was reported with a verification that did not pass',
    'a test or check failed or was skipped, and the work was called complete all the same',
    'report another status, or make it pass',
  ),
  APPROVAL_REQUEST: row(
    'APPROVAL_REQUEST was reported without an approval_request',
    'the agent asked for permission by its status and did not describe what it wants to do',
    'add approval_request',
  ),
  APPROVAL_REQUEST_ROLLBACK: row(
    'the approval request does not say how to undo it',
    'the plan names the change and no way back',
    'add rollback',
  ),
  APPROVAL_REQUEST_VERIFICATION: row(
    'the approval request does not say how success is confirmed',
    'the plan does not say what would show that the change worked',
    'add verification',
  ),
  APPROVAL_REQUEST_FIELD_MISSING: row(
    'an advisory field of the approval request is missing',
    'the request is enough to decide on, but says less than it could',
    'add the field named after the colon',
  ),
  APPROVAL_REQUEST_INVALID_RISK_LEVEL: row(
    'the risk level is none of the four',
    'the risk was written in lower case, as a number or in words of its own',
    'use LOW, MEDIUM, HIGH or CRITICAL',
  ),
  LOOP_STATE_INCOMPLETE: row(
    'COMPLETE was reported while the metric is below its threshold and iterations remain',
    'an agent in an improvement loop stopped early: its own numbers say that it could go on',
    'go on, or report another status',
  ),
  ASSIGN: row(
    'a finished report lacks what its socket hands on; the path follows the colon',
    'the socket assigns a member of the report to the data of the cast, and the agent left it out',
    'give the member a value, at the path named after the colon',
  ),
  SCHEMA: row(
    'a finished report does not fit the schema of its socket; the place follows the colon',
    'a member is missing, of another type or outside what the schema allows; `unusable` means that the schema is no JSON Schema',
    'fix the place named after the colon; an unusable schema is fixed in the socket',
  ),
  VERBATIM_OUTPUTS_MISSING: row(
    'commands were reported without any quoted output; details.anomalies lists it, and nothing is refused',
    'commands_run names commands, and verbatim_outputs is empty or holds only placeholders',
    'quote the lines of the output that show the finding',
  ),
  DUPLICATE_KEY: row(
    'the report has a key twice; the last one counts',
    'the report was put together from two drafts',
    'write each key once',
  ),
  UPDATE_CONTRACTS_REJECTED: row(
    'an entry of update_contracts is not written; the others are',
    'the section is none of those this agent may write, or the payload is no object',
    'write only sections of write_permissions.writable_sections',
  ),
  UPDATE_CONTRACTS_SKIPPED: row(
    'an entry of update_contracts cannot be read and is left out',
    'it is no object with contract and payload',
    'give {"contract": section, "payload": object}',
  ),
  TYPE_CHANGED: row(
    'a stored value was overwritten by one of another type',
    'a number took the place of a text, a list of an object, or the like',
    'look whether that was meant; `baton context diff` shows both',
  ),
  REFERENCE_NORMALISED: row(
    'a reference to another repository was brought into its canonical form',
    'the same repository can be written in several ways',
    'use host/owner/repo:table/name',
  ),
} as const satisfies Record<string, CodeRow>;
