// How a model is asked over HTTP: what is refused before anything is sent, and when a stream is given up.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { AttemptDirs } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentMateria } from '../kernel/graph/config.ts';
import { type Answers, type ModelServer, modelServer } from '../testing/index.ts';
import { anthropic } from './anthropic.ts';
import { type ApiRunnerOptions, type ApiSettings, apiRunner } from './api-runner.ts';
import { agentRunner } from './index.ts';
import { openai } from './openai.ts';

let server: ModelServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const NO_KEYS = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' };
const NO_RETRY = { retriesMax: 0, firstMs: 1, waitMaxMs: 1 };
const PLACE = { cwd: '/', configDir: '/', attemptDir: '/s/attempts/c-1.1' } satisfies AttemptDirs;
const packet = (more: object = {}, tools = 'none') =>
  ({
    brief: 'Do it.',
    timeoutMs: 30_000,
    maxOutputBytes: 1_000,
    retriesMax: 4,
    modelSilenceMs: 600_000,
    materia: { type: 'agent', runner: 'openai', tools, model: 'm', thinking: null },
    session: null,
    ...more,
  }) as unknown as Packet;

const ask = async (answers: Answers, options: ApiRunnerOptions = {}, more: object = {}, settings: ApiSettings = {}) => {
  server = await modelServer({ answers });
  const runner = apiRunner(
    anthropic,
    { baseUrl: server.url, env: NO_KEYS, ...settings },
    { retry: NO_RETRY, ...options },
  );
  return runner.run(packet(more), PLACE, new AbortController().signal);
};

test.each(['readOnly', 'coding'])('tools %s are refused: a model has none', async (tools) => {
  const runner = apiRunner(openai, { env: { OPENAI_API_KEY: 'k' } });
  const result = await runner.run(packet({}, tools), PLACE, new AbortController().signal);
  expect(result).toMatchObject({ kind: 'fault', code: 'AGENT_UNAVAILABLE', reason: expect.stringContaining('claude') });
});

test('without a key the provider is not asked; a server of one’s own may need none', async () => {
  const runner = apiRunner(openai, { env: NO_KEYS });
  const result = await runner.run(packet(), PLACE, new AbortController().signal);
  expect(result).toMatchObject({ code: 'AUTH_REQUIRED', reason: expect.stringContaining('OPENAI_API_KEY') });
  expect(await ask(['fine'])).toMatchObject({ kind: 'output', output: 'fine' });
  expect(server?.requests[0]?.headers).not.toHaveProperty('x-api-key');
});

test('the key may stand under another name', async () => {
  await ask(['fine'], {}, {}, { keyVariable: 'MY_KEY', env: { MY_KEY: 'secret' } });
  expect(server?.requests[0]?.headers['x-api-key']).toBe('secret');
});

test('a key that was named has to be there, wherever the model is', async () => {
  const result = await ask(['fine'], {}, {}, { keyVariable: 'MY_KEY', env: { MY_KEY: '' } });
  expect(result).toMatchObject({ code: 'AUTH_REQUIRED', reason: expect.stringContaining('MY_KEY') });
  expect(server?.requests).toEqual([]);
});

test('a materia says which interface is spoken at its address, and where its key stands', async () => {
  server = await modelServer({ answers: ['fine', 'fine'] });
  const materia = { type: 'agent', runner: 'openai', tools: 'none', model: 'm', thinking: null };
  process.env.BATON_TEST_KEY = 'of-another-provider';
  onTestFinished(() => void delete process.env.BATON_TEST_KEY);
  const place = { ...PLACE, attemptDir: join(mkdtempSync(join(tmpdir(), 'baton-api-')), 'c-1.1') };
  onTestFinished(() => rmSync(dirname(place.attemptDir), { recursive: true }));
  for (const wire of ['responses', 'chat'] as const) {
    const own = { ...materia, baseUrl: `${server.url}/v1`, wire, keyVariable: 'BATON_TEST_KEY' };
    await agentRunner(own as unknown as AgentMateria).run(
      packet({ materia: own }),
      place,
      new AbortController().signal,
    );
  }
  expect(server.requests.map(({ protocol }) => protocol)).toEqual(['responses', 'chat']);
  expect(server.requests[0]?.headers.authorization).toBe('Bearer of-another-provider');
});

test('a stream that falls silent is given up, before its turn is over', async () => {
  const result = await ask([{ stall: 'during' }], { silenceMaxMs: 100 });
  expect(result).toMatchObject({ kind: 'fault', fault: 'transport', code: 'MODEL_SILENT' });
});

test('an answer that is too long already is not waited for', async () => {
  const result = await ask([{ stall: 'during', text: 'x'.repeat(10_000) }], {}, { timeoutMs: 10_000 });
  expect(result).toMatchObject({ kind: 'output', output: 'x'.repeat(1_001) });
});

test.each<[string, Answers]>([
  ['before', [{ cut: 'before' }]],
  ['during', [{ cut: 'during' }]],
])('a connection that is cut %s the answer', async (_when, answers) => {
  expect(await ask(answers)).toMatchObject({ kind: 'fault', fault: 'transport', code: 'PROVIDER_UNREACHABLE' });
});

test('nobody there', async () => {
  const gone = await modelServer({ answers: [] });
  await gone.close();
  const runner = apiRunner(openai, { baseUrl: gone.url, env: NO_KEYS }, { retry: NO_RETRY });
  const result = await runner.run(packet(), PLACE, new AbortController().signal);
  expect(result).toMatchObject({ code: 'PROVIDER_UNREACHABLE', reason: expect.stringContaining('ECONNREFUSED') });
});

test('a wait that is longer than allowed is told instead of made', async () => {
  const retry = { retriesMax: 3, firstMs: 1, waitMaxMs: 1_000 };
  const result = await ask([{ status: 429, retryAfterSeconds: 60 }], { retry });
  const reason = expect.stringContaining('it asks to wait 60 s');
  expect(result).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 60_000, reason });
  expect(server?.requests).toHaveLength(1);
});

test('retries are bounded', async () => {
  const result = await ask(() => ({ status: 500 }), { retry: { retriesMax: 2, firstMs: 1, waitMaxMs: 10 } });
  expect(result).toMatchObject({ code: 'PROVIDER_ERROR' });
  expect(server?.requests).toHaveLength(3);
});

test('what an earlier process asked is lost with it', async () => {
  const runner = apiRunner(openai);
  expect(await runner.recover(packet(), PLACE, new AbortController().signal)).toMatchObject({
    kind: 'lost',
    mayHaveRun: true,
  });
});

test('what the tries before the last one used counts too', async () => {
  const usage = { input: 1_000, output: 1_000 };
  const broken = { type: 'overloaded_error', message: 'Overloaded' };
  server = await modelServer({ answers: ['x'] });
  const fetched = globalThis.fetch;
  const events = (last: object) =>
    [
      {
        type: 'message_start',
        message: { model: 'm', usage: { input_tokens: usage.input, output_tokens: usage.output } },
      },
      last,
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('');
  const streams = [
    { type: 'error', error: broken },
    { type: 'error', error: broken },
  ];
  globalThis.fetch = async (...args) => {
    const next = streams.shift();
    return next ? new Response(events(next)) : fetched(...args);
  };
  try {
    const retry = { retriesMax: 3, firstMs: 1, waitMaxMs: 10 };
    const runner = apiRunner(anthropic, { baseUrl: server.url, env: NO_KEYS }, { retry });
    const result = await runner.run(packet(), PLACE, new AbortController().signal);
    expect(result).toMatchObject({ kind: 'output', output: 'x', usage: { input: 2_010, output: 2_001 } });
  } finally {
    globalThis.fetch = fetched;
  }
});

test.each([
  ['anthropic', anthropic, ''],
  ['openai', openai, '/v1'],
  ['openai chat', openai, '/v1'],
] as const)('%s: an answer that ended at its limit of length is told to be cut', async (name, api, path) => {
  server = await modelServer({ answers: [{ text: 'this text ends in the midd', cutShort: true }, 'whole'] });
  const wire = name === 'openai' ? ({ wire: 'responses' } as const) : {};
  const runner = apiRunner(api, { baseUrl: `${server.url}${path}`, env: NO_KEYS, ...wire }, { retry: NO_RETRY });
  const ran = () => runner.run(packet(), PLACE, new AbortController().signal);
  expect(await ran()).toMatchObject({ kind: 'output', cutShort: true });
  expect(await ran()).not.toHaveProperty('cutShort');
});

/** One that answers as it is told, and a second one beside it; both note what they are sent. */
async function elsewhere(answer: (response: ServerResponse, beside: string) => void) {
  const got: string[] = [];
  const open = async (serve: (response: ServerResponse) => void) => {
    const one = createServer((request, response) => {
      got.push(`${request.url} ${request.headers['x-api-key'] ?? ''}`);
      request.resume().on('end', () => serve(response));
    });
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void one.close());
    return `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
  };
  const beside = await open((response) => response.end());
  return { got, beside, url: await open((response) => answer(response, beside)) };
}

test('a redirect is not followed: neither the key nor the brief goes anywhere else', async () => {
  const { got, beside, url } = await elsewhere((response, to) =>
    response.writeHead(307, { location: `${to}/v2?token=sk-verysecret1234567890` }).end(),
  );
  const runner = apiRunner(anthropic, { baseUrl: url, env: { ANTHROPIC_API_KEY: 'k' } }, { retry: NO_RETRY });
  const result = await runner.run(packet(), PLACE, new AbortController().signal);
  const reason = expect.stringContaining(`it pointed to ${beside}/v2 (status 307), which is not followed`);
  expect(result).toMatchObject({ kind: 'fault', fault: 'refused', code: 'REQUEST_REFUSED', reason });
  expect(JSON.stringify(result)).not.toContain('verysecret');
  expect(got).toEqual(['/v1/messages k']);
});

const SECRET = `ghp_${'a1B2'.repeat(9)}`;

test.each([
  ['text/html', '<html>\n  <h1>Sign in: authentication</h1>', 'REQUEST_REFUSED', 'text/html where a stream'],
  ['application/json', '{"choices":[]}', 'REQUEST_REFUSED', 'beginning "{\\"choices\\":[]}"'],
  ['application/json', '{"error":{"type":"overloaded_error","message":"busy"}}', 'PROVIDER_ERROR', 'busy'],
  ['text/html', `${'x '.repeat(100)}`, 'REQUEST_REFUSED', `"${'x '.repeat(40)}…"`],
  ['text/html', `${'y'.repeat(60)} ${SECRET}`, 'REQUEST_REFUSED', 'beginning'],
  ['text/event-stream', 'data: {"type":', 'PROVIDER_UNREACHABLE', 'closed before'],
  ['text/html', '', 'PROVIDER_UNREACHABLE', 'closed before'],
])('an answer of %s without a stream, %j: %s', async (type, text, code, said) => {
  const { url } = await elsewhere((response) => response.writeHead(200, { 'content-type': type }).end(text));
  const runner = apiRunner(openai, { baseUrl: url, env: NO_KEYS }, { retry: NO_RETRY });
  const result = await runner.run(packet(), PLACE, new AbortController().signal);
  expect(result).toMatchObject({ kind: 'fault', code, reason: expect.stringContaining(said) });
  expect(JSON.stringify(result)).not.toContain(SECRET.slice(0, 12));
});

test('what no attempt can use counts as nothing, and is told', async () => {
  const chunk = {
    choices: [{ delta: { content: 'fine' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1e308, completion_tokens: 7 },
  };
  const { url } = await elsewhere((response) => response.end(`data: ${JSON.stringify(chunk)}\n\n`));
  const runner = apiRunner(openai, { baseUrl: url, env: NO_KEYS }, { retry: NO_RETRY });
  const result = await runner.run(packet(), PLACE, new AbortController().signal);
  expect(result).toMatchObject({ kind: 'output', output: 'fine', usage: { input: 0, output: 7 } });
  expect(result).toMatchObject({ agent: { warnings: [expect.stringContaining('a use of 1e+308 input tokens')] } });
});
