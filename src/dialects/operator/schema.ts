// The payloads as JSON Schemas, for publishing, for editors and for models that take a schema. Whatever a validator accepts
// fits its schema; the validator decides, and knows what a schema cannot say: overlaps, secrets, times that must agree.

import { OPERATOR_CODES } from '../../kernel/codes/operator.ts';
import { CODES } from '../../kernel/codes.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { TASK_STATUSES } from '../../kernel/ledger/state.ts';
import {
  ASSIGNMENT,
  BLOCKER,
  BUNDLE,
  BUNDLE_ROW,
  CHANGE,
  CHECK,
  CHECK_STATUSES,
  CONTEXT_ITEM,
  CONTEXT_KINDS,
  DELTA,
  DEPENDENCY,
  ENVELOPE,
  type Fields,
  HEARTBEAT_SECONDS_MIN,
  LOCK,
  NOTES_MAX,
  OBJECTIVE_CHARS_MAX,
  OUTPUT_SCHEMA,
  PACKET_TYPE,
  PRIORITIES,
  RESULT,
  RESULT_STATUSES,
  TARGET,
  TASK,
  TASK_TYPES,
  TIMEOUT_SECONDS_MIN,
  TITLE_CHARS_MAX,
  WORKLOG_ENTRY,
  WORKLOG_PATH_CHARS_MAX,
} from './contract.ts';
import { RUN_ID, TASK_ID, TIME_PATTERN, UTC_TIME_PATTERN } from './findings.ts';

const STRING = { type: 'string' } as const;
const STRINGS = { type: 'array', items: STRING } as const;
const NON_BLANK = { type: 'string', pattern: '\\S' } as const;
const TEXTS = { type: 'array', items: NON_BLANK } as const;
const BOOLEAN = { type: 'boolean' } as const;
const RUN = { type: 'string', pattern: RUN_ID.source } as const;
const TASK_NAME = { type: 'string', pattern: TASK_ID.source } as const;
const STATUS = { enum: [...TASK_STATUSES] };
const TIMEOUT = { type: 'integer', minimum: TIMEOUT_SECONDS_MIN } as const;
const HEARTBEAT = { type: 'integer', minimum: HEARTBEAT_SECONDS_MIN } as const;
const TIME = { type: 'string', pattern: TIME_PATTERN } as const;
const UTC_TIME = { type: 'string', pattern: UTC_TIME_PATTERN } as const;
const HEAD = {
  schema_version: { type: 'string', pattern: '^1(\\.|$)' },
  run_id: RUN,
  generated_at: UTC_TIME,
} as const;

const text = (maxLength: number) => ({ ...NON_BLANK, maxLength });
const list = (items: JsonObject) => ({ type: 'array', items });
/** Fields without an entry may hold anything. */
const object = ({ required }: Fields, properties: JsonObject): JsonObject => ({
  type: 'object',
  required: [...required],
  properties,
});

const LOCKS = list(object(LOCK, { task_id: TASK_NAME, resource: NON_BLANK, active: BOOLEAN }));
const DELTAS = list(
  object(DELTA, {
    task_id: TASK_NAME,
    status: STATUS,
    owner: STRING,
    reason: STRING,
    delta_id: NON_BLANK,
    last_heartbeat_at: UTC_TIME,
    timed_out: BOOLEAN,
    retry_after_ms: { type: 'integer', minimum: 0 },
  }),
);
const blockers = (codes: object) =>
  list(
    object(BLOCKER, {
      task_id: TASK_NAME,
      code: { enum: Object.keys(codes) },
      reason: NON_BLANK,
      details: { type: 'object' },
    }),
  );

const assignment = object(ASSIGNMENT, {
  ...HEAD,
  packet_type: { const: PACKET_TYPE },
  global_objective: text(OBJECTIVE_CHARS_MAX),
  task: object(TASK, {
    task_id: TASK_NAME,
    title: text(TITLE_CHARS_MAX),
    type: { enum: [...TASK_TYPES] },
    dependencies: list(TASK_NAME),
    lock_scope: { ...TEXTS, minItems: 1 },
    forbidden_scope: TEXTS,
    acceptance_criteria: { ...TEXTS, minItems: 1 },
    worklog_path: text(WORKLOG_PATH_CHARS_MAX),
    timeout_seconds: TIMEOUT,
    heartbeat_interval_seconds: HEARTBEAT,
    priority: { enum: [...PRIORITIES], default: 'normal' },
    x_checkers: { type: 'object', additionalProperties: NON_BLANK },
  }),
  active_locks: LOCKS,
  context_package: list(object(CONTEXT_ITEM, { kind: { enum: [...CONTEXT_KINDS] }, value: NON_BLANK })),
  required_output_schema: { const: OUTPUT_SCHEMA },
});

const result: JsonObject = {
  ...object(RESULT, {
    ...HEAD,
    task_id: TASK_NAME,
    status: { enum: [...RESULT_STATUSES] },
    changes: list(object(CHANGE, { resource: NON_BLANK, action: NON_BLANK })),
    acceptance_check: list(
      object(CHECK, { criterion: NON_BLANK, status: { enum: [...CHECK_STATUSES] }, evidence: NON_BLANK }),
    ),
    worklog_path: text(WORKLOG_PATH_CHARS_MAX),
    notes_for_orchestrator: { ...TEXTS, maxItems: NOTES_MAX },
  }),
  anyOf: [
    { properties: { status: { not: { const: 'done' } } } },
    { properties: { acceptance_check: { minItems: 1, items: { properties: { status: { const: 'pass' } } } } } },
  ],
};

const orchestrator = object(ENVELOPE, {
  ...HEAD,
  ledger_delta: DELTAS,
  assignments: list(assignment),
  active_locks: LOCKS,
  blockers: blockers(OPERATOR_CODES),
  next_actions: STRINGS,
});

const worklog = object(WORKLOG_ENTRY, {
  ...HEAD,
  timestamp: UTC_TIME,
  task_id: TASK_NAME,
  actor: NON_BLANK,
  action: NON_BLANK,
  files_touched: TEXTS,
  decision: STRING,
  result: STRING,
  next_step: STRING,
  code: { enum: Object.keys(CODES) },
  evidence: STRING,
});

const bundle = object(BUNDLE, {
  ...HEAD,
  objective: NON_BLANK,
  constraints: { anyOf: [{ type: 'object' }, STRINGS] },
  ledger: list(
    object(BUNDLE_ROW, {
      task_id: TASK_NAME,
      title: text(TITLE_CHARS_MAX),
      status: STATUS,
      owner: STRING,
      lock_scope: TEXTS,
      timeout_seconds: TIMEOUT,
      heartbeat_interval_seconds: HEARTBEAT,
      priority: { enum: [...PRIORITIES] },
      last_heartbeat_at: { type: ['string', 'null'], pattern: UTC_TIME_PATTERN },
    }),
  ),
  active_locks: LOCKS,
  dependencies: list(object(DEPENDENCY, { task_id: TASK_NAME, depends_on_task_id: TASK_NAME })),
  open_blockers: blockers(OPERATOR_CODES),
  acceptance_targets: list(object(TARGET, { task_id: TASK_NAME, criteria: TEXTS })),
});

const rows = (required: readonly string[], properties: JsonObject) =>
  list(object({ required, optional: [] }, { task_id: TASK_NAME, ...properties }));
const gate = (required: readonly string[], properties: JsonObject) =>
  object({ required, optional: [] }, { ...HEAD, ...properties });

const VERSIONS = { type: 'object', additionalProperties: { type: 'integer' } } as const;
const STREAM = { ledger_delta: DELTAS, deltas: DELTAS, base_versions: VERSIONS };
const NAMES_OF_DELTAS = ['ledger_delta', 'deltas'] as const;
const has = (name: string) => ({ required: [name] });
const ROW = { status: STATUS, dependencies: STRINGS };

const SHAPES: Readonly<Record<string, JsonObject>> = {
  assignment,
  result,
  orchestrator,
  worklog,
  bundle,
  locks: gate(['locks'], { locks: LOCKS }),
  deltas: {
    ...gate(['ledger'], {
      ledger: rows(['task_id', 'status'], { ...ROW, version: { type: 'integer', minimum: 0 } }),
      ...STREAM,
      streams: list({ type: 'object', properties: STREAM, anyOf: NAMES_OF_DELTAS.map(has) }),
      applied_deltas: list({ anyOf: [STRING, { type: 'object', required: ['delta_id'] }] }),
    }),
    anyOf: [...NAMES_OF_DELTAS, 'streams'].map(has),
  },
  reconcile: gate(['ledger'], {
    ledger: rows(['task_id', 'status'], ROW),
    active_locks: rows(['task_id'], { resource: NON_BLANK, active: BOOLEAN }),
    events: rows(['task_id'], {}),
  }),
  // Only a task in progress can be silent; about the others nothing is asked.
  watchdog: gate(['tasks'], {
    now: TIME,
    tasks: list({
      type: 'object',
      anyOf: [
        { properties: { status: { not: { const: 'in_progress' } } } },
        object(
          { required: ['task_id', 'timeout_seconds', 'last_heartbeat_at'], optional: [] },
          { task_id: TASK_NAME, timeout_seconds: TIMEOUT, last_heartbeat_at: TIME },
        ),
      ],
    }),
  }),
};

/** By kind: `assignment`, `result`, … */
export const OPERATOR_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  Object.entries(SHAPES).map(([kind, shape]): [string, Json & JsonObject] => [
    kind,
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:baton:schema:operator-${kind}`,
      title: `Operator ${kind}`,
      ...shape,
    },
  ]),
);
