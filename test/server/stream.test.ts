// The stream of events: every entry once and in order, whatever happens to the connection or to the server.
import { expect, test } from 'vitest';
import { openWorkspace } from '../../src/api/open-workspace.ts';
import { environment } from '../cli/baton.ts';
import { BEARER, castIn, eventsUntil, isHead, lineProject, seqsIn, served } from './serving.ts';

const upTo = (last: number) => (events: Parameters<typeof seqsIn>[0]) => (seqsIn(events).at(-1) ?? 0) >= last;

function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test('what was there comes first, then the head, then what happens', async () => {
  const dir = lineProject();
  await castIn(dir);
  const { url, workspace } = await served(dir);
  const { seq: before } = await workspace.castStore().view('head');
  const coming = eventsUntil(`${url}/api/events?after=0`, (events) => isHead(events) && upTo(before + 1)(events));
  await castIn(dir, 'again');
  const events = await coming;
  expect(seqsIn(events)).toEqual(numbers(1, seqsIn(events).at(-1) ?? 0));
  const head = events.findIndex(({ event }) => event === 'head');
  expect(Number(events[head]?.data.seq)).toBeGreaterThanOrEqual(before);
});

test('a stream follows one cast, or some kinds of facts, where that is asked for', async () => {
  const dir = lineProject();
  const [one, other] = [await castIn(dir), await castIn(dir)];
  const { url } = await served(dir);
  const entries = (query: string) =>
    eventsUntil(`${url}/api/events?after=0&${query}`, isHead).then((events) =>
      events.flatMap(({ event, data }) => (event === 'entry' ? [data.fact as { cast?: string; kind: string }] : [])),
    );
  expect(new Set((await entries(`cast=${one}`)).map(({ cast }) => cast))).toEqual(new Set([one]));
  const lifecycle = await entries('kinds=cast.');
  expect(new Set(lifecycle.map(({ cast }) => cast))).toEqual(new Set([one, other]));
  expect(lifecycle.every(({ kind }) => kind.startsWith('cast.'))).toBe(true);
  expect((await entries(`cast=${other}&kinds=turn.accepted`)).map(({ kind }) => kind)).toEqual([
    'turn.accepted',
    'turn.accepted',
  ]);
});

test('a stream without a place begins at the head', async () => {
  const dir = lineProject();
  await castIn(dir);
  const { url } = await served(dir);
  expect(seqsIn(await eventsUntil(`${url}/api/events`, isHead))).toEqual([]);
});

test('a reader that comes back with its last id misses nothing and gets nothing twice, also of a server that was started again', async () => {
  const dir = lineProject();
  await castIn(dir);
  const first = await served(dir);
  const { seq: end } = await first.workspace.castStore().view('head');
  const seen = [
    ...seqsIn(await eventsUntil(`${first.url}/api/events?after=0`, (events) => seqsIn(events).length >= 1)),
  ];
  const half = seen.slice(0, 5);
  await first.close();
  const second = await served(dir);
  await castIn(dir);
  const { seq: last } = await second.workspace.castStore().view('head');
  const id = { 'last-event-id': String(half.at(-1)) };
  const rest = await eventsUntil(`${second.url}/api/events?after=0`, upTo(last), id);
  expect([...half, ...seqsIn(rest)]).toEqual(numbers(1, last));
  expect(last).toBeGreaterThan(end);
});

test('many readers at once each get everything, wherever they begin', async () => {
  const dir = lineProject();
  await castIn(dir);
  const { url } = await served(dir);
  const library = openWorkspace(dir, { env: environment(dir) });
  const readers = numbers(0, 19).map((after) => eventsUntil(`${url}/api/events?after=${after}`, upTo(60)));
  const writing = (async () => {
    for (let number = 0; number < 60; number++)
      await library.hold({ reason: `${number}` }).then(() => library.unhold());
  })();
  const read = await Promise.all(readers);
  await writing;
  await library.close();
  for (const [after, events] of read.entries())
    expect(seqsIn(events).slice(0, 60 - after)).toEqual(numbers(after + 1, 60));
});

test('a flood of streams is turned away, and lets others in when it ends', async () => {
  const { url, get } = await served(lineProject(), { requestsPerSecond: 10_000 });
  const stop = new AbortController();
  const open = () => fetch(`${url}/api/events?after=0`, { headers: BEARER, signal: stop.signal });
  const first = await Promise.all(Array.from({ length: 512 }, open));
  expect(first.every(({ status }) => status === 200)).toBe(true);
  const late = await get('/api/events');
  expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true]);
  // What is no stream is answered all the same.
  expect((await get('/api/status')).status).toBe(200);
  stop.abort();
  await expect.poll(async () => (await get('/api/events')).status, { timeout: 30_000 }).toBe(200);
});

test('a workspace in which nothing happened yet is followed from its first fact on', async () => {
  const dir = lineProject();
  const { url } = await served(dir);
  const coming = eventsUntil(`${url}/api/events?after=0`, upTo(3));
  await castIn(dir);
  expect(seqsIn(await coming).slice(0, 3)).toEqual([1, 2, 3]);
});
