import { expect, test } from 'vitest';
import { thisDriver } from './lease.ts';
import { grantSlot, withoutHolder } from './runner-register.ts';

const NOW = 1_800_000_000_000;
const me = thisDriver();
const gone = { ...me, pid: 999_999_999 };
const unseen = { ...me, namespace: 'pid:[1]' };
const holder = (key: string, driver = me) => ({ driver, key });
const slot = (maxConcurrent: number | null, perMinute: number | null) => ({
  runner: 'claude',
  maxConcurrent,
  perMinute,
});

test.each<[string, number | null, number, string[], number | 'later']>([
  ['nobody is there', 1, NOW, [], 0],
  ['there is room for two', 2, NOW, ['a'], 0],
  ['it is full', 1, NOW, ['a'], 'later'],
  ['it holds the place already', 1, NOW, ['mine'], 0],
  ['there is no limit', null, NOW, ['a', 'b', 'c'], 0],
])('a place is asked for where %s', (_what, max, now, held, wait) => {
  let value: string | null = null;
  for (const key of held) value = grantSlot(value, slot(null, null), holder(key), now).value;
  const { waitMs } = grantSlot(value, slot(max, null), holder('mine'), now);
  expect(waitMs > 0).toBe(wait === 'later');
});

test('the place of a process that has ended counts for nothing', () => {
  const { value } = grantSlot(null, slot(1, null), holder('a', gone), NOW);
  expect(grantSlot(value, slot(1, null), holder('b'), NOW).waitMs).toBe(0);
});

test('a place that is given back is free', () => {
  const { value } = grantSlot(null, slot(1, null), holder('a'), NOW);
  expect(grantSlot(withoutHolder(value, holder('a'), NOW), slot(1, null), holder('b'), NOW).waitMs).toBe(0);
});

test('no more begin within a minute than allowed, and who waits is told how long', () => {
  let value = grantSlot(null, slot(null, 2), holder('a'), NOW).value;
  value = grantSlot(value, slot(null, 2), holder('b'), NOW + 20_000).value;
  const third = grantSlot(value, slot(null, 2), holder('c'), NOW + 30_000);
  expect(third.waitMs).toBe(30_000);
  expect(grantSlot(third.value, slot(null, 2), holder('c'), NOW + 60_000).waitMs).toBe(0);
});

test.each([
  ['who looked at the clock first and came second waits', -5, 60_005],
  ['a clock that was set back by an hour is not waited for', -3_600_000, 0],
])('%s', (_what, later, waitMs) => {
  const { value } = grantSlot(null, slot(null, 1), holder('a'), NOW);
  expect(grantSlot(value, slot(null, 1), holder('b'), NOW + later).waitMs).toBe(waitMs);
});

test('what runs already has its place whatever the limits say', () => {
  const { value } = grantSlot(null, slot(1, 1), holder('a'), NOW);
  const forced = grantSlot(value, slot(1, 1), holder('b'), NOW, true);
  expect(forced.waitMs).toBe(0);
  expect(
    grantSlot(withoutHolder(forced.value, holder('a'), NOW), slot(1, null), holder('c'), NOW).waitMs,
  ).toBeGreaterThan(0);
});

test('a process that cannot be looked at keeps its place for as long as it asks again', () => {
  const first = grantSlot(null, slot(1, null), holder('a', unseen), NOW).value;
  expect(grantSlot(first, slot(1, null), holder('b'), NOW + 59_999).waitMs).toBeGreaterThan(0);
  expect(grantSlot(first, slot(1, null), holder('b'), NOW + 60_000).waitMs).toBe(0);
  const renewed = grantSlot(first, slot(1, null), holder('a', unseen), NOW + 15_000, true).value;
  expect(grantSlot(renewed, slot(1, null), holder('b'), NOW + 60_000).waitMs).toBeGreaterThan(0);
  expect(grantSlot(renewed, slot(1, null), holder('b'), NOW - 86_400_000).waitMs).toBe(0);
});

test('who finds no place looks again soon, not after a minute', () => {
  const { value } = grantSlot(null, slot(1, null), holder('a'), NOW);
  expect(grantSlot(value, slot(1, null), holder('b'), NOW).waitMs).toBe(1_000);
});

test('an attempt that only keeps its place does not count as begun', () => {
  const { value } = grantSlot(null, slot(null, 1), holder('a'), NOW, true);
  expect(grantSlot(value, slot(null, 1), holder('b'), NOW).waitMs).toBe(0);
});

test('a driver gives back its own place only, not that of another driver with the same turn', () => {
  const { value } = grantSlot(null, slot(1, null), holder('a', unseen), NOW);
  const left = withoutHolder(value, holder('a'), NOW);
  expect(grantSlot(left, slot(1, null), holder('b'), NOW).waitMs).toBeGreaterThan(0);
});
