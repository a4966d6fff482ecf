// What the page of a cast shows, as of any of its entries.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { crew, graph, no, plan, workflow, yes } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { entryFromLine } from '../../log/line.ts';
import { type CastPage, castPageOf } from './cast-page.ts';
import { emptyPageView, foldSent, readView, writtenView } from './cast-view.ts';
import type { TurnRow } from './turn-rows.ts';

const foldAll = (entries: readonly Entry[]) => entries.reduce((view, entry) => foldSent(view, entry), emptyPageView());

function pageOf({ entries }: Play): CastPage {
  const page = castPageOf(foldAll(entries));
  if (!page) throw new Error('the cast has no entry');
  return page;
}

/** An entry as the server sends it: each text of more than 200 characters by its digest. */
function sent(entry: Entry): Entry {
  const walk = (value: Json): Json => {
    if (typeof value === 'string')
      return value.length <= 200
        ? value
        : { digest: `sha256:${value.length}`, seq: entry.seq, bytes: value.length, preview: value.slice(0, 200) };
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) =>
        member === undefined ? [] : [[name, walk(member as Json)] as const],
      ),
    );
  };
  return { ...entry, fact: walk(entry.fact as unknown as Json) as unknown as Entry['fact'] };
}

const FOLDER = new URL('../../../test/replay/', import.meta.url);
const GOLDEN = readdirSync(FOLDER).filter((name) => /^golden-\d+\.jsonl$/.test(name));

test.each(GOLDEN)('the pages of %s are plain JSON, the same looked at once or often, and stay as they were', (name) => {
  const [, ...lines] = readFileSync(new URL(name, FOLDER), 'utf8').trim().split('\n');
  const stored = lines.map((line) => JSON.parse(line) as { line: string; texts: Record<string, string> });
  const entries = stored.map(({ line, texts }) => entryFromLine(line, (digest) => texts[digest] ?? null));
  const ids = entries.flatMap(({ fact }) => (fact.kind === 'cast.started' ? [fact.cast] : []));
  for (const id of ids) {
    const own = entries.filter(({ fact }) => 'cast' in fact && fact.cast === id);
    let view = emptyPageView();
    const kept: (readonly [CastPage | null, string])[] = [];
    for (const entry of own) {
      foldSent(view, entry);
      // A page begins with a view that was sent, and folds on.
      if (entry.seq % 5 === 0) view = readView(JSON.parse(writtenView(view)));
      if (kept.length < 40) {
        const page = castPageOf(view);
        kept.push([page, JSON.stringify(page)]);
      }
    }
    const whole = castPageOf(foldAll(own));
    expect(castPageOf(view)).toEqual(whole);
    expect(JSON.parse(JSON.stringify(whole))).toEqual(whole);
    for (const [page, text] of kept) expect(JSON.stringify(page)).toBe(text);
  }
});

test('an entry with its long texts by digest leads to the same page, but for these texts', () => {
  const agents = crew({
    Plan: [plan(2)],
    Eval: [no('z'.repeat(2_000)), yes, yes],
    Build: ['y'.repeat(500), '$repeat'],
  });
  const { entries } = play({ config: workflow(), agents });
  const view = foldAll(entries.map(sent));
  const [page, plain] = [castPageOf(view), castPageOf(foldAll(entries))];
  const without = ({ data: _data, requestText: _request, ...rest }: CastPage) => rest;
  expect(page && without(page)).toEqual(plain && without(plain));
});

test('the graph has marks, counts of accepted handoffs, loops and their exits under the ids of the seed', () => {
  const page = pageOf(play({ config: workflow(), agents: crew({ Eval: [no('again'), yes, yes] }) }));
  const { sockets, edges, loops } = page.graph;
  expect(
    sockets.map(({ id, name, isEntry, isGenerator, isConsumer, turns, shown }) => ({
      ...{ id, name, turns, shown },
      marks: [isEntry && 'Entry', isGenerator && 'Generator', isConsumer && 'Loop consumer'].filter(Boolean),
    })),
  ).toEqual([
    { id: 'Socket-1', name: 'Plan', turns: 1, shown: 'done', marks: ['Entry', 'Generator'] },
    { id: 'Socket-2', name: 'Build', turns: 3, shown: 'done', marks: ['Loop consumer'] },
    { id: 'Socket-3', name: 'Eval', turns: 3, shown: 'done', marks: ['Loop consumer'] },
    { id: 'Socket-4', name: 'Maintain', turns: 2, shown: 'done', marks: ['Loop consumer'] },
    { id: 'Socket-5', name: 'Sum', turns: 1, shown: 'done', marks: [] },
  ]);
  expect(edges.map(({ id, from, to, when, count, kind }) => [kind, id, from, when, to, count])).toEqual([
    ['edge', 'Socket-1:0', 'Socket-1', 'always', 'Socket-2', 1],
    ['edge', 'Socket-2:0', 'Socket-2', 'always', 'Socket-3', 3],
    ['edge', 'Socket-3:0', 'Socket-3', 'satisfied', 'Socket-4', 2],
    ['edge', 'Socket-3:1', 'Socket-3', 'not_satisfied', 'Socket-2', 1],
    ['edge', 'Socket-4:0', 'Socket-4', 'always', 'Socket-2', 1],
    ...edges
      .filter(({ kind }) => kind === 'exit')
      .map(({ id, from, when, to, count }) => ['exit', id, from, when, to, count]),
  ]);
  const exits = edges.filter(({ kind }) => kind === 'exit');
  expect(exits.map(({ id }) => id.startsWith(`loop-exit:${loops[0]?.id}:`))).toEqual(exits.map(() => true));
  expect(exits.map(({ to, count }) => [to, count])).toEqual([['Socket-5', 1]]);
  expect(loops).toMatchObject([{ over: 'Plan', lanes: 1, isLeft: true, isEmpty: false }]);
});

test('items have numbers, titles, states and how often they were sent back', () => {
  const agents = crew({ Plan: [plan(3)], Eval: [no('again'), yes], Maintain: [yes] });
  const page = pageOf(play({ config: workflow(), agents }));
  expect(page.status).toBe('failed');
  expect(page.items.map(({ number, title, shown, rework, turns }) => [number, title, shown, rework, turns])).toEqual([
    [1, 'Item 1', 'done', 1, 5],
    [2, 'Item 2', 'failed', 0, 2],
    [3, 'Item 3', 'idle', 0, 0],
  ]);
  expect(page.turns.filter(({ isRework }) => isRework).map(({ socket, number }) => [socket, number])).toEqual([
    ['Socket-2', 1],
  ]);
  expect(page.timeline.rows).toEqual(['Start', 'Items']);
  expect(page.graph.sockets.find(({ shown }) => shown === 'failed')?.id).toBe('Socket-3');
  expect(page.acts.map(({ id }) => id)).toEqual(['continue', 'budget']);
});

test('work that was sent back shows at the socket that sent it, until it comes back', () => {
  const agents = crew({ Eval: [no('again'), yes, yes] });
  const { entries } = play({ config: workflow(), agents });
  const back = entries.findIndex(({ fact }) => fact.kind === 'edge.taken' && fact.when === 'not_satisfied');
  const shownAt = (end: number) => {
    const page = castPageOf(foldAll(entries.slice(0, end)));
    return page?.graph.sockets.find(({ id }) => id === 'Socket-3')?.shown;
  };
  const started = entries.findIndex(({ fact }, at) => at > back && fact.kind === 'turn.started');
  const again = entries.findIndex(({ fact }, at) => at > started && fact.kind === 'turn.started');
  expect([shownAt(started + 1), shownAt(again + 1)]).toEqual(['back', 'runs']);
});

test('a refused attempt keeps its code, its output and the number of its issues', () => {
  const agents = crew({ Eval: [{ satisfied: 'yes' }, yes, yes] });
  const page = pageOf(play({ config: workflow(), agents }));
  const turn = page.turns.find(({ socket }) => socket === 'Socket-3');
  expect(turn).toMatchObject({ refused: 1, end: 'accepted' });
  expect(turn?.attempts).toMatchObject([
    { attempt: 1, end: 'refused', code: 'CONTRACT_VIOLATION', issues: 1 },
    { attempt: 2, end: 'accepted', code: null, issues: 0 },
  ]);
  const socket = page.graph.sockets.find(({ id }) => id === 'Socket-3');
  expect(socket?.refused).toEqual({ count: 1, turn: turn?.turn, attempt: 1 });
});

test('items that walk side by side have a lane each, and a lane that is free is used again', () => {
  const wishes = ['T-1', 'T-2', 'T-3'].map((id) => ({ id }));
  const config = { ...TEAM, parallelism: { maxConcurrency: 2 } };
  const cast = play({ config, agents: { Lead: ['x'], Worker: ['x', '$repeat'], Sum: ['ok'] }, hold: true });
  const output = JSON.stringify(envelope(...wishes));
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output });
  const lanes = () => pageOf(cast).items.map(({ lane }) => lane);
  expect(lanes()).toEqual([1, 2, null]);
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 2, attempt: 1, output: JSON.stringify(result('T-1')) });
  expect(lanes()).toEqual([null, 2, 1]);
  const page = pageOf(cast);
  expect(page.timeline.rows).toEqual(['Start', 'Lane 1', 'Lane 2']);
  expect(page.graph.loops[0]).toMatchObject({
    lanes: 2,
    walking: [
      { lane: 1, key: 'WI-3' },
      { lane: 2, key: 'WI-2' },
    ],
  });
  expect(page.graph.sockets[1]?.live.map(({ number, shown }) => [number, shown])).toEqual([
    [2, 'runs'],
    [3, 'runs'],
  ]);
});

const PARKS = { 'sockets.Socket-3.edges.1.maxTraversals': 1, 'sockets.Socket-3.edges.1.then': 'park' };

test('a parked item waits for a person, with both ways on and their commands', () => {
  const agents = crew({ Plan: [plan(2)], Eval: [no('a'), no('b'), yes] });
  const page = pageOf(play({ config: workflow(PARKS), agents }));
  expect([page.status, page.code, page.words]).toEqual(['waiting', 'ITEMS_PARKED', 'Waits for you']);
  expect(page.waits).toMatchObject([{ kind: 'parked', number: 1, title: 'Item 1', words: 'b' }]);
  expect(page.acts.map(({ operation, command }) => [operation, command])).toEqual([
    ['cast.retry', 'baton retry c:WI-1 --note "…"'],
    ['cast.drop', 'baton drop c:WI-1 --reason "…"'],
    ['cast.say', 'baton say c "…"'],
    ['cast.budget', 'baton budget c'],
    ['cast.abort', 'baton abort c'],
  ]);
  expect(page.items.map(({ shown }) => shown)).toEqual(['parked', 'done']);
  expect(page.graph.sockets.map(({ name, advanced }) => [name, advanced])).toContainEqual(['Eval', 0]);
  expect(page.graph.sockets.map(({ name, advanced }) => [name, advanced])).toContainEqual(['Maintain', 1]);
});

test('a turn that a person takes waits, and its waiting ends with the answer', () => {
  const materia: JsonObject = { Me: { runner: 'person', prompt: 'Decide.', tools: 'none', parse: 'json' } };
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Me' } }, { materia }), hold: true });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  const page = pageOf(cast);
  expect(page.waits).toMatchObject([{ kind: 'turn', turn: 1, socket: 'Me' }]);
  expect(page.graph.sockets).toMatchObject([{ kind: 'person', shown: 'waits', live: [{ words: 'your turn' }] }]);
  expect(page.acts.map(({ id }) => id)).toEqual(['answer:1', 'say', 'budget', 'abort']);
  cast.tell({ kind: 'turn.answer', cast: 'c', output: '{"satisfied":true}' });
  const over = pageOf(cast);
  expect([over.status, over.waits, over.acts]).toEqual(['completed', [], []]);
  expect(over.turns[0]?.waits).toMatchObject([{ what: 'turn', toSeq: expect.any(Number) }]);
});

test('a list without items leaves the loop at once', () => {
  const page = pageOf(play({ config: workflow(), agents: crew({ Plan: [plan(0)] }) }));
  expect(page.graph.loops[0]).toMatchObject({ isLeft: true, isEmpty: true });
  expect([page.items, page.status]).toEqual([[], 'completed']);
});

test('a page does not grow with the turns; what leaves it is passed on, and leaves its place in the timeline', () => {
  const rounds = 600;
  const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': rounds });
  const evals = [...Array.from({ length: rounds }, (_, n) => no(`again ${n}`)), yes, yes];
  const { entries } = play({ config, agents: crew({ Plan: [plan(2)], Build: ['built', '$repeat'], Eval: evals }) });
  const view = emptyPageView();
  const left: TurnRow[] = [];
  const sizes: number[] = [];
  for (const entry of entries) {
    const { page } = foldSent(view, entry);
    left.push(...page.leaving.splice(0));
    if (page.turns === 500 || page.turns === 1_000) sizes[page.turns] = writtenView(view).length;
  }
  const page = castPageOf(view);
  expect([page?.turnCount, (page?.turns.length ?? 0) + left.length]).toEqual([2 * rounds + 8, 2 * rounds + 8]);
  expect(left.map(({ turn }) => turn)).toEqual(left.map((_, n) => n + 1));
  expect(page?.turns.length).toBeLessThanOrEqual(201);
  expect((sizes[1_000] ?? 0) / (sizes[500] ?? 1)).toBeLessThan(1.1);
  const { counts, samples } = page?.timeline ?? { counts: null, samples: null };
  expect(counts).toMatchObject({ all: entries.length, turns: 2 * rounds + 8, turning: rounds });
  const marked = samples?.tones.flatMap((tones) => tones.filter((tone) => tone > 0)) ?? [];
  expect(marked.length).toBeGreaterThan(left.length / (samples?.every ?? 1) / 4);
  expect(samples?.seqs.length).toBeLessThanOrEqual(2_048);
  expect(page?.graph.sockets.map(({ name, turns }) => [name, turns])).toContainEqual(['Build', rounds + 2]);
  expect(page?.items.map(({ rework }) => rework)).toEqual([rounds, 0]);
});

test('an entry about a turn that has left says so, unless somebody kept the turn', () => {
  const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': 300 });
  const evals = [...Array.from({ length: 250 }, () => no('again')), yes];
  const { entries } = play({ config, agents: crew({ Plan: [plan(1)], Build: ['built', '$repeat'], Eval: evals }) });
  const kept = new Map<number, TurnRow>();
  const views = [emptyPageView(), emptyPageView()] as const;
  for (const entry of entries)
    for (const view of views)
      for (const row of foldSent(view, entry).page.leaving.splice(0)) if (row.end) kept.set(row.turn, row);
  const late = { ...(entries.at(-1) as Entry), seq: entries.length + 1 };
  const fact = { kind: 'turn.reopened', cast: 'c', turn: 2 } as unknown as Entry['fact'];
  foldSent(views[0], { ...late, fact });
  foldSent(views[1], { ...late, fact }, (turn) => kept.get(turn));
  expect(views.map(({ page }) => [page.isTorn, page.rows.get(2)?.end])).toEqual([
    [true, undefined],
    [false, null],
  ]);
});

test('the data of a cast is shown by how it begins', () => {
  const data = { long: 'x'.repeat(10_000), list: Array.from({ length: 5_000 }, (_, index) => index), none: null };
  const page = pageOf(play({ config: workflow(), agents: crew(), data }));
  const text = (name: string) => page.data.find((each) => each.name === name)?.text ?? '';
  expect([text('long').length, text('list').startsWith('[0, 1, 2'), text('none')]).toEqual([161, true, 'null']);
  expect(text('list').length).toBe(161);
});
