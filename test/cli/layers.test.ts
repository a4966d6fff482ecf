// One configuration from several files: everything that reads it sees the same merge, a person's locks hold, and a project that no
// person trusts changes nothing that they set.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project, put, read } from './baton.ts';
import { repository } from './repository.ts';

const FLOW = {
  materia: { A: { tools: 'readOnly', prompt: 'Do it.' } },
  loadouts: { Flow: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'A' } } } },
};
const SCRIPT: Json = { A: ['done'] };

type Layers = { readonly user?: Json; readonly administrator?: Json; readonly project?: Json };

/** A folder with the layers of a test, and the environment that leads to them. */
function layered({ user, administrator, project: own = FLOW }: Layers, files: Readonly<Record<string, Json>> = {}) {
  const aside = project({
    ...(user === undefined ? {} : { 'me/config.json': user }),
    'admin.json': administrator ?? {},
  });
  const dir = project({ '.baton/config.json': own, 'agents.json': SCRIPT, ...files });
  const admin = administrator === undefined ? {} : { BATON_ADMIN_CONFIG: join(aside, 'admin.json') };
  const me = { BATON_CONFIG: join(aside, 'me'), ...admin };
  const run = (...args: readonly string[]) => baton(dir, args, { env: me });
  return { dir, aside, me, run };
}

const CAST = ['cast', '--agents', 'agents.json', '--json'];

test('the budget of a user counts where the project says none, and is frozen in the cast', async () => {
  const { run } = layered({ user: { budget: { maxTokens: 1_234 }, limits: { maxNoAdvanceCycles: 7 } } });
  expect((await run('check')).code).toBe(0);
  const { cast } = json<{ cast: string }>(await run(...CAST, '--set', 'budget.maxCost=2', 'go'));
  const [started] = (await run('log', '--json', '--cast', cast)).stdout
    .split('\n')
    .filter((line) => line.includes('cast.started'));
  const frozen = JSON.stringify(started);
  for (const part of ['maxTokens\\":1234', 'maxCost\\":2', 'maxNoAdvanceCycles\\":7']) expect(frozen).toContain(part);
});

test.each<[string, Layers, readonly string[]]>([
  [
    'the user, against the project',
    {
      user: { locked: ['budget.maxTokens'], budget: { maxTokens: 1 } },
      project: { ...FLOW, budget: { maxTokens: 2 } },
    },
    [],
  ],
  [
    'the administrator, against the user',
    { administrator: { locked: ['budget.maxTokens'] }, user: { budget: { maxTokens: 2 } } },
    [],
  ],
  [
    'the administrator, against a flag',
    { administrator: { locked: ['budget.maxTokens'] } },
    ['--set', 'budget.maxTokens=5'],
  ],
  ['the user, against a short form', { user: { locked: ['budget'] }, project: {} }, ['-l', 'short']],
])('a key is locked by %s: the cast is refused with both files', async (_, layers, args) => {
  const short = args.includes('short')
    ? { '.baton/loadouts/short.yaml': 'budget: { maxTokens: 4 }\nsteps: [{ a: { prompt: Do. } }]\n' }
    : {};
  const { run, dir, aside } = layered(layers, short);
  const { code, stdout } = await run(...CAST, ...args, 'go');
  expect([code, json<JsonObject>({ code, stdout, stderr: '' }).code]).toEqual([1, 'CONFIG_LOCKED']);
  expect(stdout).toContain(aside);
  const setBy = args.includes('--set') ? '--set' : layers.administrator ? join(aside, 'me/config.json') : dir;
  expect(stdout).toContain(setBy);
});

test('check, doctor, config and preflight tell of a locked key alike', async () => {
  const { run } = layered({ user: { locked: ['language'] }, project: { ...FLOW, language: 'German' } });
  for (const command of [['check'], ['doctor'], ['config', '--explain', 'language'], [...CAST, '--dry-run', 'go']]) {
    const { stdout, stderr } = await run(...command);
    expect([command, stdout + stderr]).toEqual([command, expect.stringContaining('locks language')]);
  }
});

test('a project that is not trusted changes nothing that the user set, until the user trusts it', async () => {
  const { run } = layered({ user: { budget: { maxTokens: 1 } }, project: { ...FLOW, budget: { maxTokens: 99 } } });
  const refused = await run(...CAST, 'go');
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('FOLDER_UNTRUSTED')]);
  expect(json<JsonObject>(await run('config', '--explain', 'budget.maxTokens', '--json'))).toMatchObject({ value: 1 });
  await run('trust');
  expect(json<JsonObject>(await run('config', '--explain', 'budget.maxTokens', '--json'))).toMatchObject({ value: 99 });
  expect(json<JsonObject>(await run(...CAST, 'go'))).toMatchObject({ status: 'completed' });
});

test('a project cannot hang its own arguments on a materia of the user', async () => {
  const user = { materia: { Helper: { prompt: 'Help.', tools: 'none', env: ['TOKEN'] } } };
  const sockets = { 'Socket-1': { materia: 'Helper' } };
  const own = { materia: { Helper: { args: ['--evil'] } }, loadouts: { Flow: { entry: 'Socket-1', sockets } } };
  const { run } = layered({ user, project: own });
  const { stdout } = await run('config', '--json');
  expect(json<{ config: JsonObject }>({ code: 0, stdout, stderr: '' }).config.materia).toMatchObject({
    Helper: { env: ['TOKEN'] },
  });
  expect(stdout).not.toContain('--evil');
});

test('materia and loadouts of the user are there in every project, with prompts of their own folder', async () => {
  const user = {
    materia: { A: { tools: 'none', promptFile: 'prompts/a.md' } },
    loadouts: { Mine: FLOW.loadouts.Flow },
  };
  const { run, aside, dir } = layered({ user, project: {} });
  put(aside, { 'me/prompts/a.md': 'From my own folder.\n' });
  put(dir, {
    '.baton/config.json': {
      materia: {},
      loadouts: { Other: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'A' } } } },
    },
  });
  for (const loadout of ['Mine', 'Other']) {
    const plan = await run('cast', '--dry-run', '--json', '-l', loadout, 'go');
    expect([loadout, plan.stdout]).toEqual([loadout, expect.stringContaining('From my own folder.')]);
  }
});

test('null deletes what a lower layer says', async () => {
  const { run } = layered(
    { user: { budget: { maxTokens: 5 }, language: 'German' } },
    { 'top.json': { ...FLOW, budget: { maxTokens: null }, language: null } },
  );
  const { config } = json<{ config: JsonObject }>(await run('config', '--file', 'top.json', '--json'));
  expect([config.budget, config.language]).toEqual([{}, undefined]);
});

test('a named file lies over the project, whose materia it may use; check speaks of the file alone', async () => {
  const broken = { ...FLOW, materia: { ...FLOW.materia, Broken: { tools: 'all' } } };
  const top = { materia: {}, loadouts: { Top: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'A' } } } } };
  const { run } = layered({ project: broken }, { 'top.json': top });
  expect((await run('check', 'top.json')).code).toBe(0);
  expect(json<JsonObject>(await run(...CAST, '--file', 'top.json', 'go'))).toMatchObject({
    loadout: 'Top',
    status: 'completed',
  });
});

test('the bundled loadout runs with what the user and the project set', async () => {
  const { run, dir } = layered({
    user: { defaults: { runner: 'codex' } },
    project: { materia: { Build: { model: 'big' } }, loadouts: {} },
  });
  put(dir, { '.baton/config.json': { materia: { Build: { model: 'big' } }, loadouts: { Own: FLOW.loadouts.Flow } } });
  const { sockets } = json<{ sockets: readonly JsonObject[] }>(
    await run('cast', '--dry-run', '--json', '-l', 'Full-Auto', 'go'),
  );
  const build = sockets.find(({ materia }) => materia === 'Build');
  expect(build).toMatchObject({ runner: 'codex', model: 'big' });
});

test('notifications come from all layers, and those of a project need trust', async () => {
  const { run } = layered({ user: { notify: { command: ['true'] } }, project: { ...FLOW, notify: { bell: true } } });
  expect((await run('notify')).code).toBe(0);
  const foreign = layered({ project: { ...FLOW, notify: { command: ['true'] } } });
  const { code, stdout, stderr } = await foreign.run('notify');
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('not trusted')]);
});

test('checkers and sections of the user count in every workspace', async () => {
  const { run } = layered({
    user: { checkers: { unit: { command: ['true'] } }, context: { sections: { services: {} } } },
  });
  expect((await run('context', 'history', 'services')).code).toBe(0);
  expect(json<JsonObject>(await run('config', '--explain', 'checkers.unit', '--json'))).toMatchObject({
    layers: [{ layer: 'user' }],
  });
});

test.each<[string, Json, string]>([
  ['a field that is none', { budgets: {} }, 'there is no budgets'],
  ['a wrong value', { budget: { maxTokens: 'many' } }, 'maxTokens'],
])('a mistake in the configuration of the user is told with its file: %s', async (_, user, __) => {
  const { run, aside } = layered({ user });
  const { code, stdout, stderr } = await run('check');
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(join(aside, 'me/config.json'))]);
});

test('a configuration that others may write counts in no layer', async () => {
  const { run, aside } = layered({ user: { language: 'German' } });
  chmodSync(join(aside, 'me/config.json'), 0o666);
  const { code, stderr } = await run(...CAST, 'go');
  expect([code, stderr]).toEqual([2, expect.stringContaining('chmod go-w')]);
});

test('a project locks nothing, and says so', async () => {
  const { run } = layered({ project: { ...FLOW, locked: ['budget'] } });
  expect((await run('check')).stdout).toContain('only your own configuration');
});

test('hooks and the policy of approvals read the same layers', async () => {
  const { me, run } = layered({ user: { hooks: { rules: { sleep: false } }, approvals: { blocked: ['frobnicate'] } } });
  const event = (command: string) =>
    JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } });
  const dir = repository({ '.baton/config.json': FLOW });
  const slept = await baton(dir, ['hook', 'PreToolUse'], { env: me, input: event('sleep 100') });
  expect(slept.code).toBe(0);
  const asked = await baton(dir, ['hook', 'PreToolUse'], {
    env: { BATON_CONFIG: join(dir, 'none') },
    input: event('sleep 100'),
  });
  expect(asked.code).toBe(2);
  expect((await run('config', '--explain', 'approvals.blocked', '--json')).stdout).toContain('frobnicate');
});

test.each<[string, string]>([
  ['checkers.x.command=["rm"]', '--set may not set'],
  ['materia.A.command=["rm"]', '--set may not set'],
  ['notify.webhook=https://x.y', '--set may not set'],
  ['budget', '--set takes KEY=VALUE'],
])('--set %s is wrong usage', async (set, words) => {
  const { run } = layered({});
  const { code, stderr } = await run(...CAST, '--set', set, 'go');
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

test('a cast in the background gets the same flags', async () => {
  const { run, dir } = layered({});
  const { cast } = json<{ cast: string }>(await run(...CAST, '--detach', '--set', 'limits.maxNoAdvanceCycles=9', 'go'));
  const { stdout } = await run('log', '--json', '--cast', cast);
  expect(stdout).toContain('"maxNoAdvanceCycles":9');
  expect(read(dir, '.baton/config.json')).not.toContain('maxNoAdvanceCycles');
});

test.each<[string, string]>([
  ['budgt.maxTokens', 'did you mean budget?'],
  ['budget.maxTokns', 'did you mean budget.maxTokens?'],
  ['materia.A.modl', 'did you mean materia.A.model?'],
])('a misspelt key %s is wrong usage, with the nearest one', async (key, words) => {
  const { code, stderr } = await layered({}).run('config', '--explain', key);
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

test('a key that nothing sets has its default, and one of a map has none', async () => {
  const { run } = layered({});
  const explained = async (key: string) => json<JsonObject>(await run('config', '--explain', key, '--json'));
  expect(await explained('limits.repairTurnsMax')).toMatchObject({
    value: 1,
    layers: [],
    why: expect.stringContaining('default'),
  });
  expect(await explained('checkers.none')).toMatchObject({ value: null, layers: [] });
});
