// Codes of the operator workflow: packets, results, locks, tasks.
import type { CodeRow } from './row.ts';

export const OPERATOR_CODES = {
  SCHEMA_INVALID: {
    http: 422,
    retry: 'repaired',
    means: 'a field has the wrong shape, type or value',
    fix: 'correct the field named in details and send the whole payload again',
  },
  MISSING_REQUIRED_INPUT: {
    http: 422,
    retry: 'repaired',
    means: 'a required field is absent or empty',
    fix: 'add the field named in details',
  },
  UNKNOWN_SCHEMA_VERSION: {
    http: 422,
    retry: 'repaired',
    means: 'the payload names a major version that is not supported',
    fix: 'emit schema_version 1.x.y',
  },
  LOCK_CONFLICT: {
    http: 409,
    retry: 'later',
    means: 'another task holds an overlapping path',
    fix: 'wait until the holder named in details releases it, or choose a disjoint lock_scope',
  },
  SCOPE_VIOLATION: {
    http: 403,
    retry: 'never',
    means: 'a change or a scope lies outside what the task was given',
    fix: 'change only paths inside lock_scope and outside forbidden_scope',
  },
  INVALID_TRANSITION: {
    http: 409,
    retry: 'never',
    means: 'a task cannot move from its present status to the wanted one',
    fix: 'look at the task and choose one of the moves listed in details',
  },
  DEPENDENCY_NOT_MET: {
    http: 409,
    retry: 'later',
    means: 'a task this one depends on is not done',
    fix: 'finish the dependencies listed in details first',
  },
  CONCURRENCY_CONFLICT: {
    http: 409,
    retry: 'later',
    means: 'somebody else changed the row first',
    fix: 'read the ledger again and decide on its present version',
  },
  TASK_TIMEOUT: {
    http: 408,
    retry: 'later',
    means: 'no heartbeat arrived within the task limit',
    fix: 'find out why the owner went silent, then dispatch the task again',
  },
  ACCEPTANCE_FAILED: {
    http: 422,
    retry: 'repaired',
    means: 'an acceptance criterion failed or lacks evidence',
    fix: 'meet every criterion and give evidence for each',
  },
  LEDGER_INCONSISTENT: {
    http: 409,
    retry: 'person',
    means: 'ledger, locks and events disagree',
    fix: 'run reconcile and mend the issues it lists',
  },
  NON_COMPLIANT: {
    http: 403,
    retry: 'never',
    means: 'an agent acted outside its role',
    fix: 'give the work to an agent whose role allows it',
  },
  MISSING_VALIDATOR: {
    http: 503,
    retry: 'later',
    means: 'a required validator could not be run',
    fix: 'make the validator available; nothing passes unchecked',
  },
  UNTRUSTED_CONTEXT_BLOCK: {
    http: 422,
    retry: 'repaired',
    means: 'untrusted text carries a secret or tries to steer the control plane',
    fix: 'remove the secret or the smuggled instruction and send again',
  },
} as const satisfies Record<string, CodeRow>;

export type OperatorCode = keyof typeof OPERATOR_CODES;
