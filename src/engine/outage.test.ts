import { expect, test } from 'vitest';
import { thisDriver } from './lease.ts';
import { admit, afterFinding, afterStop, outageIn } from './runner-register.ts';

const NOW = 1_800_000_000_000;
const me = thisDriver();
const gone = { ...me, pid: 999_999_999 };
const elsewhere = { ...gone, namespace: 'another' };
const holder = (key: string, driver = me) => ({ driver, key });
const FOUND = { code: 'PROVIDER_ERROR', reason: 'server error', isProven: true };

/** The runner is found to be down by the holder `a`. */
const down = (found = FOUND) => afterFinding(null, 'claude', holder('a'), found, NOW);

test('a runner that is not known to be down lets everybody in', () => {
  expect(admit(null, holder('a'), NOW)).toEqual({ value: null, waitMs: 0, outage: null });
});

test('while it is down everybody waits, and one at a time asks', () => {
  const value = down();
  expect(admit(value, holder('b'), NOW + 4_999)).toMatchObject({ waitMs: 1, outage: { reason: 'server error' } });
  const asking = admit(value, holder('b'), NOW + 5_000);
  expect(asking).toMatchObject({ waitMs: 0, outage: { runner: 'claude', since: NOW } });
  expect(admit(asking.value, holder('c'), NOW + 5_000).waitMs).toBeGreaterThan(0);
  // Well: everybody goes on.
  expect(afterFinding(asking.value, 'claude', holder('b'), null, NOW + 6_000)).toBeNull();
});

test('a question that fails is asked again later, at most after a minute', () => {
  let value = down();
  const waits: number[] = [];
  for (let [now, round] = [NOW, 1]; round <= 6; round += 1) {
    const { askAt = 0 } = outageIn(value, now) ?? {};
    waits.push(askAt - now);
    now = askAt;
    value = afterFinding(admit(value, holder('b'), now).value, 'claude', holder('b'), FOUND, now);
  }
  expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
});

test.each([
  ['those who were under way at the same time are no further question', holder('late'), NOW + 100],
  ['nor is the first finder again', holder('a'), NOW + 200],
])('%s', (_what, who, now) => {
  expect(afterFinding(down(), 'claude', who, FOUND, now)).toBe(down());
});

test('who is stopped while it asks leaves the question to others, and so does a process that has ended', () => {
  const asking = admit(down(), holder('b'), NOW + 5_000).value;
  expect(admit(afterStop(asking, holder('b')), holder('c'), NOW + 5_000).waitMs).toBe(0);
  expect(afterStop(asking, holder('c'))).toBe(asking);
  const dead = admit(down(), holder('b', gone), NOW + 5_000).value;
  expect(admit(dead, holder('c'), NOW + 5_000).waitMs).toBe(0);
  // One that cannot be looked at may have ended.
  const unseen = admit(down(), holder('b', elsewhere), NOW + 5_000).value;
  expect(admit(unseen, holder('c'), NOW + 5_000 + 1_799_999).waitMs).toBeGreaterThan(0);
  expect(admit(unseen, holder('c'), NOW + 5_000 + 1_800_000).waitMs).toBe(0);
});

test('an outage that nobody asks about is forgotten, and one from the future too', () => {
  expect(outageIn(down(), NOW + 125_000)).not.toBeNull();
  expect(outageIn(down(), NOW + 125_001)).toBeNull();
  expect(outageIn(down(), NOW - 200_000)).toBeNull();
});

test('that the runner had answered before is remembered', () => {
  const first = down({ ...FOUND, isProven: false });
  expect(outageIn(first, NOW)).toMatchObject({ isProven: false });
  const asking = admit(first, holder('b'), NOW + 5_000).value;
  expect(outageIn(afterFinding(asking, 'claude', holder('b'), FOUND, NOW + 5_000), NOW)).toMatchObject({
    isProven: true,
  });
});
