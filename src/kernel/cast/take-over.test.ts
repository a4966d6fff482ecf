// What may be merged of a cast, and the message of its one commit.
import { expect, test } from 'vitest';
import { acceptedTurns, isMergeable, isWholeEnough, lostText, squashMessage, type WorkState } from '../retention.ts';

test.each<[WorkState, string, string]>([
  ['ready', 'OK', ''],
  ['none', 'NOT_ALLOWED_NOW', 'works in the directory itself'],
  ['merged', 'NOT_ALLOWED_NOW', 'merged already'],
  ['undone', 'NOT_ALLOWED_NOW', 'taken back'],
])('work that is %s: %s', (work, code, words) => {
  const verdict = isMergeable('c1', work);
  expect(verdict.code).toBe(code);
  expect(verdict.reason).toContain(words);
});

test.each<[string, boolean, boolean, string, string]>([
  ['completed', false, false, 'OK', ''],
  ['completed', false, true, 'OK', ''],
  ['running', true, false, 'OK', ''],
  ['running', false, false, 'NOT_ALLOWED_NOW', '`baton merge c1 --yes`'],
  ['failed', true, true, 'NOT_ALLOWED_NOW', '--squash takes over whole work only'],
])('a cast that is %s, agreed %s, as one commit %s: %s', (status, yes, squash, code, words) => {
  const verdict = isWholeEnough({ cast: 'c1', status, yes, squash, program: 'baton' });
  expect(verdict.code).toBe(code);
  expect(verdict.reason).toContain(words);
});

test.each<[number, number, string | null]>([
  [0, 0, null],
  [1, 0, '1 unmerged commit'],
  [0, 2, '2 uncommitted files'],
  [2, 1, '2 unmerged commits and 1 uncommitted file'],
])('%d commits and %d files', (commits, files, text) => {
  expect(lostText(commits, files)).toBe(text);
});

test('a turn that was reopened is not accepted any more', () => {
  const facts = [
    { kind: 'turn.accepted', turn: 1 },
    { kind: 'turn.accepted', turn: 2 },
    { kind: 'turn.reopened', turn: 1 },
  ] as unknown as Parameters<typeof acceptedTurns>[0];
  expect([...acceptedTurns(facts)]).toEqual(['2']);
});

test.each<[string, string, readonly string[], string]>([
  ['a request', 'Add a flag', [], 'Add a flag\n\nBaton-Cast: c1\n'],
  ['items', 'Add flags', ['one', 'two'], 'Add flags\n\n- one\n- two\n\nBaton-Cast: c1\n'],
  ['an empty request', ' \n ', [], 'What cast c1 did\n\nBaton-Cast: c1\n'],
  [
    'line breaks',
    'Add\n\nSigned-off-by: nobody',
    ['one\n\nSigned-off-by: nobody', 'two\u2028Fixes: 1'],
    'Add Signed-off-by: nobody\n\n- one Signed-off-by: nobody\n- two Fixes: 1\n\nBaton-Cast: c1\n',
  ],
  ['a long request', 'x'.repeat(100), [], `${'x'.repeat(71)}…\n\nBaton-Cast: c1\n`],
])('the message of %s', (_, request, titles, message) => {
  expect(squashMessage('c1', request, titles)).toBe(message);
});
