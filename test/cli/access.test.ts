// Who acts, with the real program: a user, an agent of a cast, the holder of a token; and what each of them may not do.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HAS_PROC } from '../../src/agents/process/process-identity.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { httpServer } from '../mcp/client.ts';
import { agent, always, BATON, baton, flow, json, project, put, script } from './baton.ts';
import { type Answer, create, packet } from './ledger-story.ts';

const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'json', edges: [always('end')] } });
const agents = { A: [{ satisfied: true }] };

/** The facts of one kind, with who brought them about. */
async function factsOf(dir: string, kind: string): Promise<readonly { readonly by: string; readonly kind: string }[]> {
  const entries = json<readonly { readonly by: string; readonly kind: string }[]>(
    await baton(dir, ['log', '--after', '0', '--json']),
  );
  return entries.filter((entry) => entry.kind === kind);
}

/** Runs commands of baton in a utility of a cast, each with an environment of its choice; answers what they printed. */
async function fromWithin(
  dir: string,
  commands: readonly { readonly args: readonly string[]; readonly env?: JsonObject }[],
) {
  const code = `import { spawnSync } from 'node:child_process';
const said = ${JSON.stringify(commands)}.map(({ args, env }) => {
  const { PATH, HOME, BATON_CONFIG, BATON_CHECKPOINTS } = process.env;
  const own = env ? { PATH, HOME, BATON_CONFIG, BATON_CHECKPOINTS, ...env } : process.env;
  const { stdout } = spawnSync(${JSON.stringify(BATON)}, ['-C', ${JSON.stringify(dir)}, ...args], { env: own, encoding: 'utf8' });
  return JSON.parse(stdout);
});
console.log(JSON.stringify({ said }));`;
  const { cast, data } = await castUtility(dir, code, { said: '$.said' });
  return { cast, said: data.said as unknown as readonly Answer[] };
}

async function castUtility(dir: string, code: string, assign: JsonObject) {
  const within = flow({ U: script('u.mjs') }, { 'Socket-1': { materia: 'U', assign } });
  put(dir, { 'within.json': within, 'u.mjs': code });
  const ran = await baton(dir, ['cast', '--in-place', '--file', 'within.json', '--json', 'do it']);
  return json<{ readonly cast: string; readonly data: JsonObject }>(ran);
}

test('what an agent does by the command line is recorded as the doing of its attempt, whatever it says about itself', async () => {
  const dir = project();
  put(dir, { 'T-1.json': packet('T-1'), 'T-2.json': packet('T-2'), 'T-3.json': packet('T-3') });
  const { cast, said } = await fromWithin(dir, [
    { args: ['task', 'create', 'T-1.json'] },
    { args: ['task', 'create', 'T-2.json'], env: {} },
    {
      args: ['task', 'create', 'T-3.json'],
      env: { BATON_CAST: 'other', BATON_ATTEMPT: '9.9', BATON_ACTS_FOR: 'boss' },
    },
  ]);
  expect(said.map(({ allow }) => allow)).toEqual([true, true, true]);
  const facts = await factsOf(dir, 'task.created');
  expect(facts.map(({ by }) => by)).toEqual(Array(3).fill(`agent:Socket-1@${cast}-1.1`));
  await create(dir, 'T-4');
  expect((await factsOf(dir, 'task.created')).at(-1)?.by).toMatch(/^user:/);
});

test.each<[string, readonly (readonly string[])[]]>([
  [
    'says nobody who may do what, decides nothing, erases nothing and allows itself no more',
    [
      ['token', 'create', '--role', 'viewer'],
      ['token', 'list'],
      ['token', 'revoke', 'ci'],
      ['registry', 'release', 'domain-02-build', '--reason', 'x'],
      ['registry', 'lock'],
      ['hold', '--reason', 'x'],
      ['memory', 'drop', 'm1'],
      ['answer', 'latest', 'yes'],
      ['decide', 'latest:1', 'rerun'],
      ['gc', '--stopped'],
      ['budget', 'latest', '--tokens', '5'],
    ],
  ],
  [
    'starts no cast, steers none and sets nothing up',
    [
      ['abort', 'latest'],
      ['init', '--force'],
      ['continue', 'latest'],
      ['resume', 'latest'],
      ['recast', 'latest'],
      ['revive', 'latest'],
      ['cast', '--file', 'within.json', 'more of me'],
      ['cast', '--detach', '--file', 'within.json', 'more of me'],
      ['demo', '--fast'],
      ['agents', 'test'],
      ['merge', 'latest'],
      ['undo', 'latest', '--yes'],
      ['unhold'],
      ['install', 'claude', '--yes'],
      ['registry', 'import', 'x'],
    ],
  ],
])('an agent %s', async (_, commands) => {
  const dir = project();
  const { cast, said } = await fromWithin(
    dir,
    commands.map((args, index) => ({ args: [...args, '--json'], ...(index % 2 ? { env: {} } : {}) })),
  );
  expect(said.map(({ code }) => code)).toEqual(commands.map(() => 'APPROVER_IS_AGENT'));
  // What was tried is told apart; how often it was within a minute is not.
  const refused = await factsOf(dir, 'access.refused');
  const tried = refused.map((fact) => `${fact.by} ${(fact as unknown as { what: string }).what}`);
  const told = new Set(
    commands.map(([name = '', word]) => {
      if (name === 'demo') return 'cast';
      return ['registry', 'memory', 'agents', 'token'].includes(name) ? `${name} ${word}` : name;
    }),
  );
  expect(new Set(tried)).toEqual(new Set([...told].map((what) => `agent:Socket-1@${cast}-1.1 ${what}`)));
  expect(tried.length).toBeLessThan(commands.length * 2);
  // Nothing of it was begun.
  expect(json<readonly JsonObject[]>(await baton(dir, ['casts', '--json']))).toHaveLength(1);
});

test('an agent may look at what would be done', async () => {
  const dir = project();
  const looks = [
    ['cast', '--dry-run', '--file', 'within.json', 'more of me'],
    ['budget', 'latest'],
    ['casts'],
    ['show', 'latest'],
    ['agents'],
  ];
  const { said } = await fromWithin(
    dir,
    looks.map((args) => ({ args: [...args, '--json'] })),
  );
  expect(said.map(({ code }) => code ?? null)).not.toContain('APPROVER_IS_AGENT');
  expect(await factsOf(dir, 'access.refused')).toEqual([]);
});

test.runIf(HAS_PROC)(
  'what is cut off from everything above it is no person either, but may start casts as a timer does',
  async () => {
    const dir = project();
    const commands = [
      'registry release x --reason y',
      'registry lock',
      'token create --role admin --name evil',
      'gc',
      'hold --reason y',
      'memory drop m1 --reason y',
      'merge',
      'cast -l Nowhere x',
    ];
    const code = `import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
const { PATH, HOME, BATON_CONFIG } = process.env;
const lines = ${JSON.stringify(commands)}.map((line) => '${BATON} -C ${dir} ' + line + ' --json 2>/dev/null | head -1 >> out');
const run = "sleep 0.2; " + lines.join('; ') + '; mv out over';
spawnSync('sh', ['-c', 'setsid sh -c "$RUN" </dev/null >/dev/null 2>&1 &'], { env: { PATH, HOME, BATON_CONFIG, RUN: run } });
while (!existsSync('over')) await new Promise((done) => setTimeout(done, 50));
const said = readFileSync('over', 'utf8').trim().split('\\n').map((line) => JSON.parse(line));
console.log(JSON.stringify({ said }));`;
    const { data } = await castUtility(dir, code, { said: '$.said' });
    const said = data.said as unknown as readonly Answer[];
    expect(said.slice(0, -1).map((answer) => answer.code)).toEqual(commands.slice(1).map(() => 'APPROVER_IS_AGENT'));
    expect(said.at(-1)?.code).toBe('BAD_USAGE');
  },
);

test('whoever says that he acts for a token and has shown none may look, and each refusal is in the log', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const env = { BATON_ACTS_FOR: 'boss' };
  const codes: string[] = [];
  for (const args of [
    ['hold', '--reason', 'x'],
    ['registry', 'lock'],
    ['cast', 'x'],
    ['token', 'list'],
  ])
    codes.push(json<Answer>(await baton(dir, [...args, '--json'], { env })).code);
  expect(codes).toEqual(Array(4).fill('ROLE_TOO_LOW'));
  expect((await baton(dir, ['task', 'list', '--json'], { env })).code).toBe(0);
  const refused = await factsOf(dir, 'access.refused');
  // One for each minute that was begun meanwhile.
  expect([1, 2]).toContain(refused.length);
  expect(refused[0]).toMatchObject({ by: 'token:unknown', who: 'token:unknown', code: 'ROLE_TOO_LOW' });
});

/** A user of his own, with tokens. */
async function userWith(dir: string, tokens: readonly (readonly string[])[]) {
  const env = { BATON_CONFIG: `${dir}/user` };
  const secrets: string[] = [];
  for (const args of tokens) {
    const { details } = json<Answer>(await baton(dir, ['token', 'create', ...args, '--json'], { env }));
    secrets.push(String(details.token));
  }
  return { env, secrets };
}

async function connected(url: string, token: string): Promise<(name: string, args?: JsonObject) => Promise<Answer>> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  return async (name, args = {}) =>
    (await client.callTool({ name, arguments: args })).structuredContent as unknown as Answer;
}

/** How the server answers whoever shows this token. */
async function statusFor(
  url: string,
  token: string,
  session?: string,
): Promise<{ status: number; session: string | null; code: string | null }> {
  const body = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: body }),
  });
  const opened = response.headers.get('mcp-session-id');
  if (response.ok) await response.body?.cancel();
  const refused = response.ok ? null : ((await response.json()) as { error: { data: { code: string } } });
  return { status: response.status, session: opened, code: refused?.error.data.code ?? null };
}

test('each token does what its role may, under its own name, until it is taken back', async () => {
  const dir = project({ '.baton/config.json': config, 'agents.json': agents });
  const { env, secrets } = await userWith(dir, [
    ['--role', 'viewer', '--name', 'screen'],
    ['--role', 'operator', '--name', 'ci', '--expires', '1h'],
    ['--role', 'approver', '--name', 'boss'],
  ]);
  const [viewer = '', operator = '', approver = ''] = secrets;
  const { url, token: own } = await httpServer(dir, env, [BATON, 'mcp']);
  expect(new URL(url).hostname).toBe('127.0.0.1');
  const [screen, ci, boss, me] = await Promise.all([viewer, operator, approver, own].map((one) => connected(url, one)));
  const wish = { request: 'do it', agents: 'agents.json' };
  expect(await screen?.('cast_start', wish)).toMatchObject({ code: 'ROLE_TOO_LOW', details: { needed: 'operator' } });
  const started = await ci?.('cast_start', wish);
  expect(started).toMatchObject({ allow: true });
  const cast = started?.details.cast ?? '';
  expect(await screen?.('cast_wait', { cast, timeout_seconds: 60 })).toMatchObject({
    details: { status: 'completed' },
  });
  expect(await ci?.('cast_answer', { cast, answer: 'yes' })).toMatchObject({
    code: 'ROLE_TOO_LOW',
    details: { needed: 'approver' },
  });
  expect((await boss?.('cast_answer', { cast, answer: 'yes' }))?.code).not.toBe('ROLE_TOO_LOW');
  expect(await me?.('cast_start', wish)).toMatchObject({ allow: true });
  expect((await factsOf(dir, 'cast.started')).map(({ by }) => by)).toEqual([
    'token:ci',
    expect.stringMatching(/^user:/),
  ]);
  const { session } = await statusFor(url, operator);
  expect((await statusFor(url, viewer, session ?? '')).status).toBe(404);
  await baton(dir, ['token', 'revoke', 'ci'], { env });
  expect(await statusFor(url, operator)).toMatchObject({ status: 401, code: 'TOKEN_REVOKED' });
  expect(await statusFor(url, operator, session ?? '')).toMatchObject({ status: 401 });
  expect(await statusFor(url, `${viewer}x`)).toMatchObject({ status: 401, code: 'TOKEN_UNKNOWN' });
  const refused = async () =>
    new Set((await factsOf(dir, 'access.refused')).map((fact) => `${fact.by} ${(fact as unknown as Answer).code}`));
  const due = ['token:ci ROLE_TOO_LOW', 'token:ci TOKEN_REVOKED', 'token:unknown TOKEN_UNKNOWN'];
  // One was turned away before there was a log; what another one is refused for hides nothing else that he is refused for.
  await vi.waitFor(async () => expect([...(await refused())]).toEqual(expect.arrayContaining(due)), {
    timeout: 20_000,
    interval: 200,
  });
  expect(json<Answer>(await baton(dir, ['token', 'list', '--json'], { env })).details).toMatchObject({
    tokens: [
      { name: 'boss', role: 'approver', usable: true },
      { name: 'ci', role: 'operator', usable: false },
      { name: 'screen', role: 'viewer', usable: true },
    ],
  });
});

test('an agent that got hold of a token is turned away all the same', async () => {
  const dir = project();
  const { env, secrets } = await userWith(dir, [['--role', 'approver', '--name', 'boss']]);
  const { url } = await httpServer(dir, env, [BATON, 'mcp']);
  expect((await statusFor(url, secrets[0] ?? '')).status).toBe(200);
  const code = `const response = await fetch(${JSON.stringify(url)}, {
  method: 'POST', body: '{}',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: 'Bearer ' + ${JSON.stringify(secrets[0])} },
});
console.log(JSON.stringify({ status: response.status }));`;
  const { data } = await castUtility(dir, code, { status: '$.status' });
  expect(data.status).toBe(403);
});

test.each([
  ['no role', ['create']],
  ['a role that is none', ['create', '--role', 'boss']],
  ['an end that is past', ['create', '--role', 'viewer', '--expires', '2001-01-01']],
  ['an end that is none', ['create', '--role', 'viewer', '--expires', 'soon']],
  ['nobody to take it back from', ['revoke']],
  ['no such verb', ['sell']],
])('token with %s is wrong usage', async (_what, args) => {
  const dir = project();
  expect((await baton(dir, ['token', ...args], { env: { BATON_CONFIG: `${dir}/user` } })).code).toBe(2);
});
