import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { validateBundle } from './assignment.ts';

const row = (over: JsonObject = {}): JsonObject => ({
  task_id: 'T-1',
  title: 'Add tests',
  status: 'in_progress',
  owner: 'agent-1',
  lock_scope: ['tests'],
  timeout_seconds: 600,
  heartbeat_interval_seconds: 60,
  priority: 'normal',
  ...over,
});
const bundle = (over: JsonObject = {}): JsonObject => ({
  schema_version: '1.0.0',
  run_id: '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4',
  objective: 'Cover the API with tests',
  constraints: { budget: 'small' },
  ledger: [row()],
  active_locks: [{ task_id: 'T-1', resource: 'tests', active: true }],
  dependencies: [],
  open_blockers: [],
  acceptance_targets: [{ task_id: 'T-1', criteria: ['All tests pass'] }],
  ...over,
});
const ledger = (over: JsonObject) => bundle({ ledger: [row(over)] });
const lock = (task_id: string, resource: string): JsonObject => ({ task_id, resource, active: true });

// In the order of the checks.
test.each<[string, unknown, string]>([
  ['a list', [], 'SCHEMA_INVALID'],
  ['nothing in it', {}, 'MISSING_REQUIRED_INPUT'],
  ['another major version', bundle({ schema_version: '2', run_id: 5 }), 'UNKNOWN_SCHEMA_VERSION'],
  ['a bad run_id', bundle({ run_id: 5 }), 'SCHEMA_INVALID'],
  ['a bad generated_at', bundle({ generated_at: 'now' }), 'SCHEMA_INVALID'],
  ['a blank objective', bundle({ objective: ' ' }), 'MISSING_REQUIRED_INPUT'],
  ['constraints as a number', bundle({ constraints: 5 }), 'SCHEMA_INVALID'],
  ['constraints as sentences', bundle({ constraints: ['No new dependencies'] }), 'OK'],
  ['ledger as an object', bundle({ ledger: {} }), 'SCHEMA_INVALID'],
  ['a row without a title', bundle({ ledger: [{ ...row(), title: undefined as never }] }), 'MISSING_REQUIRED_INPUT'],
  ['a row with another id', ledger({ task_id: 'one' }), 'SCHEMA_INVALID'],
  ['a title that is too long', ledger({ title: 'x'.repeat(501) }), 'SCHEMA_INVALID'],
  ['another status', ledger({ status: 'open' }), 'SCHEMA_INVALID'],
  ['an owner that is no string', ledger({ owner: null }), 'SCHEMA_INVALID'],
  ['lock_scope as text', ledger({ lock_scope: 'tests' }), 'SCHEMA_INVALID'],
  ['lock_scope on nothing', ledger({ lock_scope: [''] }), 'SCHEMA_INVALID'],
  ['a heartbeat as long as the timeout', ledger({ heartbeat_interval_seconds: 600 }), 'SCHEMA_INVALID'],
  ['another priority', ledger({ priority: 'urgent' }), 'SCHEMA_INVALID'],
  ['a heartbeat in words', ledger({ last_heartbeat_at: 'now' }), 'SCHEMA_INVALID'],
  ['no heartbeat yet', ledger({ last_heartbeat_at: null }), 'OK'],
  ['a lock without active', bundle({ active_locks: [{ task_id: 'T-1', resource: 'a' }] }), 'SCHEMA_INVALID'],
  ['a dependency without an end', bundle({ dependencies: [{ task_id: 'T-1' }] }), 'MISSING_REQUIRED_INPUT'],
  [
    'a dependency on no task',
    bundle({ dependencies: [{ task_id: 'T-1', depends_on_task_id: 'x' }] }),
    'SCHEMA_INVALID',
  ],
  [
    'a blocker with a code of its own',
    bundle({ open_blockers: [{ task_id: 'T-1', code: 'X', reason: 'y' }] }),
    'SCHEMA_INVALID',
  ],
  [
    'a blocker with a code of the graph',
    bundle({ open_blockers: [{ task_id: 'T-1', code: 'AGENT_FAILED', reason: 'y' }] }),
    'SCHEMA_INVALID',
  ],
  [
    'a blocker with the nearest code, and the exact one beside it',
    bundle({ open_blockers: [{ task_id: 'T-1', code: 'TASK_TIMEOUT', x_code: 'AGENT_FAILED', reason: 'y' }] }),
    'OK',
  ],
  ['a target of no task', bundle({ acceptance_targets: [{ task_id: 'x', criteria: [] }] }), 'SCHEMA_INVALID'],
  ['a blank target', bundle({ acceptance_targets: [{ task_id: 'T-1', criteria: [''] }] }), 'SCHEMA_INVALID'],
  ['a row twice', bundle({ ledger: [row(), row()] }), 'LEDGER_INCONSISTENT'],
  ['locks in conflict', bundle({ active_locks: [lock('T-1', 'a'), lock('T-2', 'a')] }), 'LOCK_CONFLICT'],
  [
    'a row twice and locks in conflict',
    bundle({ ledger: [row(), row()], active_locks: [lock('T-1', 'a'), lock('T-2', 'a')] }),
    'LEDGER_INCONSISTENT',
  ],
  ['a whole bundle', bundle(), 'OK'],
])('%s: %#', (_what, input, code) => {
  expect(validateBundle(input).code).toBe(code);
});

test('a task that is not in the ledger is mentioned', () => {
  const { details } = validateBundle(bundle({ dependencies: [{ task_id: 'T-1', depends_on_task_id: 'T-7' }] }));
  expect(details.warnings).toEqual(['dependencies[0] names a task that is not in the ledger']);
});

test.each([
  ['summary', bundle({ summary: 'x' })],
  ['ledger[0].since', ledger({ since: 'x' })],
  ['active_locks[0].since', bundle({ active_locks: [{ ...lock('T-1', 'tests'), since: 'x' }] })],
  [
    'dependencies[0].since',
    bundle({
      dependencies: [{ task_id: 'T-1', depends_on_task_id: 'T-2', since: 'x' }],
      ledger: [row(), row({ task_id: 'T-2' })],
    }),
  ],
  [
    'open_blockers[0].since',
    bundle({ open_blockers: [{ task_id: 'T-1', code: 'LOCK_CONFLICT', reason: 'y', since: 'x' }] }),
  ],
  ['acceptance_targets[0].since', bundle({ acceptance_targets: [{ task_id: 'T-1', criteria: ['a'], since: 'x' }] })],
])('%s is refused in strict mode only', (path, input) => {
  expect(validateBundle(input).code).toBe('OK');
  expect(validateBundle(input, { strict: true })).toMatchObject({ code: 'SCHEMA_INVALID', details: { path } });
});
