import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { compile } from '../short-form/compile.ts';
import { type EditorDocument, emptyDocument, loadoutOf, openDocument } from './document.ts';
import { applyEdit, type Edit } from './edit.ts';
import { documentOf, jsonFace, readJsonFace, readShortFace, readShortSource, shortFace } from './faces.ts';

const ROOT = new URL('../../', import.meta.url);
const fileOf = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

const TEMPLATES = globSync('src/bundled/templates/*/loadout.yaml', { cwd: ROOT });
const CONFIGS = ['src/bundled/config.json', 'examples/graph-semantics-loadout.json', 'examples/team/config.json'];

function openShort(text: string): EditorDocument {
  const source = readShortSource(text, 'yaml');
  if (!source.ok) throw new Error(source.mistakes[0]?.message);
  const compiled = compile('team', source.value, { materia: {} });
  if (!compiled.ok) throw new Error(compiled.mistakes[0]?.message);
  return documentOf(compiled.config, emptyDocument('team'));
}

function edited(document: EditorDocument, ...edits: readonly Edit[]): EditorDocument {
  for (const edit of edits) {
    const result = applyEdit(document, edit);
    if (!result.allow) throw new Error(result.reason);
    document = result.document;
  }
  return document;
}

describe('every loadout that ships', () => {
  test.each(TEMPLATES)('%s: opened and written, the bytes are the same', (path) => {
    const text = fileOf(path);
    const document = openShort(text);
    expect(shortFace(document, text)).toEqual({ ok: true, text });
    expect(readShortFace(text, document)).toEqual({ ok: true, document });
    // Without the file, too, it can be said in the short form.
    const anew = shortFace(document);
    expect(anew.ok && loadoutOf(openShort(anew.text))).toEqual(loadoutOf(document));
  });

  test.each(TEMPLATES)('%s: one edit changes its line and no other', (path) => {
    const text = fileOf(path);
    const document = openShort(text);
    const edit: Edit = {
      edit: 'field.set',
      of: { materia: document.config.materia ? (Object.keys(document.config.materia)[0] ?? '') : '' },
      path: ['model'],
      value: 'opus',
    };
    const face = shortFace(edited(document, edit), text);
    if (!face.ok) throw new Error(face.reasons[0]?.message);
    const lines = text.split('\n');
    const changed = face.text.split('\n').filter((line, index) => line !== lines[index]);
    expect(changed).toHaveLength(1);
    expect(changed[0]).toContain('model: opus');
  });

  test.each(CONFIGS)('%s: the JSON face is the document, and the document the JSON face', (path) => {
    const config = JSON.parse(fileOf(path)) as JsonObject;
    for (const name of Object.keys(config.loadouts as JsonObject)) {
      const document = openDocument(config, name);
      const text = jsonFace(document);
      expect(readJsonFace(text, document)).toEqual({ ok: true, document });
      expect(jsonFace(document, text)).toBe(text);
    }
  });
});

describe('the short form', () => {
  const TEXT = fileOf('src/bundled/templates/software/loadout.yaml');

  test.each<[string, readonly Edit[], readonly string[]]>([
    [
      'a step more in the loop',
      [
        { edit: 'materia.add', id: 'lint', definition: { type: 'utility', command: ['npm', 'run', 'lint'] } },
        { edit: 'socket.add', materia: 'lint', onto: { from: 'Socket-2', index: 0 } },
      ],
      ['      - lint: { run: [npm, run, lint] }'],
    ],
    [
      'how often work is sent back',
      [{ edit: 'edge.set', edge: { from: 'Socket-3', index: 1 }, maxTraversals: 5, then: 'ask' }],
      ['      - review: { tools: run, reject: { to: build, max: 5, then: ask } }'],
    ],
    [
      'a new name, wherever the step is named',
      [{ edit: 'socket.rename', socket: 'Socket-2', label: 'implement' }],
      [
        '      - implement: { promptFile: prompts/build.md, tools: write }',
        '      - review: { tools: run, reject: { to: implement, max: 3 } }',
      ],
    ],
    ['lanes', [{ edit: 'loop.set', loop: 'each-plan', maxConcurrency: 3 }], ['    parallel: 3']],
    [
      'where a step is drawn',
      [{ edit: 'layout.move', to: { 'Socket-2': { x: 100, y: 20 } } }],
      ['layout: { build: { x: 100, y: 20 } }'],
    ],
  ])('an edit of the picture changes its lines and no others: %s', (_, edits, expected) => {
    const document = edited(openShort(TEXT), ...edits);
    const face = shortFace(document, TEXT);
    if (!face.ok) throw new Error(face.reasons[0]?.message);
    const lines = TEXT.split('\n');
    expect(face.text.split('\n').filter((line) => !lines.includes(line))).toEqual(expected);
    const again = readShortFace(face.text, document);
    expect(again.ok && shortFace(again.document, face.text)).toEqual({ ok: true, text: face.text });
  });

  test.each<[string, Edit, string, string]>([
    [
      'a field of a socket',
      { edit: 'field.set', of: { socket: 'Socket-2' }, path: ['assign', 'note'], value: '$' },
      'sockets.Socket-2.assign.note',
      'The short form keeps no part of an answer, such as note.',
    ],
    [
      'work that is sent back without end',
      { edit: 'edge.set', edge: { from: 'Socket-3', index: 1 }, maxTraversals: null },
      'sockets.Socket-3.edges[1].maxTraversals',
      'The short form limits how often review sends the same item back. Set how often.',
    ],
    [
      'a name that is none',
      { edit: 'socket.rename', socket: 'Socket-2', label: 'Build it' },
      'sockets.Socket-2.label',
      'The short form has no step called "Build it". Rename the step with small letters, digits and hyphens.',
    ],
    [
      'an exit of its own',
      { edit: 'exit.set', exit: 'loop-exit:each-plan:exit:Socket-3:always', condition: 'satisfied' },
      'loops',
      'The short form leaves a loop for the step behind it, from wherever an item is done.',
    ],
  ])('what it cannot say has a plain reason: %s', (_, edit, path, message) => {
    const face = shortFace(edited(openShort(TEXT), edit), TEXT);
    expect(face).toEqual({ ok: false, reasons: [{ path: `loadouts.team.${path}`, message }] });
  });

  test('a loadout of config.json is said with the materia that config.json defines', () => {
    const team = JSON.parse(fileOf('examples/team/config.json')) as JsonObject;
    const document = openDocument(team, 'Team');
    // The operator's envelope of a generator is more than a step that makes items.
    expect(shortFace(document)).toMatchObject({
      ok: false,
      reasons: [{ path: 'loadouts.Team.sockets.Socket-1.contract' }],
    });
    const plain = edited(
      document,
      { edit: 'field.set', of: { socket: 'Socket-1' }, path: ['contract'] },
      { edit: 'advance.set', socket: 'Socket-2', when: null },
      { edit: 'layout.move', to: { 'Socket-3': { x: 4, y: 5 } } },
    );
    const text = `steps:
  - lead: { agent: Lead, makes: items }
  - each: lead
    parallel: 2
    do:
      - worker: { agent: Worker, answers: operator }
  - summary: { agent: Summary }
layout: { summary: { x: 4, y: 5 } }
`;
    expect(shortFace(plain)).toEqual({ ok: true, text });
  });

  test('mistakes have their line and column', () => {
    const document = openShort(TEXT);
    expect(readShortFace(TEXT.replace('tools: write', 'tols: write'), document)).toMatchObject({
      ok: false,
      faults: [{ line: 6, column: 18, message: expect.stringContaining('tols') }],
    });
    expect(readShortFace('steps:\n  - a: {', document)).toMatchObject({ ok: false, faults: [{ line: 2 }] });
    expect(readJsonFace('{\n  "loadouts": { "team": [] }\n}', document)).toMatchObject({
      ok: false,
      faults: [{ line: 2, column: 3 }],
    });
    expect(readJsonFace('{\n  "loadouts": {,\n}', document)).toMatchObject({
      ok: false,
      faults: expect.arrayContaining([expect.objectContaining({ line: 2, column: 16 })]),
    });
  });
});
