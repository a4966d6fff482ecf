// A recorded trial is a test of its loadout.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { type EditorDocument, openDocument } from './document.ts';
import { applyEdit, type Edit } from './edit.ts';
import { type LoadoutTest, readTest, runTest, testFileOf, testOf } from './recording.ts';
import { playTrial } from './trial.ts';
import { recordingOf } from './trial-script.ts';

const CONFIG: JsonObject = {
  materia: {
    plan: { tools: 'readOnly', generator: true, prompt: 'Plan.' },
    build: { tools: 'coding', prompt: 'Build.' },
    review: { tools: 'readOnly', prompt: 'Review.' },
    report: { tools: 'none', prompt: 'Report.' },
  },
  loadouts: {
    Team: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'plan', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': { materia: 'build', edges: [{ when: 'always', to: 'Socket-3' }] },
        'Socket-3': {
          materia: 'review',
          parse: 'json',
          advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
          edges: [
            { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 3 },
            { when: 'satisfied', to: 'Socket-2' },
          ],
        },
        'Socket-4': { materia: 'report' },
      },
      loops: {
        main: {
          sockets: ['Socket-2', 'Socket-3'],
          consumes: { from: 'Socket-1', output: 'workItems' },
          exits: [{ id: 'exit:Socket-3:always', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-4' }],
        },
      },
    },
  },
};

const ITEMS = JSON.stringify({ workItems: [{ title: 'one', context: 'first' }] });
const ANSWERS = [
  { socket: 'Socket-1', text: ITEMS },
  { socket: 'Socket-2', text: 'built' },
  { socket: 'Socket-3', text: '{"satisfied": false, "context": "tests fail"}' },
  { socket: 'Socket-2', text: 'built again' },
  { socket: 'Socket-3', text: '{"satisfied": true}' },
  { socket: 'Socket-4', text: 'done' },
];

const team = openDocument(CONFIG, 'Team');

function recorded(document: EditorDocument = team): LoadoutTest {
  const played = playTrial(document, { request: 'do it', answers: ANSWERS });
  if (!played.ok) throw new Error(played.issues[0]?.message);
  return testOf(document, recordingOf(document.name, played.trial), 'one item, sent back once');
}

function edited(...edits: readonly Edit[]): EditorDocument {
  let document = team;
  for (const edit of edits) {
    const result = applyEdit(document, edit);
    if (!result.allow) throw new Error(result.reason);
    ({ document } = result);
  }
  return document;
}

test('it holds the answers, the path in sockets and in names, and the end', () => {
  const kept = recorded();
  expect(kept).toMatchObject({
    test: 'one item, sent back once',
    loadout: 'Team',
    request: 'do it',
    steps: { 'Socket-1': 'plan', 'Socket-2': 'build', 'Socket-3': 'review', 'Socket-4': 'report' },
    path: ['Socket-1', 'Socket-2', 'Socket-3', 'Socket-2', 'Socket-3', 'Socket-4'],
    end: 'completed',
    code: null,
  });
  expect(testFileOf(kept)).toBe('tests/Team/one-item-sent-back-once.json');
  expect(readTest(JSON.parse(JSON.stringify(kept)))).toEqual({ ok: true, test: kept });
  expect(runTest(team, kept)).toEqual({
    passed: true,
    path: ['plan', 'build', 'review', 'build', 'review', 'report'],
    end: 'completed',
    differences: [],
  });
});

describe('a change of the loadout', () => {
  test.each<[string, readonly Edit[], readonly string[]]>([
    ['that changes no path', [{ edit: 'prompt.set', materia: 'build', text: 'Build it well.' }], []],
    [
      'that leads the same way by another condition',
      [
        { edit: 'edge.remove', edge: { from: 'Socket-3', index: 0 } },
        { edit: 'edge.set', edge: { from: 'Socket-3', index: 0 }, when: 'always' },
      ],
      [],
    ],
    [
      'that allows no rework',
      [{ edit: 'edge.set', edge: { from: 'Socket-3', index: 0 }, to: 'Socket-4', maxTraversals: null }],
      ['After plan, build, review it goes to report, and not to build.', '2 of 6 answers are not asked for any more.'],
    ],
    [
      'that removes a step',
      [{ edit: 'socket.remove', sockets: ['Socket-4'] }],
      ['There is no step report any more.', 'After review, build, review it stops, where it went on to report.'],
    ],
    [
      'that breaks it',
      [{ edit: 'socket.empty', sockets: ['Socket-2'] }],
      [expect.stringMatching(/^It does not start: The socket names no materia/)],
    ],
  ])('%s', (_, edits, differences) => {
    const result = runTest(edited(...edits), recorded());
    if (differences.length === 0) expect(result.differences).toEqual([]);
    else expect(result).toMatchObject({ passed: false });
    for (const each of differences) expect(result.differences).toContainEqual(each);
  });

  test('steps are found by name where their numbers changed', () => {
    const kept = recorded();
    const renumber = (text: string) => text.replaceAll('Socket-2', 'Socket-9').replaceAll('Socket-3', 'Socket-2');
    const shuffled = openDocument(JSON.parse(renumber(JSON.stringify(CONFIG))), 'Team');
    expect(runTest(shuffled, kept)).toMatchObject({ passed: true });
  });
});

test.each([null, {}, { test: 'x', loadout: 'Team', request: 'r', answers: [{}], path: [], end: 'x' }])(
  'a file that is no test says what is wrong: %j',
  (value) => {
    expect(readTest(value as never)).toMatchObject({ ok: false, why: expect.stringMatching(/\S/) });
  },
);
