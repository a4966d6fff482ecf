import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { copyOf } from './clip.ts';
import { type EditorDocument, edgeId, emptyDocument, exitsIn, loadoutOf, openDocument, socketsOf } from './document.ts';
import { applyEdit, type Edit } from './edit.ts';
import { edited, hasUnsaved, openHistory, redo, settled, undo } from './history.ts';

const MATERIA = {
  plan: { tools: 'readOnly', generator: true, promptFile: 'prompts/plan.md' },
  build: { tools: 'coding', prompt: 'Build.' },
  review: { tools: 'readOnly', prompt: 'Review.' },
  report: { tools: 'readOnly', prompt: 'Report.' },
};

/** Edits one after the other; a refusal fails the test. */
function withEdits(document: EditorDocument, ...edits: readonly Edit[]) {
  const notes: string[] = [];
  let selected: readonly string[] = [];
  for (const edit of edits) {
    const result = applyEdit(document, edit);
    if (!result.allow) throw new Error(`${edit.edit}: ${result.reason}`);
    document = result.document;
    notes.push(...result.notes);
    ({ selected } = result);
  }
  return { document, notes, selected };
}

const empty = () => emptyDocument('Team', { materia: MATERIA });
const add = (materia: string, more: object = {}): Edit => ({ edit: 'socket.add', materia, ...more });

/** plan → build → review → report, without a loop. */
function line(...more: readonly Edit[]) {
  const edges = [1, 2, 3].map((n): Edit => ({ edit: 'edge.add', from: `Socket-${n}`, to: `Socket-${n + 1}` }));
  return withEdits(empty(), add('plan'), add('build'), add('review'), add('report'), ...edges, ...more);
}

/** The same with a loop over build and review that sends work back. */
function team(...more: readonly Edit[]) {
  const back: Edit = { edit: 'edge.add', from: 'Socket-3', to: 'Socket-2' };
  return line(back, { edit: 'loop.make', sockets: ['Socket-2', 'Socket-3'] }, ...more);
}

const TEAM = {
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
    'each-plan': {
      sockets: ['Socket-2', 'Socket-3'],
      consumes: { from: 'Socket-1', output: 'workItems' },
      exits: [{ id: 'exit:Socket-3:always', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-4' }],
    },
  },
};

test('a team is drawn from an empty canvas: four drops, four edges, one loop', () => {
  const { document, notes } = team();
  expect(loadoutOf(document)).toEqual(TEAM);
  expect(notes).toEqual([
    'review tries its conditions first, so always moved behind them.',
    'review now answers in JSON, because an edge asks for its verdict.',
    'review now leads back to build for the next item.',
    'The way from review to report is now the exit of the loop.',
    'An item is done when review is satisfied.',
  ]);
});

describe('sockets', () => {
  test('dropping on an edge inserts there, and within a loop makes a member', () => {
    const { document } = team(add('report', { onto: { from: 'Socket-2', index: 0 } }));
    expect(socketsOf(document)).toMatchObject({
      'Socket-2': { edges: [{ when: 'always', to: 'Socket-5' }] },
      'Socket-5': { edges: [{ when: 'always', to: 'Socket-3' }] },
    });
    expect(loadoutOf(document)).toMatchObject({
      loops: { 'each-plan': { sockets: ['Socket-2', 'Socket-5', 'Socket-3'] } },
    });
  });

  test('dropping on an exit inserts behind the loop', () => {
    const { document } = team(add('build', { onto: { exit: 'loop-exit:each-plan:exit:Socket-3:always' } }));
    expect(exitsIn(document)).toMatchObject([{ to: 'Socket-5' }]);
    expect(socketsOf(document)).toMatchObject({ 'Socket-5': { edges: [{ when: 'always', to: 'Socket-4' }] } });
  });

  test('an emptied socket keeps its links, and can be filled again', () => {
    const before = team().document;
    const { document } = withEdits(before, { edit: 'socket.empty', sockets: ['Socket-3'] });
    expect(socketsOf(document)['Socket-3']).toMatchObject({ empty: true, edges: TEAM.sockets['Socket-3'].edges });
    expect(socketsOf(document)['Socket-3']).not.toHaveProperty('materia');
    const filled = withEdits(document, { edit: 'materia.set', socket: 'Socket-3', materia: 'review' }).document;
    expect(loadoutOf(filled)).toEqual(loadoutOf(before));
  });

  test('what is in two sockets swaps, with an empty one it moves', () => {
    const { document } = team({ edit: 'materia.move', from: 'Socket-2', to: 'Socket-4' });
    expect(socketsOf(document)).toMatchObject({ 'Socket-2': { materia: 'report' }, 'Socket-4': { materia: 'build' } });
    const moved = team(
      { edit: 'socket.empty', sockets: ['Socket-4'] },
      { edit: 'materia.move', from: 'Socket-2', to: 'Socket-4' },
    ).document;
    expect(socketsOf(moved)).toMatchObject({ 'Socket-2': { empty: true }, 'Socket-4': { materia: 'build' } });
  });

  test('removing takes edges, membership and exits along and says so', () => {
    const { document, notes } = team({ edit: 'socket.remove', sockets: ['Socket-4'] });
    expect(exitsIn(document)).toEqual([]);
    expect(notes).toContain('The loop each-plan has 1 exit less.');
    const none = withEdits(document, { edit: 'socket.remove', sockets: ['Socket-1', 'Socket-2', 'Socket-3'] }).document;
    expect(loadoutOf(none)).toEqual({ sockets: {} });
  });

  test('the entry moves on to what followed it', () => {
    const { document, notes } = line({ edit: 'socket.remove', sockets: ['Socket-1'] });
    expect(loadoutOf(document).entry).toBe('Socket-2');
    expect(notes).toContain('A cast now starts at build.');
  });
});

describe('edges', () => {
  test.each<[string, Edit, JsonObject[]]>([
    [
      'a click cycles the condition, and guarded edges come before always',
      { edit: 'edge.cycle', edge: { from: 'Socket-3', index: 1 } },
      [
        { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 3 },
        { when: 'not_satisfied', to: 'Socket-2' },
      ],
    ],
    [
      'the count of an edge, and what follows it',
      { edit: 'edge.set', edge: { from: 'Socket-3', index: 0 }, maxTraversals: 5, then: 'park' },
      [
        { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 5, then: 'park' },
        { when: 'satisfied', to: 'Socket-2' },
      ],
    ],
    [
      'the order is set by hand',
      { edit: 'edge.move', edge: { from: 'Socket-3', index: 1 }, to: 0 },
      [
        { when: 'satisfied', to: 'Socket-2' },
        { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 3 },
      ],
    ],
    [
      'always goes behind by itself',
      { edit: 'edge.set', edge: { from: 'Socket-3', index: 0 }, when: 'always' },
      [
        { when: 'satisfied', to: 'Socket-2' },
        { when: 'always', to: 'Socket-2', maxTraversals: 3 },
      ],
    ],
    [
      'one is removed',
      { edit: 'edge.remove', edge: { from: 'Socket-3', index: 0 } },
      [{ when: 'satisfied', to: 'Socket-2' }],
    ],
  ])('%s', (_, edit, edges) => {
    expect(socketsOf(team(edit).document)['Socket-3']).toMatchObject({ edges });
  });

  test('an edge that moved is still the one that is selected', () => {
    const { selected, notes } = team({ edit: 'edge.set', edge: { from: 'Socket-3', index: 0 }, when: 'always' });
    expect(selected).toEqual([edgeId({ from: 'Socket-3', index: 1 })]);
    expect(notes).toContain('review tries its conditions first, so always moved behind them.');
  });
});

describe('loops', () => {
  test('breaking one removes its exits, says which, and changes no socket', () => {
    const before = team().document;
    const { document, notes } = withEdits(before, { edit: 'loop.break', loop: 'each-plan' });
    expect(loadoutOf(document)).not.toHaveProperty('loops');
    expect(socketsOf(document)).toEqual(socketsOf(before));
    expect(notes).toEqual(['The loop each-plan is removed, with its exit: review to report (always).']);
  });

  test.each<[string, Edit, JsonObject[]]>([
    [
      'the target',
      { edit: 'exit.set', exit: 'loop-exit:each-plan:exit:Socket-3:always', to: 'Socket-1' },
      [{ id: 'exit:Socket-3:always', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-1' }],
    ],
    [
      'the condition, by a click',
      { edit: 'edge.cycle', edge: { exit: 'loop-exit:each-plan:exit:Socket-3:always' } },
      [{ id: 'exit:Socket-3:satisfied', from: 'Socket-3', condition: 'satisfied', targetSocketId: 'Socket-4' }],
    ],
    [
      'another exit',
      { edit: 'exit.add', loop: 'each-plan', from: 'Socket-3', condition: 'not_satisfied', to: 'Socket-1' },
      [
        TEAM.loops['each-plan'].exits[0] as JsonObject,
        { id: 'exit:Socket-3:not_satisfied', from: 'Socket-3', condition: 'not_satisfied', targetSocketId: 'Socket-1' },
      ],
    ],
    ['no exit', { edit: 'exit.remove', exit: 'loop-exit:each-plan:exit:Socket-3:always' }, []],
  ])('editing an exit changes the exits of its loop and nothing else: %s', (_, edit, exits) => {
    const { exits: _before, ...loop } = TEAM.loops['each-plan'];
    const expected = exits.length === 0 ? loop : { ...loop, exits };
    expect(loadoutOf(team(edit).document)).toEqual({ ...TEAM, loops: { 'each-plan': expected } });
  });

  test('the cursor is renamed wherever it is counted', () => {
    const { document } = team({ edit: 'loop.set', loop: 'each-plan', cursor: 'part', maxConcurrency: 2 });
    expect(loadoutOf(document)).toMatchObject({
      sockets: { 'Socket-3': { advance: { cursor: 'part' } } },
      loops: { 'each-plan': { consumes: { from: 'Socket-1', cursor: 'part' }, parallel: { maxConcurrency: 2 } } },
    });
  });
});

describe('places', () => {
  const at = { 'Socket-1': { x: 0, y: 0 }, 'Socket-2': { x: 20, y: 300 }, 'Socket-3': { x: 600, y: 310 } };
  const pointsOf = (document: EditorDocument) =>
    Object.values((loadoutOf(document).layout as { sockets: Record<string, { x: number; y: number }> }).sockets).map(
      ({ x, y }) => [x, y],
    );

  test.each([
    [
      'left',
      [
        [0, 0],
        [20, 300],
        [20, 412],
      ],
    ],
    [
      'centre',
      [
        [0, 0],
        [310, 300],
        [310, 412],
      ],
    ],
    [
      'right',
      [
        [0, 0],
        [600, 300],
        [600, 412],
      ],
    ],
    [
      'top',
      [
        [0, 0],
        [20, 300],
        [600, 300],
      ],
    ],
    [
      'middle',
      [
        [0, 0],
        [20, 305],
        [600, 305],
      ],
    ],
    [
      'bottom',
      [
        [0, 0],
        [20, 310],
        [600, 310],
      ],
    ],
  ] as const)('aligned %s, two sockets share a line, none covers another, and the third stays', (how, points) => {
    const three = withEdits(empty(), add('plan'), add('build'), add('review'));
    const edit: Edit = { edit: 'layout.align', sockets: ['Socket-2', 'Socket-3'], how, at };
    expect(pointsOf(withEdits(three.document, edit).document)).toEqual(points);
  });

  test('spread, the ones between the first and the last have the same distance', () => {
    const three = withEdits(empty(), add('plan'), add('build'), add('review'));
    const sockets = ['Socket-1', 'Socket-2', 'Socket-3'];
    expect(pointsOf(withEdits(three.document, { edit: 'layout.align', sockets, how: 'across', at }).document)).toEqual([
      [0, 0],
      [300, 300],
      [600, 310],
    ]);
  });

  test('what is pasted to a place goes there, also where the layout placed it so far', () => {
    const { document } = withEdits(empty(), add('plan'), add('build'));
    const clip = copyOf(document, ['Socket-1', 'Socket-2']);
    const pasted = withEdits(document, { edit: 'paste', clip, at: { x: 1000, y: 500 } }).document;
    expect(pointsOf(pasted)[0]).toEqual([1000, 500]);
    expect(new Set(pointsOf(pasted).map(String)).size).toBe(2);
  });
});

describe('what makes no sense is refused in words', () => {
  test.each<[string, Edit, string]>([
    ['UNKNOWN_ENDPOINT', { edit: 'edge.add', from: 'Socket-9', to: 'Socket-1' }, 'There is no socket Socket-9.'],
    ['UNKNOWN_MATERIA', { edit: 'materia.set', socket: 'Socket-1', materia: 'none' }, 'There is no materia none.'],
    [
      'UNREACHABLE_EDGE',
      { edit: 'edge.add', from: 'Socket-1', to: 'Socket-3', when: 'always' },
      'plan leads on in every case already. Change that edge, or give this one a condition.',
    ],
    [
      'INVALID_LOOP',
      { edit: 'loop.make', sockets: ['Socket-4'] },
      'No generator leads into the selection. Name the step whose items the loop walks over.',
    ],
    [
      'INVALID_LOOP',
      { edit: 'loop.make', sockets: ['Socket-2'] },
      'Part of the selection is in the loop each-plan already.',
    ],
    [
      'INVALID_GENERATOR',
      { edit: 'loop.make', sockets: ['Socket-4'], generator: 'Socket-2' },
      'build makes no items. Mark its materia as a generator first.',
    ],
    [
      'INVALID_LOOP',
      { edit: 'exit.add', loop: 'each-plan', from: 'Socket-3', condition: 'always', to: 'Socket-1' },
      'The loop each-plan is left at review on always already.',
    ],
    [
      'INVALID_MATERIA',
      { edit: 'materia.remove', id: 'build' },
      'build is used by build. Put something else there first.',
    ],
    [
      'BAD_USAGE',
      { edit: 'field.set', of: { config: true }, path: ['materia', 'x'] },
      'materia is changed by edits of its own.',
    ],
    ['BAD_USAGE', { edit: 'nothing' } as unknown as Edit, 'There is no such edit.'],
  ])('%s: %j', (code, edit, reason) => {
    const { document } = team();
    expect(applyEdit(document, edit)).toMatchObject({ allow: false, code, reason });
  });

  test('of several edits none is done where one is refused', () => {
    const { document } = team();
    const edits: Edit[] = [
      { edit: 'socket.rename', socket: 'Socket-1', label: 'x' },
      { edit: 'entry.set', socket: 'Socket-9' },
    ];
    expect(applyEdit(document, { edit: 'all', edits })).toMatchObject({ allow: false, code: 'UNKNOWN_ENDPOINT' });
  });
});

describe('undo', () => {
  const perform = (history: ReturnType<typeof openHistory>, edit: Edit) => {
    const result = edited(history, edit);
    if (!('history' in result)) throw new Error(result.reason);
    return result.history;
  };

  test('what is typed in one field is one step, until the field is left', () => {
    const document = team().document;
    let history = openHistory(document);
    for (const text of ['B', 'Bu', 'Bui']) history = perform(history, { edit: 'prompt.set', materia: 'build', text });
    expect(hasUnsaved(history)).toBe(true);
    history = perform(settled(history), { edit: 'prompt.set', materia: 'build', text: 'Build it.' });
    const once = undo(history);
    expect(once.present.document.config).toMatchObject({ materia: { build: { prompt: 'Bui' } } });
    expect(undo(once).present.document).toBe(document);
    expect(hasUnsaved(undo(once))).toBe(false);
    expect(redo(redo(undo(once))).present.document).toBe(history.present.document);
  });
});

describe('copies', () => {
  test('a region is pasted with its loop and what is between its sockets', () => {
    const { document, selected } = team({
      edit: 'duplicate',
      sockets: ['Socket-1', 'Socket-2', 'Socket-3', 'Socket-4'],
    });
    expect(selected).toEqual(['Socket-5', 'Socket-6', 'Socket-7', 'Socket-8']);
    expect(loadoutOf(document)).toMatchObject({
      sockets: {
        'Socket-7': { edges: [{ when: 'not_satisfied', to: 'Socket-6', maxTraversals: 3 }, { to: 'Socket-6' }] },
      },
      loops: {
        'each-plan-2': {
          sockets: ['Socket-6', 'Socket-7'],
          consumes: { from: 'Socket-5' },
          exits: [{ id: 'exit:Socket-7:always', from: 'Socket-7', targetSocketId: 'Socket-8' }],
        },
      },
    });
  });

  test('another materia of the same name is pasted under a new one, with its prompt', async () => {
    const { copyOf } = await import('./clip.ts');
    const other = openDocument(
      {
        materia: { plan: { tools: 'none', promptFile: 'prompts/plan.md' } },
        loadouts: { A: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'plan' } } } },
      },
      'A',
      { files: { 'prompts/plan.md': 'Other.' } },
    );
    const here = { ...team().document, files: { 'prompts/plan.md': 'Plan.' } };
    const { document, notes } = withEdits(here, { edit: 'paste', clip: copyOf(other, ['Socket-1']) });
    expect(socketsOf(document)['Socket-5']).toMatchObject({ materia: 'plan-2' });
    expect(document.config).toMatchObject({ materia: { 'plan-2': { promptFile: 'prompts/plan-2.md' } } });
    expect(document.files).toEqual({ 'prompts/plan.md': 'Plan.', 'prompts/plan-2.md': 'Other.' });
    expect(notes).toEqual(['There is another plan here, so the pasted one is called plan-2.']);
  });
});
