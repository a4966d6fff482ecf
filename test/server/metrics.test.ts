// The figures for Prometheus, from the log and from the server's own counters.
import { expect, test } from 'vitest';
import { logCounts } from '../../src/app/log-counts.ts';
import { routeOf } from '../../src/server/metrics-text.ts';
import { ROUTES } from '../../src/server/openapi.ts';
import { baton, put } from '../cli/baton.ts';
import { castIn, eventsUntil, isHead, lineProject, served } from './serving.ts';

/** The samples of a text by their name and labels. */
function samples(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

test('what happened is counted, also what happens later, and who asks needs a token', async () => {
  const dir = lineProject();
  const { get, url, workspace } = await served(dir);
  const read = async () => samples(await (await get('/metrics')).text());
  expect(await read()).toMatchObject({ baton_log_head: 0, 'baton_casts{status="completed"}': 0 });
  await castIn(dir);
  const used = { $turn: { output: 'one', usage: { input: 30, output: 4, cost: 0.25 } } };
  put(dir, { 'agents.json': { A: [used], B: [used] } });
  await castIn(dir);
  put(dir, { 'agents.json': { A: [{ $turn: { fail: 'crash' } }, '$repeat'] } });
  await baton(dir, ['cast', '--in-place', '--agents', 'agents.json', 'fails']);
  await eventsUntil(`${url}/api/events?after=0`, isHead);
  await get('/api/nothing');
  const after = await read();
  const { seq } = await workspace.castStore().view('head');
  expect(after).toMatchObject({
    baton_log_head: seq,
    baton_turns_started_total: 5,
    baton_turns_accepted_total: 4,
    'baton_casts{status="completed"}': 2,
    'baton_casts{status="failed"}': 1,
    'baton_tokens_total{runner="",model="",type="input"}': 60,
    'baton_tokens_total{runner="",model="",type="output"}': 8,
    'baton_cost_total{runner="",model=""}': 0.5,
    baton_streams_total: 1,
    'baton_http_requests_total{route="/metrics",method="GET",status="200"}': 1,
    'baton_http_requests_total{route="unknown",method="GET",status="404"}': 1,
    'baton_http_request_seconds_count{route="/metrics",method="GET"}': 1,
  });
  expect(after['baton_attempts_failed_total{code="AGENT_FAILED"}']).toBeGreaterThan(0);
  expect((await get('/metrics', {})).status).toBe(401);
});

test('refusals are counted by code, and casts that wait by what they wait for', async () => {
  const dir = lineProject();
  const { get } = await served(dir);
  // A refused handoff of a turn that must be JSON.
  put(dir, {
    '.baton/config.json': {
      materia: { A: { tools: 'none', prompt: 'Do it.' } },
      loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'A', parse: 'json' } } } },
    },
    'agents.json': { A: ['no JSON at all', '$repeat'] },
  });
  await baton(dir, ['cast', '--in-place', '--agents', 'agents.json', 'junk']);
  await get('/api/status', { authorization: 'Bearer wrong' });
  const read = samples(await (await get('/metrics')).text());
  expect(read['baton_refusals_total{of="turn",code="NOT_JSON"}']).toBe(2);
});

test('a log that cannot be counted in time is counted on, and said so', async () => {
  const dir = lineProject();
  await castIn(dir);
  const { workspace } = await served(dir);
  const store = workspace.castStore();
  const stored = await store.asStored(async (log) => log);
  const lines = stored.lines.bind(stored);
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  stored.lines = async (after, limit) => {
    await gate;
    return lines(after, limit);
  };
  expect(await logCounts(store, 10)).toBe(null);
  go();
  expect((await logCounts(store, 10_000))?.casts.size).toBe(1);
});

test('every route of a cast is counted under its own name', () => {
  const names = ROUTES.map(({ path }) => routeOf(path.replaceAll(/\{\w+\}/g, 'x'), () => false));
  expect(names.filter((name) => name === 'unknown' || name === 'page')).toEqual([]);
  expect(new Set(names).size).toBe(ROUTES.length);
});
