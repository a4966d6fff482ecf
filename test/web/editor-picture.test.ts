// What the canvas of the editor draws: parts of the seed's picture, ways between sockets that people placed, and a form that has
// a control for every field of the format.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import config from '../../examples/graph-semantics-loadout.json' with { type: 'json' };
import { openDocument } from '../../src/editor/document.ts';
import { applyEdit } from '../../src/editor/edit.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { drawnOf, labelOf, sentenceOf } from '../../web/src/editor/drawn.ts';
import {
  authoredFields,
  DRAWN_FIELDS,
  LOADOUT_FIELDS,
  LOADOUT_MORE,
  LOOP_FIELDS,
  MATERIA_FIELDS,
  SOCKET_FIELDS,
  TABLES,
} from '../../web/src/editor/form-fields.ts';
import { freeLayout, type Places } from '../../web/src/editor/free-routes.ts';
import { returnsOf } from '../../web/src/editor/returns.ts';
import { END, type Layout, type Plan } from '../../web/src/graph/layout.ts';

const seed = openDocument(config as unknown as JsonObject, 'Software-Workflow');
const drawn = drawnOf(seed);

describe('the picture of the seed’s example', () => {
  test('marks are words: Entry, Generator, Loop consumer', () => {
    expect(drawn.sockets.map(({ id, marks }) => [id, ...marks])).toEqual([
      ['Socket-1', 'Entry'],
      ['Socket-2'],
      ['Socket-3', 'Generator'],
      ['Socket-4', 'Loop consumer'],
      ['Socket-5', 'Loop consumer'],
      ['Socket-6', 'Loop consumer'],
      ['Socket-7'],
    ]);
  });

  test('edges say when they are taken, and an exit has the id of the seed', () => {
    const nameIn = (id: string) => drawn.sockets.find((socket) => socket.id === id)?.name ?? id;
    const said = Object.fromEntries(drawn.ways.map((way) => [way.id, [labelOf(way), sentenceOf(way, nameIn)]]));
    expect(said).toMatchObject({
      'edge:Socket-3:0': ['items', 'Edge from Auto-Plan to Build, always'],
      'edge:Socket-5:1': [
        'not satisfied, at most 3',
        'Edge from Auto-Eval to Build, not satisfied, at most 3 for each item, tried 2nd of 2',
      ],
      'edge:Socket-6:0': ['next item', 'Edge from Maintain to Build, always'],
      'loop-exit:workItemIteration:exit:Socket-6:satisfied': [
        'exit, satisfied',
        'Exit from Maintain to Narrate, satisfied',
      ],
    });
  });

  test('the colour of a materia stays as it was set', () => {
    const next = applyEdit(seed, { edit: 'field.set', of: { materia: 'Auto-Plan' }, path: ['color'], value: 'teal' });
    if (!next.allow) throw new Error(next.reason);
    const plan = drawnOf(next.document).sockets.find(({ id }) => id === 'Socket-3');
    expect(plan).toMatchObject({ color: 'teal', marks: ['Generator'] });
  });

  test.each([
    ['Socket-3', [['workItems', 'because it is a generator']]],
    [
      'Socket-5',
      [
        ['satisfied', 'because 2 edges read it'],
        ['context', 'the reason for rework'],
      ],
    ],
    ['Socket-6', [['satisfied', 'because the loop workItemIteration advances on it']]],
    ['Socket-4', []],
  ])('%s must return', (socket, wanted) => {
    const rows = returnsOf(seed, socket).map(({ name, why }) => [name, why]);
    expect(rows).toEqual(wanted);
  });
});

test('a draft may hold anything, and is drawn as far as it can be read', () => {
  const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
  const part = fc.oneof(
    value,
    fc.constantFrom<Json>({ sockets: ['Socket-1'] }, { materia: 'a', edges: [{ to: 'end' }] }),
  );
  const loadout = fc.record({
    entry: part,
    sockets: fc.oneof(part, fc.dictionary(fc.constantFrom('Socket-1', 'Socket-2', 'x'), part)),
    loops: fc.oneof(part, fc.dictionary(fc.constantFrom('a', 'b'), part)),
    layout: part,
  });
  fc.assert(
    fc.property(loadout, part, (written, materia) => {
      const document = openDocument({ materia, loadouts: { Team: written } } as JsonObject, 'Team');
      const { sockets, ways, plan } = drawnOf(document);
      const known = new Set([...sockets.map(({ id }) => id), END]);
      expect(ways.every(({ from, to }) => known.has(from) && known.has(to))).toBe(true);
      for (const { id } of sockets) returnsOf(document, id);
      freeLayout(plan, new Map(sockets.map(({ id }, n) => [id, { x: n * 220, y: 0 }])));
    }),
    { numRuns: 300 },
  );
});

/** Segments of ways that run through a socket that they do not join. */
function crossed({ nodes, routes }: Layout, { edges }: Plan): readonly string[] {
  return edges.flatMap(({ id, from, to }) => {
    const points = routes.get(id)?.points ?? [];
    return points.slice(1).flatMap(([x2, y2], at) => {
      const [x1, y1] = points[at] ?? [x2, y2];
      return [...nodes].flatMap(([node, box]) => {
        const isThrough =
          Math.min(x1, x2) < box.x + box.w - 1 &&
          Math.max(x1, x2) > box.x + 1 &&
          Math.min(y1, y2) < box.y + box.h - 1 &&
          Math.max(y1, y2) > box.y + 1;
        return isThrough && node !== from && node !== to ? [`${id} through ${node}`] : [];
      });
    });
  });
}

const socketId = (n: number) => `Socket-${n + 1}`;

/** A grid in which each socket has room around it. */
function planOf(pairs: readonly (readonly [number, number, boolean])[], count: number): Plan {
  return {
    sockets: Array.from({ length: count }, (_, n) => ({ id: socketId(n), isEntry: n === 0 })),
    edges: pairs.map(([from, to, isRework], n) => ({
      id: `edge:${socketId(from)}:${n}`,
      from: socketId(from),
      to: socketId(to),
      when: isRework ? 'not_satisfied' : 'always',
      kind: 'edge' as const,
    })),
    loops: [],
  };
}

describe('ways between sockets that people placed', () => {
  test('forth, back and to itself run around the other sockets, whatever joins what', () => {
    const count = 9;
    const cells = fc.shuffledSubarray([...Array(16).keys()], { minLength: count, maxLength: count });
    const pair = fc.tuple(fc.nat({ max: count - 1 }), fc.nat({ max: count - 1 }), fc.boolean());
    fc.assert(
      fc.property(cells, fc.uniqueArray(pair, { minLength: 1, maxLength: 10, selector: String }), (at, pairs) => {
        const places: Places = new Map(
          at.map((cell, n) => [socketId(n), { x: (cell % 4) * 300, y: Math.floor(cell / 4) * 220 }]),
        );
        const plan = planOf(pairs, count);
        const layout = freeLayout(plan, places);
        expect(plan.edges.filter(({ id }) => !layout.routes.has(id))).toEqual([]);
        expect(crossed(layout, plan)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test('parallel, opposite and self edges of two sockets do not lie on each other', () => {
    const plan = planOf(
      [
        [0, 1, false],
        [0, 1, true],
        [1, 0, false],
        [1, 0, true],
        [1, 1, true],
      ],
      2,
    );
    const { routes } = freeLayout(plan, new Map([0, 1].map((n) => [socketId(n), { x: n * 320, y: 0 }])));
    const paths = [...routes.values()].map(({ points }) => JSON.stringify(points));
    expect(new Set(paths).size).toBe(5);
  });

  test('an exit leaves the frame of its loop at a diamond, and the frame holds its sockets', () => {
    const places = new Map(drawn.sockets.map(({ id }, n) => [id, { x: (n % 4) * 260, y: Math.floor(n / 4) * 240 }]));
    const layout = freeLayout(drawn.plan, places);
    const [frame] = layout.frames;
    const [[id, [x, y]] = ['', [0, 0]]] = layout.exits;
    expect(id).toBe('loop-exit:workItemIteration:exit:Socket-6:satisfied');
    expect(x).toBe((frame?.x ?? 0) + (frame?.w ?? 0));
    expect(y).toBeGreaterThan(frame?.y ?? 0);
    for (const step of ['Socket-4', 'Socket-5', 'Socket-6']) {
      const box = layout.nodes.get(step);
      expect((box?.x ?? 0) > (frame?.x ?? 0) && (box?.y ?? 0) > (frame?.y ?? 0)).toBe(true);
    }
  });

  test('a drag routes the ways of what moves, and keeps the others as they are', () => {
    const places = new Map(drawn.sockets.map(({ id }, n) => [id, { x: (n % 4) * 300, y: Math.floor(n / 4) * 260 }]));
    const before = freeLayout(drawn.plan, places);
    const after = freeLayout(
      drawn.plan,
      new Map([...places, ['Socket-1', { x: 0, y: -160 }]]),
      before,
      new Set(['Socket-1']),
    );
    expect(after.routes.get('edge:Socket-5:0')).toBe(before.routes.get('edge:Socket-5:0'));
    expect(after.routes.get('edge:Socket-1:0')).not.toEqual(before.routes.get('edge:Socket-1:0'));
  });
});

const tabs = (fields: Readonly<Record<string, readonly string[]>>) => Object.values(fields).flat();

test.each([
  ['socket', [...tabs(SOCKET_FIELDS), ...DRAWN_FIELDS.socket]],
  ['agent', tabs(MATERIA_FIELDS)],
  ['utility', tabs(MATERIA_FIELDS)],
  ['loop', [...LOOP_FIELDS, ...DRAWN_FIELDS.loop]],
  ['loadout', [...LOADOUT_FIELDS, ...LOADOUT_MORE, ...DRAWN_FIELDS.loadout]],
] as const)('every field of a %s has its place in the form', (which, shown) => {
  const names = authoredFields(TABLES[which]).map(([name]) => name);
  expect(names.filter((name) => !(shown as readonly string[]).includes(name))).toEqual([]);
});
