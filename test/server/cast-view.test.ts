// The page of a cast as of any of its entries is what folding its entries up to there gives, however it was looked at before.
import { expect, test } from 'vitest';
import { CastPages, type RowQuery } from '../../src/app/cast-pages.ts';
import { castPageOf } from '../../src/app/views/cast-page.ts';
import { emptyPageView, foldSent, readView } from '../../src/app/views/cast-view.ts';
import type { TurnRow } from '../../src/app/views/turn-rows.ts';
import type { Entry } from '../../src/kernel/fact.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { project } from '../cli/baton.ts';
import { crew, no, plan, workflow, yes } from '../loadouts.ts';
import { play } from '../play.ts';
import { CASTS, CONFIG } from '../web/cast-stage.ts';
import { castIn, lineProject, served } from './serving.ts';

test('as of every entry, by the server', async () => {
  const dir = lineProject();
  await castIn(dir, 'another one');
  const cast = await castIn(dir);
  const { get } = await served(dir);
  const { entries } = (await (await get(`/api/casts/${cast}/entries?limit=1000`)).json()) as { entries: Entry[] };
  const view = emptyPageView();
  for (const entry of entries) {
    foldSent(view, entry);
    const answer = (await (await get(`/api/casts/${cast}/view?at=${entry.seq}`)).json()) as JsonObject;
    expect(answer).toMatchObject({ allow: true, code: 'OK' });
    expect(answer.details).toEqual(JSON.parse(JSON.stringify(castPageOf(view))));
  }
  const now = (await (await get(`/api/casts/latest/view`)).json()) as JsonObject;
  expect(now.details).toMatchObject({ cast, status: 'completed', seq: entries.at(-1)?.seq });
  expect((await get(`/api/casts/${cast}/view?at=1`)).status).toBe(404);
});

test('state and ledger come page by page, as of any entry', async () => {
  const dir = project({ '.baton/config.json': CONFIG, 'agents.json': CASTS.completed.agents });
  const cast = await castIn(dir);
  const { get } = await served(dir);
  type Rows = { readonly seq: number; readonly total: number; readonly rows: readonly JsonObject[] };
  const rowsOf = async (part: string, query = '') =>
    (await (await get(`/api/casts/${cast}/${part}${query}`)).json()) as Rows;
  const now = await rowsOf('ledger');
  expect([now.total, now.rows.map(({ title, status }) => [title, status])]).toEqual([
    2,
    ['Print the version', 'Test it'].map((title) => [title, 'done']),
  ]);
  expect((await rowsOf('ledger', '?after=1&limit=1')).rows).toEqual(now.rows.slice(1, 2));
  const { entries } = (await (await get(`/api/casts/${cast}/entries?limit=1000`)).json()) as { entries: Entry[] };
  const moved = entries.find(({ fact }) => fact.kind === 'task.moved' && fact.to === 'done')?.seq;
  const then = await rowsOf('ledger', `?at=${moved}`);
  expect([then.seq, then.rows.map(({ status }) => status)]).toEqual([moved, ['done', 'todo']]);
  const state = await rowsOf('state');
  // The whole value, and not how it begins.
  expect(state.rows).toContainEqual({
    name: 'workItems',
    value: ['Print the version', 'Test it'].map((title) => ({ title, context: `${title}.` })),
  });
  expect(state.total).toBe(state.rows.length);
  expect((await rowsOf('state', '?at=1&after=99')).rows).toEqual([]);
  const turns = await rowsOf('turns');
  expect(turns.rows.map(({ turn }) => turn)).toEqual(turns.rows.map((_, n) => n + 1));
  expect(await rowsOf('log', '?list=turns&limit=2')).toMatchObject({
    total: turns.total,
    rows: [{ turn: 1 }, { turn: 2 }],
  });
  const fold = (await (await get(`/api/casts/${cast}/fold`)).json()) as { seq: number; lines: readonly JsonObject[] };
  expect([fold.seq, fold.lines.at(-1)?.kind]).toEqual([now.seq, 'cast.completed']);
  for (const wrong of ['state?limit=0', 'log?list=other', 'turns?from=x'])
    expect((await get(`/api/casts/${cast}/${wrong}`)).status).toBe(400);
  expect((await get('/api/casts/nothing/fold')).status).toBe(404);
});

test('turns that have left the page, as of any entry, and lines of the log come page by page', async () => {
  const rounds = 250;
  const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': rounds });
  const evals = [...Array.from({ length: rounds }, () => no('again')), yes];
  const { entries } = play({ config, agents: crew({ Plan: [plan(1)], Build: ['built', '$repeat'], Eval: evals }) });
  const read = async ({ after, limit }: { after: number; limit?: number }) =>
    entries.filter(({ seq }) => seq > after).slice(0, limit);
  const views = new CastPages();
  const rowsOf = (part: 'turns' | 'log', at: number | null, query: Partial<RowQuery>) =>
    views.partOf({ read }, 'c', at, part, { after: 0, limit: 1_000, ...query });
  const turnsOf = async (at: number | null, query: Partial<RowQuery> = {}) =>
    (await rowsOf('turns', at, query))?.rows as unknown as readonly TurnRow[];
  const total = 2 * rounds + 5;
  expect((await turnsOf(null)).map(({ turn }) => turn)).toEqual(Array.from({ length: total }, (_, n) => n + 1));
  expect((await turnsOf(null, { from: 7, limit: 2 })).map(({ turn }) => turn)).toEqual([7, 8]);
  expect((await turnsOf(null, { until: 7, limit: 2 })).map(({ turn }) => turn)).toEqual([6, 7]);
  // As of each moment, all turns are what they were in a page that has left none out.
  for (const at of [entries.length - 9, Math.floor(entries.length / 2), 900]) {
    const then = await turnsOf(at);
    const started = entries.filter(({ seq, fact }) => seq <= at && fact.kind === 'turn.started');
    expect(then).toHaveLength(started.length);
    expect(then.every(({ lastSeq }) => lastSeq <= at)).toBe(true);
    const page = await views.pageOf({ read }, 'c', at);
    expect(then.slice(-(page?.turns.length ?? 0))).toEqual(page?.turns);
    expect(then.filter(({ end }) => end === null)).toHaveLength(1);
  }
  const lines = await rowsOf('log', null, { list: 'turning', from: 500, limit: 2 });
  const back = entries.filter(({ fact }) => fact.kind === 'edge.taken' && fact.when === 'not_satisfied');
  expect(lines?.total).toBe(rounds);
  expect(lines?.rows.map(({ seq }) => seq)).toEqual(
    back
      .filter(({ seq }) => seq >= 500)
      .slice(0, 2)
      .map(({ seq }) => seq),
  );
  expect(lines?.rows[0]).toMatchObject({ socket: 'Socket-3', number: 1, isTurning: true });
  const page = castPageOf(readView((JSON.parse(await views.foldOf({ read }, 'c')) as { view: JsonObject }).view));
  expect(page).toEqual(await views.pageOf({ read }, 'c', entries.length));
});

test('in a long cast, back and forth, while it goes on', async () => {
  const log = new MemoryLog();
  const store = log;
  const dir = lineProject();
  const cast = await castIn(dir);
  const { workspace } = await served(dir);
  const short = await workspace.castStore().read({ after: 0, cast });
  const [started, ...rest] = short;
  if (!started) throw new Error('there is no cast');
  // The budget is changed over and over: each change is an entry of the cast.
  const body = [started, ...rest.slice(0, -1)].map(({ fact, by }) => ({ fact, by, at: 0 }));
  const change = (number: number) =>
    ({
      fact: { kind: 'budget.changed', cast, maxTokens: number + 1, maxCost: null, maxDurationMs: null },
      by: 'user:ann',
      at: number,
    }) as never;
  await log.commit(0, { decide: () => body });
  const grow = (count: number) =>
    log
      .head()
      .then(({ seq }) => log.commit(seq, { decide: () => Array.from({ length: count }, (_, at) => change(seq + at)) }));
  const views = new CastPages();
  const plainly = async (at: number) => {
    const view = emptyPageView();
    for (const entry of await log.read({ after: 0, cast, limit: at, texts: 'digest' })) foldSent(view, entry);
    return castPageOf(view);
  };
  for (const [count, moments] of [
    [1_500, [1_200, 700, 1_001, 1_000, 999, 1_400]],
    [3_000, [4_000, 2_500, 10, 3_999]],
    [1, [4_400, 1_001]],
  ] as const) {
    await grow(count);
    for (const at of moments) expect(await views.pageOf(store, cast, at)).toEqual(await plainly(at));
    expect((await views.pageOf(store, cast, null))?.seq).toBe((await log.head()).seq);
  }
  // Many looks at once.
  const pages = await Promise.all([20, 4_000, 1_500, 2_000, 30].map((at) => views.pageOf(store, cast, at)));
  expect(pages.map((page) => page?.seq)).toEqual([20, 4_000, 1_500, 2_000, 30]);
});
