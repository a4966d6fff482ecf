// Codes of the operator workflow: packets, results, locks, tasks.
import type { CodeRow } from './row.ts';

export const OPERATOR_CODES = {
  SCHEMA_INVALID: {
    http: 422,
    retry: 'repaired',
    means: 'a field has the wrong shape, type or value',
    cause:
      'a number stands where a text belongs, a word is outside its list, a text is too long, or the text is no JSON object',
    fix: 'correct the field named in details and send the whole payload again',
  },
  MISSING_REQUIRED_INPUT: {
    http: 422,
    retry: 'repaired',
    means: 'a required field is absent or empty',
    cause: 'whoever built the payload left a field of the contract out, or had nothing to put into it',
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
      'the agent wrote beside its task, or into what governs agents (`.baton`, or files such as `.claude/settings.json` by which their programs take orders), or left a git repository in its worktree that no commit can hold, or a packet claims what it forbids, or a path climbs out with `..`',
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
    cause: 'a lock outlived its task, a task runs without its locks, or a row and its history tell different stories',
    fix: 'run reconcile and mend the issues it lists',
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
      'a checker or schema that is asked for is not declared, not installed, or cannot be used; or nobody can tell which files were changed, because the folder has too many of them, git fails in it, or nobody looked when the task was claimed',
    fix: 'make the checker available, or mend what the reason says of the folder; nothing passes unchecked',
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
