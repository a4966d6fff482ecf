// The extension as pi loads it, with a server that is a few lines of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import extension, { SERVERS_VARIABLE } from './pi-extension.ts';

type Tool = Parameters<Parameters<typeof extension>[0]['registerTool']>[0];

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
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-pi-'));
  writeFileSync(join(dir, 'server.cjs'), SERVER);
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  delete process.env[SERVERS_VARIABLE];
  rmSync(dir, { recursive: true, force: true });
});

async function load(servers: object | null): Promise<readonly Tool[]> {
  if (servers) process.env[SERVERS_VARIABLE] = JSON.stringify(servers);
  const tools: Tool[] = [];
  await extension({ registerTool: (tool) => tools.push(tool), on: (_event, end) => ends.push(end) });
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
