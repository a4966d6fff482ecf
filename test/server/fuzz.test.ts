// Every operation and route that the OpenAPI document names is called with what fits its schemas, what nearly fits, and what
// nobody should send. Whatever comes, the answer is a verdict or what the document says, and never a fault of the server.
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODES } from '../../src/kernel/codes.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { packet } from '../../src/kernel/ledger/fixtures/book.ts';
import { openApiOf } from '../../src/server/openapi.ts';
import { put, removeProject } from '../cli/baton.ts';
import { BEARER, castIn, forged, LINE, type Served, servedUntilClosed } from './serving.ts';

type Schema = JsonObject & {
  readonly type?: string;
  readonly enum?: readonly Json[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly examples?: readonly Json[];
  readonly pattern?: string;
};
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly schema?: Schema;
  readonly content?: JsonObject;
};
type Called = { readonly parameters?: readonly Parameter[]; readonly requestBody?: JsonObject };

const { paths } = openApiOf('0') as unknown as { paths: Readonly<Record<string, Readonly<Record<string, Called>>>> };
const CALLS = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, called]) => [method.toUpperCase(), path, called] as const),
);
const RUNS = Number(process.env.FUZZ_RUNS ?? 24);
/** They go on until something happens; a caller that leaves is no fault. */
const LEAVE_AFTER_MS = 1_500;

let at: Served;
let cast = '';

beforeAll(async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-fuzz-')));
  mkdirSync(join(dir, '.baton'));
  put(dir, { '.baton/config.json': LINE, 'agents.json': { A: ['one', '$repeat'], B: ['two', '$repeat'] } });
  cast = await castIn(dir);
  mkdirSync(join(dir, 'src'));
  writeFileSync(join(dir, 'src/a.txt'), 'a\n');
  mkdirSync(join(dir, 'page'));
  writeFileSync(join(dir, 'page/index.html'), '<!doctype html>');
  at = await servedUntilClosed(dir, { requestsPerSecond: 1e6 });
  await at.ask('task.create', { packet: packet('T-1', { lock_scope: ['src'] }) as unknown as JsonObject });
});
afterAll(async () => {
  await at?.close();
  if (at) removeProject(at.dir);
});

const HOSTILE = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\u202egpj',
    '../../etc/passwd',
    '/etc/passwd',
    '..%2f..%2f',
    'C:\\x',
    '-',
    '--',
    '--help',
    '$(id)',
    '`id`',
  ],
  ...[
    "'; drop table facts; --",
    '<script>alert(1)</script>',
    '{{state}}',
    '%',
    '%zz',
    '\ud800',
    '💥',
    'x'.repeat(5_000),
    'NaN',
    '__proto__',
  ],
  ...[
    'constructor',
    'latest',
    'T-1',
    'user:ann',
    'sha256:',
    `sha256:${'0'.repeat(64)}`,
    'P-00000000',
    '1',
    '0',
    '-1',
    '1e309',
    'Socket-1',
  ],
];
const text = fc.oneof(fc.constantFrom(...HOSTILE), fc.constant('@cast'), fc.string({ unit: 'binary', maxLength: 40 }));
const count = fc.constantFrom(0, 1, 2, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 4_294_967_296);
const anything: fc.Arbitrary<Json> = fc.oneof(
  text,
  count,
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>,
);

/** Mostly what the schema asks for, now and then something else. */
function valueFor(schema: Schema): fc.Arbitrary<Json> {
  const fitting = (): fc.Arbitrary<Json> => {
    if (schema.enum) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case 'boolean':
        return fc.boolean();
      case 'integer':
      case 'number':
        return count;
      case 'array':
        return fc.array(schema.items ? valueFor(schema.items) : text, { maxLength: 4 });
      case 'object':
        return schema.properties
          ? objectOf(schema)
          : (fc.dictionary(text, anything, { maxKeys: 4 }) as fc.Arbitrary<Json>);
      case 'string':
        return text;
      default:
        return anything;
    }
  };
  const known = schema.examples?.length ? [{ weight: 3, arbitrary: fc.constantFrom(...schema.examples) }] : [];
  return fc.oneof(...known, { weight: 4, arbitrary: fitting() }, { weight: 1, arbitrary: anything });
}

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<JsonObject> {
  const fields = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueFor(schema)])),
    { requiredKeys: required.filter((name) => Object.hasOwn(properties, name)) as never[] },
  ) as fc.Arbitrary<JsonObject>;
  const more = fc.dictionary(text, anything, { maxKeys: 1 }) as fc.Arbitrary<JsonObject>;
  return fc.oneof(
    { weight: 8, arbitrary: fields },
    { weight: 1, arbitrary: fc.tuple(fields, more).map(([own, others]) => ({ ...others, ...own })) },
    { weight: 1, arbitrary: more },
  );
}

/** What is called: the path with its parameters, the headers, and a body. */
function callOf(path: string, { parameters = [], requestBody }: Called) {
  const schemaOf = ({ schema, content }: Parameter): Schema =>
    schema ?? (content as Record<string, { schema: Schema }> | undefined)?.['application/json']?.schema ?? {};
  const given = fc.record(Object.fromEntries(parameters.map((each) => [each.name, valueFor(schemaOf(each))])), {
    requiredKeys: parameters.filter((each) => each.in === 'path').map(({ name }) => name),
  });
  const { content } = (requestBody ?? {}) as { content?: { 'application/json': { schema: Schema } } };
  const body = content
    ? fc.oneof(
        { weight: 9, arbitrary: objectOf(content['application/json'].schema).map((value) => JSON.stringify(value)) },
        {
          weight: 1,
          arbitrary: fc.oneof(
            anything.map((value) => JSON.stringify(value)),
            text,
          ),
        },
      )
    : fc.constant(null);
  return fc.tuple(given, body).map(([values, sent]) => {
    const query = new URLSearchParams();
    const headers: Record<string, string> = {};
    let address = path;
    for (const each of parameters) {
      const value = values[each.name];
      if (value === undefined) continue;
      const parts = (Array.isArray(value) ? value : [value]).map((part) =>
        typeof part === 'string' ? part : JSON.stringify(part),
      );
      if (each.in === 'path')
        address = address.replace(`{${each.name}}`, encodeURIComponent(wellFormed(parts[0] ?? '')));
      else if (each.in === 'header') headers[each.name] = (parts[0] ?? '').replace(/[^\x20-\x7e]/g, '');
      else for (const part of parts) query.append(each.name, part);
    }
    const search = query.size === 0 ? '' : `?${query}`;
    return {
      address: `${address}${search}`.replaceAll('%40cast', cast).replaceAll('@cast', cast),
      headers,
      sent: sent?.replaceAll('@cast', cast),
    };
  });
}

const wellFormed = (value: string) => value.toWellFormed();

/** The refusals that say that something outside of the server is at fault. */
const OUTSIDE = new Set(Object.entries(CODES).flatMap(([code, { http }]) => (http > 500 ? [code] : [])));

test.each(CALLS)('%s %s', async (method, path, called) => {
  await fc.assert(
    fc.asyncProperty(callOf(path, called), async ({ address, headers, sent }) => {
      const signal = AbortSignal.timeout(LEAVE_AFTER_MS);
      try {
        const answer = await fetch(at.url + address, {
          ...{ method, signal, headers: { ...BEARER, ...headers } },
          ...(typeof sent === 'string' ? { body: sent } : {}),
        });
        const type = answer.headers.get('content-type') ?? '';
        if (type.includes('event-stream')) return await answer.body?.cancel();
        const body = await answer.text();
        const { code = 'OK' } = type.includes('json') ? (JSON.parse(body) as { code?: string }) : {};
        if (code !== 'OK') expect(Object.keys(CODES)).toContain(code);
        if (answer.status >= 500) expect(OUTSIDE).toContain(code);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }),
    { numRuns: RUNS },
  );
  expect((await at.get('/healthz')).status).toBe(200);
});

test.each<[string, string]>([
  ['dots', '/../../../../etc/passwd'],
  ['encoded dots', '/%2e%2e/%2e%2e/etc/passwd'],
  ['encoded slashes', '/..%2f..%2fetc%2fpasswd'],
  ['backslashes', '/..\\..\\etc\\passwd'],
  ['below the assets', '/assets/../../../package.json'],
  ['encoded twice', '/assets/%252e%252e/%252e%252e/package.json'],
  ['a NUL', '/assets/x%00.js'],
  ['not an encoding', '/%zz'],
  ['an address of another server', 'http://elsewhere.example/etc/passwd'],
  ['a text of another file', '/api/facts/1/texts/..%2f..%2flog.sqlite'],
  ['a cast of another folder', '/api/casts/..%2f..%2f/view'],
])('no file is reached by a path with %s', async (_, path) => {
  const { status, body } = await forged(at.port, path, {});
  expect(status).toBeLessThan(500);
  expect(body).not.toMatch(/root:|"devDependencies"|SQLite format/);
});
