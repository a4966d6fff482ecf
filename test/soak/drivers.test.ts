// The short forms of `npm run soak -- renames`, `namespaces` and `clocks`.
import { expect, test } from 'vitest';
import { whyNot } from '../cli/namespaces.ts';
import { jumpClocks, jumpLeases, jumpWaits, renameHosts, splitNamespaces } from './drivers.ts';

const LIMIT = { timeout: 300_000 };
const NONE = Number.POSITIVE_INFINITY;

test.skipIf(whyNot('--uts') !== null)('a cast goes on under every name of its host', LIMIT, async () => {
  expect(await renameHosts(1)).toMatchObject({ rounds: 1, faults: [] });
});

test.skipIf(whyNot('--pid', '--fork', '--mount-proc') !== null)(
  'of drivers in process namespaces of their own one gets the cast',
  LIMIT,
  async () => {
    expect(await splitNamespaces(1, { patientEvery: NONE })).toMatchObject({ rounds: 1, faults: [] });
  },
);

test('a cast completes while its clock is set forward and back', LIMIT, async () => {
  expect(await jumpClocks(1)).toMatchObject({ rounds: 1, faults: [] });
});

test('a waiting turn goes on and a claim with heartbeats is kept while the clock is set', LIMIT, async () => {
  expect(await jumpWaits(2)).toMatchObject({ rounds: 2, faults: [] });
});

test.skipIf(whyNot('--pid', '--fork', '--mount-proc') !== null)(
  'a lease neither lasts for ever nor makes two drivers when the clock is set',
  LIMIT,
  async () => {
    expect(await jumpLeases(3, { patientEvery: NONE })).toMatchObject({ rounds: 3, faults: [] });
  },
);
