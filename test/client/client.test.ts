// The client of a server: the operations as functions, refusals as values, and a stream that comes back by itself.

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { OPERATIONS } from '../../src/app/operations/table.ts';
import { type Client, connect, type StreamEvent } from '../../src/client/index.ts';
import { CHECKOUT, project, put, start } from '../cli/baton.ts';
import { castIn, lineProject, served, TOKEN } from '../server/serving.ts';
import { scan } from '../sources.ts';

const seqs = (events: readonly StreamEvent[]) =>
  events.flatMap((event) => (event.kind === 'entry' ? [event.entry.seq] : []));

/** Reads a stream until it is enough. */
async function readUntil(client: Client, after: number, isEnough: (events: readonly StreamEvent[]) => boolean) {
  const events: StreamEvent[] = [];
  for await (const event of client.events({ after })) {
    events.push(event);
    if (event.kind === 'end' || isEnough(events)) break;
  }
  return events;
}

test('an operation is a function with its own types', async () => {
  const dir = lineProject();
  const cast = await castIn(dir);
  const client = connect({ url: (await served(dir)).url, token: TOKEN });
  const listed = await client.cast.list({ limit: 5 });
  if (!listed.allow) throw new Error(listed.reason);
  expect(listed.details).toMatchObject({ count: 1, casts: [{ cast, status: 'completed' }] });
  expectTypeOf(listed.details.casts[0]?.status).toEqualTypeOf<
    'running' | 'paused' | 'waiting' | 'completed' | 'failed' | 'aborted' | undefined
  >();
  expectTypeOf(client.approve).parameter(0).toExtend<{ readonly id: string }>();
  expect(await client.status()).toMatchObject({ allow: true });
  expect(await client.perform('cast.show', { cast: 'latest' })).toMatchObject({ allow: true, details: { cast } });
  expect(await client.about()).toMatchObject({ allow: true, details: { me: { role: 'admin' }, workspace: { dir } } });
  // @ts-expect-error There is no such field.
  expect(await client.cast.list({ nonsense: 1 })).toMatchObject({ code: 'BAD_USAGE' });
});

test('every operation of the table is reached by its name', async () => {
  const asked: string[] = [];
  const client = connect({
    url: 'http://baton.example',
    token: 't',
    fetch: async (url) => {
      asked.push(String(url));
      return Response.json({ allow: true, code: 'OK', reason: 'ok', details: {} });
    },
  });
  for (const name of Object.keys(OPERATIONS)) {
    const found = name.split('.').reduce((at: unknown, part) => (at as Record<string, unknown>)[part], client);
    await (found as () => Promise<unknown>)();
  }
  expect(asked).toEqual(Object.keys(OPERATIONS).map((name) => `http://baton.example/api/${name}`));
  // It can be awaited and printed.
  expect(await Promise.resolve(client)).toBe(client);
});

test('entries, views as of an entry, and texts by their digest', async () => {
  const long = 'ä'.repeat(300);
  const dir = lineProject([long]);
  const cast = await castIn(dir);
  const client = connect({ url: `${(await served(dir)).url}/`, token: TOKEN });
  const page = await client.entries({ cast });
  if (!page.allow) throw new Error(page.reason);
  const accepted = page.details.entries.find(({ fact }) => fact.kind === 'turn.accepted');
  const output = accepted?.fact.output as { readonly seq: number; readonly digest: string };
  expect(await client.text(output)).toMatchObject({ details: { text: long } });
  expect(await client.text({ ...output, seq: 2 })).toMatchObject({ code: 'UNKNOWN_TEXT' });
  const early = await client.view({ cast, at: page.details.entries[1]?.seq ?? 0 });
  expect(early).toMatchObject({ allow: true, details: { cast, status: 'running' } });
  expect(await client.view({ cast })).toMatchObject({ details: { status: 'completed' } });
  expect(await client.view({ cast: 'none' })).toMatchObject({ code: 'UNKNOWN_CAST' });
});

test('a stream goes on behind what was read, also of a server that was started again', async () => {
  const dir = lineProject();
  await castIn(dir);
  const first = await served(dir);
  const { port } = first;
  const half = (await first.workspace.castStore().view('head')).seq;
  const client = connect({ url: first.url, token: TOKEN });
  const events: StreamEvent[] = [];
  const stop = new AbortController();
  const reading = (async () => {
    for await (const event of client.events({ after: 0 }, { signal: stop.signal })) {
      events.push(event);
      if (event.kind === 'head' && events.filter(({ kind }) => kind === 'head').length === 1) {
        await first.close();
        await castIn(dir, 'meanwhile');
        await served(dir, { port });
      }
      if (seqs(events).length >= 2 * half) stop.abort();
    }
  })();
  await reading;
  expect(seqs(events)).toEqual(Array.from({ length: seqs(events).length }, (_, index) => index + 1));
  expect(seqs(events).length).toBeGreaterThanOrEqual(2 * half);
});

test('who is not let in is told so, and a server that is not there as well', async () => {
  const { url, port, close } = await served(lineProject());
  const stranger = connect({ url, token: 'wrong' });
  expect(await stranger.status()).toMatchObject({ allow: false, code: 'TOKEN_UNKNOWN' });
  expect(await readUntil(stranger, 0, () => false)).toMatchObject([
    { kind: 'end', verdict: { code: 'TOKEN_UNKNOWN' } },
  ]);
  await close();
  const late = connect({ url: `http://127.0.0.1:${port}`, token: TOKEN });
  expect(await late.status()).toMatchObject({ allow: false, code: 'SERVER_UNREACHABLE' });
  expect(await readUntil(late, 0, () => false)).toMatchObject([
    { kind: 'end', verdict: { code: 'SERVER_UNREACHABLE' } },
  ]);
});

test('what answers in the place of a server is not believed', async () => {
  const other = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello'));
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const client = connect({ url: `http://127.0.0.1:${(other.address() as AddressInfo).port}`, token: TOKEN });
  expect(await client.status()).toMatchObject({ allow: false, code: 'SERVER_UNREACHABLE', details: { status: 200 } });
});

test('a client that is too fast waits as the server says, and is answered', async () => {
  const { url } = await served(project(), { requestsPerSecond: 3 });
  const client = connect({ url, token: TOKEN });
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.status()));
  expect(answers.map(({ code }) => code)).toEqual(Array.from({ length: 8 }, () => 'OK'));
});

test('a caller that stops waiting is answered at once', async () => {
  const dir = lineProject();
  await castIn(dir);
  const { url } = await served(dir);
  const client = connect({ url, token: TOKEN });
  expect(await client.status({}, { signal: AbortSignal.abort() })).toMatchObject({
    code: 'SERVER_UNREACHABLE',
    details: { stopped: true },
  });
});

test('it needs nothing of Node and no package, so that it works in a browser', () => {
  const files = [...globSync('src/client/*.ts'), 'src/kernel/verdict.ts'];
  for (const file of files) {
    const source = readFileSync(file, 'utf8');
    const { code } = scan(source);
    const loaded = source
      .split('\n')
      .filter((line) => /^(import|export) .*from /.test(line) && !/^(import|export) type /.test(line));
    for (const line of loaded)
      expect([file, line]).toEqual([file, expect.stringMatching(/'\.\/wire\.ts'|verdict\.ts'/)]);
    expect(code).not.toMatch(/\b(?:process|Buffer|require|globalThis)\b/);
  }
});

test('the example of the guide compiles and runs', async () => {
  const [, code = ''] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(CHECKOUT, 'docs/server.md'), 'utf8')) ?? [];
  const dir = lineProject();
  const { url } = await served(dir);
  const client = join(CHECKOUT, 'src/client/index.ts');
  symlinkSync(join(CHECKOUT, 'node_modules'), join(dir, 'node_modules'));
  put(dir, {
    'example.mts': code,
    'tsconfig.json': {
      extends: join(CHECKOUT, 'tsconfig.json'),
      compilerOptions: { noEmit: true, paths: { 'baton-run/client': [client] }, types: ['node'] },
      include: ['*.mts'],
    },
  });
  execFileSync(join(CHECKOUT, 'node_modules/.bin/tsc'), ['-p', dir], { cwd: dir, encoding: 'utf8' });
  put(dir, { 'example.mts': code.replace(`'baton-run/client'`, `'${pathToFileURL(client).href}'`) });
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', 'example.mts'];
  const { ended } = start(dir, [], { program, env: { BATON_URL: url, BATON_SERVER_TOKEN: TOKEN } });
  const { code: exit, stdout, stderr } = await ended;
  expect([exit, stderr]).toEqual([0, '']);
  const kinds = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[1]);
  expect([kinds[0], kinds.at(-1)]).toEqual(['cast.started', 'cast.completed']);
}, 60_000);
