// What scripts rely on: the objects of `cast`, `show`, `casts`, `status` and `log`, their exit codes, and nothing else on
// standard output.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, always, BATON, baton, cast, flow, json, project, put, read, start, until } from './baton.ts';

const plan = { ...agent, generator: true };
const edges = [
  { when: 'satisfied', to: 'Socket-2' },
  { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2 },
];
/** A plan whose items are built and checked one after the other, then told. */
const loop = {
  materia: { Plan: plan, Build: agent, Check: agent, Tell: agent },
  loadouts: {
    L: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
        'Socket-2': { materia: 'Build', parse: 'text', edges: [always('Socket-3')] },
        'Socket-3': {
          materia: 'Check',
          parse: 'json',
          advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
          edges,
        },
        'Socket-4': { materia: 'Tell', parse: 'text' },
      },
      loops: {
        items: {
          sockets: ['Socket-2', 'Socket-3'],
          consumes: { from: 'Socket-1', output: 'workItems' },
          exits: [{ id: 'done', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-4' }],
        },
      },
    },
  },
};
const workItems = ['First', 'Second'].map((title) => ({ title, context: `Do ${title}.` }));
const agents = {
  Plan: [{ workItems }],
  Build: ['built', '$repeat'],
  Check: [{ satisfied: false, context: 'not yet' }, { satisfied: true }, { satisfied: true }],
  Tell: ['All done.'],
};
const KEYS = ['cast', 'status', 'code', 'reason', 'path', 'data', 'usage', 'log'];

test.each<[string, string[], { input?: string }, number, number | RegExp]>([
  ['standard input', ['-'], { input: `${'word '.repeat(100_000)}\n` }, 0, 499_999],
  ['a file', ['--request-file', 'long.md'], {}, 0, 600_000],
  ['a file behind a detached cast', ['--detach', '--request-file', 'long.md'], {}, 0, 600_000],
  ['a file and words', ['--request-file', 'long.md', 'more'], {}, 2, /not both/],
  ['a file that is not there', ['--request-file', 'none.md'], {}, 2, /none\.md/],
  ['an empty input', ['-'], { input: ' \n' }, 2, /say: baton cast/],
  ['no words', [], {}, 2, /say: baton cast/],
  ['a NUL', ['-'], { input: 'a\0b' }, 2, /NUL/],
  ['more than can be taken', ['-'], { input: 'x'.repeat(1_048_577) }, 2, /at most 1048576/],
])('a request from %s', async (_, args, how, code, expected) => {
  const dir = project({ 'c.json': loop, 'a.json': agents, 'long.md': 'y'.repeat(600_000) });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--agents', 'a.json', '--json', ...args], how);
  expect(ran.code).toBe(code);
  if (typeof expected === 'number') expect(json<CastView>(ran).request).toHaveLength(expected);
  else expect(ran.stderr).toMatch(expected);
});

test('a completed cast: exit 0, one object, the id on stderr before anything runs', async () => {
  const dir = project({ 'c.json': loop, 'a.json': agents });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--agents', 'a.json', '--json', 'make', 'it']);
  const view = json<CastView>(ran);
  expect(ran.code).toBe(0);
  expect(Object.keys(view)).toEqual(expect.arrayContaining(KEYS));
  expect(view).not.toHaveProperty('turns');
  expect(view).toMatchObject({ status: 'completed', code: null, request: 'make it', data: { workItems } });
  expect(view.path.map(({ socket, visit, item }) => `${socket} ${visit} ${item}`)).toEqual([
    'Socket-1 1 null',
    'Socket-2 1 WI-1',
    'Socket-3 1 WI-1',
    'Socket-2 2 WI-1',
    'Socket-3 2 WI-1',
    'Socket-2 3 WI-2',
    'Socket-3 3 WI-2',
    'Socket-4 1 null',
  ]);
  expect(view.log).toEqual({ head: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(ran.stderr.split('\n')[0]).toBe(`cast ${view.cast}`);

  const shown = await baton(dir, ['show', 'latest', '--json']);
  expect([shown.code, json(shown)]).toEqual([0, view]);
  const [summary] = json<Record<string, unknown>[]>(await baton(dir, ['casts', '--json']));
  expect(summary).toMatchObject({ cast: view.cast, status: 'completed', loadout: 'L', request: 'make it' });
  const entries = json<{ seq: number; kind: string; cast: string; prev: string; leaf: string }[]>(
    await baton(dir, ['log', '--after', '0', '--json']),
  );
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.at(-1)).toMatchObject({ seq: view.log.head, kind: 'cast.completed', cast: view.cast });
  // Each entry names the hash of the one before it, and the head is that of the last.
  expect(entries.map(({ leaf }) => leaf)).toEqual([...entries.slice(1).map(({ prev }) => prev), view.log.hash]);
});

test('--turns adds every attempt with what it was told, what it said and the verdict on it', async () => {
  const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'json', assign: { got: '$.context' } } });
  const dir = project();
  const view = await cast(dir, config, { A: ['oops', { context: 'kept' }] });
  expect(view.path).toHaveLength(1);
  const [first, second] = view.turns ?? [];
  expect(first).toMatchObject({ socket: 'Socket-1', visit: 1, item: null, attempt: 1, output: 'oops' });
  expect(first?.brief).toContain('Do it.');
  expect(first?.verdict).toMatchObject({ allow: false, code: 'NOT_JSON' });
  expect(second).toMatchObject({ attempt: 2, output: '{"context":"kept"}', verdict: { allow: true, code: 'OK' } });
  expect(second?.brief).toContain('oops');
  expect(json<CastView>(await baton(dir, ['show', 'latest', '--json', '--turns'])).turns).toEqual(view.turns);
});

test('a failed cast: exit 1, its code, and how to carry on', async () => {
  const dir = project({ 'c.json': loop, 'a.json': { Plan: ['no plan', 'none'] } });
  const args = ['cast', '--file', 'c.json', '--agents', 'a.json', 'x'];
  const told = await baton(dir, args);
  expect([told.code, told.stdout]).toEqual([1, expect.stringMatching(/failed \(CONTRACT_VIOLATION\).*baton recast/s)]);
  const ran = await baton(dir, [...args, '--json']);
  expect([ran.code, json(ran)]).toEqual([1, expect.objectContaining({ status: 'failed', code: 'CONTRACT_VIOLATION' })]);
});

test('a configuration that does not check: the same object without a cast, every issue, exit 1, nothing started', async () => {
  const broken = flow({ A: agent }, { 'Socket-1': { materia: 'B', edges: [{ when: 'sometimes', to: 'Socket-9' }] } });
  const dir = project({ 'c.json': broken });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--json', 'x']);
  const view = json<CastView & { issues: { code: string; level: string; path: string; message: string }[] }>(ran);
  expect(ran.code).toBe(1);
  expect(Object.keys(view)).toEqual(expect.arrayContaining([...KEYS, 'issues']));
  expect([view.cast, view.status, view.path]).toEqual([null, 'failed', []]);
  expect(view.issues.length).toBeGreaterThan(2);
  expect(view.code).toBe(view.issues.find(({ level }) => level === 'error')?.code);
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
  const told = await baton(dir, ['cast', '--file', 'c.json', 'x']);
  expect([told.code, told.stdout]).toEqual([1, '']);
  for (const { code, path } of view.issues) expect(told.stderr).toContain(`${code} ${path}`);
});

test('while it runs, `show` and `casts` say so and `status` names its driver', async () => {
  const config = flow(
    { A: agent },
    {
      'Socket-1': { materia: 'A', parse: 'text', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'A', parse: 'text' },
    },
  );
  const dir = project({
    'c.json': config,
    'a.json': { A: ['first', { $turn: { output: 'second', delayMs: 60_000 } }] },
  });
  const casting = start(dir, ['cast', '--file', 'c.json', '--agents', 'a.json', 'x']);
  await until('the second socket', () => casting.stderr().includes('▸ A (Socket-2)'));
  const shown = await baton(dir, ['show', 'latest', '--json', '--turns']);
  expect([shown.code, json(shown)]).toEqual([0, expect.objectContaining({ status: 'running', code: null })]);
  expect(json<CastView>(shown).turns?.map(({ output }) => output)).toEqual(['first', null]);
  const status = json<{ open: object[] }>(await baton(dir, ['status', '--json']));
  expect(status.open).toEqual([expect.objectContaining({ status: 'running', driver: casting.child.pid })]);
  expect((await baton(dir, ['status'])).stdout).toContain(`running in process ${casting.child.pid}`);
  const resumed = await baton(dir, ['resume', 'latest', '--json']);
  expect([resumed.code, json(resumed)]).toEqual([1, expect.objectContaining({ code: 'NOT_ALLOWED_NOW' })]);
  expect(resumed.stderr).toContain(`driven by process ${casting.child.pid}`);
  expect((await baton(dir, ['abort', 'latest'])).code).toBe(0);
  expect((await casting.ended).code).toBe(1);
});

test('--dry-run shows what would run and the first briefs, and starts nothing', async () => {
  const dir = project({ 'c.json': loop });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--dry-run', '--json', 'make it']);
  const shown = json<{ sockets: object[]; briefs: { socket: string; brief: string }[] }>(ran);
  expect([ran.code, shown.sockets.length]).toEqual([0, 4]);
  expect(shown.briefs.map(({ socket }) => socket)).toEqual(['Socket-1', 'Socket-2', 'Socket-3', 'Socket-4']);
  expect(shown.briefs[0]?.brief).toContain('make it');
  const { stdout } = await baton(dir, ['cast', '--file', 'c.json', '--dry-run', 'make it']);
  expect(stdout).toContain('Nothing was started.');
  // People know steps by their names.
  expect(stdout.slice(0, stdout.indexOf('---'))).not.toContain('Socket-');
  expect(stdout).not.toContain('--- brief of Socket-');
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test('where nothing was cast, looking answers with nothing and creates nothing', async () => {
  const dir = project();
  const commands = [['casts'], ['status'], ['log'], ['log', '--after', '0']];
  const answers = await Promise.all(commands.map((args) => baton(dir, [...args, '--json'])));
  expect(answers.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(answers.map((ran) => json(ran))).toEqual([
    [],
    { workspace: dir, head: 0, hold: null, trust: 'off', quests: {}, open: [], ended: [], cutOff: [], down: [] },
    [],
    [],
  ]);
  expect((await baton(dir, ['casts'])).stdout).toContain('baton cast');
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test('casts come newest first, and a beginning that only one has is enough', async () => {
  const dir = project();
  const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });
  const first = await cast(dir, config, { A: ['x'] });
  const second = await cast(dir, config, { A: ['y'] });
  const ids = json<{ cast: string }[]>(await baton(dir, ['casts', '--json'])).map((one) => one.cast);
  expect(ids).toEqual([second.cast, first.cast]);
  expect(json(await baton(dir, ['show', first.cast.slice(0, -1), '--json'])).cast).toBe(first.cast);
  expect(json(await baton(dir, ['show', '--json'])).cast).toBe(second.cast);
  const log = json<{ cast: string }[]>(await baton(dir, ['log', '--cast', first.cast, '--json']));
  expect(new Set(log.map((entry) => entry.cast))).toEqual(new Set([first.cast]));
});

test('a project without a configuration of its own casts what comes with baton', async () => {
  const dir = project({ 'a.json': { 'Auto-Plan': [{ workItems: [] }], Narrate: ['Nothing to do.'] } });
  const ran = await baton(dir, ['cast', '--agents', 'a.json', '--json', 'x']);
  expect([ran.code, json(ran).loadout]).toEqual([0, 'Full-Auto']);
});

test('init makes a workspace that checks, keeps what is there, and never loses an older copy', async () => {
  const dir = project();
  const made = json<{ written: string[] }>(await baton(dir, ['init', '--json'])).written;
  expect(made).toContain('.baton/config.json');
  expect((await baton(dir, ['check', '--strict'])).code).toBe(0);
  put(dir, { '.baton/config.json': { mine: 1 }, '.baton/prompts/build.md': 'My own.' });
  const again = await baton(dir, ['init']);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('--force')]);
  const forced = json<{ written: string[] }>(await baton(dir, ['init', '--force', '--json'])).written;
  expect(forced).toEqual(['.baton/config.json.old', '.baton/config.json', '.baton/config.schema.json']);
  const twice = json<{ written: string[] }>(await baton(dir, ['init', '--force', '--json'])).written;
  expect(twice).toEqual(['.baton/config.json.old.2', '.baton/config.json', '.baton/config.schema.json']);
  expect(JSON.parse(read(dir, '.baton/config.json.old'))).toEqual({ mine: 1 });
  expect(read(dir, '.baton/prompts/build.md')).toBe('My own.');
});

test('the demo runs to its end without key and network, in a workspace of its own', async () => {
  const dir = project();
  const told = await baton(dir, ['demo', '--fast']);
  expect([told.code, told.stdout]).toEqual([0, expect.stringContaining('Hello, Ada!')]);
  expect(told.stdout).toMatch(/^ {2}next {4}.+ -C .+ show /m);
  // What is told to be typed can be typed, here and now.
  const [, typed = ''] = /^ {2}(.+? log)\b/m.exec(told.stdout) ?? [];
  const listed = await baton(dir, ['-c', typed], { program: ['/bin/sh'] });
  expect([typed.startsWith(`${BATON} -C `), listed.code, listed.stdout]).toEqual([
    true,
    0,
    expect.stringContaining('cast.completed'),
  ]);
  const ran = await baton(dir, ['demo', '--fast', '--json']);
  expect([ran.code, json(ran)]).toEqual([0, expect.objectContaining({ status: 'completed', loadout: 'Full-Auto' })]);
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test('the id of a cast is printed once its start is in the log, and not for a cast that could not be started', async () => {
  const dir = project({
    'c.json': flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } }),
    'a.json': { A: ['x'] },
  });
  const args = ['cast', '--file', 'c.json', '--agents', 'a.json', 'x'];
  const first = await baton(dir, args);
  const id = /^cast (\S+)$/m.exec(first.stderr)?.[1] ?? '';
  expect(first.stdout).toContain(`Cast ${id} completed`);
  // A secret of the script is kept in a folder, which cannot be made: the start fails before it is in the log.
  put(dir, { '.baton/state/hidden': '', 'a.json': { A: [`AKIA${'B'.repeat(16)}`] } });
  const failed = await baton(dir, args);
  expect(failed.code).not.toBe(0);
  expect(failed.stderr).not.toMatch(/^cast /m);
  put(dir, { 'a.json': { A: ['x'] } });
  const behind = await baton(dir, [...args.slice(0, -1), '--detach', 'x']);
  const other = /^cast (\S+)$/m.exec(behind.stderr)?.[1] ?? '';
  const facts = await baton(dir, ['log', '--after', '0', '--json']);
  expect(facts.stdout).toContain(other);
});

test.each<[string, readonly string[], JsonObject, string]>([
  ['the command line', ['--runner', 'codex', '--model', 'm'], { runner: 'pi' }, 'codex m'],
  ['the configuration', [], {}, 'pi n'],
])('%s says who runs the agents', async (_name, options, agent, expected) => {
  const dir = project({
    'cast.json': {
      defaults: { runner: 'pi', model: 'n' },
      materia: { A: { prompt: 'Do it.', tools: 'none', ...agent } },
      loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'A' } } } },
      activeLoadout: 'L',
    },
  });
  const planned = await baton(dir, ['cast', '--dry-run', '--json', '--file', 'cast.json', ...options, 'do it']);
  const { sockets } = json<{ sockets: readonly JsonObject[] }>(planned);
  expect(sockets.map(({ runner, model }) => `${runner} ${model}`)).toEqual([expected]);
});

test('a runner that there is not is wrong usage, with the nearest name', async () => {
  const { code, stderr } = await baton(project(), ['cast', '--runner', 'claud', 'do it']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Did you mean claude?')]);
});
