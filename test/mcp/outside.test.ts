// Casts and tasks from outside, by the SDK's own client, over both transports.
import { request } from 'node:http';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, always, BATON, baton, flow, json, project, put, until } from '../cli/baton.ts';
import { create, packet, RUN, result } from '../cli/ledger-story.ts';
import { httpServer, overHttp, overProgram, overStdio } from './client.ts';

const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'json', edges: [always('end')] } });
const slow = { A: [{ $turn: { output: '{"satisfied":true}', delayMs: 1_500 } }] };

function casting(agents: JsonObject = slow): string {
  return project({ '.baton/config.json': config, 'agents.json': agents });
}

test('any client may start a cast, wait for it in pieces, and fetch its result', async () => {
  const { ask } = await overProgram(casting({ A: [{ $turn: { output: '{"satisfied":true}', delayMs: 5_000 } }] }));
  const started = await ask('cast_start', { request: 'do it', agents: 'agents.json' });
  expect(started).toMatchObject({ allow: true, details: { status: 'running' } });
  const { cast = '' } = started.details;
  const early = await ask('cast_wait', { cast, timeout_seconds: 1 });
  expect(early).toMatchObject({ allow: true, details: { status: 'running', stands: false } });
  const late = await ask('cast_wait', { cast, timeout_seconds: 60 });
  const result = { last: { socket: 'Socket-1', text: '{"satisfied":true}' }, failure: null };
  expect(late).toMatchObject({ allow: true, details: { cast, status: 'completed', stands: true, result } });
  const shown = await ask('cast_show', { cast, turns: true });
  expect(shown.details).toMatchObject({ turns: [{ output: '{"satisfied":true}', verdict: { code: 'OK' } }], result });
  expect((await ask('cast_list')).details).toMatchObject({ casts: [{ cast, status: 'completed' }], count: 1 });
});

test('a waiting client is told what the agents do, as they do it, and that the cast goes on', async () => {
  const speaking = { ...agent, runner: 'command', command: [process.execPath, 'speak.mjs'] };
  const dir = project({
    '.baton/config.json': flow({ A: speaking }, { 'Socket-1': { materia: 'A', parse: 'json' } }),
    // It speaks, waits until it is told to go on, and answers. What is told it is no change of the project.
    'speak.mjs': `import { existsSync } from 'node:fs';
      console.log('let me think');
      while (!existsSync('.baton/state/go')) await new Promise((resolve) => setTimeout(resolve, 20));
      console.log('{"satisfied":true}');`,
  });
  const { ask, client } = await overStdio(dir);
  await ask('cast_start', { request: 'do it' });
  const told: string[] = [];
  const waited = client.callTool({ name: 'cast_wait', arguments: {} }, undefined, {
    onprogress: ({ message = '' }) => told.push(message),
  });
  await until('its words', () => told.some((message) => message.includes('Socket-1 says: let me think')));
  await until('the next sign', () => told.some((message) => /^cast \S+ runs$/.test(message)));
  put(dir, { '.baton/state/go': 'on' });
  expect((await waited).structuredContent).toMatchObject({ details: { status: 'completed', stands: true } });
});

test('a client does not wait in vain for a cast that nobody drives', async () => {
  const dir = casting({ A: [{ $turn: { output: '{}', delayMs: 60_000 } }] });
  const { ask } = await overStdio(dir);
  const { cast = '' } = (await ask('cast_start', { request: 'do it', agents: 'agents.json' })).details;
  const { open } = json<{ readonly open: readonly { readonly driver: number }[] }>(
    await baton(dir, ['status', '--json']),
  );
  const [{ driver } = { driver: 0 }] = open;
  expect(driver).toBeGreaterThan(1);
  process.kill(driver, 'SIGKILL');
  expect(await ask('cast_wait', { cast, timeout_seconds: 60 })).toMatchObject({ code: 'NOT_ALLOWED_NOW' });
});

test('a client answers what a cast asks a person', async () => {
  const asking = flow(
    { A: { ...agent, runner: 'person', prompt: 'Is it good?' } },
    { 'Socket-1': { materia: 'A', parse: 'json', edges: [{ when: 'satisfied', to: 'end' }, always('end')] } },
  );
  const { ask } = await overStdio(project({ '.baton/config.json': asking }));
  const { cast = '' } = (await ask('cast_start', { request: 'judge it' })).details;
  expect((await ask('cast_wait', { cast })).details).toMatchObject({ status: 'waiting', stands: true });
  expect(await ask('cast_answer', { cast, answer: 'yes' })).toMatchObject({ allow: false, code: 'CONTRACT_VIOLATION' });
  expect(await ask('cast_answer', { cast, answer: '{}', turn: 9 })).toMatchObject({ code: 'NOT_ALLOWED_NOW' });
  const end = await ask('cast_answer', { cast, answer: '{"satisfied":true}' });
  expect(end.details).toMatchObject({ status: 'completed' });
});

test.each([
  ['a configuration that does not check', 'cast_start', { request: 'do it', loadout: 'Nobody' }, 'BAD_USAGE'],
  ['no cast yet', 'cast_show', { cast: 'latest' }, 'UNKNOWN_CAST'],
  ['a word that looks like an option', 'cast_show', { cast: '--help' }, 'UNKNOWN_CAST'],
  ['a NUL in an argument', 'cast_show', { cast: 'a\0b' }, 'BAD_USAGE'],
  ['a NUL in a request', 'cast_start', { request: 'a\0b' }, 'BAD_USAGE'],
  ['a request that is too long', 'cast_start', { request: 'x'.repeat(1_048_577) }, 'BAD_USAGE'],
  ['an argument is missing', 'cast_start', {}, 'BAD_USAGE'],
  ['an argument is none', 'cast_start', { request: 'x', file: '/etc/passwd' }, 'BAD_USAGE'],
  ['an argument has the wrong type', 'task_claim', { task: 7, owner: 'ann' }, 'BAD_USAGE'],
  ['there is no attempt', 'submit_handoff', { handoff: 'done' }, 'NOT_ALLOWED_NOW'],
  ['there is no attempt either', 'request_approval', { operation: 'x', reason: 'y' }, 'NOT_ALLOWED_NOW'],
  ['no ledger yet', 'task_next', { owner: 'ann' }, 'LEDGER_INCONSISTENT'],
  ['no run of that name', 'read_context', { run: 'R-9' }, 'LEDGER_INCONSISTENT'],
])('%s: %s is refused with a verdict', async (_, name, args, code) => {
  const { ask } = await overStdio(project({ '.baton/config.json': config }));
  expect(await ask(name, args)).toMatchObject({ allow: false, code });
});

test('a long request reaches the cast whole', async () => {
  const { ask } = await overStdio(casting({ A: ['{"satisfied":true}'] }));
  const request = 'word '.repeat(200_000).trim();
  const { details } = await ask('cast_start', { request, agents: 'agents.json' });
  expect((await ask('cast_show', { cast: details.cast ?? '' })).details.request).toBe(request);
});

test('a session in a workspace where nobody has begun is told how to begin', async () => {
  const { ask } = await overStdio(project({ '.baton/config.json': config }));
  expect(await ask('read_context')).toMatchObject({
    allow: true,
    reason: expect.stringMatching(/^There is nothing to go on with yet.*cast_start.*baton task create/),
    details: { ledger: [] },
  });
});

test('a tool that does not exist is an error of the protocol', async () => {
  const { client } = await overStdio(project());
  await expect(client.callTool({ name: 'cast_sell', arguments: {} })).rejects.toThrow('there is no tool cast_sell');
});

test('a task goes from claim to done by tool calls', async () => {
  const dir = project({ 'work/T-1/a.txt': 'a' });
  await create(dir, 'T-1');
  const { ask } = await overStdio(dir);
  expect((await ask('task_list')).details).toMatchObject({ tasks: [{ task_id: 'T-1', status: 'todo' }] });
  const claimed = await ask('task_claim', { task: 'T-1', owner: 'ann' });
  expect(claimed).toMatchObject({ allow: true, details: { fence: 1 } });
  expect(await ask('task_next', { owner: 'bob' })).toMatchObject({ allow: false });
  expect(await ask('lock_check', { paths: ['work/T-1/a.txt'] })).toMatchObject({ code: 'LOCK_CONFLICT' });
  expect(await ask('lock_check', { paths: ['work/T-1/a.txt'], fence: 1 })).toMatchObject({ allow: true });
  expect(await ask('lock_check', { paths: ['--fence=1', 'elsewhere'], fence: 1 })).toMatchObject({
    code: 'SCOPE_VIOLATION',
  });
  expect(await ask('heartbeat', { task: 'T-1', owner: 'ann', fence: 1 })).toMatchObject({ allow: true });
  expect(await ask('heartbeat', { task: 'T-1', owner: 'ann', fence: 2 })).toMatchObject({ allow: false });
  expect(await ask('heartbeat', { task: 'T-1' })).toMatchObject({
    code: 'BAD_USAGE',
    details: { missing: ['owner', 'fence'] },
  });
  const entry = {
    timestamp: new Date().toISOString(),
    run_id: RUN,
    task_id: 'T-1',
    actor: 'ann',
    action: 'look',
    files_touched: [],
    decision: 'Leave it as it is',
    result: 'as expected',
    next_step: 'finish',
  };
  expect(await ask('worklog_add', { task: 'T-1', fence: 1, entry })).toMatchObject({ allow: true });
  expect((await ask('read_context')).details).toMatchObject({ run_id: RUN, ledger: [{ task_id: 'T-1' }] });
  expect(await ask('task_finish', { fence: 1, result: 'no result' })).toMatchObject({ code: 'SCHEMA_INVALID' });
  expect(await ask('task_finish', { fence: 1, result: result('T-1') })).toMatchObject({ allow: true });
  expect((await ask('task_list', { status: 'done' })).details).toMatchObject({ tasks: [{ task_id: 'T-1' }] });
});

test('tasks are created, moved and applied by tool calls', async () => {
  const { ask } = await overStdio(project({ 'work/T-1/a.txt': 'a' }));
  expect(await ask('task_create', { packet: packet('T-1') })).toMatchObject({ allow: true });
  expect(await ask('task_create', { packet: { ...packet('T-2'), run_id: 'x' } })).toMatchObject({
    code: 'SCHEMA_INVALID',
  });
  const { fence = 0 } = (await ask('task_claim', { task: 'T-1', owner: 'ann' })).details;
  const giving = { task: 'T-1', status: 'blocked', reason: 'no key', code: 'MISSING_REQUIRED_INPUT' };
  expect(await ask('task_move', { ...giving, fence })).toMatchObject({ allow: true });
  const todo = { task_id: 'T-1', status: 'todo', owner: '', reason: 'the key is there', delta_id: 'd-1' };
  for (const applied of [['d-1'], []])
    expect(await ask('task_apply', { stream: [todo], run: RUN })).toMatchObject({ allow: true, details: { applied } });
  expect(await ask('task_apply', { stream: 'nothing', run: RUN })).toMatchObject({ allow: false });
  expect((await ask('task_list')).details).toMatchObject({ tasks: [{ task_id: 'T-1', status: 'todo' }] });
});

test('the same over HTTP, with two calls at once', async () => {
  const dir = casting();
  await create(dir, 'T-1', {});
  const one = await overHttp(dir);
  expect(await one.names()).toContain('cast_start');
  expect(await one.names()).not.toContain('submit_handoff');
  const [started, listed] = await Promise.all([
    one.ask('cast_start', { request: 'do it', agents: 'agents.json' }),
    one.ask('task_list'),
  ]);
  expect([started.allow, listed.details]).toMatchObject([true, { tasks: [{ task_id: 'T-1' }] }]);
  const end = await one.ask('cast_wait', { cast: started.details.cast ?? '', timeout_seconds: 60 });
  expect(end.details).toMatchObject({ status: 'completed' });
});

test.each([
  ['no token', {}, 401],
  ['a wrong token', { authorization: 'Bearer 0123456789abcdef' }, 401],
  ['another origin', { authorization: 'OWN', origin: 'https://evil.example' }, 403],
  ['a session that is none', { authorization: 'OWN', 'mcp-session-id': 'x' }, 404],
  ['the token', { authorization: 'OWN' }, 200],
  ['the token, its scheme in small letters', { authorization: 'bearer a-token-of-my-own' }, 200],
])('HTTP with %s is answered %s', async (_, given, status) => {
  const token = 'a-token-of-my-own';
  const { url } = await httpServer(project(), { BATON_MCP_TOKEN: token });
  const own = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, value.replace('OWN', `Bearer ${token}`)]),
  );
  const body = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...own },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: body }),
  });
  expect(response.status).toBe(status);
  await response.body?.cancel();
});

test('a request that meant another machine is refused before anything is read', async () => {
  const token = 'a-token-of-my-own';
  const { url } = await httpServer(project(), { BATON_MCP_TOKEN: token }, [BATON, 'mcp']);
  const headers = { host: 'evil.example', authorization: `Bearer ${token}` };
  const status = await new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers }, (answer) => resolve(answer.resume().statusCode));
    asked.on('error', reject).end('{}');
  });
  expect(status).toBe(403);
});

test.each([
  [['mcp', '--http', 'x'], {}, 'must be a port'],
  [['mcp', '--http', '0'], { BATON_MCP_TOKEN: 'short' }, 'shorter than 16'],
  [['mcp', '--json'], {}, 'belongs to the protocol'],
])('baton %j is wrong usage', async (args, env, why) => {
  const ran = await baton(project(), args, { env });
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(why)]);
});
