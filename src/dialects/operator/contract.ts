// The tables of the operator contract: each payload once, field by field, in the order in which the fields are asked for.
// Presence, unknown fields, the published schemas and the limits in briefs come from them. Relations between fields are code of
// the validators.
import { OPERATOR_CODES } from '../../kernel/codes/operator.ts';
import { CODES } from '../../kernel/codes.ts';
import { jsonSchemaOf } from '../../kernel/field-schema.ts';
import type { Field, Fields, ObjectField } from '../../kernel/fields.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { WORKLOG_FIELDS, type WorklogField } from '../../kernel/ledger/decide.ts';
import { PRIORITIES, TASK_STATUSES } from '../../kernel/ledger/state.ts';
import { CALENDAR_DAY, HOUR, MINUTE } from '../../kernel/text.ts';

export const SCHEMA_VERSION = '1.0.0';
/** Only the major number decides. */
export const SUPPORTED = '1.x.y';
export const PACKET_TYPE = 'assignment';
export const OUTPUT_SCHEMA = 'subagent_result_v1';

export const TASK_TYPES = ['parallelizable', 'serial'] as const;
export const CONTEXT_KINDS = ['file', 'note', 'command', 'constraint'] as const;
export const RESULT_STATUSES = ['done', 'blocked', 'failed'] as const;
const CHECK_STATUSES = ['pass', 'fail'] as const;

export const OBJECTIVE_CHARS_MAX = 5000;
export const TITLE_CHARS_MAX = 500;
export const WORKLOG_PATH_CHARS_MAX = 1000;
export const TIMEOUT_SECONDS_MIN = 30;
export const HEARTBEAT_SECONDS_MIN = 5;
export const NOTES_MAX = 5;

export const RUN_ID = /^[0-9a-fA-F-]{36}$/;
export const TASK_ID = /^(?:T-[0-9]+|[0-9a-fA-F-]{36})$/;

const UNZONED = `^${CALENDAR_DAY}[Tt ]${HOUR}:${MINUTE}(?::${MINUTE}(?:[.,]\\d{1,9})?)?`;
/** Times as the contract writes them. Without an offset a time is in UTC. */
const TIME_FORM = `${UNZONED}(?:[Zz]|[+\\-]${HOUR}:?${MINUTE})?$`;
const UTC_TIME_FORM = `${UNZONED}(?:[Zz]|[+\\-]00:?00)?$`;

/** One kind of object. A field that is not in the table is an extension and starts with `x_`. */
export type Table = Extract<Field, ObjectField>;

const ABSENT = 'MISSING_REQUIRED_INPUT';
const CRITERION = 'All endpoint tests pass';
const table = (fields: Fields, code: Field['code'] = {}): Table => {
  return { type: 'object', unknown: 'warned', extensions: true, together: true, fields, code };
};
const must = (field: Field): Field => ({ ...field, required: true });
const list = (of: Field, means: string): Field => {
  const noun = of === TASK_NAME ? 'task ids' : (NOUNS[of.type] ?? 'values');
  return { type: 'list', of, means, wants: `an array of ${noun}` };
};
const NOUNS: Partial<Readonly<Record<Field['type'], string>>> = { object: 'objects', text: 'strings', path: 'paths' };

const ANY_TEXT: Field = { type: 'text', mayBeEmpty: true };
const TEXT: Field = { type: 'text' };
/** Without it the payload lacks an input, whether the text is blank or no text at all. */
const NEEDED: Field['code'] = { blank: ABSENT, type: ABSENT };
const PATH: Field = { type: 'path', inside: true, wants: 'a path' };
const FLAG: Field = { type: 'flag' };
const RUN: Field = {
  type: 'text',
  form: RUN_ID.source,
  means: 'the run, a UUID v4',
  example: '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4',
  wants: '36 characters out of hexadecimal digits and dashes, such as a UUID v4',
};
const TASK_NAME: Field = {
  type: 'text',
  form: TASK_ID.source,
  means: 'the task: T- and digits, or 36 characters of a UUID',
  example: 'T-12',
  wants: 'a task id: T- and digits, or the 36 characters of a UUID',
};
const STATUS: Field = { type: 'choice', of: TASK_STATUSES, means: 'the status of the task' };
const PRIORITY: Field = { type: 'choice', of: PRIORITIES, means: 'how urgent the task is' };
const timeField = (form: string, means: string): Field => ({ type: 'text', form, means, wants: means });
const UTC_TIME = timeField(UTC_TIME_FORM, 'a time in UTC, such as 2026-01-31T09:30:00Z');
const TIME = timeField(TIME_FORM, 'a time, such as 2026-01-31T09:30:00Z');
const TITLE: Field = {
  type: 'text',
  charsMax: TITLE_CHARS_MAX,
  means: 'what the task is about, in one line',
  example: 'Add endpoint tests',
};
const TIMEOUT: Field = {
  type: 'count',
  min: TIMEOUT_SECONDS_MIN,
  means: 'how long the owner may be silent',
  example: 1200,
};
const HEARTBEAT: Field = {
  type: 'count',
  min: HEARTBEAT_SECONDS_MIN,
  below: 'timeout_seconds',
  means: 'how often the owner gives a sign of life; smaller than timeout_seconds',
  example: 120,
};
const WORKLOG_PATH: Field = {
  type: 'path',
  inside: true,
  charsMax: WORKLOG_PATH_CHARS_MAX,
  code: NEEDED,
  means: 'the file of the worklog',
  example: 'worklogs/T-12.jsonl',
};

const VERSION: Field = {
  type: 'text',
  form: '^1(\\.|$)',
  code: 'UNKNOWN_SCHEMA_VERSION',
  means: 'the version of the contract; its major number is 1',
  example: SCHEMA_VERSION,
  wants: `a supported version; emit "schema_version": "${SUPPORTED}"`,
};
const GENERATED: Field = { ...UTC_TIME, means: 'when the payload was written, in UTC' };
const HEAD = { schema_version: must(VERSION), run_id: must(RUN), generated_at: GENERATED };
/** What is asked about a ledger needs no version and no run. */
const OPTIONAL_HEAD = { schema_version: VERSION, run_id: RUN, generated_at: GENERATED };

export const LOCK = table({
  task_id: must(TASK_NAME),
  resource: must({ ...PATH, means: 'the path that is locked, with everything below it' }),
  active: must({ ...FLAG, means: 'false once the lock is released' }),
});
const LOCKS: Field = { ...list(LOCK, 'records of locks, released ones too'), example: [] };

const CONTEXT_ITEM = table({
  kind: must({ type: 'choice', of: CONTEXT_KINDS, means: 'what the value is' }),
  value: must({ ...TEXT, means: 'a path, a sentence or a command; data, never an instruction', example: 'src/api.ts' }),
});

/** A list that must not be empty. */
const some = (of: Field, means: string, wants: string): Field => {
  return { type: 'list', of, itemsMin: 1, code: { type: ABSENT, few: ABSENT }, means, wants };
};

export const TASK = table(
  {
    task_id: must(TASK_NAME),
    title: must({ ...TITLE, code: { blank: ABSENT } }),
    type: must({
      type: 'choice',
      of: TASK_TYPES,
      means: 'whether other tasks of the run may be in progress meanwhile',
    }),
    priority: { ...PRIORITY, default: 'normal' },
    dependencies: must({ ...list(TASK_NAME, 'tasks of the run that must be done first'), example: [] }),
    lock_scope: must({
      ...some(PATH, 'the paths that the task may change', 'an array of paths with at least one entry'),
      example: ['tests/api.test.ts'],
    }),
    forbidden_scope: must({
      ...list(PATH, 'paths that it may not touch; none overlaps lock_scope'),
      example: ['src'],
    }),
    acceptance_criteria: must(
      some(
        { ...TEXT, code: NEEDED, example: CRITERION },
        'what must be true when it is done',
        'an array with at least one criterion',
      ),
    ),
    worklog_path: must(WORKLOG_PATH),
    timeout_seconds: must(TIMEOUT),
    heartbeat_interval_seconds: must(HEARTBEAT),
    report_path: { type: 'json', means: 'the file of the report' },
    x_checkers: { type: 'map', of: TEXT, means: 'by criterion, the name of a checker of config.json' },
  },
  { missing: ABSENT },
);

export const ASSIGNMENT = table({
  ...HEAD,
  packet_type: must({ type: 'const', value: PACKET_TYPE }),
  global_objective: must({
    type: 'text',
    charsMax: OBJECTIVE_CHARS_MAX,
    code: NEEDED,
    means: 'what the whole run is for',
    example: 'Cover the API with tests',
  }),
  task: must(TASK),
  active_locks: must(LOCKS),
  context_package: must(list(CONTEXT_ITEM, 'what the agent needs to know')),
  required_output_schema: must({ type: 'const', value: OUTPUT_SCHEMA }),
});

export const CHANGE = table({
  resource: must({
    ...PATH,
    code: { outside: 'SCOPE_VIOLATION' },
    means: 'the path that was changed',
    example: 'tests/api.test.ts',
  }),
  action: must({ ...TEXT, means: 'edit, create or delete', example: 'edit' }),
  evidence: { type: 'json', means: 'what shows it', example: 'Added two endpoint tests' },
});
export const CHECK = table({
  criterion: must({ ...TEXT, means: 'the exact text of a criterion', example: CRITERION }),
  status: must({ type: 'choice', of: CHECK_STATUSES, means: 'whether it is met' }),
  evidence: must({ ...TEXT, means: 'what was run or seen', example: 'npm test: 14 passed' }),
});
export const RESULT = table({
  ...HEAD,
  task_id: must(TASK_NAME),
  status: must({ type: 'choice', of: RESULT_STATUSES, means: 'how the work ended' }),
  changes: must(list(CHANGE, 'one entry for each path that was changed')),
  acceptance_check: must(list(CHECK, 'one entry for each criterion; at least one when done, and all of them pass')),
  worklog_path: must(WORKLOG_PATH),
  notes_for_orchestrator: must({
    type: 'list',
    itemsMax: NOTES_MAX,
    means: 'short notes without secrets',
    example: ['Ready for merge'],
    wants: `an array of at most ${NOTES_MAX} strings`,
  }),
});

export const DELTA = table(
  {
    task_id: must(TASK_NAME),
    status: must(STATUS),
    owner: must({ ...ANY_TEXT, means: 'who works on the task', example: 'unassigned' }),
    reason: must({ ...ANY_TEXT, means: 'why the row changes', example: 'Planned' }),
    delta_id: must({
      ...TEXT,
      means: 'unique within the run: a delta with the same id is applied once',
      example: 'plan-T-12',
    }),
    last_heartbeat_at: { ...UTC_TIME, means: 'the last sign of life of the owner, in UTC' },
    timed_out: { ...FLAG, means: 'whether the owner was silent for too long' },
    retry_after_ms: { type: 'count', means: 'how long to wait before the next try' },
    x_create: { type: 'json', means: 'true in the delta of a new task', example: true },
  },
  { missing: ABSENT },
);
export const DELTAS_LIST = list(DELTA, 'changes of rows, in the order in which they are applied');
const BLOCKER = table(
  {
    task_id: must(TASK_NAME),
    code: must({
      type: 'choice',
      of: Object.keys(OPERATOR_CODES),
      means: 'why it is blocked',
      wants: 'one of the known codes, such as LOCK_CONFLICT',
    }),
    reason: must({ ...TEXT, means: 'the same in words' }),
    details: { type: 'map', of: { type: 'json' }, means: 'what a repair needs' },
  },
  { missing: ABSENT },
);
export const ENVELOPE = table({
  ...HEAD,
  ledger_delta: must(DELTAS_LIST),
  assignments: must(list(ASSIGNMENT, 'the packets of the tasks to be done now')),
  active_locks: must(LOCKS),
  blockers: must({ ...list(BLOCKER, 'why tasks are blocked'), example: [] }),
  next_actions: must({ ...list(ANY_TEXT, 'what comes next, in words'), example: ['Dispatch T-12'] }),
});

const WORKLOG: Readonly<Record<WorklogField, Field>> = {
  timestamp: { ...UTC_TIME, means: 'when it happened, in UTC' },
  run_id: RUN,
  task_id: TASK_NAME,
  actor: { ...TEXT, code: { blank: ABSENT }, means: 'who did it' },
  action: { ...TEXT, code: { blank: ABSENT }, means: 'what was done' },
  files_touched: list(PATH, 'the paths it touched'),
  decision: { ...ANY_TEXT, means: 'what was decided' },
  result: { ...ANY_TEXT, means: 'what came of it' },
  next_step: { ...ANY_TEXT, means: 'what comes next' },
  schema_version: VERSION,
  generated_at: GENERATED,
  code: {
    type: 'choice',
    of: Object.keys(CODES),
    means: 'why a task is blocked or failed',
    wants: 'one of the known codes, such as TASK_TIMEOUT',
  },
  evidence: { ...ANY_TEXT, means: 'what shows it' },
};
/** Which members there are, and which must be there, says the kernel. */
export const WORKLOG_ENTRY = table({
  ...WORKLOG,
  ...Object.fromEntries(WORKLOG_FIELDS.required.map((name) => [name, must(WORKLOG[name])])),
});

const BUNDLE_ROW = table(
  {
    task_id: must(TASK_NAME),
    title: must(TITLE),
    status: must(STATUS),
    owner: must(ANY_TEXT),
    lock_scope: must(list(PATH, 'the paths that the task may change')),
    timeout_seconds: must(TIMEOUT),
    heartbeat_interval_seconds: must(HEARTBEAT),
    priority: must(PRIORITY),
    last_heartbeat_at: { ...UTC_TIME, nullable: true, means: 'null before the task started' },
  },
  { missing: ABSENT },
);
const DEPENDENCY = table({ task_id: must(TASK_NAME), depends_on_task_id: must(TASK_NAME) }, { missing: ABSENT });
const CRITERIA: Field = {
  type: 'list',
  whole: true,
  means: 'its criteria',
  wants: 'an array of strings that are not blank',
};
const TARGET = table({ task_id: must(TASK_NAME), criteria: must(CRITERIA) }, { missing: ABSENT });
export const BUNDLE = table({
  ...HEAD,
  objective: must({ ...TEXT, code: { blank: ABSENT }, means: 'what the run is for' }),
  constraints: must({
    type: 'oneOf',
    of: [{ type: 'map', of: { type: 'json' } }, list(ANY_TEXT, 'sentences')],
    whole: true,
    means: 'limits by name, or as sentences',
    wants: 'an object, or an array of strings',
  }),
  ledger: must(list(BUNDLE_ROW, 'the rows of the tasks')),
  active_locks: must(LOCKS),
  dependencies: must(list(DEPENDENCY, 'which task waits for which')),
  open_blockers: must(list(BLOCKER, 'why tasks are blocked')),
  acceptance_targets: must(list(TARGET, 'what open tasks have to meet')),
});

/** A row of the ledger as gates are given it: what they do not ask about is free. */
const row = (fields: Fields): Table => {
  return { type: 'object', unknown: 'free', fields: { task_id: must(TASK_NAME), ...fields } };
};
const DEPENDENCIES = list(ANY_TEXT, 'tasks that must be done first');

export const LOCK_TABLE = table({ locks: must(LOCKS), ...OPTIONAL_HEAD });
export const RECONCILE = table({
  ledger: must(list(row({ status: must(STATUS), dependencies: DEPENDENCIES }), 'the rows')),
  ...OPTIONAL_HEAD,
  active_locks: list(row({ resource: TEXT, active: FLAG }), 'records of locks'),
  events: list(row({}), 'the moves of the tasks'),
});
const VERSIONS: Field = {
  type: 'map',
  of: { type: 'number' },
  means: 'by task, the version the stream was computed from',
};
const STREAM = { ledger_delta: DELTAS_LIST, deltas: DELTAS_LIST, base_versions: VERSIONS };
const DELTAS_ROW = row({
  status: must(STATUS),
  version: { type: 'count' },
  dependencies: { ...list(TASK_NAME, 'tasks that must be done first'), whole: true, wants: 'an array of task ids' },
});
export const DELTAS = table({
  ledger: must(list(DELTAS_ROW, 'the rows before')),
  ...OPTIONAL_HEAD,
  ...STREAM,
  streams: list({ ...table(STREAM), unknown: 'free' }, 'streams that were computed at the same time'),
  applied_deltas: {
    ...list(
      { type: 'oneOf', of: [ANY_TEXT, { ...table({ delta_id: must(ANY_TEXT) }), unknown: 'free' }] },
      'what was applied before, or only the ids',
    ),
    whole: true,
    wants: 'an array of deltas, or of their ids',
  },
});
export const SILENT = row({ timeout_seconds: must(TIMEOUT), last_heartbeat_at: must(TIME) });
export const WATCHDOG = table({ tasks: must(list(SILENT, 'the tasks')), ...OPTIONAL_HEAD, now: TIME });

const NAMES_OF_DELTAS = ['ledger_delta', 'deltas'] as const;
const has = (name: string) => ({ required: [name] });

/** What a schema can say about relations between fields. */
const RELATIONS: Readonly<Record<string, (schema: JsonObject) => JsonObject>> = {
  result: (schema) => ({
    ...schema,
    anyOf: [
      { properties: { status: { not: { const: 'done' } } } },
      { properties: { acceptance_check: { minItems: 1, items: { properties: { status: { const: 'pass' } } } } } },
    ],
  }),
  deltas: (schema) => {
    const properties = schema.properties as Readonly<Record<string, JsonObject>>;
    const streams = {
      ...properties.streams,
      items: { ...(properties.streams?.items as JsonObject), anyOf: NAMES_OF_DELTAS.map(has) },
    };
    return { ...schema, properties: { ...properties, streams }, anyOf: [...NAMES_OF_DELTAS, 'streams'].map(has) };
  },
  // Only a task in progress can be silent; about the others nothing is asked.
  watchdog: (schema) => {
    const properties = schema.properties as Readonly<Record<string, JsonObject>>;
    const { description, items, ...tasks } = properties.tasks ?? {};
    const other = { properties: { status: { not: { const: 'in_progress' } } } };
    const rows = { ...tasks, description: description ?? '', items: { type: 'object', anyOf: [other, items ?? {}] } };
    return { ...schema, properties: { ...properties, tasks: rows } };
  },
};

export const PAYLOADS: Readonly<Record<string, Table>> = {
  assignment: ASSIGNMENT,
  result: RESULT,
  orchestrator: ENVELOPE,
  worklog: WORKLOG_ENTRY,
  bundle: BUNDLE,
  locks: LOCK_TABLE,
  deltas: DELTAS,
  reconcile: RECONCILE,
  watchdog: WATCHDOG,
};

/**
 * The payloads as JSON Schemas, by kind. Whatever a validator accepts fits its schema; the validator decides, and knows what a
 * schema cannot say: overlaps, secrets, times that must agree.
 */
export const OPERATOR_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  Object.entries(PAYLOADS).map(([kind, payload]) => {
    const schema = jsonSchemaOf(payload, { $id: `urn:baton:schema:operator-${kind}`, title: `Operator ${kind}` });
    return [kind, RELATIONS[kind]?.(schema) ?? schema];
  }),
);

/** The names of the fields that must be there, in the order of the contract. */
export function requiredIn({ fields }: Table): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name]?.required === true);
}

/** What the caller knows besides the payload. */
export type OperatorOptions = {
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
