// Codes of the operator workflow, and the rules by which its gates refuse. A ledger stores the code, a gate answers with its
// rule.
import type { CodeRow } from './row.ts';

/** Packets, results, locks and tasks. */
export const OPERATOR_CODES = {
  SCHEMA_INVALID: {
    http: 422,
    retry: 'repaired',
    means: 'a field has the wrong shape, type or value',
    cause:
      'a number is given where a text belongs, a word is outside its list, a text is too long, or the text is no JSON object',
    fix: 'correct the field named in details and send the whole payload again',
  },
  MISSING_REQUIRED_INPUT: {
    http: 422,
    retry: 'repaired',
    means: 'a required field is absent or empty',
    cause: 'the payload was built without a field of the contract, or the field is empty',
    fix: 'add the field named in details',
  },
  UNKNOWN_SCHEMA_VERSION: {
    http: 422,
    retry: 'repaired',
    means: 'the payload names a major version that is not supported',
    cause: 'the payload was written for another generation of the contract, or its version is no version',
    fix: 'emit schema_version 1.x.y',
  },
  LOCK_CONFLICT: {
    http: 409,
    retry: 'later',
    means: 'another task holds an overlapping path',
    cause: 'two tasks want the same file, or a folder and something below it, at the same time',
    fix: 'wait until the holder named in details releases it, or choose a disjoint lock_scope',
  },
  SCOPE_VIOLATION: {
    http: 403,
    retry: 'never',
    means: 'a change or a scope lies outside what the task was given',
    cause:
      'the agent wrote outside its task, or into what governs agents (`.baton`, or files such as `.claude/settings.json` that configure their programs), or left a git repository in its worktree that no commit can hold, or a packet claims what it forbids, or a path climbs out with `..`',
    fix: 'change only paths inside lock_scope and outside forbidden_scope; files by which programs take orders are named there themselves, `.` does not reach them; remove the `.git` of a repository, and push what a submodule has',
  },
  INVALID_TRANSITION: {
    http: 409,
    retry: 'never',
    means: 'a task cannot move from its present status to the wanted one',
    cause: 'somebody tried to finish a task that was not begun, or to move one that has ended',
    fix: 'look at the task and choose one of the moves listed in details',
  },
  DEPENDENCY_NOT_MET: {
    http: 409,
    retry: 'later',
    means: 'a task this one depends on is not done',
    cause: 'the task was dispatched before the ones it builds upon were finished',
    fix: 'finish the dependencies listed in details first',
  },
  CONCURRENCY_CONFLICT: {
    http: 409,
    retry: 'later',
    means: 'somebody else changed the row first',
    cause: 'two processes decided about the same task, and the other one was written first',
    fix: 'read the ledger again and decide on its present version',
  },
  TASK_TIMEOUT: {
    http: 408,
    retry: 'later',
    means: 'no heartbeat arrived within the task limit',
    cause: 'the owner of the task crashed, hangs, or works without sending heartbeats',
    fix: 'find out why the owner went silent, then dispatch the task again',
  },
  ACCEPTANCE_FAILED: {
    http: 422,
    retry: 'repaired',
    means: 'an acceptance criterion failed or lacks evidence',
    cause: 'a result says done while one of its own checks says fail, or while it has no checks',
    fix: 'meet every criterion and give evidence for each',
  },
  LEDGER_INCONSISTENT: {
    http: 409,
    retry: 'person',
    means: 'ledger, locks and events disagree',
    cause: 'a lock outlived its task, a task runs without its locks, or a row contradicts its history',
    fix: 'run reconcile and correct the issues it lists',
  },
  NON_COMPLIANT: {
    http: 403,
    retry: 'never',
    means: 'an agent acted outside its role',
    cause: 'an orchestrator did the work itself, or an agent reports that it broke a mandatory rule',
    fix: 'give the work to an agent whose role allows it',
  },
  MISSING_VALIDATOR: {
    http: 503,
    retry: 'later',
    means: 'what has to be checked cannot be checked here',
    cause:
      'a checker or schema that is asked for is not declared, not installed, or cannot be used; or the changed files cannot be determined, because the folder has too many of them, git fails in it, or they were not recorded when the task was claimed',
    fix: 'make the checker available, or correct what the reason says about the folder; Baton accepts nothing unchecked',
  },
  UNTRUSTED_CONTEXT_BLOCK: {
    http: 422,
    retry: 'repaired',
    means: 'untrusted text carries a secret or tries to steer the control plane',
    cause:
      'a note, a log or a quoted document holds a key or token, a packet field, or a turn in the name of the system',
    fix: 'remove the secret or the smuggled instruction and send again',
  },
} as const satisfies Record<string, CodeRow>;

export type OperatorCode = keyof typeof OPERATOR_CODES;

/**
 * Rules of the operator workflow's gates. A gate answers with its rule. The details hold the contract code, which is stored
 * in a ledger.
 */
const rule = (http: number, retry: CodeRow['retry'], means: string, cause: string, fix: string): CodeRow => ({
  http,
  retry,
  means,
  cause,
  fix,
});

export const OPERATOR_RULES = {
  'R-PD-001': rule(
    422,
    'repaired',
    'before dispatch: a field of the assignment is missing, or its criteria cannot be used',
    'the plan was handed out before the packet was complete',
    'add the fields named in details; give at least one criterion',
  ),
  'R-PD-002': rule(
    422,
    'repaired',
    'before dispatch: lock_scope is empty or holds no path',
    'the planner did not say which files the task may change',
    'name at least one path',
  ),
  'R-PD-003': rule(
    409,
    'later',
    'before dispatch: the lock scope overlaps itself or a lock of another task',
    'another task, or another entry of the same list, already covers one of the wanted paths',
    'wait until the holder named in details releases it, or choose a disjoint lock_scope',
  ),
  'R-PD-004': rule(
    403,
    'repaired',
    'before dispatch: forbidden_scope is no list of paths, or overlaps lock_scope',
    'one path is claimed and forbidden at once, or forbidden_scope was written as a text',
    'keep what is forbidden apart from what is claimed',
  ),
  'R-PD-005': rule(
    422,
    'repaired',
    'before dispatch: worklog_path names no file',
    'the packet gives no place for the worklog, or a place outside the workspace',
    'name a file inside the workspace',
  ),
  'R-PD-006': rule(
    422,
    'repaired',
    'before dispatch: the time limit or the heartbeat is out of bounds',
    'the agent could be silent for longer than its whole time limit, or would have no time to begin',
    'use at least 30 s, and a heartbeat of at least 5 s that is shorter than the limit',
  ),
  'R-PD-007': rule(
    422,
    'repaired',
    'before dispatch: a record of a lock is malformed',
    'the table of held locks was written by hand or by an older tool',
    'correct the record in details',
  ),
  'R-PE-001': rule(
    409,
    'later',
    'before execution: a task this one depends on is not done',
    'the task was started although the ledger shows open work before it',
    'finish the dependencies listed in details first',
  ),
  'R-PW-001': rule(
    403,
    'never',
    'before a write: the path lies outside the lock scope',
    'the agent is about to change a file that its packet does not name',
    'write inside lock_scope only',
  ),
  'R-PW-002': rule(
    403,
    'never',
    'a change touches the forbidden scope, from above or from below',
    'the file, a folder above it or something below it is on the list of what must stay untouched',
    'take the change back; never touch forbidden_scope',
  ),
  'R-PO-001': rule(
    422,
    'repaired',
    'after execution: the result has the wrong shape',
    'the agent reported its work in a form that is no result envelope',
    'correct the field in details',
  ),
  'R-PO-002': rule(
    403,
    'never',
    'after execution: a change lies outside the lock scope',
    'the agent reports a change, or the diff shows one, in a file it never locked',
    'take the change back, or plan a task that may make it',
  ),
  'R-PO-003': rule(
    403,
    'repaired',
    'after execution: there is no worklog file',
    'the agent finished without writing down what it did',
    'write the worklog, then report again',
  ),
  'R-PO-004': rule(
    422,
    'repaired',
    'after execution: a note carries a secret or tries to steer its reader',
    'the agent copied a credential or somebody’s instructions into its notes',
    'take the text out and send the result again',
  ),
  'R-PC-001': rule(
    422,
    'repaired',
    'before completion: a required criterion is not among the checks',
    'a criterion of the packet was forgotten or reworded in the result',
    'check every criterion, by its exact text',
  ),
  'R-PC-002': rule(
    422,
    'repaired',
    'before completion: a check did not pass',
    'the task was called done while one of its criteria is still unmet',
    'meet the criterion, then report again',
  ),
  'R-PC-003': rule(
    422,
    'repaired',
    'before completion: a check gives no evidence',
    'a check only says pass and not what showed it',
    'say on what the check rests',
  ),
  'R-LK-001': rule(
    409,
    'repaired',
    'the table of locks is malformed, or two tasks hold overlapping paths',
    'locks were given out without looking at those already held, or a record lacks a field',
    'correct the records in details, or release one of the locks',
  ),
  'R-WD-001': rule(
    408,
    'later',
    'the watchdog found tasks in progress that were silent for longer than their limit',
    'owners of tasks stopped sending heartbeats: they crashed, hang, or lost their connection',
    'block each with TASK_TIMEOUT, release its locks, then dispatch it again',
  ),
  'R-WD-002': rule(
    422,
    'repaired',
    'a heartbeat lies further in the future than clocks may differ',
    'the clock of the sender runs ahead, or a time was made up',
    'set the clock of the machine that sent it',
  ),
} as const satisfies Record<string, CodeRow>;

export type OperatorRule = keyof typeof OPERATOR_RULES;
