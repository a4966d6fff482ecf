// The extension as pi loads it, with a server that is a few lines of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import extension, { GUARD_VARIABLE, SERVERS_VARIABLE } from './pi-extension.ts';
import type { GuardedPi } from './pi-guard.ts';

type Pi = Parameters<typeof extension>[0];
type Tool = Parameters<Pi['registerTool']>[0];
type Handler = Parameters<GuardedPi['on']>[1];

/** Answers like a server: one tool, which refuses the word `bad` and ends at the word `die`. */
const SERVER = `
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const { id, method, params } of lines.map((line) => JSON.parse(line))) {
    if (method === 'initialize') answer(id, {});
    if (method === 'tools/list') answer(id, { tools: [{ name: 'echo', description: process.env.HINT, inputSchema: { type: 'object' } }] });
    if (method !== 'tools/call') continue;
    const { word } = params.arguments;
    if (word === 'die') process.exit(0);
    answer(id, { content: [{ type: 'text', text: 'heard ' + word }], isError: word === 'bad' });
  }
});`;

let dir: string;
const ends: (() => void)[] = [];
const handlers: Handler[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-pi-'));
  writeFileSync(join(dir, 'server.cjs'), SERVER);
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  handlers.length = 0;
  delete process.env[SERVERS_VARIABLE];
  delete process.env[GUARD_VARIABLE];
  rmSync(dir, { recursive: true, force: true });
});

async function load(servers: object | null): Promise<readonly Tool[]> {
  if (servers) process.env[SERVERS_VARIABLE] = JSON.stringify(servers);
  const tools: Tool[] = [];
  const on = (event: string, handler: Handler | (() => void)) => {
    if (event === 'session_shutdown') ends.push(handler as () => void);
    else handlers.push(handler as Handler);
  };
  await extension({ registerTool: (tool) => tools.push(tool), on });
  return tools;
}

const server = () => ({ command: process.execPath, args: [join(dir, 'server.cjs')], env: { HINT: 'says it again' } });

test('the tools of a server become tools of pi, and a refusal a failed call', async () => {
  const [echo, ...others] = await load({ s: server() });
  expect([echo?.name, echo?.description, others]).toEqual(['echo', 'says it again', []]);
  expect(await echo?.execute('1', { word: 'hello' })).toEqual({
    content: [{ type: 'text', text: 'heard hello' }],
    details: undefined,
  });
  await expect(echo?.execute('2', { word: 'bad' })).rejects.toThrow('heard bad');
});

test('a server that ends fails the call instead of holding it', async () => {
  const [echo] = await load({ s: server() });
  await expect(echo?.execute('1', { word: 'die' })).rejects.toThrow('ended');
  await expect(echo?.execute('2', { word: 'hello' })).rejects.toThrow('ended');
});

test.each([
  ['no server is named', null],
  ['the server cannot be started', { s: { command: '/nowhere/at/all' } }],
  ['the server says nothing that it should', { s: { command: 'true' } }],
])('%s: there are no tools, and pi goes on', async (_what, servers) => {
  expect(await load(servers)).toEqual([]);
});

test('without a guard no tool is asked about', async () => {
  await load(null);
  expect(handlers).toEqual([]);
});

test.each<[string, string, { toolName: string; input?: Record<string, unknown> }, string | undefined]>([
  ['what it lets through', 'process.exit(0)', { toolName: 'bash', input: { command: 'ls' } }, undefined],
  ['what it refuses', 'console.error("no"); process.exit(2)', { toolName: 'write', input: { path: 'x' } }, 'no'],
  ['a guard that fails', 'process.exit(1)', { toolName: 'edit', input: { path: 'x' } }, 'baton ended with 1'],
  ['a tool that only reads', 'process.exit(2)', { toolName: 'read', input: { path: 'x' } }, undefined],
  [
    'what it is asked',
    'process.stdin.on("data", (text) => { console.error(JSON.parse(text).tool_input.command); process.exit(2); })',
    { toolName: 'bash', input: { command: 'git push' } },
    'git push',
  ],
])('the guard is asked before a tool writes: %s', async (_what, script, call, reason) => {
  process.env[GUARD_VARIABLE] = JSON.stringify({ program: process.execPath, args: ['-e', script] });
  await load(null);
  const answer = await handlers[0]?.(call);
  if (reason === undefined) expect(answer).toBeUndefined();
  else expect(answer).toMatchObject({ block: true, reason: expect.stringContaining(reason) });
});

test('a guard that cannot be started refuses', async () => {
  process.env[GUARD_VARIABLE] = JSON.stringify({ program: join(dir, 'none'), args: [] });
  await load(null);
  expect(await handlers[0]?.({ toolName: 'bash', input: { command: 'ls' } })).toMatchObject({ block: true });
});
