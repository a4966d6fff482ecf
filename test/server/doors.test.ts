// Who gets in, and who does not: forged names, pages of others, wrong tokens, agents, those that ask too often.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Role } from '../../src/access/rights.ts';
import { createToken } from '../../src/access/tokens.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { environment, project } from '../cli/baton.ts';
import { BEARER, castIn, forged, lineProject, served } from './serving.ts';

const EVERYWHERE = ['/', '/api', '/api/status', '/api/events', '/mcp', '/healthz'];

test.each<[string, Record<string, string>]>([
  ['a forged name (rebinding)', { host: 'baton.evil.example' }],
  ['a forged name with our port', { host: 'evil.example:PORT' }],
  ['a page of another site', { origin: 'https://evil.example' }],
  ['a page of another port of this machine', { origin: 'http://127.0.0.1:1' }],
  ['a page without an origin', { origin: 'null' }],
  ['a browser that says it comes from elsewhere', { 'sec-fetch-site': 'cross-site' }],
  ['a browser on another site of the same machine', { 'sec-fetch-site': 'same-site' }],
])('%s is refused everywhere, even with the token', async (_, headers) => {
  const { port } = await served();
  const meant = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', `${port}`)]),
  );
  for (const path of EVERYWHERE) {
    const { status, body } = await forged(port, path, meant);
    expect([path, status, body]).toEqual([path, 403, expect.stringContaining('FOREIGN_ORIGIN')]);
    if ('host' in headers) expect(body).toContain('call it by 127.0.0.1, or start it with --public-url');
  }
});

test('a link from elsewhere opens the page, and nothing else', async () => {
  const { port } = await served();
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect((await forged(port, '/casts/latest', link)).body).toContain('PAGE_NOT_BUILT');
  for (const path of ['/api', '/api/status', '/mcp']) expect((await forged(port, path, link)).status).toBe(403);
  for (const other of [
    { 'sec-fetch-dest': 'iframe' },
    { origin: 'https://evil.example' },
    { host: 'evil.example' },
    { 'sec-fetch-mode': 'no-cors' },
  ])
    expect((await forged(port, '/', { ...link, ...other })).status).toBe(403);
});

test('the page of a checkout is built on its first use, once', async () => {
  const dir = project();
  let builds = 0;
  let done: (why: string | null) => void = () => undefined;
  const buildPage = () => {
    builds += 1;
    return new Promise<string | null>((resolve) => {
      done = resolve;
    });
  };
  const { get } = await served(dir, { buildPage });
  for (const path of ['/', '/casts/latest']) {
    const answer = await get(path);
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringMatching(/<script src="\/being-built\.js">.*being built/s),
    ]);
  }
  expect(await (await get('/being-built.js')).text()).toContain('location.reload()');
  mkdirSync(join(dir, 'page'));
  writeFileSync(join(dir, 'page/index.html'), 'the page');
  done(null);
  expect(await (await get('/')).text()).toBe('the page');
  expect(builds).toBe(1);
});

test('a page that cannot be built is refused with the reason', async () => {
  const { get } = await served(project(), { buildPage: async () => 'vite is not there' });
  expect((await get('/')).status).toBe(503);
  expect(await (await get('/')).text()).toMatch(/PAGE_NOT_BUILT.*vite is not there/);
});

test('the page itself may call: its origin is that of the server', async () => {
  const { port } = await served();
  for (const name of ['127.0.0.1', 'localhost']) {
    const headers = { host: `${name}:${port}`, origin: `http://${name}:${port}`, 'sec-fetch-site': 'same-origin' };
    expect((await forged(port, '/api/status', headers)).status).toBe(200);
  }
});

test.each<[string, Record<string, string>, number, string]>([
  ['no token', {}, 401, 'TOKEN_UNKNOWN'],
  ['a wrong token', { authorization: 'Bearer wrong' }, 401, 'TOKEN_UNKNOWN'],
  ['another scheme', { authorization: `Basic ${BEARER.authorization.slice(7)}` }, 401, 'TOKEN_UNKNOWN'],
  ['a token in a cookie', { cookie: `token=${BEARER.authorization.slice(7)}` }, 401, 'TOKEN_UNKNOWN'],
])('%s is refused, and it is told who was refused', async (_, headers, status, code) => {
  const { get, refused } = await served();
  for (const path of ['/api', '/api/status', '/api/events', `/api/facts/1/texts/sha256:${'0'.repeat(64)}`, '/mcp']) {
    const answer = await get(path, headers);
    expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([path, status, 'Bearer']);
    expect(await answer.text()).toContain(code);
  }
  expect(refused.map((verdict) => verdict.code)).toEqual(Array.from({ length: 5 }, () => code));
});

test('a token in the address counts for nothing', async () => {
  const { get } = await served();
  expect((await get(`/api/status?token=${BEARER.authorization.slice(7)}`, {})).status).toBe(401);
});

test('who guesses tokens is slowed down, and the right token is let in all the same', async () => {
  const { get } = await served();
  const guess = (number: number) => get('/api/status', { authorization: `Bearer guess-${number}` });
  const statuses = (await Promise.all(Array.from({ length: 60 }, (_, number) => guess(number)))).map(
    ({ status }) => status,
  );
  expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(20);
  expect(statuses).toContain(429);
  expect((await get('/api/status')).status).toBe(200);
});

test('who asks too often waits', async () => {
  const { get } = await served(project(), { requestsPerSecond: 1 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => get('/api/status')));
  const late = answers.filter(({ status }) => status === 429);
  expect(late.length).toBeGreaterThan(0);
  expect(late.every(({ headers }) => Number(headers.get('retry-after')) >= 1)).toBe(true);
});

test.each<[Role, string, JsonObject, number, string]>([
  ['viewer', 'cast.list', {}, 200, 'OK'],
  ['viewer', 'cast.start', { request: 'x' }, 403, 'ROLE_TOO_LOW'],
  ['viewer', 'cast.abort', { all: true }, 403, 'ROLE_TOO_LOW'],
  ['viewer', 'task.move', { task: 'T-1', to: 'done' }, 403, 'ROLE_TOO_LOW'],
  ['viewer', 'approve', { id: 'P-00000000' }, 403, 'ROLE_TOO_LOW'],
  ['viewer', 'token.create', { role: 'admin' }, 403, 'ROLE_TOO_LOW'],
  ['operator', 'approve', { id: 'P-00000000' }, 403, 'ROLE_TOO_LOW'],
  ['operator', 'cast.answer', { cast: 'latest', answer: 'x' }, 403, 'ROLE_TOO_LOW'],
  ['approver', 'approve', { id: 'P-00000000' }, 404, 'UNKNOWN_APPROVAL'],
  ['approver', 'token.list', {}, 403, 'ROLE_TOO_LOW'],
])('a %s asks for %s %j: %i %s', async (role, name, input, status, code) => {
  const dir = lineProject();
  await castIn(dir);
  const { post, get } = await served(dir);
  const made = createToken(environment(dir), { role, name: null, expires: null }, Date.now());
  if (!made.ok) throw new Error(made.verdict.reason);
  const bearer = { authorization: `Bearer ${made.value.secret}` };
  const answer = await post(name, input, bearer);
  expect([answer.status, ((await answer.json()) as JsonObject).code]).toEqual([status, code]);
  const about = (await (await get('/api', bearer)).json()) as { operations: { name: string; may: boolean }[] };
  const may = about.operations.find((row) => row.name === name)?.may;
  expect(may).toBe(code !== 'ROLE_TOO_LOW');
});

test('an agent of a cast at the other end is refused the page, the API and the stream, with and without a token', async () => {
  const { get, refused } = await served(lineProject(), { isAgentAt: () => true });
  for (const path of ['/', '/api', '/api/status', '/api/events'])
    for (const headers of [BEARER, {}]) {
      const answer = await get(path, headers);
      expect([path, answer.status, ((await answer.json()) as JsonObject).code]).toEqual([
        path,
        403,
        'APPROVER_IS_AGENT',
      ]);
    }
  expect(refused.every(({ code }) => code === 'APPROVER_IS_AGENT')).toBe(true);
});

test('a server that an agent started serves nobody by its own token', async () => {
  const here = { name: 'agent:A@c-1.1', kind: 'agent', role: null, attempt: null } as const;
  const { get } = await served(lineProject(), { here });
  expect((await get('/api/status')).status).toBe(403);
});
