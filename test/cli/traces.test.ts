// Traces are sent where the variables of OpenTelemetry say so: a span for the cast and one for each attempt, and the context of
// an attempt goes to what runs in it.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, always, batonProcess, flow, json, project } from './baton.ts';

const TEAM = flow(
  { Build: { ...agent, model: 'fable-1' }, Where: { type: 'utility', command: ['printenv', 'TRACEPARENT'] } },
  {
    'Socket-1': { materia: 'Build', parse: 'json', label: 'build', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Where', parse: 'text', label: 'where' },
  },
);
const ANSWERS = {
  Build: ['no json', { $turn: { output: { context: 'built' }, usage: { input: 120, output: 30, cost: 0.01 } } }],
};

type Attribute = {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
};
type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
} & {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: JsonObject;
  readonly attributes: readonly Attribute[];
};

/** A collector on loopback: what it was sent. */
async function collector(status = 200) {
  const got: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part;
    });
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const spans = () =>
    got.flatMap(({ body }) =>
      (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap((resource) =>
        resource.scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got, spans };
}

const files = { '.baton/config.json': { ...TEAM, activeLoadout: 'L' }, 'agents.json': ANSWERS };
const CAST = ['cast', '--json', '--turns', '--in-place', '--agents', 'agents.json', 'Build the secret thing'];

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

test('a cast and its attempts are spans of one trace, and what runs in an attempt goes on with it', async () => {
  const { url, got, spans } = await collector();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,x-other=1',
    OTEL_SERVICE_NAME: 'team',
  };
  const ran = json(await batonProcess(project(files), CAST, { env })) as JsonObject & { turns: readonly JsonObject[] };
  expect(ran.status).toBe('completed');
  expect(got[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-key': 'a b', 'x-other': '1' } });
  expect(got[0]?.body).toContain('{"key":"service.name","value":{"stringValue":"team"}}');

  const [first, second, where, cast] = spans();
  if (!first || !second || !where || !cast) throw new Error('spans are missing');
  expect(spans().map(({ name }) => name)).toEqual([
    'invoke_agent build',
    'invoke_agent build',
    'execute_tool where',
    'invoke_workflow L',
  ]);
  expect(new Set(spans().map(({ traceId }) => traceId))).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]));
  expect(new Set(spans().map(({ spanId }) => spanId)).size).toBe(4);
  for (const { parentSpanId } of [first, second, where]) expect(parentSpanId).toBe(cast.spanId);
  expect(cast).not.toHaveProperty('parentSpanId');
  expect(first.status).toEqual({ code: 2, message: 'NOT_JSON' });
  expect(attributesOf(first)).toMatchObject({ 'baton.outcome': 'refused', 'error.type': 'NOT_JSON' });
  expect(attributesOf(second)).toEqual({
    ...{ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'build', 'gen_ai.agent.id': 'Build' },
    ...{ 'gen_ai.conversation.id': ran.cast, 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': 'fable-1' },
    ...{ 'gen_ai.usage.input_tokens': 120, 'gen_ai.usage.output_tokens': 30 },
    ...{ 'baton.turn': 1, 'baton.attempt': 2, 'baton.socket': 'Socket-1', 'baton.outcome': 'accepted' },
  });
  expect(attributesOf(cast)).toMatchObject({ 'gen_ai.workflow.name': 'L', 'baton.status': 'completed' });
  for (const span of spans()) expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
  // The process of the utility names its own attempt as what it belongs to.
  expect(String(ran.turns.at(-1)?.output).trim()).toBe(`00-${where.traceId}-${where.spanId}-01`);
  // What people and agents said is theirs.
  expect(got.map(({ body }) => body).join()).not.toMatch(/secret thing|no json/);
});

test.each<[string, number | null]>([
  ['a collector that refuses', 500],
  ['a collector that is not there', null],
])('%s is reported once, and the cast completes', async (_, status) => {
  const url = status === null ? 'http://127.0.0.1:9' : (await collector(status)).url;
  const { code, stderr } = await batonProcess(project(files), CAST, {
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url },
  });
  expect(code).toBe(0);
  expect(stderr.match(/No traces were sent to/g)).toHaveLength(1);
});

test.each<[string, NodeJS.ProcessEnv]>([
  ['without an endpoint', {}],
  ['where the variables switch it off', { OTEL_SDK_DISABLED: 'true' }],
])('%s nothing is traced', async (_, more) => {
  const { url, got } = await collector();
  const env = more.OTEL_SDK_DISABLED ? { ...more, OTEL_EXPORTER_OTLP_ENDPOINT: url } : more;
  // `printenv` of a variable that is not set fails.
  const ran = json(await batonProcess(project(files), CAST, { env }));
  expect([ran.status, got]).toEqual(['failed', []]);
});
