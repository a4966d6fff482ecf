// The short form of `npm run soak -- race`.
import { expect, test } from 'vitest';
import { race } from './race.ts';

test('of eight processes that race for overlapping paths one wins each round, and a zombie never gets through', {
  timeout: 600_000,
}, async () => {
  const rounds = Number(process.env.RACE_ROUNDS ?? 30);
  const zombies = Math.floor(rounds / 10);
  expect(await race(rounds)).toEqual({ rounds, zombies, lateRefused: zombies * 3, faults: [] });
});
