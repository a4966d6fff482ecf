// How a model is asked over HTTP: what is refused before anything is sent, and when a stream is given up.
import { afterEach, expect, test } from 'vitest';
import type { Place } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { type Answers, type ModelServer, modelServer } from '../testing/index.ts';
import { anthropic } from './anthropic.ts';
import { type ApiRunnerOptions, apiRunner } from './api-runner.ts';
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
