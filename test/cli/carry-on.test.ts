// Carrying on: what each verb does for a cast that stands, Ctrl-C, budgets, and the background.
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import {
  agent,
  always,
  BATON,
  baton,
  cast,
  flow,
  isRunning,
  json,
  project,
  put,
  script,
  start,
  until,
  untilWritten,
} from './baton.ts';

const text = { materia: 'A', parse: 'text' };
const pair = flow({ A: agent }, { 'Socket-1': { ...text, edges: [always('Socket-2')] }, 'Socket-2': text });
const rounds = flow(
  { B: agent, C: agent },
  {
    'Socket-1': { materia: 'B', parse: 'text', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'C', parse: 'json', edges: [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1 }] },
  },
);
const no = { satisfied: false, context: 'no' };
const casting = ['cast', '--file', 'c.json', '--agents', 'a.json'];
const LONG = 60_000;

async function kinds(dir: string): Promise<string[]> {
  return json<{ kind: string }[]>(await baton(dir, ['log', '--json'])).map(({ kind }) => kind);
}

test('continue and resume say that there is nothing to do for a completed cast', async () => {
  const dir = project();
  await cast(dir, pair, { A: ['1', '2'] });
  const before = await kinds(dir);
  for (const verb of ['continue', 'resume']) {
    const ran = await baton(dir, [verb, '--json']);
    expect([ran.code, json(ran).status, ran.stderr]).toEqual([
      0,
      'completed',
      expect.stringContaining('nothing to do'),
    ]);
  }
  for (const verb of ['recast', 'revive', 'abort']) {
    const ran = await baton(dir, [verb, 'latest', '--json']);
    expect([ran.code, json(ran)]).toEqual([1, expect.objectContaining({ allow: false, code: 'NOT_ALLOWED_NOW' })]);
    expect(ran.stderr).toMatch(/^baton: .+\n$/);
  }
  expect(await kinds(dir)).toEqual(before);
});

test('continue recasts a failed cast from where it stands; resume says which verb does', async () => {
  const dir = project();
  const failed = await cast(dir, pair, { A: ['1', { $turn: { fail: 'timeout' } }, '2'] });
  expect(failed.code).toBe('AGENT_TIMEOUT');
  const resumed = await baton(dir, ['resume', 'latest']);
  expect([resumed.code, resumed.stderr]).toEqual([1, expect.stringContaining(`baton recast ${failed.cast}`)]);
  const ran = await baton(dir, ['continue', '--json', '--turns']);
  const view = json<CastView>(ran);
  expect([ran.code, view.cast, view.status]).toEqual([0, failed.cast, 'completed']);
  expect(view.turns?.map(({ output }) => output)).toEqual(['1', null, '2']);
});

test('an old failure is left alone by continue once a later cast went well', async () => {
  const dir = project();
  await cast(dir, pair, {});
  const later = await cast(dir, pair, { A: ['1', '2'] });
  const ran = await baton(dir, ['continue', '--json']);
  expect([ran.code, json(ran).cast, json(ran).status]).toEqual([0, later.cast, 'completed']);
});

test('an aborted cast can be recast', async () => {
  const dir = project({ 'c.json': pair, 'a.json': { A: [{ $turn: { output: '1', delayMs: LONG } }, '$repeat'] } });
  const running = start(dir, [...casting, 'x']);
  await until('the start', () => running.stderr().includes('▸ '));
  const aborted = await baton(dir, ['abort', '--reason', 'wrong request', '--json']);
  expect([aborted.code, json(aborted)]).toEqual([0, expect.objectContaining({ allow: true, code: 'OK' })]);
  const ended = await running.ended;
  expect([ended.code, ended.stdout]).toEqual([
    1,
    expect.stringMatching(/was aborted\n {2}wrong request\n.*baton recast/s),
  ]);
  const again = start(dir, ['continue']);
  await until('the second start', () => again.stderr().includes('▸ '));
  expect((await baton(dir, ['abort', '--all'])).code).toBe(0);
  expect((await again.ended).code).toBe(1);
  expect(await kinds(dir)).toContain('cast.recast');
});

test('which of several open casts to abort is not guessed; --all means all', async () => {
  const slow = { A: [{ $turn: { output: '1', delayMs: LONG } }, '$repeat'] };
  const dir = project({ 'c.json': pair, 'a.json': slow });
  const running = [start(dir, [...casting, 'x']), start(dir, [...casting, 'y'])];
  for (const one of running) await until('the start', () => one.stderr().includes('▸ '));
  const guess = await baton(dir, ['abort']);
  expect([guess.code, guess.stderr]).toEqual([2, expect.stringContaining('2 casts are open')]);
  const all = json<{ details: { casts: string[] } }>(await baton(dir, ['abort', '--all', '--json']));
  expect(all.details.casts).toHaveLength(2);
  for (const one of running) expect((await one.ended).code).toBe(1);
  expect((await baton(dir, ['abort', '--all'])).stdout).toContain('nothing runs or waits');
});

test('an edge whose budget is spent: recast asks its source again, revive takes it as often again', async () => {
  const dir = project();
  const failed = await cast(dir, rounds, { B: ['b', '$repeat'], C: [no, no, no, no, { satisfied: true }] });
  expect([failed.code, failed.path.length]).toEqual(['EDGE_BUDGET_EXHAUSTED', 4]);
  const revived = json<CastView>(await baton(dir, ['revive', '--json']));
  expect([revived.code, revived.path.length]).toEqual(['EDGE_BUDGET_EXHAUSTED', 6]);
  const recast = json<CastView>(await baton(dir, ['recast', '--json']));
  expect([recast.code, recast.path.length]).toEqual(['EDGE_BUDGET_EXHAUSTED', 7]);
  const done = json<CastView>(await baton(dir, ['revive', '--json']));
  expect([done.status, done.path.at(-1)?.socket]).toEqual(['completed', 'Socket-2']);
});

test('a spent edge that asks: the cast waits with exit 4, and continue allows as many rounds again', async () => {
  const dir = project();
  const edges = [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1, then: 'ask' }];
  const build = { materia: 'B', parse: 'text', edges: [always('Socket-2')] };
  const sockets = { 'Socket-1': build, 'Socket-2': { materia: 'C', parse: 'json', edges } };
  const asked = await cast(dir, flow({ B: agent, C: agent }, sockets), {
    B: ['b', '$repeat'],
    C: [no, no, { satisfied: true }],
  });
  expect([asked.status, asked.code, asked.path.length]).toEqual(['waiting', 'EDGE_BUDGET_EXHAUSTED', 4]);
  const went = await baton(dir, ['continue', '--json']);
  expect([went.code, json<CastView>(went).status, json<CastView>(went).path.length]).toEqual([0, 'completed', 6]);
});

test('a spent budget: shown, raised, and the cast goes on', async () => {
  const used = (output: string) => ({ $turn: { output, usage: { input: 60, output: 40, cost: 1 } } });
  const dir = project();
  const config = { ...pair, budget: { maxTokens: 100 } };
  const failed = await cast(dir, config, { A: [used('1'), used('2')] });
  expect([failed.code, failed.usage.tokens]).toEqual(['BUDGET_EXHAUSTED', 100]);
  const shown = await baton(dir, ['budget', 'latest', '--json']);
  expect(json(shown)).toMatchObject({
    cast: failed.cast,
    budget: { maxTokens: 100 },
    usage: { input: 60, output: 40 },
  });
  expect((await baton(dir, ['budget'])).stdout).toMatch(/^tokens +100 +100$/m);
  const low = await baton(dir, ['budget', 'latest', '--tokens', '10', '--json']);
  expect([low.code, json(low).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
  expect((await baton(dir, ['continue', '--json'])).code).toBe(1);
  const raised = await baton(dir, ['budget', 'latest', '--tokens', '500', '--cost', '9.5', '--minutes', '5', '--json']);
  expect(json(raised)).toMatchObject({
    allow: true,
    details: { maxTokens: 500, maxCost: 9.5, maxDurationMs: 300_000 },
  });
  const ran = await baton(dir, ['continue', '--json']);
  expect([ran.code, json(ran).status]).toEqual([0, 'completed']);
});

test.each([
  ['SIGINT', 'interrupted from the keyboard'],
  ['SIGTERM', 'stopped by SIGTERM'],
  ['SIGHUP', 'its terminal was closed'],
] as const)(
  '%s stops what runs, leaves the cast paused, says why, and it can be carried on',
  async (signal, reason) => {
    const config = flow(
      { U: script('u.mjs'), A: agent },
      { 'Socket-1': { materia: 'U', edges: [always('Socket-2')] }, 'Socket-2': text },
    );
    const code = `import { spawn } from 'node:child_process'; import { existsSync, writeFileSync } from 'node:fs';
    if (existsSync('go')) console.log('{}');
    else { writeFileSync('pids.json', JSON.stringify([process.pid, spawn('sleep', ['600'], { stdio: 'ignore' }).pid])); setInterval(() => {}, 1000); }`;
    const dir = project({ 'c.json': config, 'a.json': { A: ['done'] }, 'u.mjs': code });
    const running = start(dir, [...casting, 'x']);
    const pids = JSON.parse(await untilWritten(dir, 'pids.json')) as number[];
    running.child.kill(signal);
    const paused = await running.ended;
    expect([paused.code, paused.stdout]).toEqual([1, expect.stringMatching(/is paused.*baton continue/s)]);
    expect(paused.stderr).toContain('Pausing');
    expect(pids.filter(isRunning)).toEqual([]);
    expect(json(await baton(dir, ['show', '--json']))).toMatchObject({ status: 'paused', reason });
    expect((await baton(dir, ['status'])).stdout).toMatch(new RegExp(` paused (?:for|just now).*\\n[^]* ${reason}\\n`));
    await baton(dir, ['-c', 'touch go'], { program: ['/bin/sh'] });
    const ran = await baton(dir, [signal === 'SIGINT' ? 'continue' : 'resume', '--json']);
    expect([ran.code, json(ran).status]).toEqual([0, 'completed']);
  },
);

test('an interrupt before the first turn pauses as well', async () => {
  const dir = project({ 'c.json': pair, 'a.json': { A: [{ $turn: { output: '1', delayMs: LONG } }, '$repeat'] } });
  const running = start(dir, [...casting, 'x']);
  await until('the id', () => running.stderr().startsWith('cast '));
  running.child.kill('SIGINT');
  expect((await running.ended).code).toBe(1);
  expect(json(await baton(dir, ['show', '--json'])).status).toBe('paused');
});

test('a crashed cast is said to be, and resume picks it among running ones', async () => {
  const dir = project({ 'c.json': pair, 'a.json': { A: [{ $turn: { output: '1', delayMs: 1_500 } }, '2'] } });
  const crashed = start(dir, [...casting, 'x']);
  await until('the start', () => crashed.stderr().includes('▸ '));
  crashed.child.kill('SIGKILL');
  await crashed.ended;
  expect((await baton(dir, ['status'])).stdout).toMatch(/ crashed .*\n[\s\S]* resume \S+\n/);
  const shown = (await baton(dir, ['show'])).stdout;
  expect(shown).toMatch(/^Cast \S+ {2}crashed\n[\s\S]* cut off[\s\S]* resume \S+/);
  expect(shown).not.toContain('running');
  const watched = await baton(dir, ['watch', 'latest']);
  expect([watched.code, watched.stderr]).toEqual([1, expect.stringContaining('No process drives cast')]);
  const other = await baton(dir, ['recast', 'latest', '--json']);
  expect([other.code, json(other).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
  const decided = await baton(dir, ['decide', 'latest:1', 'rerun', '--json']);
  expect([decided.code, json(decided).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
  const running = start(dir, [...casting, 'y']);
  await until('the start', () => running.stderr().includes('▸ '));
  const ran = await baton(dir, ['resume', '--json']);
  expect([ran.code, json(ran)]).toEqual([0, expect.objectContaining({ request: 'x', status: 'completed' })]);
  expect((await running.ended).code).toBe(0);
});

test('--detach returns at once, a background process drives, watch follows it to the end', async () => {
  const gate = `import { existsSync } from 'node:fs'; import { setTimeout } from 'node:timers/promises';
    while (!existsSync('go')) await setTimeout(20); console.log('{}');`;
  const config = flow(
    { A: agent, U: script('gate.mjs') },
    { 'Socket-1': { ...text, edges: [always('Socket-2')] }, 'Socket-2': { materia: 'U' } },
  );
  const dir = project({ 'c.json': config, 'a.json': { A: ['1'] }, 'gate.mjs': gate });
  const ran = await baton(dir, [...casting, '--detach', '--json', '--', '--odd', 'request']);
  const view = json<CastView>(ran);
  expect([ran.code, view.status, view.request]).toEqual([0, 'running', '--odd request']);
  expect(ran.stderr).toBe(`cast ${view.cast}\n`);
  const status = json<{ open: { cast: string; driver: number }[] }>(await baton(dir, ['status', '--json']));
  expect(status.open).toEqual([expect.objectContaining({ cast: view.cast, driver: expect.any(Number) })]);
  const watching = start(dir, ['watch', 'latest']);
  await until('the gate', () => watching.stderr().includes('▸ U'));
  put(dir, { go: '' });
  const watched = await watching.ended;
  expect([watched.code, watched.stdout]).toEqual([0, expect.stringContaining(`Cast ${view.cast} completed`)]);
  expect(watched.stderr).toMatch(/▸ A.*▸ U/s);
  const shown = await baton(dir, ['watch', 'latest', '--json', '--turns']);
  expect([shown.code, json(shown).status]).toEqual([0, 'completed']);
  expect(json<CastView>(shown).turns?.map(({ attempt }) => attempt)).toEqual([1, 1]);
});

test('a cast lives on when the terminal that reads it goes away', async () => {
  const dir = project({ 'c.json': pair, 'a.json': { A: [{ $turn: { output: '1', delayMs: 200 } }, '2'] } });
  const command = `"${BATON}" cast --file c.json --agents a.json x 2>&1 | head -n 1`;
  await baton(dir, ['-c', command], { program: ['/bin/sh'] });
  const ran = await baton(dir, ['watch', 'latest', '--json']);
  expect(json(ran).status).toBe('completed');
});

test('while it runs its time is told as it passes, and every list agrees with show', async () => {
  const dir = project({ 'c.json': pair, 'a.json': { A: [{ $turn: { output: '1', delayMs: LONG } }, '$repeat'] } });
  const running = start(dir, [...casting, 'x']);
  await until('the start', () => running.stderr().includes('▸ '));
  type Told = { readonly status: string; readonly reason: string; readonly elapsedMs: number };
  const told = async (): Promise<Told[]> => [
    json<Told>(await baton(dir, ['show', '--json'])),
    ...json<Told[]>(await baton(dir, ['casts', '--json'])),
    ...json<{ open: Told[] }>(await baton(dir, ['status', '--json'])).open,
  ];
  const before = await told();
  const after = await told();
  for (const [index, { status, elapsedMs }] of before.entries()) {
    expect(status).toBe('running');
    expect(elapsedMs).toBeGreaterThan(0);
    expect(after[index]?.elapsedMs).toBeGreaterThan(elapsedMs);
  }
  running.child.kill('SIGINT');
  await running.ended;
  expect((await told()).map(({ reason }) => reason)).toEqual(Array(3).fill('interrupted from the keyboard'));
  const [first, second] = await told();
  expect(second?.elapsedMs).toBe(first?.elapsedMs);
});

test('a cast that is done, or runs again, has the same reason in every list', async () => {
  const dir = project({ 'c.json': pair, 'a.json': { A: ['1', '2'] } });
  await baton(dir, [...casting, 'x']);
  const shown = json<{ reason: string }>(await baton(dir, ['show', '--json']));
  const [listed] = json<{ reason: string }[]>(await baton(dir, ['casts', '--json']));
  expect([shown.reason, listed?.reason]).toEqual(['completed', 'completed']);
});

test('a cast whose time ran out while nobody drove it says so when it is resumed, and is revived', async () => {
  const config = {
    ...flow({ U: script('u.mjs') }, { 'Socket-1': { materia: 'U' } }),
    budget: { maxDurationMs: 1_500 },
  };
  const code = `import { existsSync, writeFileSync } from 'node:fs';
    if (existsSync('pid')) console.log('{}'); else { writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000); }`;
  const dir = project({ 'c.json': config, 'a.json': {}, 'u.mjs': code });
  const running = start(dir, [...casting, 'x']);
  const pid = Number(await untilWritten(dir, 'pid'));
  running.child.kill('SIGKILL');
  await running.ended;
  // Nobody is there to stop it, and still it does not outlive the budget.
  await until('its end', () => !isRunning(pid));
  const resumed = await baton(dir, ['resume', '--json']);
  expect([resumed.code, json(resumed).code]).toEqual([1, 'BUDGET_EXHAUSTED']);
  const revived = await baton(dir, ['revive', 'latest', '--json']);
  expect([revived.code, json(revived).status]).toEqual([0, 'completed']);
});
