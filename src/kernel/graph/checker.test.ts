import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { checkCheckers } from './check-config.ts';
import { type CheckerTime, checkerNames, checkersAt, readChecker } from './config.ts';

test.each<[string, Json, readonly string[]]>([
  ['no checkers', null, []],
  ['a list', [], ['error checkers']],
  ['no object', { a: 'npm test' }, ['error checkers.a']],
  ['of no sort', { a: {} }, ['error checkers.a']],
  ['of two sorts', { a: { command: ['x'], file: 'y' } }, ['error checkers.a']],
  [
    'a command as one text, which only a shell could take apart',
    { a: { command: 'npm test' } },
    ['error checkers.a.command'],
  ],
  ['an empty command', { a: { command: [] } }, ['error checkers.a.command']],
  ['a command with a number', { a: { command: ['x', 5] } }, ['error checkers.a.command']],
  ['an exit code below all', { a: { command: ['x'], exitCode: -1 } }, ['error checkers.a.exitCode']],
  ['half an exit code', { a: { command: ['x'], exitCode: 1.5 } }, ['error checkers.a.exitCode']],
  ['an exit code that is none', { a: { command: ['x'], exitCode: 256 } }, ['error checkers.a.exitCode']],
  ['no time at all', { a: { command: ['x'], timeoutMs: 0 } }, ['error checkers.a.timeoutMs']],
  ['a time that is none', { a: { command: ['x'], when: 'always' } }, ['error checkers.a.when']],
  ['a word nobody reads', { a: { command: ['x'], shell: true } }, ['warning checkers.a.shell']],
  ['a file outside', { a: { file: '../x' } }, ['error checkers.a.file']],
  ['an absolute file', { a: { file: '/etc/passwd' } }, ['error checkers.a.file']],
  [
    'a file that neither exists nor contains',
    { a: { file: 'x', exists: false, contains: 'y' } },
    ['error checkers.a.contains'],
  ],
  ['no place', { a: { json: 'x', equals: 1 } }, ['error checkers.a']],
  ['two places', { a: { json: 'x', pointer: '/a', path: 'a', equals: 1 } }, ['error checkers.a']],
  ['a pointer that is none', { a: { json: 'x', pointer: 'a', equals: 1 } }, ['error checkers.a.pointer']],
  ['a path with a gap', { a: { json: 'x', path: 'a..b', equals: 1 } }, ['error checkers.a.path']],
  ['nothing to compare with', { a: { json: 'x', path: 'a' } }, ['error checkers.a.equals']],
  ['no paths', { a: { diff: [] } }, ['error checkers.a.diff']],
  ['one path of two outside', { a: { diff: ['src', '../x'] } }, ['error checkers.a.diff']],
  [
    'good ones',
    {
      a: { command: ['npm', 'test'], when: 'turn' },
      b: { file: 'x', when: 'merge' },
      c: { json: 'x', path: 'a', equals: null },
      d: { diff: ['src'] },
      e: null,
      f: { command: ['x'], exitCode: 0 },
      g: { command: ['x'], exitCode: 255 },
      h: { file: 'x', exists: false },
      i: { file: 'x', contains: 'y' },
      j: { json: 'x', pointer: '', equals: {} },
    },
    [],
  ],
])('checkers: %s', (_, checkers, issues) => {
  const found = [...checkCheckers(checkers ?? undefined)];
  expect(found.map(({ level, path }) => `${level} ${path}`)).toEqual(issues);
});

test.each<[Json, unknown]>([
  [{ command: ['npm', 'test'] }, { kind: 'command', command: ['npm', 'test'], exitCode: 0, timeoutMs: 300_000 }],
  [
    { command: ['x'], exitCode: 3, timeoutMs: 5 },
    { kind: 'command', command: ['x'], exitCode: 3, timeoutMs: 5 },
  ],
  [
    { file: 'a', exists: false },
    { kind: 'file', file: 'a', exists: false, contains: null },
  ],
  [
    { file: 'a', contains: 'b' },
    { kind: 'file', file: 'a', exists: true, contains: 'b' },
  ],
  [{ file: 'a' }, { kind: 'file', file: 'a', exists: true, contains: null }],
  [
    { json: 'a', pointer: '/x~1y/0/~0', equals: 1 },
    { kind: 'json', file: 'a', at: ['x/y', '0', '~'], equals: 1 },
  ],
  [
    { json: 'a', pointer: '', equals: [] },
    { kind: 'json', file: 'a', at: [], equals: [] },
  ],
  [
    { json: 'a', path: 'x.0', equals: 1 },
    { kind: 'json', file: 'a', at: ['x', '0'], equals: 1 },
  ],
  [
    { json: 'a', equals: 1 },
    { kind: 'json', file: 'a', at: [], equals: 1 },
  ],
  [{ diff: ['src'] }, { kind: 'diff', paths: ['src'] }],
  [{ diff: ['src', '../x'] }, null],
  [{ command: 'npm test' }, null],
  [null, null],
])('%j is read as %j', (definition, checker) => {
  expect(readChecker(definition)).toEqual(checker);
});

test('only what can be run has a name', () => {
  expect(checkerNames({ checkers: { a: { command: ['x'] }, b: { command: 'x' }, c: null } })).toEqual(['a']);
  expect(checkerNames({})).toEqual([]);
});

test.each<[Json, string]>([
  ['npm test', 'A checker is an object, not "npm test".'],
  [{}, 'this one has none.'],
  [{ command: ['x'], file: 'y' }, 'this one has command and file.'],
])('of the checker %j it is said: %s', (definition, words) => {
  expect([...checkCheckers({ a: definition })].map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
});

const declared = {
  quick: { command: ['x'] },
  slow: { command: ['x'], when: 'merge' },
  named: { file: 'x', when: 'turn' },
  shell: { command: 'x' },
  late: { command: 'x', when: 'merge' },
  gone: null,
};

test.each<[CheckerTime, readonly string[]]>([
  ['turn', ['quick', 'named']],
  ['merge', ['slow']],
])('at the time of a %s those run that can be run and are meant for it', (time, names) => {
  expect(checkersAt(declared, time)).toEqual(names);
});
