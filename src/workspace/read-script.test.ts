import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { faultOfScript } from './plan.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

test.each<[Json, string | null]>([
  [[], 'a script is an object of lists of turns'],
  [{ A: 'hello' }, 'the turns of A must be a list, not a string'],
  [{ A: ['$repeat'] }, '"$repeat" under A must be the last of at least two elements'],
  [{ A: ['x', '$repeat', 'y'] }, '"$repeat" under A must be the last of at least two elements'],
  [{ A: [{ $turn: {}, output: 'x' }] }, 'turn 1 of A: output is next to $turn; put it inside, or leave $turn out'],
  [{ A: ['x', { $turn: null }] }, 'turn 2 of A: $turn is null; it must be an object'],
  [
    { A: [{ $turn: { toString: 1 } }] },
    'turn 1 of A: $turn has no toString; it has output, delayMs, usage, fail, write, exec, commands',
  ],
  [{ A: [{ $turn: { delayMs: -1 } }] }, 'turn 1 of A: delayMs must be a number of milliseconds, 0 or above'],
  [{ A: [{ $turn: { usage: { tokens: 1 } } }] }, 'turn 1 of A: usage has no tokens; it has input, output, cost'],
  [{ A: [{ $turn: { write: [] } }] }, 'turn 1 of A: write must be an object from paths to texts'],
  [
    { A: [{ $turn: { commands: ['ls', 7] } }] },
    'turn 1 of A: commands must be a list of commands that it ran, as the script says',
  ],
  [{}, null],
  [{ A: [], B: ['x', '$repeat'], C: [null, 7, { any: 'value' }] }, null],
  [
    {
      A: [
        { $turn: { output: 1, delayMs: 5, usage: { cost: 0.1 }, fail: 'crash', write: { a: 'b' }, commands: ['ls'] } },
      ],
    },
    null,
  ],
])('%j: %s', (script, fault) => {
  expect(faultOfScript(script)).toBe(fault);
});

const member = fc.constantFrom('output', 'delayMs', 'usage', 'fail', 'write', 'other');
const turn = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('$repeat', '$continue', { $answer: 'yes' }),
  fc.record({ $turn: fc.oneof(fc.jsonValue(), fc.dictionary(member, fc.jsonValue())) }),
);
const script = fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.oneof(fc.array(turn), fc.jsonValue())));

test('whatever the value, it is a script or told in one sentence, and again so when written and read', () => {
  fc.assert(
    fc.property(script, (value) => {
      const fault = faultOfScript(value as Json);
      expect(fault === null || fault.length > 10).toBe(true);
      expect(faultOfScript(JSON.parse(JSON.stringify(value)))).toBe(fault);
    }),
    { numRuns: RUNS },
  );
});
