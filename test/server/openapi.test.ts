// The OpenAPI document says what the server does: every operation, every route, schemas that can be used.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/app/operations/table.ts';
import { isObject, type Json, type JsonObject } from '../../src/kernel/json.ts';
import { openApiOf, ROUTES } from '../../src/server/openapi.ts';
import { BEARER, castIn, lineProject, served } from './serving.ts';

const document = openApiOf('1.2.3') as JsonObject & {
  paths: Record<string, Record<string, JsonObject>>;
  components: { schemas: JsonObject };
};

test('it has every operation, and GET for those that only look', () => {
  for (const [name, { act }] of Object.entries(OPERATIONS)) {
    const methods = Object.keys(document.paths[`/api/${name}`] ?? {});
    expect([name, methods.toSorted()]).toEqual([name, act === 'look' ? ['get', 'post'] : ['post']]);
  }
  const ids = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
  const body = JSON.stringify(document.paths['/api/cast.start']?.post?.requestBody);
  expect(JSON.parse(body)).toMatchObject({
    required: true,
    content: { 'application/json': { schema: { required: ['request'], additionalProperties: false } } },
  });
  // The server sets it.
  expect(body).not.toContain('"detach"');
});

test('its schemas can be used, and its references lead somewhere', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const walk = (value: Json | undefined): void => {
    if (Array.isArray(value)) for (const each of value) walk(each);
    if (!isObject(value)) return;
    if (typeof value.$ref === 'string') {
      const [, , kind = '', name = ''] = value.$ref.split('/');
      expect(Object.keys((document.components as unknown as Record<string, JsonObject>)[kind] ?? {})).toContain(name);
    }
    if (isObject(value.schema)) ajv.compile({ components: document.components, ...value.schema });
    for (const each of Object.values(value)) walk(each);
  };
  walk(document);
});

test('every route that it names is there, and the server sends it', async () => {
  const dir = lineProject();
  await castIn(dir);
  const { get } = await served(dir, { version: '1.2.3' });
  expect(await (await get('/api/openapi.json')).json()).toEqual(document);
  expect((await get('/api/openapi.json', {})).status).toBe(401);
  for (const { path, parameters, isOpen } of ROUTES) {
    const meant = parameters.reduce((made, { name, example }) => made.replace(`{${name}}`, String(example)), path);
    const answer = await get(meant, isOpen ? {} : BEARER);
    const type = answer.headers.get('content-type') ?? '';
    const body = type.includes('event-stream') ? '' : await answer.text();
    expect([path, answer.status < 500, body.includes('"code":"UNKNOWN_ROUTE"')]).toEqual([path, true, false]);
    if (type.includes('event-stream')) await answer.body?.cancel();
  }
});

test('the page for people is made from it, needs no token, and may load or run nothing', async () => {
  const { get } = await served();
  const answer = await get('/reference', {});
  const page = await answer.text();
  for (const path of Object.keys(document.paths)) expect(page).toContain(`<code>${path}</code>`);
  expect(page).not.toMatch(/<script|\son\w+=|https?:\/\/(?!127)/);
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /);
});
