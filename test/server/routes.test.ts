// What the server answers: operations, entries, texts, the page.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, put, until } from '../cli/baton.ts';
import { BEARER, castIn, eventsUntil, isHead, lineProject, served } from './serving.ts';

test('a large answer goes compressed to a caller that takes it so, a small one as it is', async () => {
  const { get } = await served();
  const encodingOf = async (path: string, accepts: string) => {
    const answer = await get(path, { ...BEARER, 'accept-encoding': accepts });
    expect(await answer.json()).toBeTypeOf('object');
    return answer.headers.get('content-encoding');
  };
  expect(await encodingOf('/api', 'gzip, deflate')).toBe('gzip');
  expect(await encodingOf('/api', 'identity')).toBe(null);
  expect(await encodingOf('/api/status', 'gzip')).toBe(null);
});

test('a caller learns who it is, where it is, and what it may do', async () => {
  const { get, dir } = await served();
  const about = (await (await get('/api')).json()) as JsonObject & { operations: readonly JsonObject[] };
  expect(about).toMatchObject({ me: { name: 'user:ann', role: 'admin' }, workspace: { dir }, head: { seq: 0 } });
  const start = about.operations.find(({ name }) => name === 'cast.start');
  expect(start).toMatchObject({ act: 'steer', cli: 'cast', may: true, fields: { request: { required: true } } });
  // No cast is driven in the process of the server.
  expect(start?.fields).not.toHaveProperty('detach');
});

test('a cast is started by POST, driven by a process of its own, and looked at by GET', async () => {
  const { get, ask } = await served(lineProject());
  const started = await ask('cast.start', { request: 'do it', agents: 'agents.json', inPlace: true });
  expect(started).toMatchObject({ allow: true, code: 'OK' });
  const { cast } = started.details;
  await until('its end', async () => {
    const shown = (await (await get(`/api/cast.show?cast=${String(cast)}`)).json()) as JsonObject;
    return (shown.details as JsonObject).status === 'completed';
  });
  const listed = (await (await get('/api/cast.list?limit=5')).json()) as JsonObject;
  expect(listed.details).toMatchObject({ count: 1, casts: [{ cast, status: 'completed', request: 'do it' }] });
});

test('the log is read from its end, also before an entry that there is not yet', async () => {
  const dir = lineProject();
  await castIn(dir);
  const { ask } = await served(dir);
  const seqs = async (which: JsonObject) => {
    const { entries } = (await ask('log', which)).details as unknown as { entries: readonly { seq: number }[] };
    return entries.map(({ seq }) => seq);
  };
  const last = await seqs({ last: 3 });
  expect(last).toHaveLength(3);
  expect(await seqs({ last: 3, before: 2 ** 31 })).toEqual(last);
  expect(await seqs({ last: 2, before: last[2] ?? 0 })).toEqual(last.slice(0, 2));
  const kindsOf = async (which: JsonObject) => {
    const { entries } = (await ask('log', which)).details as unknown as {
      entries: readonly { fact: { kind: string } }[];
    };
    return [...new Set(entries.map(({ fact }) => fact.kind))];
  };
  for (const which of [{}, { last: 9 }, { after: 0 }, { cast: 'latest' }, { cast: 'latest', last: 9 }])
    expect(await kindsOf({ ...which, kind: 'turn.acc' })).toEqual(['turn.accepted']);
});

test.each<[string, string, string, number, string]>([
  ['GET', '/api/nothing', '', 404, 'UNKNOWN_ROUTE'],
  ['POST', '/api/nothing', '{}', 404, 'UNKNOWN_ROUTE'],
  ['POST', '/api/__proto__', '{}', 404, 'UNKNOWN_ROUTE'],
  ['PUT', '/api/status', '{}', 404, 'UNKNOWN_ROUTE'],
  ['GET', '/api/cast.start?request=x', '', 405, 'METHOD_NOT_ALLOWED'],
  ['POST', '/api/status', '[]', 400, 'BAD_USAGE'],
  ['POST', '/api/status', '{"no', 400, 'BAD_USAGE'],
  ['POST', '/api/status', '{"__proto__":{"a":1}}', 400, 'BAD_USAGE'],
  ['POST', '/api/validate', `{"input":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 400, 'BAD_USAGE'],
  ['POST', '/api/status', '{"nonsense":1}', 400, 'BAD_USAGE'],
  ['GET', '/api/status?nonsense=1', '', 400, 'BAD_USAGE'],
  ['GET', '/api/cast.list?limit=many', '', 400, 'BAD_USAGE'],
  ['GET', '/api/cast.list?limit=1&limit=2', '', 400, 'BAD_USAGE'],
  ['GET', '/api/cast.show?cast=none', '', 404, 'UNKNOWN_CAST'],
  ['GET', '/api/events?after=x', '', 400, 'BAD_USAGE'],
  ['GET', '/api/casts/none/entries', '', 404, 'UNKNOWN_CAST'],
  ['POST', '/api/cast.start', '{"request":"x","file":"/etc/passwd"}', 400, 'BAD_USAGE'],
  ['POST', '/api/cast.start', '{"request":"x","file":"../other.json"}', 400, 'BAD_USAGE'],
  ['POST', '/api/cast.start', '{"request":"x","file":".baton/state/log.sqlite"}', 400, 'BAD_USAGE'],
])('%s %s %s is answered with %i %s', async (method, path, body, status, code) => {
  const { url } = await served();
  const headers = { authorization: 'Bearer the-token-of-the-person-who-started-it' };
  const answer = await fetch(url + path, { method, headers, ...(body === '' ? {} : { body }) });
  expect([answer.status, ((await answer.json()) as JsonObject).code]).toEqual([status, code]);
});

test('a body that is too large is refused', async () => {
  const { post } = await served();
  const answer = await post('status', { nonsense: 'x'.repeat(17 * 1_048_576) });
  expect(answer.status).toBe(413);
});

test('long texts come with their beginning, and whole by their digest, or in parts', async () => {
  const long = `It begins. ${'ä'.repeat(400)} It ends.`;
  const dir = lineProject([long]);
  const cast = await castIn(dir);
  const { get, url } = await served(dir);
  const page = (await (await get(`/api/casts/${cast}/entries`)).json()) as { entries: readonly JsonObject[] };
  const accepted = page.entries.map(({ fact }) => fact as JsonObject).find(({ kind }) => kind === 'turn.accepted');
  const output = accepted?.output as { digest: string; seq: number; bytes: number; preview: string };
  expect(output).toMatchObject({ bytes: Buffer.byteLength(long), preview: long.slice(0, 200) });
  const events = await eventsUntil(`${url}/api/events?after=0&cast=${cast}`, isHead);
  expect(events.flatMap(({ event, data }) => (event === 'entry' ? [data] : []))).toEqual(page.entries);

  const path = `/api/facts/${output.seq}/texts/${output.digest}`;
  const whole = await get(path);
  expect(await whole.text()).toBe(long);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': expect.stringContaining('immutable'),
  });
  const bearer = { authorization: 'Bearer the-token-of-the-person-who-started-it' };
  const bytes = Buffer.from(long);
  for (const [range, status, text] of [
    ['bytes=0-9', 206, 'It begins.'],
    ['bytes=-8', 206, 'It ends.'],
    [`bytes=${bytes.length - 8}-`, 206, 'It ends.'],
    [`bytes=${bytes.length}-`, 416, ''],
    ['bytes=9-2', 416, ''],
    ['lines=1-2', 200, long],
  ] as const) {
    const part = await get(path, { ...bearer, range });
    expect([range, part.status, await part.text()]).toEqual([range, status, text]);
  }
  for (const wrong of [
    `/api/facts/2/texts/${output.digest}`,
    `/api/facts/${output.seq}/texts/sha256:${'0'.repeat(64)}`,
  ])
    expect((await get(wrong)).status).toBe(404);
  expect((await baton(dir, ['gc', '--digest', output.digest])).code).toBe(0);
  const erased = await get(path);
  expect([erased.status, ((await erased.json()) as JsonObject).code]).toEqual([410, 'TEXT_ERASED']);
});

test('entries come page by page', async () => {
  const dir = lineProject();
  const cast = await castIn(dir);
  const { get } = await served(dir);
  const all = (await (await get(`/api/casts/${cast}/entries?limit=1000`)).json()) as { entries: { seq: number }[] };
  const seen: number[] = [];
  for (let after = 0; ; after = seen.at(-1) ?? 0) {
    const { entries } = (await (await get(`/api/casts/latest/entries?after=${after}&limit=3`)).json()) as typeof all;
    if (entries.length === 0) break;
    seen.push(...entries.map(({ seq }) => seq));
  }
  expect(seen).toEqual(all.entries.map(({ seq }) => seq));
});

test('the page and its files are served, its views by the page itself, and nothing that is not a file of it', async () => {
  const dir = lineProject();
  put(dir, {
    'page/index.html': '<!doctype html><title>Baton</title>',
    'page/assets/a-1.js': 'let a = 1;',
    'page/.env': 'x',
  });
  const { get } = await served(dir);
  const none = {};
  for (const path of ['/', '/casts/latest', '/cast/latest/turn/18.1', '/inbox']) {
    const answer = await get(path, none);
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, '<!doctype html><title>Baton</title>']);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'");
  }
  const script = await get('/assets/a-1.js', none);
  expect([await script.text(), script.headers.get('content-type')]).toEqual([
    'let a = 1;',
    'text/javascript; charset=utf-8',
  ]);
  expect(script.headers.get('cache-control')).toContain('immutable');
  for (const path of [
    '/assets/none.js',
    '/.env',
    '/agents.json',
    '/%2e%2e/agents.json',
    '/..%2fagents.json',
    '/assets/..%5c..%5cagents.json',
  ])
    expect([path, (await get(path, none)).status]).toEqual([path, 404]);
});

test('a page that is built again is served again, and one that is not built says so', async () => {
  const { get, dir } = await served();
  expect((await get('/', {})).status).toBe(503);
  mkdirSync(join(dir, 'page'));
  writeFileSync(join(dir, 'page/index.html'), 'built');
  expect(await (await get('/', {})).text()).toBe('built');
});
