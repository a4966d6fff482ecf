// Sinks of events: what each gets, in which order, signed, and what becomes of it while a sink is down or its process is killed.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { agent, asProcesses, baton, flow, json, project, put, read, start, until } from './baton.ts';

const LIFECYCLE = { exclude: ['lifecycle.*'] };
const A = { ...agent, parse: 'json' };

function team(sinks: JsonObject): JsonObject {
  return flow({ A }, { 'Socket-1': { materia: 'A', parse: 'json' } }, { events: { sinks } });
}

async function trusted(sinks: JsonObject, outputs: readonly Json[] = [{ event: [{ type: 'one' }, { type: 'two' }] }]) {
  const dir = project({ '.baton/config.json': team(sinks), 'agents.json': { A: [...outputs] } });
  await baton(dir, ['trust']);
  return dir;
}

const CAST = ['cast', '--agents', 'agents.json', 'go'];
const typesIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type);

type Got = { readonly body: string; readonly headers: Readonly<Record<string, string | string[] | undefined>> };

/** Answers with the statuses in order, the last one from then on. */
async function hook(...statuses: readonly number[]) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      response.writeHead(statuses[Math.min(got.length, statuses.length - 1)] ?? 200).end();
      got.push({ body, headers: request.headers });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`, got };
}

test('a file gets a line for each event in the order of the log, and sinks take what their filters say', async () => {
  const dir = await trusted({ all: { file: 'all.jsonl' }, some: { file: 'some.jsonl', include: ['tw*'] } });
  expect((await baton(dir, CAST)).code).toBe(0);
  expect(typesIn(read(dir, 'all.jsonl'))).toEqual([
    ...['lifecycle.cast.started', 'lifecycle.socket.started', 'lifecycle.socket.completed'],
    ...['one', 'two', 'lifecycle.cast.completed'],
  ]);
  expect(typesIn(read(dir, 'some.jsonl'))).toEqual(['two']);
});

test('a webhook is signed, and an event that it did not take comes again before the next one', async () => {
  const { url, got } = await hook(500, 200);
  const dir = await trusted({ team: { webhook: url, secretVariable: 'EVENTS_SECRET', ...LIFECYCLE } });
  const env = { EVENTS_SECRET: 'a secret of ours' };
  const ran = await baton(dir, CAST, { env });
  expect([ran.code, ran.stderr]).toEqual([
    0,
    expect.stringContaining('Events wait for the sink team: it answered with status 500'),
  ]);
  expect((await baton(dir, ['events', 'deliver'], { env })).code).toBe(0);
  expect(got.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['one', 'one', 'two']);
  const [first, again] = got;
  expect(first?.headers['webhook-id']).toBe(again?.headers['webhook-id']);
  for (const { body, headers } of got) {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const mac = createHmac('sha256', env.EVENTS_SECRET).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${mac}`);
  }
  expect(JSON.stringify(got)).not.toContain(env.EVENTS_SECRET);
});

test('a secret that is not set keeps events back, and check says so', async () => {
  const dir = await trusted({ team: { webhook: 'http://127.0.0.1:1/x', secretVariable: 'NOT_SET', ...LIFECYCLE } });
  const ran = await baton(dir, CAST);
  expect(ran.stderr).toContain('the variable NOT_SET is not set');
  const [sink] = json<JsonObject[]>(await baton(dir, ['events', 'sinks', '--json']));
  expect(sink).toMatchObject({ name: 'team', waiting: 2, tries: 1 });
});

test('a sink that is down for long is written to the log once, with its recovery, and loses nothing', async () => {
  const command = ['sh', '-c', 'test -e up && cat >> got.jsonl'];
  const dir = await trusted({ team: { command, waitingMax: 3, ...LIFECYCLE } });
  for (let cast = 0; cast < 3; cast++) await baton(dir, CAST);
  put(dir, { up: '' });
  expect((await baton(dir, ['events', 'deliver'])).code).toBe(0);
  expect(typesIn(read(dir, 'got.jsonl'))).toEqual(['one', 'two', 'one', 'two', 'one', 'two']);
  const facts = json<JsonObject[]>(await baton(dir, ['log', '--after', '0', '--json']));
  expect(facts.filter(({ kind }) => String(kind).startsWith('sink.'))).toMatchObject([
    { kind: 'sink.stalled', sink: 'team', waiting: 4 },
    { kind: 'sink.recovered', sink: 'team' },
  ]);
});

test('an event that a sink never takes is left out by a person only, and the log says so', async () => {
  const dir = await trusted({ picky: { command: ['sh', '-c', 'if grep one; then exit 1; fi'], ...LIFECYCLE } });
  await baton(dir, CAST);
  const skipped = json(await baton(dir, ['events', 'skip', 'picky', '--reason', 'known', '--json']));
  expect(skipped).toMatchObject({ allow: true });
  expect(json<JsonObject[]>(await baton(dir, ['events', 'sinks', '--json']))).toMatchObject([{ waiting: 0, why: '' }]);
  expect((await baton(dir, ['events', 'skip', 'picky', '--reason', 'again'])).code).toBe(1);
});

test('a folder that nobody trusts sends nothing, and its events wait', async () => {
  const agents = { A: [{ event: [{ type: 'one' }] }] };
  const dir = project({ '.baton/config.json': team({ log: { file: 'x.jsonl' } }), 'agents.json': agents });
  const env = { BATON_CONFIG: `${project()}/user` };
  const ran = await baton(dir, CAST, { env });
  expect(ran.stderr).toContain('the folder is not trusted');
  await baton(dir, ['trust'], { env });
  // The next cast delivers at once: it does not wait for the time of the next try.
  const next = await baton(dir, CAST, { env });
  expect(next.stderr).not.toContain('the folder is not trusted');
  expect(typesIn(read(dir, 'x.jsonl')).filter((type) => type === 'one')).toHaveLength(2);
});

test('a link in the place of the file is not written through', async () => {
  const dir = await trusted({ log: { file: 'x.jsonl', ...LIFECYCLE } });
  put(dir, { other: '' });
  (await import('node:fs')).symlinkSync('other', `${dir}/x.jsonl`);
  await baton(dir, CAST);
  expect(read(dir, 'other')).toBe('');
});

test('a process that is killed while it delivers leaves nothing out', async () => {
  const slow = ['sh', '-c', 'cat >> got.jsonl; sleep 0.2'];
  const event = Array.from({ length: 8 }, (_, index) => ({ type: `e${index}` }));
  const dir = await trusted({ team: { command: slow, ...LIFECYCLE } }, [{ event }]);
  const { child, ended } = start(dir, CAST);
  await until('some events', () => {
    try {
      return read(dir, 'got.jsonl').split('\n').length > 3;
    } catch {
      return false;
    }
  });
  child.kill('SIGKILL');
  await ended;
  await asProcesses(() => baton(dir, ['events', 'deliver']));
  const types = typesIn(read(dir, 'got.jsonl'));
  expect([...new Set(types)]).toEqual(event.map(({ type }) => type));
  expect(types.length).toBeLessThanOrEqual(event.length + 1);
});
