// The values of variables in a line of shell, however they are written.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hideValues, valuesIn } from './exec-call.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const hidden = (line: string, from = 0, to = line.length) => hideValues(line, valuesIn(line), [from, to]);

test.each([
  ['X=pw run', 'X=... run'],
  ['X=pw; run', 'X=...; run'],
  ['(X=pw) run', '(X=...) run'],
  ['X= run', 'X= run'],
  ['X+=pw run', 'X+=... run'],
  ['X[0]=pw run', 'X[0]=... run'],
  [`${'X'.repeat(100)}=pw run`, `${'X'.repeat(100)}=... run`],
  ['X=abc\\ pw run', 'X=... run'],
  ["X='a pw' run", 'X=... run'],
  ['X="a pw"pw run', 'X=... run'],
  ['X="a\\" pw" run', 'X=... run'],
  ["X=$'a\\' pw' run", 'X=... run'],
  ['X=(a pw) run', 'X=... run'],
  ['X="$(echo "a pw")" run', 'X=...'],
  ['X="\u0024{Y:-"a pw"}" run', 'X=...'],
  ['a[$((1 + 2))]=pw run', 'a[$((1 + 2))]=... run'],
  ['X=$(echo "(" pw) run', 'X=... run'],
  ['X=$(echo $(echo pw) pw) run', 'X=... run'],
  [`X=\`echo pw\` run`, 'X=... run'],
  [`X=\${Y:-a pw} run`, 'X=... run'],
  ['bash -c "X=\\"a pw\\" run"', 'bash -c "X=... run"'],
  ['env X=pw Y=pw run', 'env X=... Y=... run'],
  ['X="a pw', 'X=...'],
  ['X=(a pw', 'X=...'],
  ['X=a\\', 'X=...'],
  ['run --option=shown', 'run --option=shown'],
])('%j is told as %j', (line, told) => {
  expect(hidden(line)).toBe(told);
});

test('a part that begins or ends within a value shows nothing of it', () => {
  const line = "run X='a pw b' end";
  expect(hidden(line, line.indexOf('pw'))).toBe('... end');
  expect(hidden(line, 0, line.indexOf('b'))).toBe('run X=...');
  expect(hidden(line, line.indexOf('a'), line.indexOf('b'))).toBe('...');
});

test('a long line takes no longer for what it holds', () => {
  for (const piece of ['X=', 'X=(', "X='", 'X=\\"', 'X[', 'X=`', 'X=$(X=', 'X'])
    expect(hidden(piece.repeat(50_000)).length).toBeGreaterThan(0);
});

test('whatever the line, its parts are told in order, and a value never', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(' ', "'", '"', '\\', ';', '$(', '(', ')', '{', '}', 'A=', 'B+=', '`', '\n', '|'),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, (line) => {
      const ranges = valuesIn(line);
      let last = 0;
      for (const [start, end] of ranges) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(line.length);
        last = end;
      }
      const kept = line.length - ranges.reduce((sum, [start, end]) => sum + end - start, 0);
      expect(hidden(line).length).toBe(kept + 3 * ranges.length);
    }),
    { numRuns: RUNS },
  );
});
