// Any sequence of edits: nothing throws, each document round-trips through its faces, and undo leads back to the start.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameJson, type Json, type JsonObject } from '../kernel/json.ts';
import { compile } from '../short-form/compile.ts';
import { checkDocument } from './check.ts';
import { copyOf } from './clip.ts';
import { decompile } from './decompile.ts';
import { type EditorDocument, emptyDocument, exitsIn, loopsOf, openDocument, socketsOf } from './document.ts';
import { applyEdit, type Edit } from './edit.ts';
import { documentOf, jsonFace, readJsonFace, readShortFace, readShortSource, shortFace } from './faces.ts';
import { edited, openHistory, redo, undo } from './history.ts';
import { patchedJson } from './json-text.ts';
import { differenceIn } from './meaning.ts';

const RUNS = 200;

const bundled = JSON.parse(readFileSync(new URL('../bundled/config.json', import.meta.url), 'utf8')) as JsonObject;

function openShort(path: string): EditorDocument {
  const source = readShortSource(readFileSync(new URL(path, import.meta.url), 'utf8'), 'yaml');
  const compiled = source.ok ? compile('team', source.value, { materia: {} }) : null;
  if (!compiled?.ok) throw new Error('it does not compile');
  return documentOf(compiled.config, emptyDocument('team'));
}

const STARTS: readonly EditorDocument[] = [
  emptyDocument('Full-Auto', bundled),
  openDocument(bundled, 'Full-Auto'),
  openShort('../bundled/templates/bugfix/loadout.yaml'),
  openShort('../bundled/templates/feature/loadout.yaml'),
];

/** An edit with numbers where it names a thing: what they name depends on the document. */
type Wish = { readonly kind: number; readonly a: number; readonly b: number; readonly c: number; readonly value: Json };

const wish: fc.Arbitrary<Wish> = fc.record({
  kind: fc.nat(31),
  a: fc.nat(12),
  b: fc.nat(12),
  c: fc.nat(12),
  value: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
});

const CONDITIONS = ['always', 'satisfied', 'not_satisfied'] as const;
const LABELS = ['plan', 'build', 'Build it', 'x', '', 'end', 'lint'];
const FIELDS = [
  ['limits', 'timeoutMs'],
  ['parse'],
  ['assign', 'note'],
  ['x_note'],
  ['lockScope'],
  ['edges', 0, 'when'],
  ['contract'],
];

function editFor(document: EditorDocument, { kind, a, b, c, value }: Wish): Edit {
  const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(list.length, 1)];
  const sockets = [...Object.keys(socketsOf(document)), 'Socket-99'];
  const [one, two, three] = [a, b, c].map((at) => pick(sockets, at) ?? 'end') as [string, string, string];
  const materia = [...Object.keys(document.config.materia as JsonObject), 'Nothing'];
  const loop = pick([...Object.keys(loopsOf(document)), 'none'], a) ?? 'none';
  const exit = pick([...exitsIn(document).map((each) => each.exit), 'loop-exit:none:none'], a) ?? '';
  const when = pick(CONDITIONS, c) ?? 'always';
  const edge = { from: one, index: b % 3 };
  const fits = pick(materia, b) ?? '';
  const edits: readonly (() => Edit)[] = [
    () => ({ edit: 'socket.add', materia: fits, at: { x: a * 10, y: b * 10 } }),
    () => ({ edit: 'socket.add', materia: fits, onto: edge }),
    () => ({ edit: 'socket.add', materia: fits, after: one }),
    () => ({ edit: 'socket.add', onto: { exit } }),
    () => ({ edit: 'socket.remove', sockets: [one] }),
    () => ({ edit: 'socket.remove', sockets: [one, two] }),
    () => ({ edit: 'socket.empty', sockets: [one] }),
    () => ({ edit: 'socket.rename', socket: one, label: pick(LABELS, b) ?? '' }),
    () => ({ edit: 'entry.set', socket: one }),
    () => ({ edit: 'materia.set', socket: one, materia: fits }),
    () => ({ edit: 'materia.move', from: one, to: two }),
    () => ({ edit: 'materia.add', id: pick(LABELS, a) ?? '', definition: { tools: 'readOnly', prompt: 'x' } }),
    () => ({ edit: 'materia.rename', id: fits, to: pick(LABELS, a) ?? '' }),
    () => ({ edit: 'materia.remove', id: fits }),
    () => ({ edit: 'prompt.set', materia: fits, text: `${a}\n${b}` }),
    () => ({ edit: 'edge.add', from: one, to: two }),
    () => ({ edit: 'edge.add', from: one, to: c % 4 === 0 ? 'end' : two, when }),
    () => ({ edit: 'edge.remove', edge }),
    () => ({ edit: 'edge.cycle', edge: c % 2 === 0 ? edge : { exit } }),
    () => ({ edit: 'edge.set', edge, when, maxTraversals: c % 3 === 0 ? null : c, then: c % 2 === 0 ? 'park' : null }),
    () => ({ edit: 'edge.move', edge, to: c }),
    () => ({ edit: 'loop.make', sockets: [one, two], ...(c % 2 === 0 ? { generator: three } : {}) }),
    () => ({ edit: 'loop.break', loop }),
    () => ({
      edit: 'loop.set',
      loop,
      maxConcurrency: c === 0 ? null : c,
      ...(b % 2 === 0 ? { cursor: 'part' } : { sockets: [one] }),
    }),
    () => ({ edit: 'advance.set', socket: one, when: c % 3 === 0 ? null : when }),
    () => ({ edit: 'exit.add', loop, from: one, condition: when, to: two }),
    () => ({ edit: 'exit.set', exit, condition: when, to: two }),
    () => ({ edit: 'exit.remove', exit }),
    () => ({
      edit: 'field.set',
      of: { socket: one },
      path: pick(FIELDS, b) ?? ['x_note'],
      ...(c % 3 === 0 ? {} : { value }),
    }),
    () => ({ edit: 'layout.move', to: { [one]: { x: b * 7, y: c * 7 } } }),
    () => ({ edit: 'paste', clip: copyOf(document, [one, two, three]) }),
    () => ({ edit: 'loop.make', sockets: sockets.slice(1, 3) }),
  ];
  return (edits[kind] ?? (() => ({ edit: 'layout.clear' }) as Edit))();
}

const start = fc.constantFrom(...STARTS);
const wishes = fc.array(wish, { maxLength: 25 });

function played(document: EditorDocument, all: readonly Wish[]): EditorDocument {
  for (const each of all) {
    const result = applyEdit(document, editFor(document, each));
    if (result.allow) document = result.document;
  }
  return document;
}

describe('any sequence of edits', () => {
  test('undo leads back to the very start, and redo to the end', () => {
    fc.assert(
      fc.property(start, wishes, (document, all) => {
        const before = JSON.stringify(document);
        let history = openHistory(document);
        for (const each of all) {
          const result = edited(history, editFor(history.present.document, each));
          if ('history' in result) ({ history } = result);
        }
        const end = history.present.document;
        while (history.past.length > 0) history = undo(history);
        expect(history.present.document).toBe(document);
        expect(JSON.stringify(document)).toBe(before);
        while (history.future.length > 0) history = redo(history);
        expect(history.present.document).toBe(end);
      }),
      { numRuns: RUNS },
    );
  });

  test('yields a document that its JSON holds exactly, new or written into the old text', () => {
    fc.assert(
      fc.property(start, wishes, (document, all) => {
        const end = played(document, all);
        for (const before of [undefined, jsonFace(document), jsonFace(document).replaceAll(/\n */g, ' ')]) {
          const text = jsonFace(end, before);
          const read = readJsonFace(text, end);
          expect(JSON.stringify(read.ok && read.document)).toBe(JSON.stringify(end));
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('yields a document that the short form says in the same meaning, or says why not', () => {
    let told = 0;
    fc.assert(
      fc.property(start, wishes, (document, all) => {
        const end = played(document, all);
        const first = shortFace(document);
        const face = shortFace(end, first.ok ? first.text : undefined);
        if (!face.ok) {
          expect(face.reasons.length).toBeGreaterThan(0);
          for (const { message } of face.reasons) expect(message).toMatch(/^\S.* /);
          return;
        }
        told += 1;
        const read = readShortFace(face.text, end);
        if (!read.ok) throw new Error(JSON.stringify([face.text, read.faults]));
        const again = shortFace(read.document, face.text);
        expect(again).toEqual(face);
        // Steps are found again by name, and mean what they meant.
        const named = decompile(end);
        const labels = Object.entries(socketsOf(read.document)).map(
          ([id, each]) => [(each as JsonObject).label, id] as const,
        );
        const ids = new Map(
          [...(named.ok ? named.names : [])].map(([id, name]) => [id, new Map(labels).get(name) ?? '']),
        );
        expect(ids.size).toBe(Object.keys(socketsOf(end)).length);
        expect(differenceIn(end, read.document, ids)).toBeNull();
      }),
      { numRuns: RUNS },
    );
    expect(told).toBeGreaterThan(20);
  });

  test('yields a document that can be checked, and whose fixes can be applied', () => {
    fc.assert(
      fc.property(start, wishes, (document, all) => {
        const end = played(document, all);
        for (const { fix, text, place } of checkDocument(end)) {
          expect(text).not.toBe('');
          for (const id of place.sockets) expect(Object.hasOwn(socketsOf(end), id)).toBe(true);
          if (fix === null) continue;
          const result = applyEdit(end, fix.edit);
          expect(result.allow || result.reason, `${fix.label}: ${text}`).toBe(true);
          if (result.allow)
            expect(
              isSameJson(JSON.parse(JSON.stringify(result.document)), JSON.parse(JSON.stringify(end))),
              `${fix.label}: ${text}`,
            ).toBe(false);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('is saved into a file with others, and those stay byte for byte', () => {
    const text = JSON.stringify({ ...bundled, x_kept: [1, { a: 2 }] }, null, 4);
    fc.assert(
      fc.property(wishes, (all) => {
        const end = played(openDocument(bundled, 'Full-Auto'), all);
        const next = {
          ...bundled,
          ...end.config,
          loadouts: { ...(bundled.loadouts as JsonObject), ...(end.config.loadouts as JsonObject) },
          x_kept: [1, { a: 2 }],
        };
        const saved = patchedJson(text, next) ?? '';
        expect(isSameJson(JSON.parse(saved), JSON.parse(JSON.stringify(next)))).toBe(true);
        expect(saved.endsWith(text.slice(text.indexOf('"x_kept"')))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
