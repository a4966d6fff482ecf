// The commands around agents: what is on the machine, whether it answers, what a cast needs, and a first configuration for it.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { modelServer } from '../../src/testing/index.ts';
import { agent, BATON, baton, flow, json, project, put, read } from '../cli/baton.ts';

const RESULT = { type: 'result', subtype: 'success', is_error: false, result: 'ready', session_id: 's1' };
const USED = { usage: { input_tokens: 5, output_tokens: 1 }, total_cost_usd: 0.01 };

/** Programs that only know their version and one answer, and an environment in which no others are found. */
function machine(programs: Readonly<Record<string, string>>, keys: NodeJS.ProcessEnv = {}) {
  const dir = project();
  const home = join(dir, 'home');
  mkdirSync(home);
  for (const [name, answer] of Object.entries(programs)) {
    const version = answer === BROKEN ? BROKEN : `echo "${name} 9.8.7"; exit 0`;
    const script = `#!/bin/sh\nif [ "$1" = --version ]; then ${version}; fi\ncat > /dev/null\n${answer}\n`;
    put(dir, { [`bin/${name}`]: script });
    chmodSync(join(dir, 'bin', name), 0o755);
  }
  return { dir, how: { env: { PATH: `${join(dir, 'bin')}:/usr/bin:/bin`, HOME: home, ...keys } } };
}

/** The same machine with a folder of the user's own. */
function withUser({ dir, how }: ReturnType<typeof machine>) {
  return { dir, how: { env: { ...how.env, BATON_CONFIG: join(dir, 'user') } } };
}

/** A program that dies before it says anything. */
const BROKEN = 'echo "SyntaxError: no such export" >&2; exit 1';
const GOOD = `echo '${JSON.stringify({ ...RESULT, ...USED })}'`;

test('agents: what is installed, in which version, and who is signed in', async () => {
  const { dir, how } = machine({ claude: GOOD, codex: 'exit 1' }, { ANTHROPIC_API_KEY: 'key' });
  const { agents, models } = json<{ agents: JsonObject[]; models: JsonObject[] }>(
    await baton(dir, ['agents', '--json'], how),
  );
  expect(agents).toMatchObject([
    { name: 'claude', installed: true, version: '9.8.7', signedIn: true, signedInBy: 'ANTHROPIC_API_KEY', hint: null },
    { name: 'codex', installed: true, version: '9.8.7', signedIn: false, hint: expect.stringContaining('codex login') },
    ...['pi', 'gemini', 'opencode'].map((name) => {
      const hint = expect.stringContaining('npm install') as unknown;
      return { name, installed: false, version: null, hint };
    }),
  ]);
  expect(models).toMatchObject([
    { name: 'anthropic', keySet: true },
    { name: 'openai', keySet: false },
  ]);
  expect((await baton(dir, ['agents'], how)).stdout).toMatch(/claude\s+9\.8\.7\s+signed in/);
});

test('agents test: one prompt, the answer, and an exit code that says whether it worked', async () => {
  const { dir, how } = machine({ claude: GOOD, codex: 'echo "not logged in" >&2; exit 1' });
  const good = await baton(dir, ['agents', 'test', 'claude', '--json'], how);
  expect(good.code).toBe(0);
  expect(json(good)).toMatchObject({ ok: true, results: [{ name: 'claude', said: 'ready', tokens: 6 }] });
  const both = await baton(dir, ['agents', 'test'], how);
  expect(both.code).toBe(1);
  expect(both.stdout).toMatch(/✓ claude .*ready[\s\S]*✗ codex: AUTH_REQUIRED: codex ended/);
});

test('agents test: a model is asked at the address that is named', async () => {
  const server = await modelServer({ answers: ['ready'] });
  const { dir, how } = machine({}, { OPENAI_API_KEY: 'key' });
  const args = ['agents', 'test', 'openai', '--model', 'm', '--base-url', `${server.url}/v1`, '--json'];
  expect(json(await baton(dir, args, how))).toMatchObject({ ok: true, results: [{ name: 'openai', model: 'm' }] });
  await server.close();
});

test.each(['openai', 'anthropic', 'claude'])(
  'agents test asks %s at no address with a password, once, and says where the credential belongs',
  async (name) => {
    const { dir, how } = machine({ claude: GOOD }, {});
    const args = ['agents', 'test', name, '--model', 'm', '--base-url', 'http://ann:hunter2@127.0.0.1:1', '--json'];
    const { results } = json<{ results: readonly JsonObject[] }>(await baton(dir, args, how));
    expect(results).toMatchObject([
      { ok: false, code: 'REQUEST_REFUSED', said: expect.stringContaining('keyVariable') },
    ]);
    expect(JSON.stringify(results)).not.toContain('hunter2');
  },
);

test.each([
  ['an agent that does not exist', ['agents', 'test', 'gpt'], 2],
  ['a word that is none', ['agents', 'install'], 2],
  ['a machine without agents', ['agents', 'test'], 1],
])('agents refuses %s', async (_what, args, code) => {
  const { dir, how } = machine({});
  expect((await baton(dir, args, how)).code).toBe(code);
});

type Findings = { ok: boolean; findings: { name: string; level: string; found: string; fix: string | null }[] };

test('doctor: everything a cast needs, and a way to mend what is missing', async () => {
  const { dir, how } = machine({});
  const ran = await baton(dir, ['doctor', '--json'], how);
  const { ok, findings } = json<Findings>(ran);
  expect([ok, ran.code]).toEqual([false, 1]);
  const level = Object.fromEntries(findings.map(({ name, level }) => [name, level]));
  expect(level).toMatchObject({
    node: 'ok',
    configuration: 'ok',
    claude: 'error',
    disk: 'ok',
    state: 'ok',
    clock: 'ok',
  });
  for (const { level, fix } of findings) if (level !== 'ok') expect(fix).not.toBeNull();
});

test.each<[string, JsonObject, string]>([
  [
    'a configuration with a mistake',
    { '.baton/config.json': flow({ A: agent }, { 'Socket-1': { materia: 'B' } }) },
    'configuration',
  ],
  ['a configuration that is no JSON', { '.baton/config.json': '{' }, 'configuration'],
  ['a file where the state should be', { '.baton/state': 'x' }, 'state'],
  ['limits of the user that are no JSON', { 'user/config.json': '{bad' }, 'limits'],
  ['limits of the user that are none', { 'user/config.json': { runners: { claude: { maxConcurrent: 0 } } } }, 'limits'],
])('doctor finds %s', async (_what, files, name) => {
  const { dir, how } = withUser(machine({ claude: GOOD }, { ANTHROPIC_API_KEY: 'key' }));
  put(dir, files as Record<string, string>);
  const { ok, findings } = json<Findings>(await baton(dir, ['doctor', '--json'], how));
  expect(ok).toBe(false);
  expect(findings.find((one) => one.name === name)?.level).toBe('error');
});

test('doctor names the limits of the user that hold, and says nothing where there are none', async () => {
  const { dir, how } = withUser(machine({ claude: GOOD }, { ANTHROPIC_API_KEY: 'key' }));
  const limits = async () =>
    json<Findings>(await baton(dir, ['doctor', '--json'], how)).findings.filter(({ name }) => name === 'limits');
  expect(await limits()).toEqual([]);
  put(dir, { 'user/config.json': { runners: { claude: { maxConcurrent: 2 } } } });
  expect(await limits()).toMatchObject([{ level: 'ok', found: expect.stringContaining('limits claude') }]);
});

test.each([[[]], [['--detach']]])(
  'a mistake in the limits of the user is told before an id is: cast %j',
  async (more) => {
    const { dir, how } = withUser(machine({ claude: GOOD }, { ANTHROPIC_API_KEY: 'key' }));
    put(dir, { 'user/config.json': '{bad', '.baton/config.json': onRunner({}) });
    const ran = await baton(dir, ['cast', '--json', ...more, 'do it'], how);
    expect([ran.code, json(ran).code]).toEqual([2, 'INVALID_CONFIG']);
    expect(ran.stderr).not.toMatch(/^cast /m);
    expect(json(await baton(dir, ['casts', '--json'], how))).toEqual([]);
  },
);

const onRunner = (more: JsonObject): JsonObject =>
  flow({ A: { ...agent, tools: 'none', ...more } }, { 'Socket-1': { materia: 'A' } });

test.each<[string, JsonObject, NodeJS.ProcessEnv, string, string | null]>([
  ['a program that does not start', { runner: 'pi' }, {}, 'pi', 'SyntaxError: no such export'],
  ['a model without its key', { runner: 'anthropic', model: 'm' }, {}, 'anthropic', 'no key, and A runs on it'],
  ['a model with its key', { runner: 'anthropic', model: 'm' }, { ANTHROPIC_API_KEY: 'k' }, 'anthropic', null],
  ['a program that nobody is signed in to', {}, {}, 'claude', 'no sign-in was found'],
  ['the same where nobody answers', { baseUrl: 'http://127.0.0.1:1' }, {}, 'address', 'nothing answers at 127.0.0.1:1'],
  [
    'a key of another name',
    { runner: 'openai', model: 'm', keyVariable: 'K', baseUrl: 'http://h' },
    {},
    'openai',
    'no key',
  ],
  ['a sandbox that does not start', { sandbox: 'bwrap' }, { ANTHROPIC_API_KEY: 'k' }, 'sandbox', 'A runs in it'],
  ['a command that is not there', { runner: 'command', command: ['/nonexistent/prog'] }, {}, 'command', 'not found'],
  ['a script that is there', { runner: 'command', command: ['./a.mjs'] }, {}, 'command', null],
  ['a command that is there', { runner: 'command', command: ['sh', '-c', 'true'] }, {}, 'command', null],
])('doctor looks at what the runners need: %s', async (_what, more, keys, name, said) => {
  const { dir, how } = machine({ claude: GOOD, pi: BROKEN, bwrap: BROKEN }, keys);
  put(dir, { '.baton/config.json': onRunner(more), '.baton/a.mjs': '' });
  const ran = await baton(dir, ['doctor', '--json'], how);
  const { findings } = json<Findings>(ran);
  const finding = findings.find((one) => one.name === name && one.level === 'error');
  expect(ran.code).toBe(said === null ? 0 : 1);
  expect(finding?.found ?? null).toEqual(said === null ? null : expect.stringContaining(said));
});

test.each<[string, Record<string, string>, NodeJS.ProcessEnv, string | null]>([
  ['one that starts', { claude: BROKEN, codex: GOOD }, { ANTHROPIC_API_KEY: 'k' }, 'codex'],
  ['the one that is installed', { codex: GOOD }, {}, 'codex'],
  ['the one that somebody is signed in to', { claude: GOOD, codex: GOOD }, { OPENAI_API_KEY: 'k' }, 'codex'],
  ['the first of several', { claude: GOOD, codex: GOOD }, {}, 'claude'],
  ['none where there is none', {}, {}, null],
])(
  'init picks %s, asks nothing without a terminal, and names the first cast',
  async (_what, programs, keys, runner) => {
    const { dir, how } = machine(programs, keys);
    const ran = await baton(dir, ['init'], how);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/Your first cast: .*cast "/);
    const config = JSON.parse(read(dir, '.baton/config.json')) as { defaults: { runner: string } };
    expect(config.defaults.runner).toBe(runner ?? 'claude');
    expect((await baton(dir, ['check', '--strict'], how)).code).toBe(0);
  },
);

/** `script` of util-linux runs a command in a terminal of its own. */
const hasScript = spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasScript).each<[string, NodeJS.ProcessEnv, string, string, boolean, boolean]>([
  ['runs the first cast after a yes', { ANTHROPIC_API_KEY: 'k' }, 'init --template software', 'y', true, true],
  ['runs nothing after anything else', { ANTHROPIC_API_KEY: 'k' }, 'init --template software', '', true, false],
  ['asks nothing with --json', { ANTHROPIC_API_KEY: 'k' }, 'init --json', 'y', false, false],
  ['asks nothing where nobody is signed in', {}, 'init --template software', 'y', false, false],
])('init in a terminal %s (needs script of util-linux)', async (_what, keys, args, answer, asks, casts) => {
  const { dir, how } = machine({ claude: GOOD }, keys);
  const command = `'${BATON}' ${args}`;
  // A question that comes after the end of the input would be answered by that. The cast asks whether it may write in the folder.
  const typed = { ...how, program: ['sh'], env: { ...how.env, TERM: 'dumb' } };
  const line = `(sleep 4; echo '${answer}'; sleep 4; echo '${answer}'; sleep 2) | script -qec "${command}" /dev/null`;
  const { stdout } = await baton(dir, ['-c', line], typed);
  expect(stdout.includes('Run your first cast now? [y/N]')).toBe(asks);
  const begun = json<readonly JsonObject[]>(await baton(dir, ['casts', '--json'], how));
  expect(begun).toHaveLength(casts ? 1 : 0);
});
