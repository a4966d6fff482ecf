// What is missing is said before anything is spent, by `cast`, `check` and `doctor` alike.
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { agent, baton, flow, json, project, put, read } from './baton.ts';
import { repository } from './repository.ts';

const ANSWER = { type: 'result', subtype: 'success', is_error: false, result: 'done', session_id: 's1' };
const USED = { usage: { input_tokens: 5, output_tokens: 1 }, total_cost_usd: 0.01 };
const GOOD = `echo '${JSON.stringify({ ...ANSWER, ...USED })}'`;
const REFUSED = `echo '${JSON.stringify({ ...ANSWER, is_error: true, result: 'There is no model nope.' })}'; exit 1`;

/** A machine on which nothing is installed but what is given, and a model's key where one is set. */
function machine(dir: string, programs: Readonly<Record<string, string>> = {}, keys: NodeJS.ProcessEnv = {}) {
  put(dir, { 'home/.keep': '' });
  for (const [name, answer] of Object.entries(programs)) {
    put(dir, {
      [`tools/${name}`]: `#!/bin/sh\nif [ "$1" = --version ]; then echo 9.8.7; exit 0; fi\ncat > /dev/null\n${answer}\n`,
    });
    chmodSync(join(dir, 'tools', name), 0o755);
  }
  return { env: { PATH: `${join(dir, 'tools')}:/usr/bin:/bin`, HOME: join(dir, 'home'), ...keys } };
}

const KEY = { ANTHROPIC_API_KEY: 'key' };
const team = (materia: JsonObject, more: JsonObject = {}) =>
  flow({ fix: { ...agent, ...materia } }, { 'Socket-1': { materia: 'fix' } }, more);

type Issue = { readonly code: string; readonly path: string; readonly message: string };

test.each<[string, JsonObject, NodeJS.ProcessEnv, string, string, RegExp]>([
  [
    'its program',
    team({ runner: 'codex' }),
    KEY,
    'codex',
    'AGENT_UNAVAILABLE',
    /not installed, and fix runs on it; install it: npm install -g @openai\/codex/,
  ],
  ['a sign-in', team({}), {}, 'claude', 'AUTH_REQUIRED', /no sign-in was found, and fix runs on it; run claude once/],
  [
    'a key',
    team({ runner: 'openai', model: 'm' }),
    {},
    'openai',
    'AUTH_REQUIRED',
    /no key, and fix runs on it; set OPENAI_API_KEY/,
  ],
  [
    'a command',
    team({ runner: 'command', command: ['nowhere'] }),
    KEY,
    'command',
    'AGENT_UNAVAILABLE',
    /nowhere was not found/,
  ],
  [
    'a server',
    team({ baseUrl: 'http://127.0.0.1:1' }),
    KEY,
    'address',
    'PROVIDER_UNREACHABLE',
    /nothing answers at 127.0.0.1:1 .*correct baseUrl of materia.fix/,
  ],
  [
    'a checker',
    team({}, { checkers: { test: { command: ['nowhere'] } } }),
    KEY,
    'checkers',
    'CHECKS_FAILED',
    /checker test \(nowhere\) cannot start: nowhere is not found/,
  ],
])(
  '%s that is missing is said by cast, check and doctor, before anything is spent',
  async (_what, config, keys, name, code, said) => {
    const dir = repository({ '.baton/config.json': config });
    const how = machine(dir, { claude: GOOD }, keys);
    const ran = await baton(dir, ['cast', '--json', 'do it'], how);
    const { issues, ...view } = json<{ issues: Issue[]; cast: null; status: string; code: string }>(ran);
    expect([ran.code, view.cast, view.status, view.code]).toEqual([1, null, 'failed', code]);
    const own = issues.find(({ path }) => path === `machine.${name}`);
    expect(own?.message).toMatch(said);
    expect(existsSync(join(dir, '.baton/state'))).toBe(false);
    const { details } = json<{ details: { machine: JsonObject[] } }>(await baton(dir, ['check', '--json'], how));
    const { findings } = json<{ findings: JsonObject[] }>(await baton(dir, ['doctor', '--json'], how));
    for (const each of [details.machine, findings])
      expect(each.find((one) => one.name === name && one.level === 'error')).toMatchObject({
        found: expect.any(String),
      });
    const [first, second] = [details.machine, findings].map(
      (each) => each.find((one) => one.name === name && one.level === 'error')?.fix,
    );
    expect(first).toBe(second);
  },
);

test.each<[string, JsonObject, NodeJS.ProcessEnv, readonly string[]]>([
  ['a script speaks for the agents', team({ runner: 'codex' }), {}, ['--agents', 'agents.json']],
  ['it is a fallback that is missing', team({ fallbacks: [{ runner: 'codex' }] }), KEY, []],
  [
    'only the checker of a merge is missing',
    team({}, { checkers: { test: { command: ['nowhere'], when: 'merge' } } }),
    KEY,
    [],
  ],
])('nothing is missing where %s', async (_what, config, keys, args) => {
  const dir = repository({ '.baton/config.json': config, 'agents.json': { fix: ['done'] } });
  const ran = await baton(dir, ['cast', '--json', ...args, 'do it'], machine(dir, { claude: GOOD }, keys));
  expect(json(ran)).toMatchObject({ status: 'completed' });
});

test('what cannot be proved is shown, and the cast starts', async () => {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const dir = repository({ '.baton/config.json': team({ baseUrl: `http://127.0.0.1:${port}` }) });
  const ran = await baton(dir, ['cast', 'do it'], machine(dir, { claude: GOOD }));
  expect(ran.stderr).toContain('whether somebody is signed in cannot be seen');
  expect(ran.code).toBe(0);
});

test.each<[string, string, number, RegExp]>([
  ['that answers', GOOD, 0, /answers/],
  ['that does not', REFUSED, 1, /There is no model nope/],
])('--probe asks an agent %s, and its answer counts instead of a guess', async (_what, answer, code, said) => {
  const dir = repository({ '.baton/config.json': team({ model: 'nope' }) });
  const ran = await baton(dir, ['cast', '--probe', 'do it'], machine(dir, { claude: answer }));
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining('asking claude for one word')]);
  expect(code === 0 ? '' : ran.stderr).toMatch(code === 0 ? /^$/ : said);
});

test('an agent that writes where there is no git wants a yes, and what it changes can be taken back', async () => {
  const writer = { tools: 'coding', prompt: 'Write.' };
  const dir = project({ '.baton/config.json': team(writer), 'notes.txt': 'mine\n', 'gone.txt': 'too\n' });
  const how = machine(
    dir,
    { claude: `printf 'by the agent\\n' > notes.txt; rm gone.txt; echo new > new.txt\n${GOOD}` },
    KEY,
  );
  const refused = await baton(dir, ['cast', '--json', 'do it'], how);
  expect(json(refused)).toMatchObject({ allow: false, code: 'CONFIRMATION_NEEDED' });
  expect(json<{ reason: string }>(refused).reason).toMatch(/is no git repository.*--in-place.*git init/);
  expect(read(dir, 'notes.txt')).toBe('mine\n');
  expect((await baton(dir, ['cast', '--in-place', 'do it'], how)).code).toBe(0);
  expect([read(dir, 'notes.txt'), existsSync(join(dir, 'gone.txt'))]).toEqual(['by the agent\n', false]);
  const undone = await baton(dir, ['undo', '--yes', '--json'], how);
  expect([undone.code, json(undone).details]).toMatchObject([
    0,
    { restored: ['gone.txt', 'notes.txt'], removed: ['new.txt'], left: [] },
  ]);
  expect([read(dir, 'notes.txt'), read(dir, 'gone.txt'), existsSync(join(dir, 'new.txt'))]).toEqual([
    'mine\n',
    'too\n',
    false,
  ]);
  // Of files that no cast changed no copy stays.
  expect(readdirSync(join(dir, '.baton/state/before/files'))).toHaveLength(2);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['is scripted', team({ tools: 'coding' }), ['--agents', 'agents.json']],
  ['only reads', team({ tools: 'readOnly' }), []],
  [
    'runs commands alone',
    flow({ greet: { type: 'utility', command: ['true'] } }, { 'Socket-1': { materia: 'greet', parse: 'text' } }),
    [],
  ],
])('without git a cast that %s just runs', async (_what, config, args) => {
  const dir = project({ '.baton/config.json': config, 'agents.json': { fix: ['done'] } as Json });
  const ran = await baton(dir, ['cast', '--json', ...args, 'do it'], machine(dir, { claude: GOOD }, KEY));
  expect(json(ran)).toMatchObject({ status: 'completed' });
});

test('without a configuration a loadout has to be named, or made', async () => {
  const dir = repository();
  const how = machine(dir, { claude: GOOD }, KEY);
  const ran = await baton(dir, ['cast', '--json', 'do it'], how);
  expect([ran.code, json(ran)]).toMatchObject([1, { allow: false, code: 'CONFIRMATION_NEEDED' }]);
  expect(json<{ reason: string }>(ran).reason).toMatch(
    /no configuration.*Full-Auto would run.*cast -l Full-Auto.*init/,
  );
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test('a prompt that is not the pinned one refuses the cast before its first turn', async () => {
  const dir = repository({
    '.baton/config.json': flow(
      { fix: { tools: 'none', promptFile: 'prompts/fix.md' } },
      { 'Socket-1': { materia: 'fix' } },
    ),
    '.baton/prompts/fix.md': 'Fix it.\n',
  });
  expect((await baton(dir, ['registry', 'lock'])).code).toBe(0);
  put(dir, { '.baton/prompts/fix.md': 'Fix it well.\n' });
  const ran = await baton(dir, ['cast', '--json', 'do it'], machine(dir, { claude: GOOD }, KEY));
  expect([ran.code, json(ran)]).toMatchObject([1, { cast: null, code: 'PROMPT_BYTES_MISMATCH' }]);
  expect((await baton(dir, ['check'])).code).toBe(1);
});
