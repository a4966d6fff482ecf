// Mistakes that people make. Each gives one message with its cause and its fix, and nothing is spent or lost. The rows have the
// numbers of the list; a row that says nothing of its folder is about one loadout that is right but for the mistake.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import {
  agent,
  BATON,
  baton,
  CHECKOUT,
  flow,
  json,
  project,
  put,
  script,
  start,
  until,
  untilWritten,
} from './baton.ts';
import { CANNOT_MOUNT, fullDisk } from './mounted.ts';
import { repository } from './repository.ts';

const KEY = { ANTHROPIC_API_KEY: 'key' };
const ANSWER = `echo '${JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'done' })}'`;

/** A machine with an agent program that answers at once. */
function machine(env: NodeJS.ProcessEnv = KEY): NodeJS.ProcessEnv {
  const tools = project();
  put(tools, {
    claude: `#!/bin/sh\nif [ "$1" = --version ]; then echo 9.8.7; exit 0; fi\ncat > /dev/null\n${ANSWER}\n`,
  });
  chmodSync(join(tools, 'claude'), 0o755);
  return { PATH: `${tools}:/usr/bin:/bin`, HOME: project(), ...env };
}

const edges = (when: string, to: string) => ({ edges: [{ when, to }] });
const one = (socket: JsonObject, materia: JsonObject = {}) =>
  flow({ fix: { ...agent, ...materia } }, { 'Socket-1': { materia: 'fix', ...socket } });
const short = (text: string) => ({ '.baton/loadouts/team.yaml': text, '.baton/prompts/fix.md': 'Fix it.' });

/** A plan, a loop over its items with one member, and a step after it. */
function loop(member: JsonObject, exit: JsonObject = { id: 'done' }, rename = (name: string) => name): JsonObject {
  const [plan, fix, sum] = ['Socket-1', 'Socket-2', 'Socket-3'].map(rename) as [string, string, string];
  const materia = { plan: { ...agent, generator: true }, fix: agent };
  const sockets = {
    [plan]: { materia: 'plan', edges: [{ when: 'always', to: fix }] },
    [fix]: { materia: 'fix', parse: 'json', ...member },
    [sum]: { materia: 'fix' },
  };
  const exits = [{ from: fix, condition: 'always', targetSocketId: sum, ...exit }];
  const loops = { all: { sockets: [fix], consumes: { from: plan, output: 'workItems' }, exits } };
  return { materia, loadouts: { L: { entry: plan, sockets, loops } } };
}
const ADVANCE = { advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' } };
const AGAIN = [
  { when: 'satisfied', to: 'Socket-2' },
  { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 3 },
];

type Row = readonly [
  number: string,
  mistake: string,
  files: Readonly<Record<string, Json>>,
  command: readonly string[],
  code: number,
  /** Each is said once, and of other mistakes nothing is said. */
  said: readonly RegExp[],
  env?: NodeJS.ProcessEnv,
];
const CONFIG = '.baton/config.json';
const CHECK = ['check'];

const ROWS: readonly Row[] = [
  [
    '1',
    'an edge to a socket that is not there',
    { [CONFIG]: one(edges('always', 'Socket-9')) },
    CHECK,
    1,
    [/^config\.json {2}Socket-1\n {2}error: There is no socket "Socket-9"\. Name one of: Socket-1, or end\./],
  ],
  [
    '2',
    'a misspelt materia',
    { [CONFIG]: flow({ fix: agent }, { 'Socket-1': { materia: 'Fixx' } }) },
    CHECK,
    1,
    [/There is no materia "Fixx"\. Did you mean fix\?/],
  ],
  [
    '3',
    'a trailing comma',
    { [CONFIG]: '{"materia": {"fix": {"tools": "none",}}}' },
    CHECK,
    1,
    [/config\.json:1:38\n {2}error: in materia\.fix: a comma before a closing brace is not allowed/],
  ],
  [
    '3',
    'a missing comma',
    { [CONFIG]: '{"materia": {"fix": {"tools": "none" "prompt": "x"}}}' },
    CHECK,
    1,
    [/config\.json:1:38\n {2}error: in materia\.fix.*: expected a comma or a closing brace/],
  ],
  [
    '3',
    'two commas',
    { [CONFIG]: '{"materia": {"fix": {"tools": "none",, "prompt": "x"}}}' },
    CHECK,
    1,
    [/config\.json:1:38\n {2}error: in materia\.fix: expected a key/],
  ],
  [
    '4',
    'a comment',
    { [CONFIG]: '{ // ours\n"materia": {}}' },
    CHECK,
    1,
    [
      /config\.json:1:3\n {2}error: JSON holds no comments\. Remove it; comments are read in loadouts, \.baton\/loadouts\/NAME\.yaml/,
    ],
  ],
  [
    '4',
    'YAML in config.json',
    { [CONFIG]: 'materia:\n  fix: x' },
    CHECK,
    1,
    [/this is no JSON: .*YAML is read in \.baton\/loadouts\/NAME\.yaml/],
  ],
  ['4', 'a comment where comments are read', { ...short('# ours\nsteps: [fix]\n') }, CHECK, 0, [/ok: no issues/]],
  [
    '5',
    '`edge` for `edges`',
    { [CONFIG]: one({ edge: [{ when: 'always', to: 'end' }] }) },
    CHECK,
    1,
    [/"edge" is not a field of a socket, and nothing reads it\. Did you mean edges\?/],
  ],
  [
    '5',
    'a misspelt prompt',
    { [CONFIG]: flow({ fix: { tools: 'none', promt: 'x' } }, { 'Socket-1': { materia: 'fix' } }) },
    CHECK,
    1,
    [/"promt" is not a field of an agent materia.*Did you mean prompt\?/],
  ],
  [
    '5',
    'a misspelt option of a step',
    short('steps: [{ fix: { tols: read } }]'),
    CHECK,
    1,
    [
      /^team\.yaml:1:18 {2}fix\n {2}error: tols is not known; did you mean tools\?.*\n.* loadouts\.team\.steps\[0\]\.fix\.tols/m,
    ],
  ],
  [
    '5',
    'a misspelt member of config.json below a loadout in the short form',
    { ...short('steps: [fix]'), '.baton/loadouts/two.yaml': 'steps: [fix]', [CONFIG]: { notify: { bel: true } } },
    CHECK,
    1,
    [/^config\.json\n {2}error: "bel" is not a field of notify.*Did you mean bell\?.*\n.*notify\.bel\n1 error/m],
  ],
  ...['../x', '/etc', '.baton/prompts'].map(
    (path): Row => [
      '5',
      `a lock on ${path}`,
      short(`steps: [{ fix: { tools: write, lock: [${path}] } }]`),
      CHECK,
      1,
      [/^team\.yaml:1:\d+\n {2}error: "\S+" (leads out of the workspace; stay inside it|governs the work, .*)\./m],
    ],
  ),
  [
    '6',
    'an edge from inside a loop to the end',
    { [CONFIG]: loop({ ...ADVANCE, edges: [{ when: 'satisfied', to: 'end' }, AGAIN[1] as JsonObject] }) },
    CHECK,
    0,
    [
      /^config\.json {2}Socket-2\n {2}warning: This edge leads to the end from the middle of all, so a cast stops there while items are not done.*\n.*ITEMS_LEFT/m,
    ],
  ],
  [
    '7',
    'an unknown condition',
    { [CONFIG]: one(edges('alwayz', 'end')) },
    CHECK,
    1,
    [/"alwayz" is not a condition\. Did you mean always\?/],
  ],
  [
    '8',
    'a misspelt runner',
    { [CONFIG]: one({}, { runner: 'cladue' }) },
    CHECK,
    1,
    [/runner is "cladue"\. Did you mean claude\?/],
  ],
  [
    '8',
    'a misspelt runner for all steps',
    short('defaults: { runner: cladue }\nsteps: [{ fix: { prompt: x } }, { sum: { prompt: x } }]'),
    CHECK,
    1,
    [/^team\.yaml:1:13 .*\n {2}error: .*runner is "cladue"\. Did you mean claude\?.*\n.*\n1 error,/],
  ],
  [
    '8',
    'a misspelt runner beside a command',
    { [CONFIG]: one({}, { runner: 'comand', command: ['x'] }) },
    CHECK,
    1,
    [/There is no runner "comand"\. Did you mean command\?/],
  ],
  [
    '8',
    'a misspelt runner of an agent that has a command',
    { [CONFIG]: one({}, { type: 'agent', runner: 'comand', command: ['x'] }) },
    CHECK,
    1,
    [/runner is "comand"\. Did you mean command\?.*\n.*\n1 error,/],
  ],
  [
    '8',
    'a misspelt runner of a cast',
    { [CONFIG]: one({}) },
    ['cast', '--runner', 'cladue', 'x'],
    2,
    [/There is no runner "cladue"\. Did you mean claude\?/],
  ],
  [
    '9',
    'names where sockets are called Socket-N',
    {
      [CONFIG]: loop(
        { ...ADVANCE, edges: [{ when: 'satisfied', to: 'fix' }] },
        {},
        (id) => ({ 'Socket-1': 'plan', 'Socket-2': 'fix', 'Socket-3': 'sum' })[id] ?? id,
      ),
    },
    CHECK,
    1,
    [/Sockets are called Socket-1, Socket-2, and so on, and "plan" and 2 more are not\..*short form/],
  ],
  ['10', 'an exit without an id', { [CONFIG]: loop({ ...ADVANCE, edges: AGAIN }, {}) }, CHECK, 0, [/ok: no issues/]],
  [
    '11',
    'a review that advances nothing',
    { [CONFIG]: loop({ edges: AGAIN }) },
    CHECK,
    0,
    [/warning: .*goes round for ever\..*an advance with an exit route.*\n.*ENDLESS_CYCLE/],
  ],
  [
    '12',
    'a misspelt loadout',
    { [CONFIG]: { ...one({}), loadouts: { bugfix: (one({}).loadouts as { L: Json }).L } } },
    ['cast', '-l', 'bugfx', 'x'],
    2,
    [/there is no loadout bugfx; did you mean bugfix\?/],
  ],
  ...[['compile'], ['graph']].map(
    (command): Row => [
      '12',
      `a misspelt loadout of ${command}`,
      { ...short('steps: [fix]'), [CONFIG]: {} },
      [...command, 'taem'],
      2,
      [/there is no loadout taem; did you mean team\?/],
    ],
  ),
  [
    '12',
    'several loadouts and none is active, where one is drawn: a sentence, no JSON',
    { ...short('steps: [fix]'), '.baton/loadouts/other.yaml': 'steps: [fix]' },
    ['graph'],
    1,
    [/^baton: .*several loadouts and none is active/],
  ],
  [
    '12',
    'several loadouts and none is active: nobody is there who could pick one',
    { ...short('steps: [fix]'), '.baton/loadouts/other.yaml': 'steps: [fix]' },
    ['cast', 'x'],
    1,
    [/several loadouts and none is active.*other, team; a cast can name one with -l/],
  ],
  [
    '12',
    'a loadout of the JSON form to compile',
    {},
    ['compile', 'Review-Only'],
    2,
    [/Review-Only is written in the JSON form already; `\S+ loadout open Review-Only` prints it/],
  ],
  [
    '13',
    'no configuration',
    {},
    ['cast', 'x'],
    1,
    [/has no configuration\. The bundled loadout Full-Auto would run.*cast -l Full-Auto.*init/],
  ],
  [
    '16',
    'an agent program that is missing',
    { [CONFIG]: one({}, { runner: 'codex' }) },
    ['cast', 'x'],
    1,
    [/machine\.codex: not installed, and fix runs on it; install it: npm install -g @openai\/codex/],
  ],
  [
    '17',
    'nobody is signed in',
    { [CONFIG]: one({}) },
    ['cast', 'x'],
    1,
    [
      /machine\.claude: .*no sign-in was found, and fix runs on it; run claude once and sign in, or set ANTHROPIC_API_KEY/,
    ],
    {},
  ],
  [
    '17',
    'no key',
    { [CONFIG]: one({}, { runner: 'openai', model: 'm' }) },
    ['cast', 'x'],
    1,
    [/no key, and fix runs on it; set OPENAI_API_KEY/],
  ],
  [
    '19',
    'an address at which nobody answers',
    { [CONFIG]: one({}, { baseUrl: 'http://127.0.0.1:1' }) },
    ['doctor'],
    1,
    [/nothing answers at 127\.0\.0\.1:1 \(the connection is refused\)/],
  ],
  [
    '22',
    'a file in the place of the state folder',
    { [CONFIG]: one({}), '.baton/state': 'a file' },
    ['doctor'],
    1,
    [/\.baton\/state is a file where a folder is needed\n +→ move it away, or point BATON_HOME elsewhere/],
  ],
  [
    '24',
    'an approval that nobody knows',
    { [CONFIG]: one({}) },
    ['approve', 'P-00000000'],
    1,
    [/no casts yet in|no approval/],
  ],
  [
    '25',
    'a second init',
    { [CONFIG]: one({}) },
    ['init'],
    2,
    [/config\.json is there already; edit it, or replace it with `.*init --force`/],
  ],
  ['27', 'a misspelt template', {}, ['init', '--template', 'bugfx'], 2, [/no template bugfx; did you mean bugfix\?/]],
  ['27', 'a misspelt agent', {}, ['init', '--agent', 'cladue'], 2, [/no agent cladue; did you mean claude\?/]],
  ['27', 'a misspelt format', {}, ['graph', '--format', 'sgv'], 2, [/no format sgv; did you mean svg\?/]],
  ['27', 'a misspelt word of a command', {}, ['task', 'crate'], 2, [/task crate; did you mean create\?/]],
  ['27', 'a misspelt command', {}, ['cats'], 2, [/there is no command cats; did you mean `.* casts?`\?/]],
  [
    '27',
    'the name that others have for it: run',
    {},
    ['run', 'x'],
    2,
    [/there is no command run; did you mean `.* cast`\?/],
  ],
  [
    '27',
    'the name that others have for it: list',
    {},
    ['list'],
    2,
    [/there is no command list; did you mean `.* casts`\?/],
  ],
  [
    '27',
    'a misspelt option',
    {},
    ['cast', '--detatch', 'x'],
    2,
    [/Unknown option '--detatch'; did you mean --detach\?/],
  ],
  [
    '28',
    'a misspelt code',
    {},
    ['explain', 'LOCK_CONFLCT'],
    2,
    [/there is no code LOCK_CONFLCT \(did you mean LOCK_CONFLICT\?\)/],
  ],
];

const NAMED = ROWS.map((row) => [`${row[0]}. ${row[1]}`, row] as const);

test.each(NAMED)('%s', async (_name, [, , files, command, code, said, env = KEY]) => {
  const dir = repository(files);
  const ran = await baton(dir, command, { env: machine(env) });
  const text = `${ran.stderr}${ran.stdout}`;
  for (const words of said) expect(text).toMatch(words);
  expect([ran.code, (text.match(/^ *error\b/gm) ?? []).length < 2]).toEqual([code, true]);
  // Nothing was begun.
  expect(existsSync(join(dir, '.baton/state/log.sqlite'))).toBe(false);
});

test('12. a misspelt `latest` is guessed', async () => {
  const dir = repository({ 'cast.json': one({}), 'agents.json': { fix: ['done'] } });
  expect((await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'x'])).code).toBe(0);
  const ran = await baton(dir, ['show', 'latets']);
  expect([ran.code, ran.stderr]).toEqual([
    2,
    expect.stringContaining('there is no cast latets (did you mean latest?)'),
  ]);
});

test('14. no git: it asks, and what was changed can be taken back', async () => {
  const dir = project({ [CONFIG]: one({}, { tools: 'coding' }) });
  const ran = await baton(dir, ['cast', 'x'], { env: machine() });
  expect(ran.code).toBe(1);
  expect(ran.stderr + ran.stdout).toMatch(
    /is no git repository, so the agents would write in .* itself\..*undo.*--in-place, or make it a git repository.*git init/,
  );
});

test('15. files that are not committed are named before the first turn', async () => {
  const dir = repository({ 'cast.json': one({}, { tools: 'coding' }), 'agents.json': { fix: ['done'] } });
  put(dir, { 'a.txt': 'mine\n' });
  const ran = await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'x']);
  expect(ran.stderr).toMatch(
    /1 uncommitted file of yours is not in it; if the agents need it, commit first, or cast with --in-place/,
  );
});

test('18. a model that nobody knows is found out before, where it may be asked', async () => {
  const dir = repository({ [CONFIG]: one({}, { model: 'nope' }) });
  const env = machine();
  const tools = String(env.PATH).split(':')[0] ?? '';
  const refusal = JSON.stringify({
    type: 'result',
    subtype: 'success',
    is_error: true,
    result: 'model: nope is not found',
  });
  put(tools, { claude: `#!/bin/sh\ncat > /dev/null\necho '${refusal}'\nexit 1\n` });
  const ran = await baton(dir, ['cast', '--probe', 'x'], { env });
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(/gives no answer with nope: .*nope is not found/)]);
  expect((await baton(dir, ['casts', '--json'])).stdout).toBe('[]\n');
});

test('20. a port that is in use is named, with a way on', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const ran = await baton(repository({ [CONFIG]: one({}) }), ['serve', '--port', String(port)], { env: machine() });
  taken.close();
  const said = `port ${port} cannot be used (EADDRINUSE); name another one, or 0 for a free one`;
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(said)]);
});

// Root may write anywhere, unless that right is taken away.
const PLAIN = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override', BATON] : [BATON];

test.each<[string, (dir: string) => void, RegExp]>([
  [
    'the folder of the workspace',
    (dir) => chmodSync(join(dir, '.baton'), 0o555),
    /you may not write to \S+\.baton \(EACCES\)[\s→;]+make \S+\.baton\/state writable for you, or point BATON_HOME elsewhere/,
  ],
  [
    'the state folder',
    (dir) => {
      put(dir, { '.baton/state/x': '' });
      chmodSync(join(dir, '.baton/state'), 0o555);
    },
    /you may not write to \S+\.baton\/state \(EACCES\)[\s→;]+make \S+\.baton\/state writable for you, or point BATON_HOME elsewhere/,
  ],
])('22. no permission for %s: cast, check and doctor say so', async (_where, forbid, said) => {
  const dir = repository({ [CONFIG]: one({}) });
  forbid(dir);
  for (const command of [['cast', 'x'], CHECK, ['doctor']]) {
    const ran = await baton(dir, command, { env: machine(), program: PLAIN });
    const exit = command[0] === 'cast' ? 3 : command === CHECK ? 0 : 1;
    expect([command, ran.code, ran.stderr + ran.stdout]).toEqual([command, exit, expect.stringMatching(said)]);
  }
  for (const folder of ['.baton', '.baton/state'].filter((each) => existsSync(join(dir, each))))
    chmodSync(join(dir, folder), 0o755);
  expect(existsSync(join(dir, '.baton/state/log.sqlite'))).toBe(false);
});

test.skipIf(CANNOT_MOUNT)('22. a full disk is said before anything is spent', async () => {
  const dir = repository({ [CONFIG]: one({}) });
  const said =
    /machine\.disk: 0 MB free at \S+; free some space, or point BATON_HOME to another disk\nThe cast was not started\./;
  const ran = await baton(dir, ['cast', 'x'], { env: machine(), program: [...fullDisk(dir), BATON] });
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(said)]);
});

// The version that the program reads is that of an older Node; everything else is real.
const OLD_NODE =
  `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.9.0' } });
Object.defineProperty(process, 'version', { value: 'v20.9.0' });`.replaceAll('\n', '');
const LINE = 'baton needs Node.js 24 or newer; this is v20.9.0. Install a newer Node, or put it first on PATH.\n';

test.each<[string, readonly string[], number, RegExp]>([
  ['the command', [join(CHECKOUT, 'bin/main.cjs'), 'status'], 2, new RegExp(`^${LINE}$`)],
  ...['index', 'kernel', 'contracts', 'client', 'testing'].map((name): [string, string[], number, RegExp] => {
    const entry = join(CHECKOUT, 'bin/entry', `${name}.js`);
    // No trace of the modules of Node follows the line.
    return [`an import of ${name}`, [entry], 1, new RegExp(`\n[ [\\]]*Error: ${LINE.trimEnd()}\\]?\n\nNode\\.js v`)];
  }),
])('29. on an older Node %s says what is needed', (_what, args, code, said) => {
  const ran = spawnSync(process.execPath, ['--import', OLD_NODE, ...args], { encoding: 'utf8' });
  expect([ran.status, ran.stdout, ran.stderr]).toEqual([code, '', expect.stringMatching(said)]);
});

test.each([
  ['Ctrl-C, pressed twice', 'SIGINT', 'interrupted from the keyboard'],
  ['a closed terminal', 'SIGHUP', 'its terminal was closed'],
] as const)('30. %s pauses the cast, and status says why and how it goes on', async (_what, signal, why) => {
  // Its agent heeds no polite request, so that there is time for a second one.
  const code = `import { writeFileSync } from 'node:fs'; process.on('SIGTERM', () => {}); writeFileSync('up', '1'); setInterval(() => {}, 1000);`;
  const config = flow({ U: script('u.mjs') }, { 'Socket-1': { materia: 'U' } });
  const dir = project({ 'c.json': config, 'a.json': {}, 'u.mjs': code });
  const running = start(dir, ['cast', '--file', 'c.json', 'x']);
  await untilWritten(dir, 'up');
  running.child.kill(signal);
  await until('the first', () => running.stderr().includes('Pausing: stopping the running agents.'));
  await until('the pause', async () => json(await baton(dir, ['show', '--json'])).status === 'paused');
  running.child.kill(signal);
  await running.ended;
  const { stdout } = await baton(dir, ['status']);
  expect(stdout).toMatch(new RegExp(` paused (?:for|just now).*\\n[\\s\\S]* ${why}\\n[\\s\\S]*continue`));
  expect(stdout.split(why)).toHaveLength(2);
});

test('24. a completed cast is not cast again, and takes no answer', async () => {
  const dir = repository({ 'cast.json': one({}), 'agents.json': { fix: ['done'] } });
  expect((await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'x'])).code).toBe(0);
  const again = await baton(dir, ['recast', 'latest']);
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining('is completed; only a failed or aborted cast can be recast'),
  ]);
  expect((await baton(dir, ['answer', 'latest', 'yes'])).code).toBe(1);
});

test('21. of two casts in one folder the second says whose folder it is', async () => {
  const turns: Json = [{ $turn: { output: 'done', delayMs: 3_000 } }];
  const dir = repository({ 'cast.json': one({}, { tools: 'coding' }), 'agents.json': { fix: turns } });
  const cast = (request: string) =>
    baton(dir, ['cast', '--in-place', '--file', 'cast.json', '--agents', 'agents.json', request]);
  const both = await Promise.all([cast('first'), cast('second')]);
  const ids = both.map(({ stderr }) => /cast (\S+)/.exec(stderr)?.[1]);
  const put_off = both.map(
    ({ stderr }) => /T-1 wants the whole folder, and T-1 of cast (\S+) \(fix\) holds/.exec(stderr)?.[1],
  );
  expect(put_off.filter((id) => id !== undefined)).toHaveLength(1);
  expect(ids).toContain(put_off.find((id) => id !== undefined));
});

// Only root can give a folder to somebody else.
test.skipIf(process.getuid?.() !== 0)('23. of a repository of another owner git’s own reason is told', async () => {
  const dir = repository({ [CONFIG]: one({}, { tools: 'coding' }) });
  for (const folder of [dir, join(dir, '.git')]) chownSync(folder, 65_534, 65_534);
  const own = /detected dubious ownership in repository[\s\S]*git config --global --add safe\.directory/;
  const ran = await baton(dir, ['cast', 'x'], { env: machine() });
  expect([ran.code, ran.stderr + ran.stdout]).toEqual([1, expect.stringMatching(own)]);
  expect((await baton(dir, ['doctor'], { env: machine() })).stdout).toMatch(own);
});

test('26. a prompt is edited after init, and nothing stands in the way', async () => {
  const dir = repository();
  expect((await baton(dir, ['init'], { env: machine() })).code).toBe(0);
  put(dir, { '.baton/prompts/plan.md': 'Plan it my way.\n' });
  const ran = await baton(dir, CHECK, { env: machine() });
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('ok: no issues')]);
});
