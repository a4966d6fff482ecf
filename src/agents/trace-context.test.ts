// The context of an attempt follows from its name, and goes only where traces are wanted.
import { expect, onTestFinished, test } from 'vitest';
import type { Packet } from '../kernel/cast/packet.ts';
import { modelServer } from '../testing/index.ts';
import { anthropic } from './anthropic.ts';
import { apiRunner } from './api-runner.ts';
import { agentEnvironment } from './environment.ts';
import { spanIdOf, traceIdOf, traceparentOf, tracesEndpoint } from './trace-context.ts';

const AT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
const TURN = { cast: 'c', turn: 18, attempt: 2 };

test.each<[Record<string, string>, string | null]>([
  [{}, null],
  [AT, 'http://127.0.0.1:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h/otlp//' }, 'http://h/otlp/v1/traces'],
  [{ ...AT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x' }, 'http://t/x'],
  [{ ...AT, OTEL_SDK_DISABLED: 'true' }, null],
  [{ ...AT, OTEL_TRACES_EXPORTER: 'none' }, null],
])('%j sends traces to %s', (env, endpoint) => {
  expect(tracesEndpoint(env)).toBe(endpoint);
});

test('every process gives the same attempt the same ids, and others other ones', () => {
  expect(traceparentOf(AT, TURN)).toBe(`00-${traceIdOf('c')}-${spanIdOf('c', '18.2')}-01`);
  expect(traceparentOf(AT, TURN)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  const ids = [spanIdOf('c'), spanIdOf('c', '18.1'), spanIdOf('c', '18.2'), spanIdOf('d', '18.2')];
  expect(new Set(ids).size).toBe(4);
});

test('an agent gets it as a variable of its own, whatever was inherited', () => {
  const sources = { program: [], listed: [], set: {} };
  const place = { attemptDir: '/s/attempts/c-18.2', configDir: '/w/.baton' };
  const env = (inherited: Record<string, string>) =>
    agentEnvironment(inherited, sources, { ...TURN, task: null }, place);
  expect(env({ ...AT, TRACEPARENT: 'of another' }).TRACEPARENT).toBe(traceparentOf(AT, TURN));
  expect(env({})).not.toHaveProperty('TRACEPARENT');
});

test('a model API gets it as a header', async () => {
  const server = await modelServer({ answers: ['fine', 'fine'] });
  onTestFinished(() => server.close());
  const packet = {
    ...{ ...TURN, brief: 'Do it.', timeoutMs: 30_000, maxOutputBytes: 1_000, retriesMax: 0, modelSilenceMs: 600_000 },
    materia: { type: 'agent', runner: 'anthropic', tools: 'none', model: 'm', thinking: null },
    session: null,
  } as unknown as Packet;
  const place = { cwd: '/', configDir: '/', attemptDir: '/s/attempts/c-18.2' };
  const ask = () =>
    apiRunner(anthropic, { baseUrl: server.url, env: { ANTHROPIC_API_KEY: '' } }).run(
      packet,
      place,
      new AbortController().signal,
    );
  await ask();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = AT.OTEL_EXPORTER_OTLP_ENDPOINT;
  onTestFinished(() => void delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT);
  await ask();
  expect(server.requests.map(({ headers }) => headers.traceparent)).toEqual([undefined, traceparentOf(AT, TURN)]);
});
