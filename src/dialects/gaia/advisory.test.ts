import { expect, test } from 'vitest';
import type { Json } from '../../kernel/json.ts';
import { contextConsumption, rollbackExecuted, userFacingSummary } from './advisory.ts';

const SUMMARY_ROWS: [Json, string | null][] = [
  [' Done. ', 'Done.'],
  ['  ', null],
  [null, null],
  [7, null],
];

test.each(SUMMARY_ROWS)('user_facing_summary %j reads as %j', (user_facing_summary, expected) => {
  expect(userFacingSummary({ user_facing_summary })).toBe(expected);
});

test('rollback_executed tells silence from none', () => {
  expect(rollbackExecuted({})).toBeUndefined();
  expect(rollbackExecuted({ rollback_executed: null })).toBeNull();
  expect(rollbackExecuted({ rollback_executed: { a: 1 } })).toBe('{"a":1}');
});

const CONSUMPTION_ROWS: [Json, Json][] = [
  [
    { tokens_used: '12', pct_window: 0.5 },
    { tokens_used: 12, pct_window: 0.5 },
  ],
  [
    { tokens_used: 12.9, pct_window: 'half' },
    { tokens_used: 12, pct_window: null },
  ],
  [{}, { tokens_used: null, pct_window: null }],
  ['much', null],
];

test.each(CONSUMPTION_ROWS)('context_consumption %j reads as %j', (context_consumption, expected) => {
  expect(contextConsumption({ context_consumption })).toEqual(expected);
});
