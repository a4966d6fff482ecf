// What the editor asks of a workspace: open a loadout, check it, save it so that only what changed differs, duplicate one that ships.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openWorkspace } from '../../src/api/open-workspace.ts';
import type { EditorDocument } from '../../src/editor/document.ts';
import { applyEdit, type Edit } from '../../src/editor/edit.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { writeFiles } from '../../src/workspace/loadout-files.ts';
import { environment, personToken, project, put } from '../cli/baton.ts';

const TEAM = `# Our team.
steps:
  - plan: { makes: items, tools: read } # cheap
  - each: plan
    do:
      - build: { tools: write, check: [test] }
      - review: { tools: run, reject: { to: build, max: 3 } }
  - summary
`;
const CONFIG = `{
  "x_owner": "the platform team",
  "checkers": { "test": { "command": ["npm", "test"] } },
  "materia": {
    "Build": { "tools": "coding", "prompt": "Build it.", "x_why": "kept" },
    "Tell":  { "tools": "none", "promptFile": "prompts/tell.md" }
  },
  "loadouts": {
    "Own":   { "entry": "Socket-1", "sockets": { "Socket-1": { "materia": "Build", "edges": [{ "when": "always", "to": "end" }] } } },
    "Other": { "entry": "Socket-1", "sockets": { "Socket-1": { "materia": "Tell" } } }
  }
}
`;
const PROMPTS = Object.fromEntries(
  ['plan', 'build', 'review', 'summary', 'tell'].map((step) => [`.baton/prompts/${step}.md`, `You are ${step}.\n`]),
);

function opened(files: Readonly<Record<string, string>> = {}) {
  const dir = project({ '.baton/loadouts/team.yaml': TEAM, ...PROMPTS, ...files });
  if (files['.baton/config.json'] === undefined) writeFileSync(join(dir, '.baton/config.json'), CONFIG);
  const workspace = openWorkspace(dir, { env: environment(dir, { BATON_TOKEN: personToken() }) });
  const read = (path: string) => readFileSync(join(dir, '.baton', path), 'utf8');
  const write = (path: string, text: string) => writeFileSync(join(dir, '.baton', path), text);
  return { dir, workspace, read, write };
}

function edited(details: JsonObject, ...edits: readonly Edit[]): JsonObject {
  let document = details.document as unknown as EditorDocument;
  for (const edit of edits) {
    const result = applyEdit(document, edit);
    if (!result.allow) throw new Error(result.reason);
    document = result.document;
  }
  return { document, digests: details.digests } as unknown as JsonObject;
}

const model = (materia: string, value = 'opus'): Edit => ({
  edit: 'field.set',
  of: { materia },
  path: ['model'],
  value,
});

describe('saving', () => {
  test.each(['Own', 'Other', 'team'])('%s: opened and saved unchanged, the bytes are the same', async (name) => {
    const { workspace, read } = opened();
    const { details } = await workspace.loadout.open({ name });
    const saved = await workspace.loadout.save({ document: edited(details) });
    expect(saved).toMatchObject({ allow: true, details: { saved: false, files: [] } });
    expect([read('config.json'), read('loadouts/team.yaml')]).toEqual([CONFIG, TEAM]);
  });

  test('a loadout of the short form: one line differs, remarks stay', async () => {
    const { workspace, read } = opened();
    const { details } = await workspace.loadout.open({ name: 'team' });
    expect(details).toMatchObject({ home: 'short', layer: 'project', kind: 'yaml', readOnly: null, text: TEAM });
    const document = edited(details, model('build'));
    const preview = await workspace.loadout.save({ document, preview: true });
    const after = TEAM.replace('check: [test] }', 'check: [test], model: opus }');
    expect(preview).toMatchObject({
      reason: '1 file would change',
      details: { saved: false, files: [{ path: 'loadouts/team.yaml', before: TEAM, after }] },
    });
    expect(read('loadouts/team.yaml')).toBe(TEAM);
    expect(await workspace.loadout.save({ document })).toMatchObject({ allow: true, details: { saved: true } });
    expect([read('loadouts/team.yaml'), read('config.json')]).toEqual([after, CONFIG]);
  });

  test('a loadout of config.json: the others, unknown fields and spaces stay', async () => {
    const { workspace, read } = opened();
    const { details } = await workspace.loadout.open({ name: 'Own' });
    const document = edited(
      details,
      { edit: 'socket.add', materia: 'Tell', after: 'Socket-1' },
      { edit: 'prompt.set', materia: 'Tell', text: 'Tell it.\n' },
    );
    expect(await workspace.loadout.save({ document })).toMatchObject({
      allow: true,
      details: { files: [{ path: 'config.json' }, { path: 'prompts/tell.md', after: 'Tell it.\n' }] },
    });
    const line = CONFIG.split('\n').find((each) => each.includes('"Own"')) ?? '';
    const [before, after] = [CONFIG.split('\n'), read('config.json').split('\n')];
    expect(before.filter((each) => !after.includes(each))).toEqual([line]);
    expect(JSON.parse(read('config.json')).loadouts.Own.sockets['Socket-2']).toEqual({
      materia: 'Tell',
      edges: [{ when: 'always', to: 'end' }],
    });
    expect(read('prompts/tell.md')).toBe('Tell it.\n');
  });

  test('a new loadout goes where it is asked to, with its prompts', async () => {
    const { workspace, read, dir } = opened();
    const { details } = await workspace.loadout.open({ name: 'fresh', blank: true });
    const document = edited(
      details,
      {
        edit: 'materia.add',
        id: 'greet',
        definition: { type: 'agent', tools: 'readOnly', promptFile: 'prompts/greet.md' },
      },
      { edit: 'socket.add', materia: 'greet' },
      { edit: 'prompt.set', materia: 'greet', text: 'Say hello.\n' },
    );
    expect(await workspace.loadout.check({ document })).toMatchObject({ details: { ok: true } });
    const text = 'steps:\n  - greet\n';
    expect(await workspace.loadout.print({ document, format: 'short' })).toMatchObject({ details: { text } });
    expect(await workspace.loadout.save({ document, as: 'short' })).toMatchObject({ allow: true });
    expect([read('loadouts/fresh.yaml'), read('prompts/greet.md'), read('config.json')]).toEqual([
      text,
      'Say hello.\n',
      CONFIG,
    ]);
    expect((await workspace.check({ file: join(dir, '.baton/loadouts/fresh.yaml') })).reason).toBe('no issues');
  });

  test('what the short form cannot say is refused with its reason, and nothing is written', async () => {
    const { workspace, read } = opened();
    const { details } = await workspace.loadout.open({ name: 'team' });
    const document = edited(details, { edit: 'field.set', of: { socket: 'Socket-2' }, path: ['strict'], value: true });
    expect(await workspace.loadout.save({ document })).toMatchObject({
      allow: false,
      code: 'INVALID_CONFIG',
      details: {
        reasons: [
          { path: 'loadouts.team.sockets.Socket-2.strict', message: 'The short form has no strict of a step.' },
        ],
      },
    });
    expect(read('loadouts/team.yaml')).toBe(TEAM);
  });

  test('a materia that another loadout uses stays', async () => {
    const { workspace, read } = opened();
    const { details } = await workspace.loadout.open({ name: 'Own' });
    const document = edited(details, { edit: 'materia.remove', id: 'Tell' });
    expect(await workspace.loadout.save({ document })).toMatchObject({
      allow: true,
      details: { notes: ['Tell stays in config.json, because the loadout Other uses it.'], files: [] },
    });
    expect(read('config.json')).toBe(CONFIG);
  });
});

test('a file that cannot be written is named, and nothing refers to it', async () => {
  const { workspace, read, dir } = opened();
  const { details } = await workspace.loadout.open({ name: 'Own' });
  mkdirSync(join(dir, '.baton/prompts/new.md'));
  const document = edited(
    details,
    { edit: 'materia.add', id: 'x', definition: { tools: 'none', promptFile: 'prompts/new.md' } },
    { edit: 'socket.add', materia: 'x', after: 'Socket-1' },
    { edit: 'prompt.set', materia: 'x', text: 'New.' },
  );
  const refused = await workspace.loadout.save({ document });
  expect(refused).toMatchObject({ allow: false, code: 'BAD_USAGE', reason: expect.stringContaining('new.md') });
  expect(read('config.json')).toBe(CONFIG);
});

test('what others refer to is written first', () => {
  const dir = project();
  const writes = ['a.json', 'prompts/b.md', 'c.md/d.md'].map((path) => ({ path, before: null, after: 'x' }));
  put(dir, { 'c.md': 'a file where a folder is wanted' });
  expect(() => writeFiles(dir, writes)).toThrow(/c\.md.* cannot be written/);
  expect([existsSync(join(dir, 'a.json')), existsSync(join(dir, 'prompts/b.md'))]).toEqual([false, false]);
});

describe('a file that changed underneath', () => {
  test('is never overwritten: both texts are shown, and what a merge would be', async () => {
    const { workspace, read, write } = opened();
    const { details } = await workspace.loadout.open({ name: 'team' });
    const theirs = TEAM.replace('- summary\n', '- summary: { tools: none }\n');
    write('loadouts/team.yaml', theirs);
    const document = edited(details, model('build'));
    const base = { document: details.document, digests: details.digests } as JsonObject;
    const refused = await workspace.loadout.save({ document, base });
    expect(refused).toMatchObject({
      allow: false,
      code: 'LOADOUT_CHANGED',
      details: { files: [{ path: 'loadouts/team.yaml', theirs }], conflicts: [], now: { text: theirs } },
    });
    expect(read('loadouts/team.yaml')).toBe(theirs);
    const { merged, now } = refused.details as { merged: JsonObject; now: JsonObject };
    const both = await workspace.loadout.save({ document: { document: merged, digests: now.digests as JsonObject } });
    expect(both.allow).toBe(true);
    expect(read('loadouts/team.yaml')).toBe(theirs.replace('check: [test] }', 'check: [test], model: opus }'));
  });

  test('what both changed is a conflict to decide', async () => {
    const { workspace, write } = opened();
    const { details } = await workspace.loadout.open({ name: 'Own' });
    write('config.json', CONFIG.replace('"Build it."', '"Build it well."'));
    const document = edited(details, { edit: 'prompt.set', materia: 'Build', text: 'Build it fast.' });
    expect(await workspace.loadout.save({ document, base: { document: details.document ?? null } })).toMatchObject({
      code: 'LOADOUT_CHANGED',
      details: {
        conflicts: [
          {
            path: ['config', 'materia', 'Build', 'prompt'],
            base: 'Build it.',
            ours: 'Build it fast.',
            theirs: 'Build it well.',
          },
        ],
      },
    });
  });

  test('without digests nothing that is there is written', async () => {
    const { workspace, read } = opened();
    const { details } = await workspace.loadout.open({ name: 'Own' });
    const { document } = edited(details, model('Build')) as { document: JsonObject };
    expect(await workspace.loadout.save({ document })).toMatchObject({ code: 'LOADOUT_CHANGED' });
    expect(read('config.json')).toBe(CONFIG);
  });
});

describe('what ships', () => {
  test('its utilities are offered to a project that does not have them, in the group Utility', async () => {
    const { workspace } = opened();
    const { shipped } = (await workspace.loadout.open({ name: 'Own' })).details as { shipped: { materia: JsonObject } };
    for (const id of ['Ignore-Artifacts', 'Detect-VCS', 'Blackbelt-Bootstrap'])
      expect(shipped.materia[id]).toMatchObject({ type: 'utility', group: 'Utility' });
    expect(JSON.stringify(shipped.materia)).not.toContain('identity');
  });

  test('is read-only, and one act makes a copy that can be changed and cast', async () => {
    const { workspace, read } = opened();
    const { details } = await workspace.loadout.open({ name: 'Full-Auto' });
    expect(details).toMatchObject({
      layer: 'bundled',
      readOnly: 'Full-Auto comes with Baton. Duplicate it, and change the duplicate.',
    });
    const document = edited(details, model('Build'));
    expect(await workspace.loadout.save({ document })).toMatchObject({ allow: false, code: 'LOADOUT_READ_ONLY' });
    const made = await workspace.loadout.duplicate({ name: 'Full-Auto', as: 'Ours' });
    expect(made).toMatchObject({ allow: true, details: { saved: true } });
    expect(made.details.notes).toContain('There is another Build here, so the pasted one is called Build-2.');
    expect(read('prompts/build-2.md')).not.toBe(read('prompts/build.md'));
    const copy = await workspace.loadout.open({ name: 'Ours' });
    expect(copy.details).toMatchObject({ layer: 'project', readOnly: null, identities: {} });
    const issues = (await workspace.loadout.check({ document: edited(copy.details) })).details.issues as unknown[];
    expect(issues).toEqual([]);
    expect(read('config.json').startsWith('{\n  "x_owner": "the platform team",')).toBe(true);
  });

  test('a short form is copied as one', async () => {
    const { workspace, read } = opened();
    expect(await workspace.loadout.duplicate({ name: 'team', as: 'second' })).toMatchObject({ allow: true });
    expect(read('loadouts/second.yaml')).toContain('- plan:');
    expect((await workspace.loadout.open({ name: 'second' })).details).toMatchObject({ home: 'short' });
  });
});

test('each issue of a document has its place and, where that is mechanical, its fix', async () => {
  const { workspace } = opened();
  const { details } = await workspace.loadout.open({ name: 'Own' });
  const document = edited(details, {
    edit: 'field.set',
    of: { socket: 'Socket-1' },
    path: ['edges', 0, 'to'],
    value: 'Socket-9',
  });
  const { issues } = (await workspace.loadout.check({ document })).details;
  expect(issues).toMatchObject([
    {
      code: 'UNKNOWN_ENDPOINT',
      place: { sockets: ['Socket-1'], edge: { from: 'Socket-1', index: 0 } },
      fix: { label: 'Remove the edge', edit: { edit: 'edge.remove' } },
    },
  ]);
});

describe('the layer of the person', () => {
  const USER =
    '{\n  "materia": { "Mine": { "tools": "none", "prompt": "Mine." } },\n  "checkers": { "lint": { "command": ["npm", "run", "lint"] } }\n}\n';

  function withUser() {
    const found = opened();
    const folder = join(found.dir, 'user');
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'config.json'), USER, { mode: 0o600 });
    const env = environment(found.dir, { BATON_CONFIG: folder });
    const file = join(folder, 'config.json');
    return { ...found, workspace: openWorkspace(found.dir, { env }), mine: () => readFileSync(file, 'utf8') };
  }

  test('holds a loadout for every workspace, where that is asked for', async () => {
    const { workspace, mine, read } = withUser();
    const { details } = await workspace.loadout.open({ name: 'everywhere', blank: true, layer: 'user' });
    const document = edited(details, { edit: 'socket.add', materia: 'Mine' });
    expect(await workspace.loadout.save({ document, layer: 'user' })).toMatchObject({
      allow: true,
      details: { layer: 'user' },
    });
    expect(JSON.parse(mine())).toEqual({
      ...JSON.parse(USER),
      loadouts: { everywhere: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Mine' } } } },
    });
    expect(mine().startsWith(USER.trimEnd().slice(0, -2))).toBe(true);
    expect(read('config.json')).toBe(CONFIG);
    // It stays where it is.
    const again = await workspace.loadout.open({ name: 'everywhere' });
    const next = edited(again.details, model('Mine'));
    expect(await workspace.loadout.save({ document: next })).toMatchObject({ details: { layer: 'user' } });
    expect(mine()).toContain('"model": "opus"');
  });

  test('gives its materia and checkers to the project, and they are not written there', async () => {
    const { workspace, mine, read } = withUser();
    const { details } = await workspace.loadout.open({ name: 'Own' });
    const document = edited(
      details,
      { edit: 'materia.set', socket: 'Socket-1', materia: 'Mine' },
      { edit: 'field.set', of: { socket: 'Socket-1' }, path: ['lockScope'], value: ['src'] },
      { edit: 'field.set', of: { socket: 'Socket-1' }, path: ['checkers'], value: ['lint', 'test'] },
    );
    expect((await workspace.loadout.check({ document })).details.issues).toEqual([]);
    expect(await workspace.loadout.save({ document })).toMatchObject({ allow: true });
    expect(mine()).toBe(USER);
    expect(JSON.parse(read('config.json')).materia).toEqual(JSON.parse(CONFIG).materia);
  });

  test('is merged as for a cast: what is deleted above is gone, and a locked checker keeps its command', async () => {
    const { dir, workspace } = withUser();
    const locking = { ...JSON.parse(USER), locked: ['checkers.test'] };
    writeFileSync(join(dir, 'user', 'config.json'), JSON.stringify(locking), { mode: 0o600 });
    const { details } = await workspace.loadout.open({ name: 'Own' });
    const document = edited(
      details,
      { edit: 'field.set', of: { socket: 'Socket-1' }, path: ['lockScope'], value: ['src'] },
      { edit: 'field.set', of: { socket: 'Socket-1' }, path: ['checkers'], value: ['lint', 'test'] },
    );
    const { config, ...rest } = document.document as JsonObject & { config: JsonObject };
    const checkers = { ...(config.checkers as JsonObject), lint: null };
    const changed = { ...document, document: { ...rest, config: { ...config, checkers } } };
    const { issues } = (await workspace.loadout.check({ document: changed })).details;
    const unknown = (name: string) => expect.objectContaining({ message: expect.stringContaining(name) });
    const lock = { code: 'CONFIG_LOCKED', path: 'checkers.test', fix: { label: 'Leave out checkers.test' } };
    expect(issues).toMatchObject([lock, unknown('lint'), unknown('test')]);
  });
});

describe('what a sender says is not believed', () => {
  test.each([
    '../package.json',
    '../../outside.md',
    'state/x.md',
    'loadouts/evil.md',
    '/etc/x.md',
    'prompts/../../x.md',
  ])('a prompt is not written to %s', async (promptFile) => {
    const { workspace, dir } = opened();
    const { details } = await workspace.loadout.open({ name: 'fresh', blank: true });
    const document = edited(
      details,
      { edit: 'materia.add', id: 'x', definition: { tools: 'none', promptFile } },
      { edit: 'socket.add', materia: 'x' },
      { edit: 'prompt.set', materia: 'x', text: 'planted' },
    );
    expect(await workspace.loadout.save({ document })).toMatchObject({ allow: false, code: 'INVALID_CONFIG' });
    expect(existsSync(join(dir, '.baton', promptFile))).toBe(false);
  });

  test('nor through a link that leads out', async () => {
    const { workspace, dir } = opened();
    const outside = project();
    mkdirSync(join(outside, 'target'));
    symlinkSync(join(outside, 'target'), join(dir, '.baton/linked'));
    const { details } = await workspace.loadout.open({ name: 'fresh', blank: true });
    const document = edited(
      details,
      { edit: 'materia.add', id: 'x', definition: { tools: 'none', promptFile: 'linked/x.md' } },
      { edit: 'socket.add', materia: 'x' },
      { edit: 'prompt.set', materia: 'x', text: 'planted' },
    );
    expect(await workspace.loadout.save({ document })).toMatchObject({ allow: false, code: 'INVALID_CONFIG' });
    expect(existsSync(join(outside, 'target/x.md'))).toBe(false);
  });

  test.each([null, [], 'x', {}, { name: '__proto__', config: {} }, { name: 'a', config: { loadouts: { a: [] } } }])(
    'a document that is none: %j',
    async (document) => {
      const { workspace } = opened();
      expect(await workspace.loadout.save({ document })).toMatchObject({ allow: false, code: 'BAD_USAGE' });
    },
  );
});
