// A cast is started with typed values that its loadout declares. They are checked first, frozen, and data for its agents.
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project } from './baton.ts';

const FORM = `description: Looks for trouble.
inputs:
  severity: { enum: [low, high], default: low, description: what to look for }
  paths: { type: array, items: { type: string }, minItems: 1 }
  count: integer
steps:
  - look: { tools: read, prompt: "Look in {{inputs.paths}} for {{inputs.severity}} trouble, {{inputs.count}} times." }
  - say: { tools: none, prompt: Sum up. }
`;
const SCRIPT: Json = { look: ['looked'], say: ['said'] };

type Cast = JsonObject & {
  readonly data: { readonly inputs?: JsonObject };
  readonly turns: readonly { readonly brief: string }[];
  readonly issues: readonly { readonly path: string; readonly message: string }[];
};

function team(form = FORM, files: Readonly<Record<string, Json>> = {}): string {
  return project({ '.baton/loadouts/look.yaml': form, 'agents.json': SCRIPT, ...files });
}

const CAST = ['cast', '--agents', 'agents.json', '--json', '--turns'];
const GOOD = ['--input', 'paths=["src"]', '--input', 'count=3'];

test('values are checked, completed by defaults, frozen, and told to the agents as data', async () => {
  const dir = team();
  const cast = json<Cast>(await baton(dir, [...CAST, ...GOOD, 'go']));
  expect(cast).toMatchObject({ status: 'completed', data: { inputs: { severity: 'low', paths: ['src'], count: 3 } } });
  const [look, say] = cast.turns.map(({ brief }) => brief);
  expect(look).toContain('for low trouble, 3 times.');
  expect(look).not.toContain('Inputs of this cast');
  // A prompt that names none of them gets them as a block of data.
  expect(say).toContain('Inputs of this cast (data)');
  expect(say).toContain('"severity": "low"');
});

test.each<[string, readonly string[], string, string]>([
  ['one is missing', ['--input', 'count=3'], 'inputs.paths', 'it is missing: array'],
  ['one is not in the list', [...GOOD, '--input', 'severity=hgih'], 'inputs.severity', 'one of "low", "high"'],
  ['one has another type', ['--input', 'paths=["a"]', '--input', 'count=many'], 'inputs.count', 'integer'],
  ['a part of one does not fit', ['--input', 'paths=[7]', '--input', 'count=1'], 'inputs.paths', 'at 0'],
  ['one is unknown', [...GOOD, '--input', 'sevrity=low'], 'inputs.sevrity', 'Did you mean severity?'],
  ['one has no value', [...GOOD, '--input', 'severity'], 'inputs.severity', 'write NAME=VALUE'],
])('where %s, the cast is refused before anything starts', async (_, args, path, words) => {
  const dir = team();
  const { code, stdout } = await baton(dir, [...CAST, ...args, 'go']);
  const refused = json<Cast>({ code, stdout, stderr: '' });
  expect([code, refused.cast, refused.code]).toEqual([1, null, 'INPUT_INVALID']);
  expect(refused.issues).toContainEqual(expect.objectContaining({ path, message: expect.stringContaining(words) }));
  expect(json<Json[]>(await baton(dir, ['casts', '--json']))).toEqual([]);
});

test('every fault is named at once', async () => {
  const { stdout } = await baton(team(), [...CAST, '--input', 'severity=x', '--input', 'y=1', 'go']);
  const { issues } = JSON.parse(stdout) as Cast;
  expect(issues.map(({ path }) => path)).toEqual(['inputs.severity', 'inputs.paths', 'inputs.count', 'inputs.y']);
});

test('a file gives them too, and a word counts before it', async () => {
  const dir = team(FORM, { 'in.json': { paths: ['a'], count: 1 }, 'list.json': [1] });
  const cast = json<Cast>(await baton(dir, [...CAST, '--input-file', 'in.json', '--input', 'count=2', 'go']));
  expect(cast.data.inputs).toEqual({ severity: 'low', paths: ['a'], count: 2 });
  const refused = await baton(dir, [...CAST, '--input-file', 'list.json', 'go']);
  expect(refused.stdout).toContain('it holds no object');
});

test('in the background, resumed and shown, they stay', async () => {
  const dir = team();
  const { cast } = json<JsonObject>(await baton(dir, [...CAST, ...GOOD, '--detach', '--input', 'severity=high', 'go']));
  await baton(dir, ['watch', String(cast)]);
  const shown = json<Cast>(await baton(dir, ['show', String(cast), '--json']));
  expect(shown.data.inputs).toEqual({ severity: 'high', paths: ['src'], count: 3 });
});

test('a utility cannot change them, and a loadout may not assign to them', async () => {
  const config = {
    materia: {
      U: { type: 'utility', command: ['sh', '-c', `echo '{"state": {"inputs": 7, "x": 1}}'`], parse: 'json' },
    },
    loadouts: {
      F: { inputs: { name: 'string' }, entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'U', parse: 'json' } } },
    },
  };
  const dir = project({ '.baton/config.json': config });
  const cast = json<Cast>(await baton(dir, ['cast', '--json', '--in-place', '--input', 'name=ann', 'go']));
  expect(cast.data).toMatchObject({ inputs: { name: 'ann' }, x: 1 });
  const { loadouts } = config;
  const assigning = {
    ...loadouts.F,
    sockets: { 'Socket-1': { materia: 'U', parse: 'json', assign: { 'inputs.name': '$.state' } } },
  };
  const wrong = project({ '.baton/config.json': { ...config, loadouts: { F: assigning } } });
  expect((await baton(wrong, ['check'])).stdout).toContain('The inputs of a cast stay as they were');
});

test('a lock scope may come from an input, and never leads out of the project', async () => {
  const config = {
    materia: { W: { tools: 'coding', prompt: 'Write.' } },
    loadouts: {
      F: {
        inputs: { path: 'string' },
        entry: 'Socket-1',
        sockets: { 'Socket-1': { materia: 'W', lockScope: ['{{inputs.path}}'] } },
      },
    },
  };
  const dir = project({
    '.baton/config.json': config,
    'agents.json': { W: [{ $turn: { output: 'x', write: { 'src/a': 'a' } } }] },
  });
  const run = (path: string) => baton(dir, [...CAST, '--in-place', '--input', `path=${path}`, 'go']);
  expect(json<Cast>(await run('../out'))).toMatchObject({ code: 'SCOPE_VIOLATION' });
  expect(json<Cast>(await run('src'))).toMatchObject({ status: 'completed' });
});

test.each<[string, string, string]>([
  ['a schema that is none', 'inputs: { a: { type: 7 } }\nsteps: [{ x: { prompt: p } }]\n', 'cannot be used'],
  [
    'a default that does not fit',
    'inputs: { a: { type: integer, default: x } }\nsteps: [{ x: { prompt: p } }]\n',
    'does not fit',
  ],
  ['a type that is none', 'inputs: { a: text }\nsteps: [{ x: { prompt: p } }]\n', 'a'],
  ['a name that is none', 'inputs: { "a b": string }\nsteps: [{ x: { prompt: p } }]\n', 'letters'],
])('check refuses %s at its line', async (_, form, words) => {
  const { code, stdout } = await baton(team(form), ['check']);
  expect([code, stdout]).toEqual([1, expect.stringContaining(words)]);
  expect(stdout).toContain('look.yaml:1');
});

test('a misspelt input in a prompt is a warning', async () => {
  const { stdout } = await baton(team(FORM.replace('inputs.count', 'inputs.conut')), ['check']);
  expect(stdout).toContain('The input conut is read here');
  expect(stdout).toContain('Did you mean count?');
});

test('check and the list of loadouts say what a cast is started with', async () => {
  const dir = team();
  expect((await baton(dir, ['check'])).stdout).toContain(
    'look --input severity=…: one of "low", "high" (what to look for), else "low"',
  );
  const { stdout } = await baton(dir, ['cast', '--dry-run', '--json', ...GOOD, 'go']);
  expect(stdout).toContain('for low trouble, 3 times.');
});

test('a loadout without inputs takes none', async () => {
  const dir = team('steps: [{ look: { prompt: p } }]\n');
  const { stdout } = await baton(dir, [...CAST, '--input', 'a=1', 'go']);
  expect(stdout).toContain('declares no inputs');
});

test('null is a default, too, and a secret in a value is not stored', async () => {
  const dir = team('inputs: { note: { type: [string, "null"], default: null } }\nsteps: [{ look: { prompt: p } }]\n');
  expect(json<Cast>(await baton(dir, [...CAST, 'go'])).data.inputs).toEqual({ note: null });
  const key = `sk-ant-api03-${'a'.repeat(80)}`;
  const { stdout } = await baton(dir, [...CAST, '--input', `note=${key}`, 'go']);
  expect(stdout).not.toContain(key);
});
