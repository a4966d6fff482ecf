// Requests are traced where the variables of OpenTelemetry say so, as a part of the trace that the caller names.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { parentIn } from '../../src/server/request-traces.ts';
import { BEARER, castIn, lineProject, served } from './serving.ts';

type Span = JsonObject & {
  readonly name: string;
  readonly traceId: string;
  readonly attributes: readonly JsonObject[];
};

/** A collector on loopback, and the spans that it was sent. */
async function collector() {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part;
    });
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('every request is a span: its route, its status, and its place in the trace of the caller', async () => {
  const dir = lineProject();
  const cast = await castIn(dir, 'the secret request');
  const { url, spans } = await collector();
  const { get, post, close } = await served(dir, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
  await get(`/api/casts/${cast}/state?at=3`, { ...BEARER, traceparent: `00-${TRACE}-${SPAN}-01` });
  await post('cast.show', { cast: 'not-there' });
  await get('/api/status', { authorization: 'Bearer wrong-token' });
  await get('/api/status', { ...BEARER, traceparent: `00-${TRACE}-${SPAN}-00` });
  await close();
  expect(spans.map(({ name }) => name)).toEqual([
    'GET /api/casts/CAST/state',
    'POST /api/cast.show',
    'GET /api/status',
  ]);
  const [first, second, third] = spans;
  expect(first).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, kind: 2, status: {} });
  expect(first?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '200' } });
  expect(second).not.toHaveProperty('parentSpanId');
  expect(second?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(second?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '404' } });
  expect(third?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '401' } });
  for (const word of [cast, 'not-there', 'secret', 'wrong-token', BEARER.authorization.slice(7)])
    expect(JSON.stringify(spans)).not.toContain(word);
});

test('a collector that does not answer is reported once, and requests are answered', async () => {
  const said: string[] = [];
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
  const { get, close } = await served(lineProject(), { env, say: (line) => void said.push(line) });
  expect((await get('/api')).status).toBe(200);
  await close();
  expect(said).toEqual([expect.stringMatching(/^No traces were sent to 127.0.0.1:1: .+ The server goes on.$/)]);
});

test.each([
  [`00-${TRACE}-${SPAN}-01`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  [`00-${TRACE}-${SPAN}-00`, { traceId: TRACE, spanId: SPAN, isSampled: false }],
  [`cc-${TRACE}-${SPAN}-01-more`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  [`00-${TRACE}-${SPAN}-01-more`, null],
  [`ff-${TRACE}-${SPAN}-01`, null],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, null],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, null],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, null],
  ['', null],
])('the context %s', (header, context) => {
  expect(parentIn(header)).toEqual(context);
});
