import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutTrace } from './fault.ts';

const FRAMES = Array.from(
  { length: 60 },
  (_, at) => `    at async ModuleJob.run${at} (node:internal/modules/esm:${at}:5)`,
);
const trace = (...lines: string[]) => [...lines, ...FRAMES].join('\n');

test.each<[string, string, string]>([
  ['no trace', 'warning: old\nfatal: no key\n', 'warning: old\nfatal: no key\n'],
  [
    'source, marks, the error, its calls, the runtime',
    `${trace('file:///x.js:3', "import { a } from './b.js';", '         ^', '', "SyntaxError: './b.js' has no a")}\n\nNode.js v20.20.2\n`,
    "SyntaxError: './b.js' has no a",
  ],
  [
    'what the error holds, and its cause',
    `${trace('TypeError: fetch failed')} {\n  code: 'X',\n  [cause]: Error: connect ECONNREFUSED\n${FRAMES.join('\n')}\n}\n`,
    "TypeError: fetch failed\n  code: 'X',\n  [cause]: Error: connect ECONNREFUSED",
  ],
  [
    'more than is told: the error, and the end',
    `${trace('Error: refused')} {\n  a: 1,\n  b: 2,\n  c: 3,\n  d: 4,\n  e: 5\n}\n`,
    'Error: refused\n…\n  c: 3,\n  d: 4,\n  e: 5',
  ],
  ['words of several lines', trace('Error: two things:', 'one', 'two'), 'Error: two things:\none\ntwo'],
  ['words of a kind of their own', trace('warning: old', 'thrown: 7'), 'thrown: 7'],
  ['several errors: the last', `${trace('Error: first')}\n${trace('RangeError: second')}`, 'RangeError: second'],
  ['words after it', `${trace('Error: first')}\nfatal: not logged in`, 'Error: first\nfatal: not logged in'],
  [
    'a traceback that ends with the error',
    'a warning\nTraceback (most recent call last):\n  File "x.py", line 3, in <module>\n    f()\n    ~^^\nValueError: no key\n',
    'a warning\nValueError: no key',
  ],
  [
    'two of them',
    'Traceback (most recent call last):\n  File "x.py", line 3\nKeyError: 1\n\nDuring handling of that:\n\nTraceback (most recent call last):\n  File "x.py", line 4\nValueError: no key',
    'KeyError: 1\nDuring handling of that:\nValueError: no key',
  ],
])('%s', (_what, said, told) => {
  expect(withoutTrace(said)).toBe(told);
});

test('whatever is said, it is told in no more words, and in time', () => {
  const line = fc.constantFrom('    at x', 'Error: y', 'Traceback (most recent call last):', '  ^', '', ' {', '}', 'z');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const said = lines.join('\n');
      expect(withoutTrace(said).length).toBeLessThanOrEqual(said.length);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
  for (const word of ['    at x\n', '^', '... 1 more', 'Error', '\n', ' ', 'a.'])
    expect(withoutTrace(word.repeat(100_000)).length).toBeLessThanOrEqual(word.length * 100_000);
});
