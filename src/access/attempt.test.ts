import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attemptIn } from './attempt.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const CAST = '20261116-051127-abc123';

test.each([
  ['nothing', {}, null],
  ['a cast without an attempt', { BATON_CAST: CAST }, null],
  ['an attempt without a cast', { BATON_ATTEMPT: '1.1' }, null],
  ['a name that leads elsewhere', { BATON_CAST: '../x', BATON_ATTEMPT: '1.1' }, null],
  ['a turn that is no number', { BATON_CAST: CAST, BATON_ATTEMPT: '1.1/..' }, null],
  ['a turn 0', { BATON_CAST: CAST, BATON_ATTEMPT: '0.1' }, null],
  ['both', { BATON_CAST: CAST, BATON_ATTEMPT: '12.3' }, { turn: 12, attempt: 3, fence: null }],
  ['a fence', { BATON_CAST: CAST, BATON_ATTEMPT: '1.1', BATON_FENCE: '7' }, { turn: 1, attempt: 1, fence: 7 }],
  ['a fence that is none', { BATON_CAST: CAST, BATON_ATTEMPT: '1.1', BATON_FENCE: '-7' }, { turn: 1, fence: null }],
])('an environment with %s', (_, env, expected) => {
  const found = attemptIn(env, '/state');
  if (expected === null) expect(found).toBe(null);
  else expect(found).toMatchObject({ cast: CAST, ...expected });
});

test('the folder lies among the attempts, whatever the environment says', () => {
  const word = fc.oneof(fc.string(), fc.constantFrom('..', 'a/b', CAST, '1.1', '1.1.1', '\0'));
  fc.assert(
    fc.property(word, word, word, (cast, attempt, fence) => {
      const found = attemptIn({ BATON_CAST: cast, BATON_ATTEMPT: attempt, BATON_FENCE: fence }, '/state');
      if (found) expect(found.dir).toMatch(/^\/state\/attempts\/[0-9A-Za-z][0-9A-Za-z_-]*-\d+\.\d+$/);
    }),
    { numRuns: RUNS },
  );
});
