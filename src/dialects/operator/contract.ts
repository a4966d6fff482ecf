// The vocabulary of the operator contract: the fields of every object, in the order in which they are asked for, and
// the limits and closed sets of their values. Validators, schemas and briefs read it and never restate it.
import type { OperatorCode } from '../../kernel/codes/operator.ts';
import { WORKLOG_FIELDS } from '../../kernel/ledger/finish.ts';

export const SCHEMA_VERSION = '1.0.0';
export const MAJOR_VERSION = '1';
export const PACKET_TYPE = 'assignment';
export const OUTPUT_SCHEMA = 'subagent_result_v1';

export const TASK_TYPES = ['parallelizable', 'serial'] as const;
export const PRIORITIES = ['low', 'normal', 'high', 'critical'] as const;
export const CONTEXT_KINDS = ['file', 'note', 'command', 'constraint'] as const;
export const RESULT_STATUSES = ['done', 'blocked', 'failed'] as const;
export const CHECK_STATUSES = ['pass', 'fail'] as const;

export const OBJECTIVE_CHARS_MAX = 5000;
export const TITLE_CHARS_MAX = 500;
export const WORKLOG_PATH_CHARS_MAX = 1000;
export const TIMEOUT_SECONDS_MIN = 30;
export const HEARTBEAT_SECONDS_MIN = 5;
export const NOTES_MAX = 5;

/** The fields of one kind of object. A field that is in neither list is an extension and starts with `x_`. */
export type Fields = { readonly required: readonly string[]; readonly optional: readonly string[] };

const HEAD = ['schema_version', 'run_id'] as const;
const fields = (required: readonly string[], optional: readonly string[] = []): Fields => ({ required, optional });

export const ASSIGNMENT = fields(
  [...HEAD, 'packet_type', 'global_objective', 'task', 'active_locks', 'context_package', 'required_output_schema'],
  ['generated_at'],
);
export const TASK = fields(
  [
    'task_id',
    'title',
    'type',
    'dependencies',
    'lock_scope',
    'forbidden_scope',
    'acceptance_criteria',
    'worklog_path',
    'timeout_seconds',
    'heartbeat_interval_seconds',
  ],
  ['priority', 'report_path'],
);
export const LOCK = fields(['task_id', 'resource', 'active']);
export const CONTEXT_ITEM = fields(['kind', 'value']);

export const RESULT = fields(
  [...HEAD, 'task_id', 'status', 'changes', 'acceptance_check', 'worklog_path', 'notes_for_orchestrator'],
  ['generated_at'],
);
export const CHANGE = fields(['resource', 'action'], ['evidence']);
export const CHECK = fields(['criterion', 'status', 'evidence']);

export const ENVELOPE = fields(
  [...HEAD, 'ledger_delta', 'assignments', 'active_locks', 'blockers', 'next_actions'],
  ['generated_at'],
);
export const DELTA = fields(
  ['task_id', 'status', 'owner', 'reason', 'delta_id'],
  ['last_heartbeat_at', 'timed_out', 'retry_after_ms'],
);
export const BLOCKER = fields(['task_id', 'code', 'reason'], ['details']);

export const WORKLOG_ENTRY: Fields = WORKLOG_FIELDS;

export const BUNDLE = fields(
  [
    ...HEAD,
    'objective',
    'constraints',
    'ledger',
    'active_locks',
    'dependencies',
    'open_blockers',
    'acceptance_targets',
  ],
  ['generated_at'],
);
export const BUNDLE_ROW = fields(
  ['task_id', 'title', 'status', 'owner', 'lock_scope', 'timeout_seconds', 'heartbeat_interval_seconds', 'priority'],
  ['last_heartbeat_at'],
);
export const DEPENDENCY = fields(['task_id', 'depends_on_task_id']);
export const TARGET = fields(['task_id', 'criteria']);

/** What is asked about a ledger, beside the fields that any payload may have. */
const ASKED = [...HEAD, 'generated_at'];
export const RECONCILE = fields(['ledger'], [...ASKED, 'active_locks', 'events']);
export const DELTAS = fields(
  ['ledger'],
  [...ASKED, 'ledger_delta', 'deltas', 'streams', 'base_versions', 'applied_deltas'],
);
export const WATCHDOG = fields(['tasks'], [...ASKED, 'now']);

/** What the caller knows beside the payload. */
export type Options = {
  /** Refuse fields that are neither part of the contract nor start with `x_`. */
  readonly strict?: boolean;
  /** The time, where a payload does not bring its own. */
  readonly now?: string;
  /** The names of the checkers that people declared; when given, a packet may refer to no other. */
  readonly checkers?: readonly string[];
  /** What a worklog file held before; it may only have grown. */
  readonly previous?: string;
  /** How the task of a worklog ended, where that is known and it was no success. */
  readonly outcome?: 'blocked' | 'failed';
};

export type { OperatorCode };
