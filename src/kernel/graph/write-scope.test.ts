// Which sockets may change files by their rules, and the line about changes that no rule explains.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import type { Rules } from './config.ts';
import { resolve } from './resolve.ts';
import { type Bystander, bystanderAt, hasOwnPaths, isKnownToWrite, isShownChanges } from './route.ts';

const sockets = {
  'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
  'Socket-2': { materia: 'Write', edges: [always('Socket-3')] },
  'Socket-3': { materia: 'Tool', edges: [always('Socket-4')] },
  'Socket-4': { materia: 'Format', edges: [always('Socket-5')] },
  'Socket-5': { materia: 'Scoped' },
};
const utility = { type: 'utility', command: ['x'] };
const materia = { Format: { ...utility, writes: ['a.ts'] }, Scoped: { ...utility, lockScope: ['docs'] } };
const rules = resolve(graph(sockets, { materia }), 'Flow');
const withoutMateria: Rules = { ...rules, materia: {} };

test.each<[string, string, Rules, boolean, Bystander | null]>([
  ['an agent that only reads', 'Socket-1', rules, false, 'reader'],
  ['an agent that writes', 'Socket-2', rules, true, null],
  ['a utility of which nothing is said', 'Socket-3', rules, false, 'utility'],
  ['a utility with known files', 'Socket-4', rules, false, 'utility'],
  ['a utility with paths', 'Socket-5', rules, true, null],
  ['a socket that does not exist', 'Socket-9', rules, false, null],
  ['a socket whose materia does not exist', 'Socket-2', withoutMateria, false, null],
])('%s (%s)', (_, socket, its, own, who) => {
  expect(hasOwnPaths(its, socket)).toBe(own);
  expect(bystanderAt(its, undefined, socket)).toBe(who);
  expect(bystanderAt(its, '/worktree', socket)).toBe(null);
});

test.each<[string, string, string, boolean]>([
  ['its own file', 'Socket-4', 'a.ts', true],
  ['another file', 'Socket-4', 'b.ts', false],
  ['a utility that names none', 'Socket-3', 'a.ts', false],
  ['an agent', 'Socket-2', 'a.ts', false],
  ['a socket that does not exist', 'Socket-9', 'a.ts', false],
])('known to write: %s (%s, %s)', (_, socket, path, known) => {
  expect(isKnownToWrite(rules, socket, path)).toBe(known);
});

const READER = 'changed while Socket-1 ran, which may change nothing; who changed it is not known';

test.each<[string, string, readonly string[], string | null]>([
  ['nothing changed', 'Socket-1', [], null],
  ['one file during a turn that only reads', 'Socket-1', ['a.ts'], `a.ts ${READER}`],
  ['several files', 'Socket-1', ['a.ts', 'b.ts', 'c.ts'], `a.ts (and 2 more) ${READER}`],
  ['the files of one that writes', 'Socket-2', ['a.ts'], null],
  ['a file while a utility runs', 'Socket-3', ['a.ts'], 'a.ts changed while Socket-3 ran; who changed it is not known'],
  ['a file that the utility is known to write', 'Socket-4', ['a.ts'], null],
  [
    'another file next to it',
    'Socket-4',
    ['a.ts', 'b.ts'],
    'b.ts changed while Socket-4 ran; who changed it is not known',
  ],
])('the line about changes: %s (%s)', (_, socket, paths, line) => {
  const touched = Object.fromEntries(paths.map((path) => [path, 'changed']));
  expect(isShownChanges({ rules }, socket, touched)).toBe(line);
  expect(isShownChanges({ rules, root: '/worktree' }, socket, touched)).toBe(null);
});

test('a turn of which no changes are known has none', () => {
  expect(isShownChanges({ rules }, 'Socket-1')).toBe(null);
});
