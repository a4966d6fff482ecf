// The short form of `npm run soak -- storage`.
import { expect, test } from 'vitest';
import { CANNOT_MOUNT } from '../cli/mounted.ts';
import { deletedLogs, readOnlyCopies } from './storage.ts';

test.skipIf(CANNOT_MOUNT)(
  'a copy of a log on a read-only medium is read like the original (needs the right to mount)',
  {
    timeout: 300_000,
  },
  () => {
    expect(readOnlyCopies(1)).toEqual([]);
  },
);

test('a log that is deleted at a random moment is noticed', { timeout: 300_000 }, async () => {
  const { noticed, late, faults } = await deletedLogs(3, 7);
  expect([noticed + late, faults]).toEqual([3, []]);
  expect(noticed).toBeGreaterThan(0);
});
