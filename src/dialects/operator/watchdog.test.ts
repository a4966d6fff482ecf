import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { validateWatchdog } from './reconcile.ts';

const NOW = '2026-03-01T06:00:00Z';
const task = (over: JsonObject = {}): JsonObject => ({
  task_id: 'T-1',
  status: 'in_progress',
  timeout_seconds: 300,
  last_heartbeat_at: NOW,
  ...over,
});
const at = (now: string, ...tasks: unknown[]) => ({ now, tasks });

test.each<[string, unknown, string]>([
  ['a list', [], 'SCHEMA_INVALID'],
  ['no now', { tasks: [] }, 'MISSING_REQUIRED_INPUT'],
  ['an empty now', { now: '', tasks: [] }, 'MISSING_REQUIRED_INPUT'],
  ['tasks as an object', { now: NOW, tasks: {} }, 'MISSING_REQUIRED_INPUT'],
  ['an unknown version', { ...at(NOW), schema_version: '9' }, 'UNKNOWN_SCHEMA_VERSION'],
  ['a now in words', at('noon'), 'SCHEMA_INVALID'],
  ['a task that is no object', at(NOW, 'T-1'), 'SCHEMA_INVALID'],
  ['a malformed task that does not run', at(NOW, { status: 'todo' }), 'OK'],
  ['no task_id', at(NOW, task({ task_id: '' })), 'SCHEMA_INVALID'],
  ['a timeout below 30', at(NOW, task({ timeout_seconds: 29 })), 'SCHEMA_INVALID'],
  ['a timeout of 30', at(NOW, task({ timeout_seconds: 30 })), 'OK'],
  ['a timeout with a fraction', at(NOW, task({ timeout_seconds: 30.5 })), 'SCHEMA_INVALID'],
  ['no heartbeat', at(NOW, task({ last_heartbeat_at: null })), 'SCHEMA_INVALID'],
  ['a heartbeat in words', at(NOW, task({ last_heartbeat_at: 'now' })), 'SCHEMA_INVALID'],
  ['30 s in the future', at('2026-03-01T05:59:30Z', task()), 'OK'],
  ['31 s in the future', at('2026-03-01T05:59:29Z', task()), 'R-WD-002'],
  ['exactly as old as the limit', at('2026-03-01T06:05:00Z', task()), 'OK'],
  ['a fraction older is still the same second', at('2026-03-01T06:05:00.9Z', task()), 'OK'],
  ['one second older', at('2026-03-01T06:05:01Z', task()), 'R-WD-001'],
  ['silent but blocked', at('2026-03-02T06:00:00Z', task({ status: 'blocked' })), 'OK'],
  ['an offset', at('2026-03-01T06:04:00Z', task({ last_heartbeat_at: '2026-03-01T09:00:00+03:00' })), 'OK'],
  ['a time without an offset is UTC', at('2026-03-01T06:05:01', task()), 'R-WD-001'],
  ['nothing to watch', at(NOW), 'OK'],
])('%s: %#', (_what, input, code) => {
  expect(validateWatchdog(input).code).toBe(code);
});

test('silent tasks are listed in order, with the rule', () => {
  const { details } = validateWatchdog(
    at('2026-03-01T06:05:01Z', task(), task({ task_id: 'T-2', timeout_seconds: 600 }), task({ task_id: 'T-3' })),
  );
  const silent = { last_heartbeat_at: NOW, timeout_seconds: 300, age_seconds: 301 };
  expect(details.contract_code).toBe('TASK_TIMEOUT');
  expect(details.timed_out).toEqual([
    { task_id: 'T-1', ...silent },
    { task_id: 'T-3', ...silent },
  ]);
});

test('a malformed row does not hide a silent one', () => {
  const { code, details } = validateWatchdog(at('2026-03-01T07:00:00Z', task(), task({ task_id: 'x' })));
  expect([code, details.timed_out]).toMatchObject(['SCHEMA_INVALID', [{ task_id: 'T-1' }]]);
});

test('a malformed row alone names no silent task', () => {
  expect(validateWatchdog(at(NOW, task({ task_id: 'x' }))).details.timed_out).toBeUndefined();
});

test('a clock that runs ahead is named', () => {
  expect(validateWatchdog(at('2026-03-01T05:00:00Z', task())).details).toMatchObject({
    contract_code: 'SCHEMA_INVALID',
    index: 0,
  });
});

test('the time of the caller stands in for a missing one, and the payload wins', () => {
  const later = { now: '2026-03-01T07:00:00Z' };
  expect(validateWatchdog({ tasks: [task()] }, later).code).toBe('R-WD-001');
  expect(validateWatchdog(at(NOW, task()), later)).toMatchObject({ code: 'OK', details: { timed_out_count: 0 } });
});
