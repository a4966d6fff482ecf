import fc from 'fast-check';
import { expect, test } from 'vitest';
import { claimedCommands, compareCommands } from './commands.ts';

test.each<[string, string, string]>([
  ['the same', 'npm test', 'npm test'],
  ['other spacing', 'npm  test', ' npm test '],
  ['a shell around it', 'npm test', "bash -lc 'npm test'"],
  ['another shell around it', 'npm test', '/bin/bash -lc "npm test"'],
  ['a shell without quotes', 'ls', 'sh -c ls'],
  ['quotes within quotes', "echo 'a b'", "bash -c 'echo '\\''a b'\\'''"],
  ['escapes within quotes', 'echo "$A"', '/bin/sh -c "echo \\"\\$A\\""'],
  ['marks of a quotation', '`npm test`', 'npm test'],
  ['a prompt', '$ npm test', 'npm test'],
  ['a folder entered first', 'npm test', 'cd app && npm test'],
  ['a viewer behind it', 'npm test', 'npm test 2>&1 | tail -5'],
  ['a remark in brackets', 'pytest -q (12 passed, 1 skipped)', 'pytest -q'],
  ['brackets within brackets', 'pytest -q (12 passed (2 slow))', 'pytest -q'],
  [
    'brackets in the command, and a remark',
    "node -e 'f(1)' (ok)",
    'bash -lc \'node -e "f(1)"\''.replaceAll('"', "'\\''"),
  ],
  ['a comment behind it', 'npm run lint # clean', 'npm run lint'],
  ['a comment in what was run', 'npm ci && npm test', 'npm ci # once\nnpm test # all'],
  ['two steps in one', 'npm ci && npm test', 'npm ci; npm test'],
])('%s: as it was said', (_what, claim, run) => {
  expect(compareCommands([claim], [run])).toEqual({ notRun: [], unnamed: [] });
});

test.each<[string, string[], string[], string[], string[]]>([
  ['nothing was run', ['npm test'], [], ['npm test'], []],
  ['nothing was named', [], ['npm test'], [], ['npm test']],
  ['another argument', ['npm test'], ['npm test -- a'], ['npm test'], ['npm test -- a']],
  ['a step more than was named', ['ls'], ['ls && rm x'], [], ['ls && rm x']],
  ['a step less than was named', ['ls && rm x'], ['ls'], ['ls && rm x'], []],
  ['a folder alone', [], ['cd app'], [], ['cd app']],
  ['a separator within quotes', ["echo 'a; b'"], ["echo 'a' ; b"], ["echo 'a; b'"], ["echo 'a' ; b"]],
  ['a remark on what was not run', ['npm test (ok)'], ['npm ci'], ['npm test (ok)'], ['npm ci']],
  ['a remark on another argument', ['npm test (ok)'], ['npm test -- a'], ['npm test (ok)'], ['npm test -- a']],
  ['brackets that are a command', ['ls && (rm x)'], ['ls'], ['ls && (rm x)'], []],
  ['a remark before more', ['ls (ok) && rm x'], ['ls'], ['ls (ok) && rm x'], ['ls']],
  ['a mark within a word', ['git show a#b'], ['git show a'], ['git show a#b'], ['git show a']],
  ['a mark within quotes', ["echo 'a # b'"], ["echo 'a"], ["echo 'a # b'"], ["echo 'a"]],
  ['the same twice', ['a', 'a'], ['b', 'b'], ['a'], ['b']],
])('%s: the difference is told', (_what, claimed, ran, notRun, unnamed) => {
  expect(compareCommands(claimed, ran)).toEqual({ notRun, unnamed });
});

test('a command that was cut counts by what is left of it', () => {
  const long = `echo ${'x'.repeat(400)}`;
  const cut = `${long.slice(0, 299)}…`;
  expect(compareCommands([long], [cut])).toEqual({ notRun: [], unnamed: [] });
  expect(compareCommands(['ls'], [cut])).toEqual({ notRun: ['ls'], unnamed: [cut] });
});

test('where the list of commands was full, nothing is said not to have been run', () => {
  const full = Array.from({ length: 50 }, (_, index) => `echo ${index}`);
  expect(compareCommands(['ls'], full).notRun).toEqual([]);
  expect(compareCommands(['ls'], full.slice(1)).notRun).toEqual(['ls']);
});

test.each<[string, unknown, string[]]>([
  ['texts', ['ls', ' npm test '], ['ls', 'npm test']],
  ['objects', [{ command: 'ls' }, { cmd: 'pwd', result: 'x' }, { other: 1 }], ['ls', 'pwd']],
  ['one text', 'ls', ['ls']],
  [
    'texts with their results',
    ['npm test -> ok', '`npm ci` -> 3 passed, 1 skipped', 'npm run build: exit 0', '`ls`: two files', 'make => failed'],
    ['npm test', 'npm ci', 'npm run build', 'ls', 'make'],
  ],
  [
    'texts that only look as if they had one',
    ["git log --format='%h -> %s'", 'ssh host: pwd', '`a` && `b`', 'curl http://x/: y', "echo 'x: ok'"],
    ["git log --format='%h -> %s'", 'ssh host: pwd', '`a` && `b`', 'curl http://x/: y', "echo 'x: ok'"],
  ],
  ['remarks that stay', ['pytest -q (12 passed, 1 skipped)', 'ls # x'], ['pytest -q (12 passed, 1 skipped)', 'ls # x']],
  ['what came to nothing', ['npm test -> not run', '`npm test` (skipped: no network)', 'npm test: skipped'], []],
  ['what was not run', ['none', 'npm test (skipped)', 'N/A', 'not run: ls', '', null, 7], []],
])('what a report claims to have run: %s', (_what, commands_run, claimed) => {
  expect(claimedCommands({ evidence_report: { commands_run } as never })).toEqual(claimed);
  expect(claimedCommands({ evidence_report: { COMMANDS_RUN: commands_run } as never })).toEqual(claimed);
});

test('whatever is compared, what was run as it was named makes no difference', () => {
  const word = fc.constantFrom(
    "'",
    '"',
    '`',
    '\\',
    '|',
    '&&',
    ';',
    '\n',
    'ls',
    'cd',
    ' ',
    'bash -lc ',
    '2>&1',
    '$',
    ' (',
    ')',
    ' # ',
  );
  const command = fc.array(word, { maxLength: 12 }).map((words) => words.join(''));
  fc.assert(
    fc.property(fc.array(command, { maxLength: 6 }), (commands) => {
      expect(compareCommands(commands, commands)).toEqual({ notRun: [], unnamed: [] });
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
  const claims = (text: string) => claimedCommands({ evidence_report: { commands_run: [text] } });
  for (const text of [' -> '.repeat(50_000), "' -> ".repeat(50_000), ': exit'.repeat(50_000), '`'.repeat(100_000)]) {
    expect(claims(text).length).toBeLessThan(2);
  }
  const hostile = [
    "bash -lc '".repeat(5_000),
    '`'.repeat(50_000),
    '2>&1 '.repeat(20_000),
    ' '.repeat(100_000),
    ' ('.repeat(50_000),
    ' #'.repeat(50_000),
  ];
  expect(compareCommands(hostile, hostile).notRun).toEqual([]);
});
