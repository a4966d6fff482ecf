// Utilities for real: processes with the protocol on their standard input, built-ins, and shipped scripts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { BUNDLED } from '../../src/workspace/find-config.ts';
import {
  agent,
  always,
  BATON,
  baton,
  flow,
  isRunning,
  json,
  project,
  read,
  script,
  until,
  untilWritten,
} from './baton.ts';

const READ = "import { text } from 'node:stream/consumers'; const message = JSON.parse(await text(process.stdin));";

/** Casts a utility that runs the given code; what it gives is kept in `state.got`. */
async function run(code: string, more: JsonObject = {}, socket: JsonObject = {}) {
  const config = flow({ U: script('u.mjs', more) }, { 'Socket-1': { materia: 'U', ...socket } });
  return castIn(project({ 'c.json': config, 'u.mjs': code }));
}

async function castIn(dir: string, ...more: string[]) {
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--json', '--turns', ...more, 'make it']);
  return { dir, ran, view: json<CastView & { data: JsonObject }>(ran) };
}

test('a utility gets one JSON object on standard input, and its end', async () => {
  const code = `${READ} process.stdout.write(JSON.stringify({ got: message, cwd: process.cwd() }));`;
  const assign = { got: '$.got', cwd: '$.cwd' };
  const { dir, view } = await run(code, { label: 'Stamp', params: { depth: 2 } }, { assign });
  const scope = { id: 'base', cwd: dir, state: {}, exports: {} };
  expect(view.data).toMatchObject({ cwd: dir });
  expect(view.data.got).toEqual({
    cwd: dir,
    executionScope: scope,
    baseScope: scope,
    runDir: join(dir, '.baton/state/attempts', `${view.cast}-1.1`),
    request: 'make it',
    castId: view.cast,
    socketId: 'Socket-1',
    materiaId: 'U',
    materiaLabel: 'Stamp',
    params: { depth: 2 },
    state: {},
    item: null,
    itemKey: null,
    itemLabel: null,
    cursor: null,
    cursors: {},
    rework: [],
  });
});

const SURROUNDINGS = `import { execFileSync } from 'node:child_process';
const { BATON_HOME, BATON_CAST, BATON_ATTEMPT, BATON_FENCE = null } = process.env;
const [{ cast, status }] = JSON.parse(execFileSync(${JSON.stringify(BATON)}, ['casts', '--json'], { encoding: 'utf8' }));
console.log(JSON.stringify({ env: { BATON_HOME, BATON_CAST, BATON_ATTEMPT, BATON_FENCE }, cast, status }));`;

test.each([
  ['the state folder itself', {}, '.baton/state'],
  ['the home that was named, wherever the utility runs', { BATON_HOME: 'home' }, 'home'],
  ['nothing of a cast around it', { BATON_CAST: 'outer', BATON_FENCE: '7' }, '.baton/state'],
])('a baton that a utility calls finds its own cast: %s', async (_what, env, home) => {
  const assign = { env: '$.env', cast: '$.cast', status: '$.status' };
  const config = flow({ U: script('u.mjs') }, { 'Socket-1': { materia: 'U', assign } });
  const dir = project({ 'c.json': config, 'u.mjs': SURROUNDINGS });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--json', 'x'], { env });
  const { cast, data } = json(ran);
  expect(data).toEqual({
    env: { BATON_HOME: join(dir, home), BATON_CAST: cast, BATON_ATTEMPT: '1.1', BATON_FENCE: null },
    cast,
    status: 'running',
  });
});

test('inside a loop it gets the item, the cursor and what is to be reworked', async () => {
  const config = {
    materia: { Plan: { ...agent, generator: true }, Build: script('build.mjs'), Check: script('check.mjs') },
    loadouts: {
      L: {
        entry: 'Socket-1',
        sockets: {
          'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
          'Socket-2': { materia: 'Build', edges: [always('Socket-3')] },
          'Socket-3': {
            materia: 'Check',
            advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
            edges: [
              { when: 'satisfied', to: 'Socket-2' },
              { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2 },
            ],
          },
        },
        loops: { items: { sockets: ['Socket-2', 'Socket-3'], consumes: { from: 'Socket-1', output: 'workItems' } } },
      },
    },
  };
  const build = `${READ} import { appendFileSync } from 'node:fs';
    const { item, itemKey, itemLabel, cursor, rework, state } = message;
    appendFileSync('seen.jsonl', JSON.stringify({ item: item.title, itemKey, itemLabel, cursor, rework, sees: state.workItem.title }) + '\\n');
    process.stdout.write('{}');`;
  const check = `${READ} import { existsSync, writeFileSync } from 'node:fs';
    const ok = message.itemKey === 'WI-2' || existsSync('mended'); writeFileSync('mended', '');
    process.stdout.write(JSON.stringify({ satisfied: ok, ...(ok ? {} : { context: 'no tests' }) }));`;
  const workItems = ['First', 'Second'].map((title) => ({ title, context: 'Do it.' }));
  const dir = project({
    'c.json': config,
    'build.mjs': build,
    'check.mjs': check,
    'a.json': { Plan: [{ workItems }] },
  });
  const { view } = await castIn(dir, '--agents', 'a.json');
  expect(view.status).toBe('completed');
  const cursor = (index: number) => ({ name: 'workItemIndex', index });
  const seen = read(dir, 'seen.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
  expect(seen).toEqual([
    { item: 'First', itemKey: 'WI-1', itemLabel: 'First', cursor: cursor(0), rework: [], sees: 'First' },
    {
      item: 'First',
      itemKey: 'WI-1',
      itemLabel: 'First',
      cursor: cursor(0),
      rework: [{ from: 'Socket-3', reason: 'no tests' }],
      sees: 'First',
    },
    { item: 'Second', itemKey: 'WI-2', itemLabel: 'Second', cursor: cursor(1), rework: [], sees: 'Second' },
  ]);
});

const BUSY = 'setInterval(() => {}, 1000);';

test.each<[what: string, code: string, more: JsonObject, failure: string, words: string]>([
  [
    'exit code 3, whatever it printed',
    "console.log('{}'); console.error('no luck'); process.exit(3);",
    {},
    'UTILITY_FAILED',
    'exit code 3: no luck',
  ],
  ['a signal', "process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);", {}, 'UTILITY_FAILED', 'SIGKILL'],
  ['too slow', BUSY, { timeoutMs: 300 }, 'UTILITY_FAILED', 'did not end within 300 ms'],
  ['no JSON', "console.log('oops');", {}, 'CONTRACT_VIOLATION', 'Socket-1 did not keep its contract'],
  ['a field of the wrong type', 'console.log(\'{"satisfied":"yes"}\');', {}, 'CONTRACT_VIOLATION', 'satisfied'],
  [
    'a program that is not there',
    '',
    { command: ['no-such-program-here'] },
    'UTILITY_FAILED',
    'no-such-program-here was not found',
  ],
  ['a script that is not there', '', { command: ['node', './missing.mjs'] }, 'UTILITY_FAILED', 'missing.mjs'],
])('a utility fails the cast at once: %s', async (_what, code, more, failure, words) => {
  const { ran, view } = await run(code, more);
  expect([ran.code, view.status, view.code, view.turns?.length]).toEqual([1, 'failed', failure, 1]);
  expect(view.reason).toContain(words);
});

test('a failure of the infrastructure fails the cast and keeps what the utility said of it', async () => {
  const result = { satisfied: false, state: { deploy: { ok: false, error: 'no route to host' } } };
  const { view } = await run(
    `console.log(${JSON.stringify(JSON.stringify(result))});`,
    {},
    {
      edges: [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: 3 }],
    },
  );
  expect([view.code, view.path.length]).toEqual(['UTILITY_FAILED', 1]);
  expect(view.reason).toContain('no route to host');
  expect(view.data).toMatchObject({ deploy: { ok: false } });
});

test('a plain satisfied:false is routed', async () => {
  const config = flow(
    {
      U: { type: 'utility', utility: 'echo', parse: 'json', params: { output: { satisfied: false } } },
      E: echo('end'),
    },
    { 'Socket-1': { materia: 'U', edges: [{ when: 'not_satisfied', to: 'Socket-2' }] }, 'Socket-2': { materia: 'E' } },
  );
  const { view } = await castIn(project({ 'c.json': config }));
  expect([view.status, view.path.map(({ socket }) => socket)]).toEqual(['completed', ['Socket-1', 'Socket-2']]);
});

test('2 MiB of text are cut at 1 MiB and still count, with a word about it; cut JSON does not', async () => {
  const flood = "process.stdout.write('x'.repeat(2 ** 21));";
  const { dir, ran, view } = await run(flood, { parse: 'text' });
  expect([view.status, view.turns?.[0]?.output?.length]).toEqual(['completed', 2 ** 20]);
  expect(view.turns?.[0]).toMatchObject({ truncated: true, verdict: { reason: expect.stringContaining('cut at') } });
  expect(ran.stderr).toMatch(/✓ U · output cut at its limit/);
  expect((await baton(dir, ['show', 'latest'])).stdout).toContain('the output was cut at its limit');
  expect((await baton(dir, ['log'])).stdout).toContain('is accepted, its output cut at the limit');
  const cut = await run(`process.stdout.write('{"context":"'); ${flood} process.stdout.write('"}');`);
  expect([cut.view.status, cut.view.code]).toEqual(['failed', 'CONTRACT_VIOLATION']);
  expect(cut.view.reason).toContain('larger than the 1048576 bytes that are allowed and was cut there');
  expect(cut.view.reason).toContain('raise limits.maxOutputBytes of the socket');
});

test.each([
  ['text', "console.log('z'.repeat(500))"],
  ['json', `console.log('{"satisfied":true}' + 'z'.repeat(500))`],
])(
  'a utility that prints more %s than its socket allows has failed, whatever the head of it says',
  async (parse, code) => {
    const { ran, view } = await run(code, { parse }, { limits: { maxOutputBytes: 100 } });
    expect([ran.code, view.code]).toEqual([1, 'CONTRACT_VIOLATION']);
    expect(view.reason).toContain('larger than the 100 bytes that are allowed and was cut there');
  },
);

test('a utility whose socket allows it may print 2 MiB of JSON', async () => {
  const code = "console.log(JSON.stringify({ context: 'x'.repeat(2 ** 21) }));";
  const { view } = await run(code, {}, { limits: { maxOutputBytes: 2 ** 22 }, assign: { got: '$.context' } });
  expect([view.status, String(view.data.got).length]).toEqual(['completed', 2 ** 21]);
});

test.each<[what: string, materia: JsonObject, output: string | null, code: string | null]>([
  ['noop', { utility: 'noop' }, '', null],
  ['echo of output', { utility: 'echo', params: { output: { a: 1 } } }, '{"a":1}', null],
  ['echo of text', { utility: 'echo', params: { text: 'hello' } }, 'hello', null],
  ['echo of a message', { utility: 'echo', params: { message: 'hello' } }, 'hello', null],
  ['a name that is none, never a shell', { utility: 'touch pwned' }, null, 'INVALID_MATERIA'],
])('built in: %s', async (_what, materia, output, code) => {
  const config = flow({ U: { type: 'utility', parse: 'text', ...materia } }, { 'Socket-1': { materia: 'U' } });
  const { dir, view } = await castIn(project({ 'c.json': config }));
  expect([view.turns?.[0]?.output ?? null, view.code]).toEqual([output, code]);
  expect(existsSync(join(dir, 'pwned'))).toBe(false);
});

test('vcs.detect and project.ensureIgnored answer on top of their result', async () => {
  const config = flow(
    {
      V: { type: 'utility', utility: 'vcs.detect', parse: 'json' },
      I: { type: 'utility', utility: 'project.ensureIgnored', parse: 'json', params: { patterns: ['dist/'] } },
    },
    {
      'Socket-1': { materia: 'V', assign: { kind: '$.kind' }, edges: [always('Socket-2')] },
      'Socket-2': { materia: 'I', assign: { added: '$.added' } },
    },
  );
  const dir = project({ 'c.json': config, '.git/HEAD': 'ref: refs/heads/main\n' });
  const { view } = await castIn(dir);
  expect(view.data).toMatchObject({ kind: 'git', added: ['dist/'] });
  expect(read(dir, '.gitignore')).toBe('dist/\n');
});

test('shipped scripts run as processes: Ignore-Artifacts twice, Detect-VCS', async () => {
  const shipped = (name: string) => ({ type: 'utility', script: { kind: 'shippedUtility', name }, parse: 'json' });
  const config = flow(
    { I: { ...shipped('Ignore-Artifacts'), params: { patterns: ['.baton/state/'] } }, V: shipped('Detect-VCS') },
    { 'Socket-1': { materia: 'I', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'V' } },
  );
  const dir = project({ 'c.json': config, '.gitignore': 'dist/' });
  const first = await castIn(dir);
  expect(first.view.data).toMatchObject({
    artifactIgnore: { added: ['.baton/state/'] },
    vcs: { kind: 'none', root: null },
  });
  const second = await castIn(dir);
  expect(second.view.data).toMatchObject({ artifactIgnore: { added: [], unchanged: ['.baton/state/'] } });
  expect(read(dir, '.gitignore')).toBe('dist/\n.baton/state/\n');
});

test('what Commit-Sigil passes on is the list that the loop walks', async () => {
  const { materia } = JSON.parse(readFileSync(BUNDLED, 'utf8'));
  const loops = {
    items: {
      sockets: ['Socket-3'],
      consumes: { from: 'Socket-2', output: 'workItems' },
    },
  };
  const config = {
    materia: { 'Commit-Sigil': materia['Commit-Sigil'], Plan: { ...agent, generator: true }, Build: agent },
    loadouts: {
      L: {
        entry: 'Socket-1',
        loops,
        sockets: {
          'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
          'Socket-2': {
            materia: 'Commit-Sigil',
            edges: [
              { when: 'satisfied', to: 'Socket-3' },
              { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1 },
            ],
          },
          'Socket-3': {
            materia: 'Build',
            advance: { cursor: 'workItemIndex', items: 'state.workItems' },
            edges: [always('Socket-3')],
          },
        },
      },
    },
  };
  const planned = (...titles: string[]) => ({ workItems: titles.map((title) => ({ title, context: 'Do it.' })) });
  const Plan = [planned('Add a page'), planned('feat: one', 'fix: two')];
  const { view } = await castIn(
    project({ 'c.json': config, 'a.json': { Plan, Build: ['done', '$repeat'] } }),
    ...['--agents', 'a.json'],
  );
  expect([view.status, view.path.map(({ socket, item }) => `${socket} ${item ?? ''}`.trim())]).toEqual([
    'completed',
    ['Socket-1', 'Socket-2', 'Socket-1', 'Socket-2', 'Socket-3 WI-1', 'Socket-3 WI-2'],
  ]);
  expect(view.data.workItems).toEqual(Plan[1]?.workItems);
});

test('a relative script lies beside the file that names it, wherever the cast runs', async () => {
  const config = flow(
    { U: script('u.mjs'), V: { ...script('v.mjs'), command: ['./v.mjs', 'word'] } },
    {
      'Socket-1': { materia: 'U', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'V', assign: { argv: '$.argv' } },
    },
  );
  const dir = project({
    'team/c.json': config,
    'team/u.mjs': "console.log('{}');",
    'team/v.mjs': 'console.log(JSON.stringify({ argv: process.argv.slice(2) }));',
    'work/.baton/keep': '',
  });
  const ran = await baton(join(dir, 'work'), ['cast', '--file', '../team/c.json', '--json', 'x']);
  expect([ran.code, json(ran).data]).toEqual([0, { argv: ['word'] }]);
});

test('what a slow utility started goes with it, and its folder is cleared', async () => {
  const code = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
    const pids = [false, true].map((detached) => spawn('sleep', ['600'], { detached, stdio: 'ignore' }).pid);
    writeFileSync('pids.json', JSON.stringify(pids)); ${BUSY}`;
  const { dir, view } = await run(code, { timeoutMs: 4_000 });
  expect(view.code).toBe('UTILITY_FAILED');
  const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
  expect(pids).toHaveLength(2);
  await until('the end of all it started', () => pids.every((pid) => !isRunning(pid)));
  expect(readdirSync(join(dir, '.baton/state/attempts'))).toEqual([]);
});

function echo(text: string): JsonObject {
  return { type: 'utility', utility: 'echo', parse: 'text', params: { text } };
}
