// `baton import materia` takes a configuration over in the shapes of the original: what it becomes checks and is cast, and what could not be
// carried over is reported field by field.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project, put, read } from './baton.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`./fixtures/materia-${name}.json`, import.meta.url), 'utf8');

type Told = {
  readonly written: boolean;
  readonly loadouts: readonly string[];
  readonly report: readonly {
    readonly kind: string;
    readonly path: string;
    readonly reason: string;
    readonly fix: string;
  }[];
};

async function imported(
  name: string,
  files: Readonly<Record<string, Json>> = {},
): Promise<{ dir: string; told: Told }> {
  const dir = project({ 'theirs.json': fixture(name), ...files });
  const ran = await baton(dir, ['import', 'materia', 'theirs.json', '--yes', '--json']);
  expect(ran.code).toBe(0);
  return { dir, told: json<Told>(ran) };
}

async function cast(
  dir: string,
  loadout: string,
  script: Json,
): Promise<JsonObject & { readonly path: readonly JsonObject[] }> {
  put(dir, { 'agents.json': script });
  return json(await baton(dir, ['cast', '-l', loadout, '--agents', 'agents.json', '--in-place', '--json', 'go']));
}

const ITEMS: Json = {
  workItems: [
    { title: 'One', context: 'First.' },
    { title: 'Two', context: 'Second.' },
  ],
};
const YES: Json = { satisfied: true, context: 'good' };
const NO: Json = { satisfied: false, context: 'again' };

test('nothing is written before a yes, and the report comes with what would be', async () => {
  const dir = project({ 'theirs.json': fixture('software') });
  const { code, stdout, stderr } = await baton(dir, ['import', 'materia', 'theirs.json']);
  expect(code).toBe(2);
  expect(stdout).toContain('.baton/config.json (new)');
  expect(stderr).toContain('left out: artifactDir');
  expect(() => read(dir, '.baton/config.json')).toThrow();
});

test.each(['software', 'lanes'])('%s checks after it', async (name) => {
  const { dir } = await imported(name);
  expect((await baton(dir, ['check', '--strict'])).stdout).toMatch(/^ok: no issues/);
});

test.each<[string, string, string]>([
  ['artifactDir', 'left out', 'the log'],
  ['budget.stopAtLimit', 'left out', ''],
  ['limits.maxSocketVisits', 'left out', ''],
  ['finalization', 'left out', 'read as JSON'],
  ['eventing', 'left out', 'notify'],
  ['materia.Lane.utility', 'changed', 'worktree'],
  ['materia.Open-PR.script', 'changed', 'a person does this step'],
  ['materia.Outline.temperature', 'left out', 'x_'],
  ['materia.Write.tools', 'changed', 'another program'],
  ['materia.Proof.systemPrompt', 'left out', 'prompt'],
  ['materia.Stamp.command', 'changed', 'Copy the script'],
  ['materia.Gone', 'left out', 'null'],
  ['loadouts.Ship.sockets.Socket-4.edges[1].maxTraversals', 'left out', 'no bound'],
  ['loadouts.Ship.sockets.Socket-4.edges[2]', 'left out', 'no socket Socket-9'],
  ['loadouts.Ship.loops.parts.exit', 'changed', 'older spelling'],
  ['loadouts.Ship.loops.parts.consumes.from', 'changed', 'Socket-2 enters the loop'],
  ['loadouts.Each-File.sockets.list', 'changed', 'Socket-1'],
  ['loadouts.Each-File.sockets.check.advance.when', 'changed', 'satisfied'],
  ['loadouts.Consult.sockets.Socket-2.materia', 'changed', 'ships with Baton'],
  ['loadouts.Consult.sockets.Socket-2.parse', 'changed', 'JSON'],
  ['loadouts.Broken', 'left out', 'the target is empty'],
])('the report names %s as %s', async (path, kind, words) => {
  const { told } = await imported('software');
  const note = told.report.find((each) => each.path === path);
  expect(note).toMatchObject({ kind });
  expect(`${note?.reason} ${note?.fix}`).toContain(words);
  expect(note?.fix).not.toBe('');
});

test('a loop with the older exit walks its items, and leads out', async () => {
  const { dir } = await imported('software');
  const end = await cast(dir, 'Ship', {
    Ignore: ['{"state":{}}'],
    Outline: [ITEMS],
    Write: ['w', 'w', 'w'],
    Proof: [NO, YES, YES],
    Publish: ['{"state":{"published":true}}'],
  });
  expect(end).toMatchObject({ status: 'completed' });
  expect(end.path.map(({ socket }) => socket)).toEqual([
    'Socket-1',
    'Socket-2',
    'Socket-3',
    'Socket-4',
    'Socket-3',
    'Socket-4',
    'Socket-3',
    'Socket-4',
    'Socket-5',
  ]);
});

test('a socket with foreach runs for each item', async () => {
  const { dir } = await imported('software');
  const end = await cast(dir, 'Each-File', { Outline: [ITEMS], Proof: [YES, YES] });
  expect(end).toMatchObject({ status: 'completed' });
});

test('a conversation stays one', async () => {
  const { dir } = await imported('software');
  const end = await cast(dir, 'Consult', { Talk: ['What shall we do?'], Build: [YES] });
  expect(end).toMatchObject({ status: 'waiting' });
});

test('what no program does waits for a person', async () => {
  const { dir } = await imported('software');
  const end = await cast(dir, 'With-PR', { Lane: [{ satisfied: true }], 'Open-PR': [{ $answer: 'opened' }] });
  expect(end.path.map(({ socket }) => socket)).toEqual(['Socket-1', 'Socket-2']);
});

test('lanes work side by side and join', async () => {
  const { dir } = await imported('lanes');
  const plan: Json = {
    ...(ITEMS as JsonObject),
    parallelSchedule: {
      version: 1,
      streams: [
        { name: 'a', workItemIndexes: [0] },
        { name: 'b', workItemIndexes: [1] },
      ],
    },
  };
  const end = await cast(dir, 'Parallel', {
    Plan: [plan],
    Prepare: ['ready', 'ready'],
    Make: ['m', 'm'],
    Judge: [YES, YES],
    Join: ['joined'],
  });
  expect(end).toMatchObject({ status: 'completed' });
  const { stdout } = await baton(dir, ['check', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ allow: true });
});

test('what is there stays: new entries are added by a second yes, and clashes are reported', async () => {
  const own = {
    defaults: { runner: 'codex' },
    budget: { maxTokens: 5 },
    materia: { Write: { tools: 'none', prompt: 'Mine.' } },
    loadouts: {},
  };
  const dir = project({ 'theirs.json': fixture('software'), '.baton/config.json': own });
  const asked = await baton(dir, ['import', 'materia', 'theirs.json', '--yes']);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--replace')]);
  expect(JSON.parse(read(dir, '.baton/config.json'))).toEqual(own);
  const told = json<Told>(await baton(dir, ['import', 'materia', 'theirs.json', '--yes', '--replace', '--json']));
  const config = JSON.parse(read(dir, '.baton/config.json')) as typeof own;
  expect(config).toMatchObject({
    defaults: { runner: 'codex' },
    budget: { maxTokens: 5 },
    materia: { Write: { prompt: 'Mine.' } },
  });
  expect(told.report.map(({ path }) => path)).toEqual(expect.arrayContaining(['budget', 'materia.Write']));
  expect((await baton(dir, ['check'])).code).toBe(0);
});

test('addresses and secrets of sinks are not taken over', async () => {
  const { dir } = await imported('software');
  for (const word of ['hooks.example.com', 'Bearer']) expect(read(dir, '.baton/config.json')).not.toContain(word);
});

test.each<[string, string, string]>([
  ['no JSON', '{', 'the file is no JSON: line'],
  ['a list', '[]', 'no object'],
  ['something else', '{"name": "x"}', 'neither materia nor loadouts'],
])('%s is wrong usage', async (_, text, words) => {
  const dir = project({ 'theirs.json': text });
  const { code, stderr } = await baton(dir, ['import', 'materia', 'theirs.json', '--yes']);
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

test.each<[string, Json]>([
  ['nothing in it', { materia: {}, loadouts: {} }],
  [
    'values of every wrong kind',
    {
      materia: { A: 7, B: { tools: 9, prompt: '' }, C: { command: [] } },
      loadouts: { L: { sockets: { x: 1, 'Socket-1': { materia: 'A', edges: 'no' } }, loops: { l: 3 } }, M: 4 },
      limits: 'x',
    },
  ],
  [
    'names of prototypes',
    {
      materia: { constructor: { prompt: 'p', tools: 'none' } },
      loadouts: { toString: { sockets: { 'Socket-1': { materia: 'constructor' } } } },
    },
  ],
  [
    'a loop of nothing',
    {
      materia: { A: { prompt: 'p', tools: 'none' } },
      loadouts: {
        L: {
          sockets: { 'Socket-1': { materia: 'A' } },
          loops: { l: { sockets: ['Socket-1', 'Socket-7'], consumes: { from: 'Socket-9' } } },
        },
      },
    },
  ],
])('a file with %s is imported as far as it goes, and what is written checks', async (_, written) => {
  const dir = project({ 'theirs.json': written });
  expect((await baton(dir, ['import', 'materia', 'theirs.json', '--yes', '--json'])).code).toBe(0);
  const { stdout } = await baton(dir, ['check', '--json']);
  const issues = (JSON.parse(stdout) as { details: { issues: readonly { level: string; path: string }[] } }).details
    .issues;
  expect(issues.filter(({ level, path }) => level === 'error' && /^(?:loadouts|materia)\./.test(path))).toEqual([]);
});
