// What scripts meet at the edges of handoffs and graphs, through the command line: what is read from an answer, where a cast goes
// when a rule and its neighbour touch, and what is refused by name instead of being run as something else.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { asBlock, reportOf } from '../reports.ts';
import { envelope, result, TEAM } from '../team.ts';
import { agent, always, baton, cast, flow, isRunning, json, project, read, script, start, until } from './baton.ts';

const FENCE = '```';
const ITEM = { title: 'feat: x', context: 'do x' };
const GENERATOR = { generator: true, assign: { workItems: '$.workItems' } };
const JUDGE = { requires: ['satisfied'] };

const CONTRADICTION =
  'You asked for something like {"satisfied": true}. But the tests fail: {"satisfied": false, "context": "red"}';

type Row = readonly [what: string, raw: string, options: JsonObject, code: string, details: object];

const says = (handoff: JsonObject) => ({ handoff });
const lacks = (path: string, words: string) => ({ issues: [{ path, message: expect.stringContaining(words) }] });

const ANSWERS: readonly Row[] = [
  ['prose before the object', 'Here you go:\n{"satisfied":true}', JUDGE, 'OK', says({ satisfied: true })],
  [
    'a fence, then prose',
    `${FENCE}json\n{"satisfied":true}\n${FENCE}\nThat was it.`,
    JUDGE,
    'OK',
    says({ satisfied: true }),
  ],
  [
    'a fence inside a string',
    JSON.stringify({ satisfied: false, context: `run\n${FENCE}sh\nls\n${FENCE}` }),
    JUDGE,
    'OK',
    says({ satisfied: false, context: `run\n${FENCE}sh\nls\n${FENCE}` }),
  ],
  ['a verdict alone', '{"satisfied": true}', JUDGE, 'OK', says({ satisfied: true })],
  ['an example and a verdict', CONTRADICTION, JUDGE, 'AMBIGUOUS_OUTPUT', lacks('$', '2 objects that differ')],
  ['the same verdict twice', 'So {"satisfied":true}, that is: {"satisfied": true}', JUDGE, 'OK', {}],
  [
    'a placeholder',
    '{"satisfied":"<true or false>"}',
    JUDGE,
    'CONTRACT_VIOLATION',
    lacks('$.satisfied', 'not a string'),
  ],
  ['prose where none may be', 'Yes: {"satisfied":true}', { ...JUDGE, strict: true }, 'NOT_JSON', lacks('$', 'strict')],
  ['a list', '[1,2]', {}, 'CONTRACT_VIOLATION', lacks('$', 'expected a JSON object at the top level')],
  ['null', 'null', {}, 'NOT_JSON', lacks('$', 'expected a JSON object at the top level')],
  ['nothing', '', {}, 'NOT_JSON', lacks('$', 'empty')],
  [
    'a boolean in quotes',
    '{"satisfied":"true"}',
    {},
    'CONTRACT_VIOLATION',
    { issues: [{ path: '$.satisfied', expected: 'boolean', message: expect.stringContaining('not a string') }] },
  ],
  [
    'the old name of the boolean',
    '{"passed":true}',
    JUDGE,
    'CONTRACT_VIOLATION',
    {
      issues: [
        { path: '$.satisfied', message: expect.stringContaining('`passed` is never read') },
        { path: '$.passed', message: expect.stringContaining('unexpected field') },
      ],
    },
  ],
  ['nothing where nothing is asked for', '{}', {}, 'OK', {}],
  ['a field nobody asked for', '{"summary":"x"}', {}, 'CONTRACT_VIOLATION', lacks('$.summary', 'unexpected field')],
  ['the same where all is assigned', '{"summary":"x"}', { assign: { lastCheck: '$' } }, 'OK', {}],
  ['the same where it is named', '{"summary":"x"}', { assign: { s: '$.summary' } }, 'OK', {}],
  [
    'another one beside it',
    '{"summary":"x","y":1}',
    { assign: { s: '$.summary' } },
    'CONTRACT_VIOLATION',
    lacks('$.y', 'unexpected field'),
  ],
  ['an empty list of items', '{"workItems":[]}', GENERATOR, 'OK', says({ workItems: [] })],
  [
    'an item with an id',
    JSON.stringify({ workItems: [{ ...ITEM, id: 'WI-1' }] }),
    GENERATOR,
    'CONTRACT_VIOLATION',
    lacks('$.workItems.0.id', 'unexpected field'),
  ],
  [
    'an item with a blank context',
    JSON.stringify({ workItems: [{ ...ITEM, context: ' ' }] }),
    GENERATOR,
    'CONTRACT_VIOLATION',
    lacks('$.workItems.0.context', 'not blank'),
  ],
  [
    'tasks in place of items',
    '{"tasks":[]}',
    GENERATOR,
    'CONTRACT_VIOLATION',
    {
      issues: [
        { path: '$.workItems', message: expect.stringContaining('required and missing') },
        { path: '$.tasks', message: expect.stringContaining('`workItems`') },
      ],
    },
  ],
  [
    'items beside tasks',
    JSON.stringify({ workItems: [ITEM], tasks: [] }),
    GENERATOR,
    'CONTRACT_VIOLATION',
    lacks('$.tasks', '`workItems`'),
  ],
  [
    'the first of an empty list',
    '{"list":[]}',
    { assign: { a: '$.list.0.label' } },
    'CONTRACT_VIOLATION',
    lacks('$.list.0.label', 'required and missing'),
  ],
  ['prose that is handed on', '{"text":"x"}', { assign: { t: '$.text' } }, 'OK', {}],
  ['prose beside a context', '{"text":"x","context":"y"}', {}, 'CONTRACT_VIOLATION', lacks('$.text', 'drop `text`')],
  ['events that are no list', '{"event":{}}', {}, 'CONTRACT_VIOLATION', lacks('$.event', 'array of events')],
  ['no events', '{"event":[]}', {}, 'OK', {}],
  [
    'events that are handed on',
    '{"event":[{"type":"a"}]}',
    { assign: { e: '$.event' } },
    'CONTRACT_VIOLATION',
    lacks('$.event', 'required and missing'),
  ],
  [
    'streams of a generator that goes item by item',
    JSON.stringify({ workItems: [ITEM], parallelSchedule: { version: 1, streams: [] } }),
    GENERATOR,
    'CONTRACT_VIOLATION',
    lacks('$.parallelSchedule', 'does not split its work'),
  ],
];

test('what is read from an answer, and what is said about it', async () => {
  const lines = ANSWERS.map(([id, input_raw, options]) => JSON.stringify({ id, input_raw, options }));
  const ran = await baton(project(), ['validate', 'materia', '--jsonl'], { input: lines.join('\n') });
  const answers = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  expect(answers.map(({ id, code }) => [id, code])).toEqual(ANSWERS.map(([what, , , code]) => [what, code]));
  for (const [index, [what, , , , details]] of ANSWERS.entries()) {
    expect(answers[index]?.details, what).toMatchObject(details);
  }
});

const leaf = { materia: 'Tell', parse: 'text' };
const crossing = flow(
  { Judge: { ...agent, parse: 'json' }, Tell: agent },
  {
    'Socket-1': { materia: 'Judge', edges: [{ when: 'satisfied', to: 'Socket-2' }, always('Socket-3')] },
    'Socket-2': leaf,
    'Socket-3': leaf,
  },
);
const sockets = (view: CastView) => view.path.map(({ socket }) => socket);

test.each<[string, readonly Json[], string[], string | null]>([
  ['true goes over the guarded edge', [{ satisfied: true }], ['Socket-1', 'Socket-2'], null],
  ['false goes over the one that is always taken', [{ satisfied: false }], ['Socket-1', 'Socket-3'], null],
  ['no boolean is asked for again', [{}, { satisfied: true }], ['Socket-1', 'Socket-2'], null],
  ['a contradiction is asked for again', [CONTRADICTION, { satisfied: false }], ['Socket-1', 'Socket-3'], null],
  ['a contradiction for good goes over neither', [CONTRADICTION, CONTRADICTION], ['Socket-1'], 'CONTRACT_VIOLATION'],
  ['no boolean for good goes over neither', [{}, { passed: true }], ['Socket-1'], 'CONTRACT_VIOLATION'],
])('a guarded edge and one that is always taken: %s', async (_what, said, path, code) => {
  const view = await cast(project(), crossing, { Judge: [...said], Tell: ['told'] });
  expect([sockets(view), view.code]).toEqual([path, code]);
  const verdicts = view.turns?.map(({ verdict }) => verdict as JsonObject) ?? [];
  const refused = verdicts.filter(({ allow }) => allow === false);
  for (const [index, verdict] of refused.entries()) {
    expect(verdict).toMatchObject(
      said[index] === CONTRADICTION
        ? { code: 'AMBIGUOUS_OUTPUT', details: { issues: { 0: { path: '$' } } } }
        : { code: 'CONTRACT_VIOLATION', details: { issues: { 0: { path: '$.satisfied' } } } },
    );
  }
  expect(refused).toHaveLength(said.length - (code === null ? 1 : 0));
});

test('a strict socket takes the object alone', async () => {
  const config = flow({ Judge: agent }, { 'Socket-1': { materia: 'Judge', parse: 'json', strict: true } });
  const view = await cast(project(), config, { Judge: ['Yes: {"context":"x"}', { context: 'x' }] });
  expect(view.turns?.map(({ verdict }) => (verdict as JsonObject).code)).toEqual(['NOT_JSON', 'OK']);
});

test('a utility that sleeps beyond its time is ended, and what it had said of itself is kept', async () => {
  const code = `import { writeFileSync } from 'node:fs'; writeFileSync('pid', String(process.pid));
    process.stdout.write('{"context":"half'); process.stderr.write('waiting for the database'); setInterval(() => {}, 1000);`;
  const config = flow({ U: script('u.mjs', { timeoutMs: 1_500 }) }, { 'Socket-1': { materia: 'U' } });
  const dir = project({ 'c.json': config, 'u.mjs': code });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--json', '--turns', 'x']);
  const view = json<CastView>(ran);
  expect([ran.code, view.status, view.code]).toEqual([1, 'failed', 'UTILITY_FAILED']);
  expect(isRunning(Number(read(dir, 'pid')))).toBe(false);
  const [turn] = view.turns ?? [];
  expect(turn?.verdict).toMatchObject({
    code: 'UTILITY_FAILED',
    reason: expect.stringMatching(
      /did not end within 1500 ms .*waiting for the database; until then it had written {"context":"half/,
    ),
    details: { fault: 'timeout' },
  });
  expect(json<CastView>(await baton(dir, ['show', 'latest', '--json', '--turns'])).turns).toEqual(view.turns);
});

test.each<[string, JsonObject, string]>([
  ['what has streams and is no generator', { parallel: true }, 'materia.A.parallel'],
])('%s is refused by name before anything starts', async (_what, materia, path) => {
  const dir = project();
  const config = flow({ A: { ...agent, ...materia } }, { 'Socket-1': { materia: 'A' } });
  const view = await cast(dir, config, { A: ['x'] });
  const checked = json<JsonObject>(await baton(project({ 'c.json': config }), ['check', 'c.json', '--json']));
  expect(checked).toMatchObject({ allow: false, code: 'INVALID_MATERIA', reason: expect.stringContaining(path) });
  expect(view).toMatchObject({ cast: null, status: 'failed', code: 'INVALID_MATERIA', issues: [{ path }] });
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test('whatever a person answers is another turn of the one that asked, and never its report', async () => {
  const asks = asBlock(reportOf('NEEDS_INPUT', { next_action: 'which region?' }));
  const config = flow(
    { A: agent, Tell: agent },
    {
      'Socket-1': { materia: 'A', contract: 'gaia', edges: [{ when: 'satisfied', to: 'Socket-2' }] },
      'Socket-2': leaf,
    },
  );
  const dir = project();
  const first = await cast(dir, config, { A: [asks, asks], Tell: ['told'] });
  expect([first.status, first.code]).toEqual(['waiting', 'ANSWER_NEEDED']);
  const ran = await baton(dir, ['answer', first.cast, 'looks good, proceed', '--json', '--turns']);
  const again = json<CastView>(ran);
  expect([ran.code, again.status, again.code, sockets(again)]).toEqual([4, 'waiting', 'ANSWER_NEEDED', ['Socket-1']]);
  expect(again.turns?.map(({ output }) => output)).toEqual([asks, asks]);
  expect(again.turns?.[1]?.brief).toContain('looks good, proceed');
});

test('while an agent is at work nothing is to be continued, and another cast runs beside it', async () => {
  const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });
  const dir = project({ 'c.json': config, 'a.json': { A: [{ $turn: { output: 'late', delayMs: 60_000 } }] } });
  const casting = start(dir, ['cast', '--file', 'c.json', '--agents', 'a.json', 'first']);
  await until('the agent', () => casting.stderr().includes('▸ '));
  const log = async () => (await baton(dir, ['log', '--after', '0', '--json'])).stdout;
  const [before, shown] = [await log(), json(await baton(dir, ['show', 'latest', '--json']))];
  for (const args of [
    ['continue', 'latest'],
    ['answer', 'latest', 'go on'],
    ['recast', 'latest'],
  ]) {
    const ran = await baton(dir, [...args, '--json']);
    expect([args, ran.code, json(ran).code]).toEqual([args, 1, 'NOT_ALLOWED_NOW']);
  }
  expect(await log()).toBe(before);
  expect((await cast(dir, config, { A: ['done'] })).status).toBe('completed');
  expect(json(await baton(dir, ['show', String(shown.cast), '--json']))).toMatchObject({ status: 'running' });
  await baton(dir, ['abort', String(shown.cast)]);
  expect((await casting.ended).code).toBe(1);
});

test('a connection that drops and an answer after it are one completion, and no failure', async () => {
  const dir = project();
  const agents = { A: [{ $turn: { fail: 'transport' } }, 'answered'] };
  const view = await cast(dir, flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } }), agents);
  expect([view.status, sockets(view)]).toEqual(['completed', ['Socket-1']]);
  const kinds = json<JsonObject[]>(await baton(dir, ['log', '--after', '0', '--json'])).map(({ kind }) => kind);
  expect(kinds.filter((kind) => ['turn.accepted', 'cast.completed', 'cast.failed'].includes(String(kind)))).toEqual([
    'turn.accepted',
    'cast.completed',
  ]);
});

const done = (id: string, delayMs: number) => ({ $turn: { output: result(id), delayMs } });

test('items that end in the reverse order stand in the order of their plan', async () => {
  const agents = {
    Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })],
    Worker: [done('T-1', 1_500), done('T-2', 0)],
    Sum: ['ok'],
  };
  const dir = project();
  const view = await cast(dir, TEAM, agents, '--in-place');
  expect([view.status, view.path.map(({ item }) => item)]).toEqual(['completed', [null, 'WI-1', 'WI-2', null]]);
  const ends = json<JsonObject[]>(await baton(dir, ['log', '--after', '0', '--json'])).flatMap(({ kind, to, task }) =>
    kind === 'task.moved' && to === 'done' ? [task] : [],
  );
  expect(ends).toEqual(['T-2', 'T-1']);
});

test('a plan that assigns nothing starts nobody, and the cast goes on behind the loop', async () => {
  const view = await cast(project(), TEAM, { Lead: [envelope()], Worker: [], Sum: ['nothing to do'] }, '--in-place');
  expect([view.status, sockets(view)]).toEqual(['completed', ['Socket-1', 'Socket-3']]);
});
