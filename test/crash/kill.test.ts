import { expect, test } from 'vitest';
import { disturbedRun, quietRun } from './kill.ts';

// The full count is `npm run soak`. The seed of a failing run is in its name.
const KILL_SEEDS = Number(process.env.KILL_SEEDS ?? 1);

test('SIGKILL at random moments: after resume the cast ends as if nothing had happened', async () => {
  const quiet = await quietRun();
  expect(quiet.outcome.accepted).toBe(1 + 12 * 4 + 4 * 3 + 1);
  for (let seed = 1; seed <= KILL_SEEDS; seed++) {
    const { outcome, facts } = await disturbedRun(seed, quiet);
    expect(outcome, `seed ${seed}`).toEqual(quiet.outcome);
    expect(facts.filter(({ kind }) => kind === 'turn.accepted').length, `seed ${seed}`).toBe(quiet.outcome.accepted);
    expect(facts.filter(({ kind }) => kind === 'cast.completed').length, `seed ${seed}`).toBe(1);
  }
}, 600_000);
