// How a model is asked over HTTP: what is refused before anything is sent, and when a stream is given up.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { Place } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentMateria } from '../kernel/graph/config.ts';
import { type Answers, type ModelServer, modelServer } from '../testing/index.ts';
import { anthropic } from './anthropic.ts';
import { type ApiRunnerOptions, apiRunner } from './api-runner.ts';
import { agentRunner } from './index.ts';
import type { ApiSettings } from './model-api.ts';
import { openai } from './openai.ts';

let server: ModelServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const NO_KEYS = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' };
const NO_RETRY = { retriesMax: 0, firstMs: 1, waitMaxMs: 1 };
const PLACE = { cwd: '/', configDir: '/', attemptDir: '/s/attempts/c-1.1' } satisfies Place;
const packet = (more: object = {}, tools = 'none') =>
  ({
    brief: 'Do it.',
    timeoutMs: 30_000,
    maxOutputBytes: 1_000,
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
  expect(result).toMatchObject({ kind: 'fault', fault: 'transport', code: 'PROVIDER_UNREACHABLE' });
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
  expect(result).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 60_000 });
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
