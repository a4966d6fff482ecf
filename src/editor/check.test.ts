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

const at = (n: number, path: readonly (string | number)[], value?: unknown): Edit =>
  field({ socket: `Socket-${n}` }, path, value);
const inLoop = (path: readonly (string | number)[], value?: unknown): Edit => field({ loop: LOOP }, path, value);
const inBuild = (path: readonly (string | number)[], value?: unknown): Edit => field({ materia: 'Build' }, path, value);
const all = (...edits: readonly Edit[]): Edit => ({ edit: 'all', edits });
const EXIT = { from: 'Socket-6', targetSocketId: 'Socket-7' };

/** Where a value, a name or a member is wrong: the mistake, its code, and the label of its repair. */
const MORE_MISTAKES: readonly (readonly [what: string, mistake: Edit, code: string, label: string])[] = [
  ['an edge that names nothing', at(4, ['edges', 0, 'to'], ''), 'MISSING_ENDPOINT', 'Remove the edge'],
  ['an edge to the name of a step', at(4, ['edges', 0, 'to'], 'Auto-Eval'), 'INVALID_SOCKET_ID', 'Lead to Auto-Eval'],
  ['an edge to the end of a cast within a loop', at(6, ['edges', 0, 'to'], 'end'), 'ITEMS_LEFT', 'Remove the edge'],
  ['a count of no times', at(5, ['edges', 1, 'maxTraversals'], 0), 'INVALID_CONFIG', 'At most 3 for an item'],
  ['a misspelt field of an edge', at(5, ['edges', 1, 'maxTraversal'], 2), 'INVALID_CONFIG', 'Call it maxTraversals'],
  [
    'a condition on a field that is none',
    at(5, ['edges', 0, 'when'], { is: 1 }),
    'INVALID_EDGE_CONDITION',
    'Write always',
  ],
  ['an advance that is no object', at(6, ['advance'], 'x'), 'INVALID_CONFIG', 'Leave out advance'],
  ['a cursor of another name', at(6, ['advance', 'cursor'], 'other'), 'INVALID_LOOP', 'Count with workItemIndex'],
  ['strict on plain text', at(4, ['strict'], true), 'INVALID_CONFIG', 'Remove strict'],
  ['a field of plain text', at(4, ['assign'], { x: '$.a' }), 'INVALID_CONFIG', 'Let it answer in JSON'],
  ['a limit in words', at(4, ['limits'], { timeoutMs: 'fast' }), 'INVALID_CONFIG', 'Leave out timeoutMs'],
  ['a generator that answers in text', at(3, ['parse'], 'text'), 'INVALID_GENERATOR', 'Let it answer in JSON'],
  ['a loop without members', inLoop(['sockets'], []), 'INVALID_LOOP', 'Remove the loop'],
  ['a loop over something that is no object', inLoop(['consumes'], 'x'), 'INVALID_LOOP', 'Leave out consumes'],
  [
    'a loop over a list that no generator makes',
    inLoop(['consumes', 'output'], 'items'),
    'INVALID_LOOP',
    'Leave out output',
  ],
  ['lanes as a number', inLoop(['parallel'], 3), 'INVALID_LOOP', 'Leave out parallel'],
  ['an iterator as a number', inLoop(['iterator'], 3), 'INVALID_LOOP', 'Leave out iterator'],
  ['exits that are no list', inLoop(['exits'], {}), 'INVALID_LOOP', 'Leave out exits'],
  ['a misspelt field of a loop', inLoop(['exists'], []), 'INVALID_CONFIG', 'Call it exits'],
  ['an exit from outside of its loop', inLoop(['exits', 0, 'from'], 'Socket-1'), 'INVALID_LOOP', 'Remove the exit'],
  [
    'two exits on one outcome',
    inLoop(['exits', 1], { ...EXIT, id: 'b', condition: 'satisfied' }),
    'INVALID_LOOP',
    'Remove the exit',
  ],
  [
    'two exits with one id',
    inLoop(['exits', 1], { ...EXIT, id: 'exit:Socket-6:satisfied', condition: 'always' }),
    'INVALID_LOOP',
    'Give it an id of its own',
  ],
  [
    'a misspelt field of a loadout that is there already',
    field({ loadout: true }, ['entri'], 'x'),
    'INVALID_CONFIG',
    'Remove entri',
  ],
  [
    'a misspelt field of a loadout',
    field({ loadout: true }, ['descripton'], 'x'),
    'INVALID_CONFIG',
    'Call it description',
  ],
  ['a misspelt field of a materia', inBuild(['promt'], 'x'), 'INVALID_CONFIG', 'Call it prompt'],
  ['a misspelt runner', inBuild(['runner'], 'cladue'), 'INVALID_MATERIA', 'Use claude'],
  ['misspelt tools', inBuild(['tools'], 'codng'), 'INVALID_MATERIA', 'Use coding'],
  ['a model that is no name', inBuild(['model'], 5), 'INVALID_MATERIA', 'Leave out model'],
];

/** What nobody but a person can repair: the mistake, its code, and what the message asks for. */
const BY_HAND: readonly (readonly [what: string, mistake: Edit, code: string, repair: Edit])[] = [
  [
    'an empty socket',
    at(4, ['materia']),
    'UNKNOWN_MATERIA',
    { edit: 'materia.set', socket: 'Socket-4', materia: 'Build' },
  ],
  [
    'an agent without a prompt',
    inBuild(['prompt']),
    'INVALID_MATERIA',
    { edit: 'prompt.set', materia: 'Build', text: 'Build.' },
  ],
  [
    'a checker that nobody declared',
    at(6, ['checkers'], ['tset']),
    'INVALID_CONFIG',
    field({ config: true }, ['checkers'], { tset: { command: ['npm', 'test'] } }),
  ],
  [
    'an edge out of the middle of a loop',
    at(5, ['edges', 0, 'to'], 'Socket-7'),
    'LEFT_EARLY',
    at(5, ['edges', 0, 'to'], 'Socket-6'),
  ],
  [
    'a circle that nothing leaves',
    all({ edit: 'loop.break', loop: LOOP }, at(6, ['advance'])),
    'ENDLESS_CYCLE',
    at(6, ['edges', 0, 'maxTraversals'], 3),
  ],
  [
    'items that nobody takes',
    all({ edit: 'loop.break', loop: LOOP }, at(6, ['advance'])),
    'UNCONSUMED_GENERATOR',
    field({ materia: 'Auto-Plan' }, ['generator']),
  ],
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

  test.each(MORE_MISTAKES)('%s', (_, mistake, code, label) => {
    const broken = edited(sound, mistake);
    const found = checkDocument(broken).find((issue) => issue.code === code);
    expect(found?.fix?.label).toBe(label);
    const { sockets, edge, exit, loop, field: own } = found?.place ?? {};
    expect([sockets?.length || null, edge, exit, loop, own].some((each) => each != null)).toBe(true);
    const repaired = edited(broken, found?.fix?.edit as Edit);
    expect(checkDocument(repaired).filter((issue) => issue.code === code && issue.message === found?.message)).toEqual(
      [],
    );
  });

  test.each(BY_HAND)('%s, by hand', (_, mistake, code, repair) => {
    const broken = edited(sound, mistake);
    const found = checkDocument(broken).find((issue) => issue.code === code);
    expect(found?.place.sockets.length).toBeGreaterThan(0);
    expect(found?.text).toMatch(/[.]$/);
    expect(checkDocument(edited(broken, repair)).filter((issue) => issue.code === code)).toEqual([]);
  });

  test('an id that holds the number of a step is told as it is written', () => {
    const broken = edited(sound, inLoop(['exits', 1], { ...EXIT, id: 'exit:Socket-6:satisfied', condition: 'always' }));
    expect(checkDocument(broken).map(({ text }) => text)).toEqual([
      expect.stringContaining('"exit:Socket-6:satisfied"'),
    ]);
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
