// What is wrong with a document, where it is, and the edit that repairs it.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { checkDocument, type LocatedIssue, placeOf } from './check.ts';
import { type EditorDocument, openDocument } from './document.ts';
import { applyEdit, type Edit } from './edit.ts';

const seed = JSON.parse(
  readFileSync(new URL('../../examples/graph-semantics-loadout.json', import.meta.url), 'utf8'),
) as JsonObject;
const [NAME = ''] = Object.keys(seed.loadouts as JsonObject);
const sound = openDocument(seed, NAME);

function edited(document: EditorDocument, ...edits: readonly Edit[]): EditorDocument {
  for (const edit of edits) {
    const result = applyEdit(document, edit);
    if (!result.allow) throw new Error(result.reason);
    ({ document } = result);
  }
  return document;
}

const field = (of: object, path: readonly (string | number)[], value?: unknown): Edit =>
  ({ edit: 'field.set', of, path, ...(value === undefined ? {} : { value }) }) as Edit;

test('the example of the seed has no issue', () => {
  expect(checkDocument(sound)).toEqual([]);
});

const LOOP = Object.keys((seed.loadouts as Record<string, { loops: JsonObject }>)[NAME]?.loops ?? {})[0] ?? '';

/** A mistake, its code, its place, and the label of what repairs it. */
const MISTAKES: readonly (readonly [string, Edit, string, Partial<LocatedIssue['place']>, string])[] = [
  [
    'an edge to nowhere',
    field({ socket: 'Socket-4' }, ['edges', 0, 'to'], 'Socket-99'),
    'UNKNOWN_ENDPOINT',
    { edge: { from: 'Socket-4', index: 0 } },
    'Remove the edge',
  ],
  [
    'a condition that is none',
    field({ socket: 'Socket-4' }, ['edges', 0, 'when'], 'allways'),
    'INVALID_EDGE_CONDITION',
    { edge: { from: 'Socket-4', index: 0 } },
    'Write always',
  ],
  [
    'a verdict of plain text',
    field({ socket: 'Socket-5' }, ['parse'], 'text'),
    'INVALID_EDGE_CONDITION',
    { edge: { from: 'Socket-5', index: 0 } },
    'Let it answer in JSON',
  ],
  [
    'what follows a count that is not there',
    field({ socket: 'Socket-5' }, ['edges', 0, 'then'], 'ask'),
    'INVALID_CONFIG',
    { edge: { from: 'Socket-5', index: 0 } },
    'At most 3 for an item',
  ],
  [
    'a misspelt materia',
    field({ socket: 'Socket-4' }, ['materia'], 'Biuld'),
    'UNKNOWN_MATERIA',
    { sockets: ['Socket-4'] },
    'Use Build',
  ],
  [
    'a misspelt field',
    field({ socket: 'Socket-4' }, ['pase'], 'text'),
    'INVALID_CONFIG',
    { sockets: ['Socket-4'] },
    'Call it parse',
  ],
  [
    'an entry that is not there',
    {
      edit: 'replace',
      document: {
        ...sound,
        config: {
          ...seed,
          loadouts: { [NAME]: { ...((seed.loadouts as Record<string, JsonObject>)[NAME] ?? {}), entry: 'Socket-99' } },
        },
      },
    },
    'UNKNOWN_ENDPOINT',
    {},
    'Start at',
  ],
  [
    'a loop that never leads back',
    {
      edit: 'all',
      edits: [
        { edit: 'edge.remove', edge: { from: 'Socket-6', index: 0 } },
        { edit: 'edge.remove', edge: { from: 'Socket-5', index: 1 } },
      ],
    },
    'INVALID_LOOP',
    { loop: LOOP },
    'Lead',
  ],
  [
    'a member that is not there',
    field({ loop: LOOP }, ['sockets'], ['Socket-4', 'Socket-5', 'Socket-6', 'Socket-99']),
    'UNKNOWN_ENDPOINT',
    { loop: LOOP },
    'Take it out of the loop',
  ],
  [
    'a loop over a step that makes no items',
    field({ materia: 'Auto-Plan' }, ['generator']),
    'INVALID_LOOP',
    { loop: LOOP },
    'Let Auto-Plan make items',
  ],
  [
    'an exit to nowhere',
    field({ loop: LOOP }, ['exits', 0, 'targetSocketId'], 'Socket-99'),
    'UNKNOWN_ENDPOINT',
    { loop: LOOP },
    'Remove the exit',
  ],
  ['a step that nothing leads to', { edit: 'socket.add', materia: 'Build' }, 'UNREACHABLE_SOCKET', {}, 'Remove Build'],
];

describe('each kind of mistake is shown where it is, and repaired by one click', () => {
  test.each(MISTAKES)('%s', (_, mistake, code, place, label) => {
    const broken = edited(sound, mistake);
    const found = checkDocument(broken).find((issue) => issue.code === code && issue.fix !== null);
    expect(found?.place).toMatchObject(place);
    expect(found?.fix?.label).toContain(label);
    const repaired = edited(broken, found?.fix?.edit as Edit);
    expect(checkDocument(repaired).filter((issue) => issue.code === code && issue.path === found?.path)).toEqual([]);
  });

  test('the text names steps, and not their numbers', () => {
    const broken = edited(sound, { edit: 'socket.add', materia: 'Build' });
    const [issue] = checkDocument(broken);
    expect(issue?.message).toContain('Socket-');
    expect(issue?.text).not.toContain('Socket-');
  });
});

test('names may hold dots', () => {
  const document = openDocument(
    {
      materia: { 'a.b': { tools: 'none' } },
      loadouts: { 'x.y': { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'a.b' } } } },
    },
    'x.y',
  );
  expect(placeOf(document, 'loadouts.x.y.sockets.Socket-1.edges[0].when')).toMatchObject({
    edge: { from: 'Socket-1', index: 0 },
  });
  expect(placeOf(document, 'materia.a.b.prompt')).toMatchObject({
    sockets: ['Socket-1'],
    field: { of: { materia: 'a.b' }, path: ['prompt'] },
  });
});
