// The short form of `npm run soak -- quests`.
import { expect, test } from 'vitest';
import { killedQueue } from './quests.ts';

test('a queue driven by three processes that are killed at random is done once and in order', {
  timeout: 300_000,
}, async () => {
  const { faults, said } = await killedQueue({ quests: 6, kills: 6, seed: 7 });
  expect(faults, said).toEqual([]);
});
