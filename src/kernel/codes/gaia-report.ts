// What a report of the gaia contract can lack or get wrong: the names that stand in `details.missing`, `details.invalid`
// and `details.warnings`. The part after a colon in a finding is the value or the place.
import type { CodeRow } from './row.ts';

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
    'the block begins with another section, or the status fields stand at the top level instead',
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
    'the agent reported where it stands and not what follows',
    'say what happens next',
  ),
  EVIDENCE_REPORT: row(
    'the report has no evidence_report',
    'the agent told its findings in prose above the block and not inside it',
    'add it with its seven keys',
  ),
  PATTERNS_CHECKED: evidence('search patterns that were run', 'nothing was searched for, and the key was left out'),
  FILES_CHECKED: evidence('files that were read', 'no file was opened, and the key was left out'),
  COMMANDS_RUN: evidence('commands that were executed', 'no command was run, and the key was left out'),
  KEY_OUTPUTS: evidence('distilled findings', 'the findings were told elsewhere, and the key was left out'),
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
  NEXT_BEST_AGENT: consolidation('who should go on', 'the agent thinks nobody else is needed and left the field out'),
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
    'mend the place named after the colon; an unusable schema is mended by whoever wrote the socket',
  ),
  VERBATIM_OUTPUTS_MISSING: row(
    'commands were reported without any quoted output; it stands in details.anomalies and refuses nothing',
    'commands_run names commands, and verbatim_outputs is empty or holds only placeholders',
    'quote the lines of the output that show the finding',
  ),
  DUPLICATE_KEY: row(
    'a key stands twice in the report; the last one counts',
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
