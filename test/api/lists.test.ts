// The lists that people look at: casts with their figures, what waits for a person, what agents used.
import { expect, test } from 'vitest';
import { openWorkspace } from '../../src/api/open-workspace.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, always, baton, environment, flow, json, personToken, project, put } from '../cli/baton.ts';
import { PARKING, PARKING_AGENTS } from '../cli/parking.ts';

const { loadouts: Work } = flow({}, { 'Socket-1': { materia: 'A', parse: 'text' } });
const { loadouts: Ask } = flow(
  {},
  { 'Socket-1': { materia: 'B', parse: 'json', edges: [{ when: 'satisfied', to: 'end' }, always('end')] } },
);
const CONFIG = {
  materia: { A: { ...agent, model: 'small' }, B: { ...agent, runner: 'person', prompt: 'Is it good?' } },
  loadouts: { Work: (Work as { L: object }).L, Ask: (Ask as { L: object }).L },
} as JsonObject;
const used = (cost: number) => ({ $turn: { output: 'done', usage: { input: 10, output: 5, cost } } });

/** Casts that wait for a person. */
async function asked(requests: readonly string[]) {
  const dir = project({ '.baton/config.json': CONFIG, 'agents.json': { A: [used(0.25), '$repeat'] } });
  const casts: string[] = [];
  for (const request of requests)
    casts.push(String(json(await baton(dir, ['cast', '--json', '-l', 'Ask', request])).cast));
  const workspace = openWorkspace(dir, { env: environment(dir, { BATON_TOKEN: personToken() }) });
  const work = (request: string) => baton(dir, ['cast', '-l', 'Work', '--agents', 'agents.json', request]);
  return { dir, casts, workspace, work };
}

const names = ({ details }: { readonly details: JsonObject }) =>
  (details.casts as readonly JsonObject[]).map(({ request }) => request);

test('casts are listed by status, by words, and page by page, the newest first', async () => {
  const { casts, workspace } = await asked(['write the parser', 'test the parser', 'write the docs']);
  await workspace.cast.answer({ cast: casts[1] ?? '', answer: '{"satisfied":true}' });
  for (const [input, expected] of [
    [{}, ['write the docs', 'test the parser', 'write the parser']],
    [{ limit: 2 }, ['write the docs', 'test the parser']],
    [{ limit: 2, before: casts[1] }, ['write the parser']],
    [{ before: casts[0] }, []],
    [{ status: 'waiting' }, ['write the docs', 'write the parser']],
    [{ status: 'open', limit: 1 }, ['write the docs']],
    [{ status: 'completed' }, ['test the parser']],
    [{ status: 'failed' }, []],
    [{ text: 'WRITE parser' }, ['write the parser']],
    [{ text: 'parser', limit: 1 }, ['test the parser']],
    [{ text: casts[2], status: 'waiting' }, ['write the docs']],
  ] as const)
    expect([input, names((await workspace.cast.list(input)) as never)]).toEqual([input, expected]);
  expect(await workspace.cast.list({ before: 'nothing' })).toMatchObject({ code: 'UNKNOWN_CAST' });
});

test('a short list has the items, the step and the cost of each cast, as they are now', async () => {
  const { casts, workspace, work } = await asked(['judge it']);
  const rows = async (input: JsonObject) =>
    ((await workspace.cast.list(input)).details as { readonly casts: readonly JsonObject[] }).casts;
  expect(await rows({ limit: 10 })).toEqual([expect.objectContaining({ status: 'waiting', step: 'B', cost: 0 })]);
  expect((await rows({}))[0]).not.toHaveProperty('cost');
  await workspace.cast.answer({ cast: casts[0] ?? '', answer: '{"satisfied":true}' });
  await work('do it');
  const [done, answered] = await rows({ limit: 10 });
  expect(done).toMatchObject({ status: 'completed', cost: 0.25 });
  expect(answered).toMatchObject({ status: 'completed', cost: 0 });
  expect(answered).not.toHaveProperty('step');
});

test('the inbox names what waits, once each, and whether a cast stands still for it', async () => {
  const { dir, casts, workspace } = await asked(['judge it']);
  const inbox = async () => ((await workspace.inbox()).details as { inbox: readonly JsonObject[] }).inbox;
  const [question, ...more] = await inbox();
  expect(more).toEqual([]);
  expect(question).toMatchObject({
    ...{ kind: 'question', cast: casts[0], request: 'judge it', turn: 1, socket: 'B', stops: true },
    title: 'B is your turn',
  });
  await workspace.cast.answer({ cast: casts[0] ?? '', answer: '{"satisfied":true}' });
  expect(await inbox()).toEqual([]);
  put(dir, { 'park.json': PARKING, 'parked.json': PARKING_AGENTS });
  await baton(dir, ['cast', '--file', 'park.json', '--agents', 'parked.json', 'three things']);
  const parked = await inbox();
  expect(parked).toEqual([
    expect.objectContaining({ kind: 'parked', stops: true, key: expect.stringContaining('WI-') }),
  ]);
  const listed = await workspace.cast.list({ limit: 1 });
  expect(listed.details).toMatchObject({ casts: [{ items: { done: expect.any(Number), total: expect.any(Number) } }] });
});

test('usage is counted by day, agent and model, and goes on from where it was', async () => {
  const { workspace, work } = await asked([]);
  const rows = async (since?: string) =>
    ((await workspace.usage.days(since === undefined ? {} : { since })).details as { rows: readonly JsonObject[] })
      .rows;
  expect(await rows()).toEqual([]);
  for (const request of ['one', 'two']) await work(request);
  const row = { agent: 'A', model: 'small', input: 20, output: 10, cost: 0.5, attempts: 2 };
  expect(await rows()).toEqual([expect.objectContaining(row)]);
  await work('three');
  expect(await rows()).toEqual([expect.objectContaining({ input: 30, cost: 0.75, attempts: 3 })]);
  const { today } = (await workspace.usage.days()).details as { today: { hours: readonly number[]; maxCost: unknown } };
  expect([today.hours.length, today.hours.reduce((sum, cost) => sum + cost, 0), today.maxCost]).toEqual([
    24,
    0.75,
    null,
  ]);
  expect(await rows('2999-01-01')).toEqual([]);
  expect(await rows('2000-01-01')).toHaveLength(1);
});

test('people read the same as lines', async () => {
  const { dir, work } = await asked(['judge it']);
  await work('do it');
  const inbox = await baton(dir, ['inbox']);
  expect([inbox.code, inbox.stdout]).toEqual([0, expect.stringContaining('question    B is your turn')]);
  const { stdout } = await baton(dir, ['usage']);
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^day +agent/),
    expect.stringMatching(/ A +\S.*0\.25$/),
  ]);
});
