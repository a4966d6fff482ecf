import { expect, test } from 'vitest';
import { MemoryLog } from '../log/memory.ts';
import {
  type Driver,
  drivingIn,
  grantLease,
  LEASE_MS,
  leaseIn,
  leaseName,
  refusalOfLost,
  renewLease,
  thisDriver,
} from './lease.ts';

const me = thisDriver();
const NOW = 1_000_000;
/** A driver that cannot be looked at from here. */
const far = (pid: number): Driver => ({ ...me, host: 'far', pid, namespace: 'pid:[1]' });
const gone: Driver = { ...me, pid: 4_000_000 };

function register(start: Record<string, string> = {}) {
  const values = new Map(Object.entries(start));
  const held = (name: string) => values.get(name) ?? null;
  return {
    held,
    take(driver: Driver, now = NOW, over?: number) {
      const { lease, changes } = grantLease(held, 'c', driver, now, over);
      for (const { name, value } of changes) value === null ? values.delete(name) : values.set(name, value);
      return lease;
    },
    release: () => void values.delete(leaseName('c')),
  };
}

test('a lease lasts 60 s, and each has a larger fence than all before it, also after it was given back', () => {
  const { take, release } = register();
  expect(take(far(1))).toMatchObject({ pid: 1, fence: 1, until: NOW + LEASE_MS });
  release();
  expect(take(far(2))).toMatchObject({ pid: 2, fence: 2 });
  expect(take(me, NOW + LEASE_MS)).toMatchObject({ fence: 3, after: far(2) });
});

test('a driver that cannot be looked at keeps its cast until its lease ends, and not a moment longer', () => {
  const { take, held } = register();
  take(far(1));
  expect(take(me, NOW + LEASE_MS - 1)).toMatchObject({ pid: 1, fence: 1 });
  const renewal = renewLease(held, 'c', 1, NOW + 15_000);
  expect(leaseIn(renewal?.value ?? null)).toMatchObject({ pid: 1, fence: 1, until: NOW + 15_000 + LEASE_MS });
  expect(take(me, NOW + LEASE_MS)).toMatchObject({ pid: me.pid, fence: 2, after: far(1) });
});

test('a driver that is seen to be gone loses its cast at once, whatever its lease says', () => {
  const { take } = register();
  take(gone);
  expect(take(me)).toMatchObject({ pid: me.pid, fence: 2, after: gone });
});

test('a driver that is there keeps its cast when its lease is long over', () => {
  const { take } = register();
  take(me);
  expect(take(far(1), NOW + 10 * LEASE_MS)).toMatchObject({ pid: me.pid, fence: 1 });
});

test('who asks again keeps fence and predecessor', () => {
  const { take } = register();
  take(gone);
  take(me);
  expect(take(me, NOW + 5)).toMatchObject({ fence: 2, until: NOW + 5 + LEASE_MS, after: gone });
});

test('a take-over ends the lease it names and no other', () => {
  const { take } = register();
  take(me);
  expect(take(far(1), NOW, 7)).toMatchObject({ pid: me.pid, fence: 1 });
  expect(take(far(1), NOW, 1)).toMatchObject({ pid: 1, fence: 2 });
  expect(take(far(2), NOW, 1)).toMatchObject({ pid: 1, fence: 2 });
});

test('a lost lease is not renewed, and the refusal names who took over', () => {
  const { take, held, release } = register();
  take(far(1));
  take(far(2), NOW, 1);
  expect(renewLease(held, 'c', 1, NOW)).toBeNull();
  const value = held(leaseName('c'));
  expect(refusalOfLost(value, 'c', 2)).toBeNull();
  expect(refusalOfLost(value, 'c', 1)).toMatchObject({ code: 'LEASE_LOST', details: { fence: 1, holder: far(2) } });
  expect(refusalOfLost(value, 'c', 1)?.reason).toContain('process 2 on far took over cast c');
  release();
  expect(refusalOfLost(null, 'c', 1)).toMatchObject({ code: 'LEASE_LOST', details: { holder: null } });
});

test('a register of an earlier version opens: a process is looked for, and one elsewhere keeps the cast until a take-over', () => {
  const { machine: _machine, namespace: _namespace, ...old } = me;
  const there = register({ 'cast:c': JSON.stringify({ ...old, host: 'old-name' }) });
  expect(there.take(far(1))).toMatchObject({ pid: me.pid, fence: 0, until: null });
  const ended = register({ 'cast:c': JSON.stringify({ ...old, pid: 4_000_000 }) });
  expect(ended.take(far(1))).toMatchObject({ pid: 1, fence: 1 });
  const elsewhere = register({ 'cast:c': JSON.stringify({ host: 'elsewhere', pid: 1, startTime: '1' }) });
  expect(elsewhere.take(me, NOW + 1000 * LEASE_MS)).toMatchObject({ host: 'elsewhere' });
  expect(elsewhere.take(me, NOW, 0)).toMatchObject({ pid: me.pid, fence: 1 });
});

test('looking for a driver writes nothing and tells casts with similar names apart', async () => {
  const log = new MemoryLog();
  const { take, held } = register();
  take(far(1));
  await log.changeLeases([], () => [{ name: leaseName('c'), value: held(leaseName('c')) }]);
  let changes = 0;
  log.changeLeases = log.lease = async () => {
    changes++;
    return null as never;
  };
  expect(await drivingIn(log, 'c', NOW)).toMatchObject({ pid: 1, sight: 'unknown' });
  expect([await drivingIn(log, 'c', NOW + LEASE_MS), await drivingIn(log, 'c2', NOW)]).toEqual([null, null]);
  expect(changes).toBe(0);
});
