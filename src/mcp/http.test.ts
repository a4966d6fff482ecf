import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentEvents } from './http.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const message = (id: number) => ({ jsonrpc: '2.0' as const, id, result: {} });

async function replayed(events: RecentEvents, after: string): Promise<unknown[]> {
  const sent: unknown[] = [];
  await events.replayEventsAfter(after, { send: async (_, one) => void sent.push('id' in one ? one.id : one) });
  return sent;
}

test('a client gets the rest of its own stream, in order', async () => {
  const events = new RecentEvents();
  const first = await events.storeEvent('a', {} as never);
  await events.storeEvent('b', message(1));
  const second = await events.storeEvent('a', message(2));
  await events.storeEvent('a', message(3));
  expect(await replayed(events, first)).toEqual([2, 3]);
  expect(await replayed(events, second)).toEqual([3]);
  expect(await events.getStreamIdForEventId(second)).toBe('a');
});

test('what lies too far back is gone', async () => {
  const events = new RecentEvents(2);
  const first = await events.storeEvent('a', message(1));
  for (const id of [2, 3, 4]) await events.storeEvent('a', message(id));
  expect(await replayed(events, first)).toEqual([3, 4]);
});

test('an id that was never given replays nothing', async () => {
  const events = new RecentEvents();
  await events.storeEvent('a', message(1));
  await fc.assert(
    fc.asyncProperty(fc.string(), async (id) => {
      if (!/^\d+_a$/.test(id)) expect(await replayed(events, id)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
