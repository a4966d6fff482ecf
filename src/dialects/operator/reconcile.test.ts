import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { validateReconcile } from './reconcile.ts';

const row = (task_id: string, status = 'todo', over: JsonObject = {}): JsonObject => ({
  task_id,
  status,
  owner: 'agent-1',
  ...over,
});
const lock = (task_id: string, over: JsonObject = {}): JsonObject => ({
  task_id,
  resource: 'a',
  active: true,
  ...over,
});
const codes = (details: JsonObject) => (details.issues as JsonObject[]).map((issue) => issue.code);

test.each<[string, unknown, string]>([
  ['text', 'x', 'SCHEMA_INVALID'],
  ['no ledger', {}, 'MISSING_REQUIRED_INPUT'],
  ['ledger as an object', { ledger: {} }, 'MISSING_REQUIRED_INPUT'],
  ['an unknown version', { ledger: [], schema_version: 'x' }, 'UNKNOWN_SCHEMA_VERSION'],
  ['locks null', { ledger: [], active_locks: null }, 'SCHEMA_INVALID'],
  ['events as an object', { ledger: [], events: {} }, 'SCHEMA_INVALID'],
  ['nothing', { ledger: [] }, 'OK'],
])('%s: %#', (_what, input, code) => {
  expect(validateReconcile(input).code).toBe(code);
});

test.each<[string, JsonObject, string[]]>([
  ['a row that is no object', { ledger: [5] }, ['SCHEMA_INVALID']],
  ['a row without an id', { ledger: [{ status: 'todo' }] }, ['SCHEMA_INVALID']],
  ['a row with an id of another form', { ledger: [row('task-1')] }, ['SCHEMA_INVALID']],
  ['a row twice', { ledger: [row('T-1'), row('T-1')] }, ['LEDGER_INCONSISTENT']],
  [
    'a row twice, of which the first counts',
    { ledger: [row('T-1', 'done'), row('T-1', 'todo'), row('T-2', 'in_progress', { dependencies: ['T-1'] })] },
    ['LEDGER_INCONSISTENT'],
  ],
  ['an unknown status', { ledger: [row('T-1', 'open')] }, ['SCHEMA_INVALID']],
  ['dependencies as text', { ledger: [row('T-1', 'todo', { dependencies: 'T-2' })] }, ['SCHEMA_INVALID']],
  ['in progress without an owner', { ledger: [row('T-1', 'in_progress', { owner: ' ' })] }, ['LEDGER_INCONSISTENT']],
  ['a dependency nobody knows', { ledger: [row('T-1', 'todo', { dependencies: ['T-9'] })] }, ['LEDGER_INCONSISTENT']],
  [
    'done before its dependency',
    { ledger: [row('T-1', 'done', { dependencies: ['T-2'] }), row('T-2', 'blocked')] },
    ['DEPENDENCY_NOT_MET'],
  ],
  [
    'started on a canceled dependency',
    { ledger: [row('T-1', 'in_progress', { dependencies: ['T-2'] }), row('T-2', 'canceled')] },
    ['DEPENDENCY_NOT_MET'],
  ],
  [
    'a round of dependencies',
    {
      ledger: [
        row('T-1', 'todo', { dependencies: ['T-2'] }),
        row('T-2', 'todo', { dependencies: ['T-3'] }),
        row('T-3', 'todo', { dependencies: ['T-2'] }),
      ],
    },
    ['LEDGER_INCONSISTENT'],
  ],
  [
    'a round behind a task that waits for nothing',
    {
      ledger: [
        row('T-1', 'todo', { dependencies: ['T-2', 'T-3'] }),
        row('T-2', 'todo', { dependencies: ['T-4'] }),
        row('T-3', 'todo', { dependencies: ['T-1'] }),
        row('T-4'),
        row('T-5', 'todo', { dependencies: ['T-4'] }),
      ],
    },
    ['LEDGER_INCONSISTENT'],
  ],
  [
    'done although it waits for itself',
    { ledger: [row('T-1', 'done', { dependencies: ['T-1'] })] },
    ['LEDGER_INCONSISTENT'],
  ],
  ['a lock of no task', { ledger: [], active_locks: [{}] }, ['SCHEMA_INVALID']],
  [
    'a released lock of an unknown task',
    { ledger: [], active_locks: [lock('T-1', { active: false })] },
    ['LEDGER_INCONSISTENT'],
  ],
  [
    'locks of a task that is done',
    { ledger: [row('T-1', 'done')], active_locks: [lock('T-1'), lock('T-1')] },
    ['LEDGER_INCONSISTENT', 'LEDGER_INCONSISTENT'],
  ],
  ['a lock on nothing', { ledger: [row('T-1')], active_locks: [lock('T-1', { resource: '//' })] }, ['SCHEMA_INVALID']],
  ['a lock on a number', { ledger: [row('T-1')], active_locks: [lock('T-1', { resource: 5 })] }, ['SCHEMA_INVALID']],
  [
    'a lock that is perhaps active',
    { ledger: [row('T-1')], active_locks: [lock('T-1', { active: 'yes' })] },
    ['SCHEMA_INVALID'],
  ],
  [
    'overlapping locks',
    { ledger: [row('T-1'), row('T-2')], active_locks: [lock('T-1'), lock('T-2', { resource: 'a/b' })] },
    ['LOCK_CONFLICT'],
  ],
  ['an event of no task', { ledger: [], events: [5] }, ['SCHEMA_INVALID']],
  ['an event of an unknown task', { ledger: [], events: [{ task_id: 'T-1' }] }, ['LEDGER_INCONSISTENT']],
  [
    'an event that cannot have been',
    { ledger: [row('T-1', 'done')], events: [{ task_id: 'T-1', from_state: 'todo', to_state: 'done' }] },
    ['INVALID_TRANSITION'],
  ],
  [
    'everything at once, in a fixed order',
    {
      ledger: [row('T-1', 'done', { dependencies: ['T-9'] }), row('T-2', 'odd')],
      active_locks: [lock('T-1')],
      events: [{}],
    },
    ['SCHEMA_INVALID', 'LEDGER_INCONSISTENT', 'LEDGER_INCONSISTENT', 'SCHEMA_INVALID'],
  ],
])('%s: every issue is listed under one code', (_what, input, expected) => {
  const { code, details } = validateReconcile(input);
  expect([code, codes(details)]).toEqual(['LEDGER_INCONSISTENT', expected]);
});

test.each<[string, Json[], Json[]]>([
  ['a released lock of a finished task', [row('T-1', 'done')], [lock('T-1', { active: false })]],
  ['a lock without a path', [row('T-1')], [{ task_id: 'T-1', active: true }]],
  ['an open dependency of a task that waits', [row('T-1', 'blocked', { dependencies: ['T-2'] }), row('T-2')], []],
])('%s is consistent', (_what, ledger, active_locks) => {
  expect(validateReconcile({ ledger, active_locks }).code).toBe('OK');
});

test('success counts tasks, active locks and events', () => {
  const input = {
    ledger: [row('T-1', 'in_progress')],
    active_locks: [lock('T-1'), lock('T-1', { active: false })],
    events: [{ task_id: 'T-1', from_state: 'todo', to_state: 'in_progress' }],
  };
  expect(validateReconcile(input).details).toEqual({ task_count: 1, active_lock_count: 1, event_count: 1 });
});

test('an unmet dependency names both tasks and the status', () => {
  const ledger = [row('T-1', 'done', { dependencies: ['T-2'] }), row('T-2', 'blocked')];
  expect(validateReconcile({ ledger }).details.issues).toMatchObject([
    { code: 'DEPENDENCY_NOT_MET', task_id: 'T-1', index: 0, depends_on: 'T-2', depends_on_status: 'blocked' },
  ]);
});

test('a long chain that ends in a round is quick', { timeout: 60_000 }, () => {
  const ledger = Array.from({ length: 20_000 }, (_, n) =>
    row(`T-${n}`, 'todo', { dependencies: [`T-${Math.min(n + 1, 19_999)}`] }),
  );
  const { details } = validateReconcile({ ledger });
  expect(details.issues).toMatchObject([{ cycle: ['T-19999'] }]);
});

test('a field that nobody knows is mentioned, and refused in strict mode: it may be a misspelt one', () => {
  const input = { ledger: [], locks: [] };
  expect(validateReconcile(input)).toMatchObject({
    allow: true,
    details: { warnings: [expect.stringContaining('locks')] },
  });
  expect(validateReconcile(input, { strict: true })).toMatchObject({ allow: false, code: 'SCHEMA_INVALID' });
});
