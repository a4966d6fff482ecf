// The ledger by hand, through the real command line: tasks, locks, moves, deltas, and what a script gets to read.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { asProcesses, baton, json, project, put, read } from './baton.ts';
import { ask, claim, codesIn, create, finish, packet, RUN, rows, start } from './ledger-story.ts';

test('a task is created, claimed, finished; then the next one that waited for it can start', async () => {
  const dir = project();
  expect(await create(dir, 'T-1')).toMatchObject({ code: 'OK', details: { run: RUN, task: 'T-1', version: 0 } });
  await create(dir, 'T-2', { dependencies: ['T-1'], priority: 'high' });
  expect(await claim(dir, 'T-2')).toMatchObject({ code: 'DEPENDENCY_NOT_MET' });
  const next = await ask(dir, ['task', 'next', '--owner', 'ann']);
  expect(next).toMatchObject({ details: { task: 'T-1', fence: 1, version: 1 } });
  expect(await finish(dir, 'T-1', 1)).toMatchObject({ code: 'OK', details: { to: 'done', version: 2 } });
  expect(await ask(dir, ['task', 'next', '--owner', 'bob', '--run', RUN.slice(0, 8)])).toMatchObject({
    details: { task: 'T-2', fence: 2 },
  });
  expect((await rows(dir)).map(({ task_id, status, owner }) => [task_id, status, owner])).toEqual([
    ['T-1', 'done', 'ann'],
    ['T-2', 'in_progress', 'bob'],
  ]);
  expect(await rows(dir, '--status', 'done')).toHaveLength(1);
  expect(await ask(dir, ['reconcile'])).toMatchObject({ details: { task_count: 2, active_lock_count: 1 } });
});

test('of overlapping paths one task has them, and the loser is told who', async () => {
  const dir = project();
  await create(dir, 'T-1', { lock_scope: ['web'] });
  await create(dir, 'T-2', { lock_scope: ['.\\web//src\\'] });
  await create(dir, 'T-3', { lock_scope: ['website'] });
  const fence = await start(dir, 'T-1');
  expect(await claim(dir, 'T-2', 'bob')).toMatchObject({
    code: 'LOCK_CONFLICT',
    details: { wanted: 'web/src', holder: { task: 'T-1', owner: 'ann', path: 'web' } },
  });
  expect((await claim(dir, 'T-3', 'bob')).code).toBe('OK');
  const held = json<readonly JsonObject[]>(await baton(dir, ['lock', 'list', '--json']));
  expect(held.map(({ task, path, mode, active }) => [task, path, mode, active])).toEqual([
    ['T-1', 'web', 'write', true],
    ['T-3', 'website', 'write', true],
  ]);
  expect(await ask(dir, ['lock', 'check', 'web/a.ts', 'docs'])).toMatchObject({
    code: 'LOCK_CONFLICT',
    details: { conflicts: [{ path: 'web/a.ts', holder: { task: 'T-1', owner: 'ann', fence } }] },
  });
  expect((await ask(dir, ['lock', 'check', 'docs'])).code).toBe('OK');
  expect((await ask(dir, ['lock', 'check', '../x'])).code).toBe('SCHEMA_INVALID');
  await ask(dir, ['task', 'move', 'T-1', 'canceled', '--reason', 'not needed']);
  const all = json<readonly JsonObject[]>(await baton(dir, ['lock', 'list', '--json', '--history']));
  expect(all.map(({ task, active }) => [task, active])).toEqual([
    ['T-1', false],
    ['T-3', true],
  ]);
  expect((await claim(dir, 'T-2', 'bob')).code).toBe('OK');
});

test('asking before a write: only the present claim may, and only inside its scope', async () => {
  const dir = project();
  await create(dir, 'T-1', { lock_scope: ['src'], forbidden_scope: ['docs'] });
  const fence = String(await start(dir, 'T-1'));
  const may = async (path: string) => (await ask(dir, ['lock', 'check', path, '--fence', fence])).code;
  expect([await may('src/a'), await may('docs'), await may('srcs')]).toEqual([
    'OK',
    'SCOPE_VIOLATION',
    'SCOPE_VIOLATION',
  ]);
  await ask(dir, ['task', 'move', 'T-1', 'blocked', '--reason', 'taken away']);
  expect(await may('src/a')).toBe('CONCURRENCY_CONFLICT');
});

/** Each row is one command on a ledger in which T-1 is in progress under fence 1, T-2 is todo and T-3 is done. */
test.each<[string, readonly string[], string]>([
  ['a task that is not there', ['task', 'claim', 'T-9', '--owner', 'x'], 'LEDGER_INCONSISTENT'],
  ['a task that is taken', ['task', 'claim', 'T-1', '--owner', 'x'], 'INVALID_TRANSITION'],
  ['an old version', ['task', 'claim', 'T-2', '--owner', 'x', '--expected-version', '3'], 'CONCURRENCY_CONFLICT'],
  ['todo to done', ['task', 'move', 'T-2', 'done', '--reason', 'x'], 'INVALID_TRANSITION'],
  ['an end to another', ['task', 'move', 'T-3', 'failed', '--reason', 'x'], 'INVALID_TRANSITION'],
  ['an end again', ['task', 'move', 'T-3', 'done', '--reason', 'again'], 'OK'],
  [
    'an old version with a wrong move',
    ['task', 'move', 'T-2', 'done', '--reason', 'x', '--expected-version', '4'],
    'CONCURRENCY_CONFLICT',
  ],
  [
    'an agent that says it is done',
    ['task', 'move', 'T-1', 'done', '--reason', 'x', '--fence', '1'],
    'ACCEPTANCE_FAILED',
  ],
  [
    'an agent with an old fence',
    ['task', 'move', 'T-1', 'blocked', '--reason', 'x', '--fence', '7'],
    'CONCURRENCY_CONFLICT',
  ],
  [
    'an agent that gives up',
    ['task', 'move', 'T-1', 'blocked', '--reason', 'x', '--fence', '1', '--code', 'LOCK_CONFLICT'],
    'OK',
  ],
  ['a person who cancels', ['task', 'move', 'T-1', 'canceled', '--reason', 'x'], 'OK'],
  ['nothing else is ready', ['task', 'next', '--owner', 'x', '--run', '0'], 'NOT_ALLOWED_NOW'],
])('%s: %j: %s', async (_, args, code) => {
  const dir = project();
  for (const id of ['T-3', 'T-1', 'T-2']) await create(dir, id);
  await finish(dir, 'T-3', await start(dir, 'T-3'));
  await ask(dir, ['task', 'move', 'T-1', 'in_progress', '--reason', 'go', '--owner', 'ann']);
  const fence = (await rows(dir)).find(({ task_id }) => task_id === 'T-1')?.fence;
  expect(fence).toBe(2);
  const given = args.map((word) => (word === '1' ? '2' : word));
  expect((await ask(dir, given)).code).toBe(code);
});

test('of two that claim the same version of a task at the same time one gets it', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const codes = await asProcesses(() =>
    Promise.all(['ann', 'bob'].map(async (owner) => (await claim(dir, 'T-1', owner, '--expected-version', '0')).code)),
  );
  expect(codes.sort()).toEqual(['CONCURRENCY_CONFLICT', 'OK']);
});

test('a held workspace hands out nothing, and what runs goes on', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2');
  const fence = await start(dir, 'T-1');
  expect((await ask(dir, ['hold', '--reason', 'release day'])).code).toBe('OK');
  expect(await claim(dir, 'T-2')).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    reason: expect.stringContaining('release day'),
  });
  expect((await finish(dir, 'T-1', fence)).code).toBe('OK');
  expect((await ask(dir, ['unhold'])).code).toBe('OK');
  expect((await claim(dir, 'T-2')).code).toBe('OK');
  expect((await ask(dir, ['unhold'])).code).toBe('NOT_ALLOWED_NOW');
});

const delta = (task_id: string, status: string, delta_id: string, more: JsonObject = {}): JsonObject => {
  return { task_id, status, owner: 'ann', reason: 'because', delta_id, ...more };
};

test('deltas are applied in order, once, all or nothing', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const apply = (stream: unknown) => ask(dir, ['task', 'apply', '-', '--run', RUN], { input: JSON.stringify(stream) });
  const stream = [
    delta('T-2', 'todo', 'd1', { x_create: true }),
    delta('T-2', 'blocked', 'd2'),
    delta('T-2', 'todo', 'd3', { owner: 'bob' }),
  ];
  expect(await apply(stream)).toMatchObject({
    code: 'OK',
    details: { applied: ['d1', 'd2', 'd3'], ignored: [], reconcile: { code: 'OK' } },
  });
  expect(await apply(stream)).toMatchObject({ details: { applied: [], ignored: ['d1', 'd2', 'd3'] } });
  const before = await rows(dir);
  expect(before[1]).toMatchObject({ task_id: 'T-2', owner: 'bob', version: 2, retry_count: 1 });
  expect(await apply([delta('T-1', 'blocked', 'd4'), delta('T-9', 'in_progress', 'd5')])).toMatchObject({
    code: 'LEDGER_INCONSISTENT',
    details: { index: 1, delta_id: 'd5' },
  });
  expect((await apply([delta('T-2', 'blocked', 'd1')])).code).toBe('CONCURRENCY_CONFLICT');
  const stale = { run_id: RUN, ledger_delta: [delta('T-2', 'blocked', 'd6')], base_versions: { 'T-2': 0 } };
  expect((await apply(stale)).code).toBe('CONCURRENCY_CONFLICT');
  expect((await apply([delta('T-2', 'todo', '')])).code).toBe('SCHEMA_INVALID');
  expect(await rows(dir)).toEqual(before);
});

test('an envelope brings its rows and its assignments, and brings nothing twice', async () => {
  const dir = project();
  const envelope = {
    schema_version: '1.0.0',
    run_id: RUN,
    ledger_delta: [delta('T-1', 'todo', 'd1', { x_create: true, owner: 'unassigned' })],
    assignments: [packet('T-1'), packet('T-2')],
    active_locks: [],
    blockers: [],
    next_actions: ['dispatch'],
  };
  const apply = () => ask(dir, ['task', 'apply', '-'], { input: JSON.stringify(envelope) });
  expect(await apply()).toMatchObject({ code: 'OK', details: { applied: ['d1'], assigned: ['T-1', 'T-2'], kept: [] } });
  expect(await apply()).toMatchObject({ code: 'OK', details: { ignored: ['d1'], assigned: [], kept: ['T-1', 'T-2'] } });
  expect((await claim(dir, 'T-1')).code).toBe('OK');
});

test('a bundle from the live ledger keeps its contract, and a new session finds its work in it', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2', { dependencies: ['T-1'], lock_scope: ['other'] });
  await create(dir, 'T-3');
  await start(dir, 'T-1');
  await ask(dir, ['task', 'move', 'T-3', 'blocked', '--reason', 'no key', '--code', 'MISSING_REQUIRED_INPUT']);
  const ran = await baton(dir, ['bundle']);
  const checked = await baton(dir, ['validate', 'operator/bundle', '--strict', '-'], { input: ran.stdout });
  expect(json(checked)).toMatchObject({ allow: true, details: { task_count: 3 } });
  expect(json(ran)).toMatchObject({
    objective: 'Ship it',
    active_locks: [{ task_id: 'T-1', resource: 'work/T-1', active: true }],
    dependencies: [{ task_id: 'T-2', depends_on_task_id: 'T-1' }],
    open_blockers: [{ task_id: 'T-3', code: 'MISSING_REQUIRED_INPUT', reason: 'no key' }],
  });
  expect(await ask(dir, ['bundle', '-o', 'b.json'])).toMatchObject({ details: { file: join(dir, 'b.json') } });
  expect(JSON.parse(read(dir, 'b.json'))).toMatchObject({ run_id: RUN });
});

test('how the runs went is told in numbers', async () => {
  const dir = project();
  for (const id of ['T-1', 'T-2']) await create(dir, id);
  await finish(dir, 'T-1', await start(dir, 'T-1'));
  await claim(dir, 'T-1');
  const metrics = json<{ runs: readonly JsonObject[]; all: JsonObject; trend: readonly JsonObject[] }>(
    await baton(dir, ['status', '--metrics', '--json']),
  );
  expect(metrics.runs).toMatchObject([{ run: RUN, tasks: 2, firstPasses: 1, denies: { INVALID_TRANSITION: 1 } }]);
  expect(metrics.all).toMatchObject({ tasks: 2, dispatches: 1 });
  expect(metrics.trend[0]).toMatchObject({ name: 'packets that were valid', values: [1] });
  expect((await baton(dir, ['status', '--metrics'])).stdout).toContain('packets that were valid');
});

test('people get tables', async () => {
  const dir = project();
  expect((await baton(dir, ['task', 'list'])).stdout).toContain('No task yet');
  expect((await baton(dir, ['lock', 'list'])).stdout).toBe('No path is locked.\n');
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  expect((await baton(dir, ['task', 'list'])).stdout).toMatch(
    /^task +status +owner .*\nT-1 +in_progress +ann +normal +Title of T-1\n$/,
  );
  expect((await baton(dir, ['lock', 'list'])).stdout).toMatch(/work\/T-1 +write +T-1 +ann/);
});

test('`task` alone says what there is', async () => {
  const { code, stdout } = await baton(project(), ['task']);
  expect(code).toBe(0);
  for (const word of ['create', 'claim', 'next', 'finish', 'move', 'list', 'apply'])
    expect(stdout).toContain(`task ${word}`);
});

test.each<[readonly string[], string]>([
  [['task', 'frobnicate'], 'there are: create FILE, claim TASK'],
  [['task', 'claim', 'T-1'], 'say --owner'],
  [['task', 'claim', '--owner', 'x'], 'claim TASK --owner NAME'],
  [['task', 'claim', 'T-1', '--owner', 'x', '--fence', '1'], 'has no --fence'],
  [['task', 'claim', 'T-1', '--owner', 'x', '--pid', '0'], 'there is no process 0'],
  [['task', 'finish', 'r.json', '--fence', 'x'], '--fence must be a whole number'],
  [['task', 'finish', 'missing.json', '--fence', '1'], 'there is no such file'],
  [['task', 'move', 'T-1', 'gone', '--reason', 'x'], 'there is no status gone'],
  [['task', 'move', 'T-1', 'blocked', '--reason', 'x', '--code', 'NOPE'], 'NOPE is no code'],
  [['task', 'move', 'T-1', 'blocked'], 'say --reason'],
  [['task', 'list', '--status', 'x'], 'there is no status x'],
  [['heartbeat', 'T-1', '--fence', '1'], 'say --owner'],
  [['heartbeat', 'T-1', '--owner', 'x'], 'say --fence'],
  [['lock', 'steal'], 'check PATH'],
  [['worklog', 'add'], 'say: '],
  [['worklog', 'drop', 'T-1'], 'show TASK'],
  [['hold'], 'say --reason'],
  [['gate', 'open'], 'there are: pre-dispatch'],
])('%j is wrong usage: %s', async (args, words) => {
  const { code, stderr, stdout } = await baton(project(), args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(words);
});

test.each<[readonly string[], string]>([
  [['task', 'claim', 'T-1', '--owner', 'x'], 'LEDGER_INCONSISTENT'],
  [['heartbeat', 'T-1', '--owner', 'x', '--fence', '1'], 'LEDGER_INCONSISTENT'],
  [['bundle'], 'LEDGER_INCONSISTENT'],
  [['watchdog'], 'OK'],
  [['reconcile'], 'OK'],
  [['lock', 'check', 'src'], 'OK'],
])('%j without a ledger: %s, and nothing is made', async (args, code) => {
  const dir = project();
  expect((await ask(dir, args)).code).toBe(code);
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test('a packet that is refused is told why and stands in the log', async () => {
  const dir = project();
  await create(dir, 'T-1');
  expect(await create(dir, 'T-2', { title: 'x'.repeat(501) })).toMatchObject({ code: 'SCHEMA_INVALID' });
  expect((await create(dir, 'T-1')).code).toBe('LEDGER_INCONSISTENT');
  expect((await create(dir, 'T-3', { dependencies: ['T-3'] })).code).toBe('LEDGER_INCONSISTENT');
  expect(await codesIn(dir)).toEqual(['SCHEMA_INVALID', 'LEDGER_INCONSISTENT', 'LEDGER_INCONSISTENT']);
  put(dir, { 'bad.json': '{' });
  expect((await ask(dir, ['task', 'create', 'bad.json'])).code).toBe('SCHEMA_INVALID');
});

test('where the configuration says that capitals do not count, a claim is refused for them', async () => {
  const dir = project({ '.baton/config.json': { locks: { caseInsensitive: true } } });
  await create(dir, 'T-1', { lock_scope: ['src/Button.ts'] });
  await create(dir, 'T-2', { lock_scope: ['src/button.ts'] });
  expect([(await claim(dir, 'T-1')).code, (await claim(dir, 'T-2')).code]).toEqual(['OK', 'LOCK_CONFLICT']);
});

test('an absolute path inside the workspace is the same path; one outside is nobody’s to lock', async () => {
  const dir = project();
  await create(dir, 'T-1', { lock_scope: ['src/api'] });
  await create(dir, 'T-2', { lock_scope: [join(dir, 'src/api/users.ts')] });
  expect([(await claim(dir, 'T-1')).code, (await claim(dir, 'T-2')).code]).toEqual(['OK', 'LOCK_CONFLICT']);
  expect(await ask(dir, ['lock', 'check', join(dir, 'src/api')])).toMatchObject({ code: 'LOCK_CONFLICT' });
  expect(await create(dir, 'T-3', { lock_scope: ['/etc'] })).toMatchObject({ code: 'SCOPE_VIOLATION' });
});

test('a held workspace says so in its status', async () => {
  const dir = project();
  await ask(dir, ['hold', '--reason', 'deploying']);
  expect((await baton(dir, ['status'])).stdout).toContain('deploying');
  expect(json(await baton(dir, ['status', '--json']))).toMatchObject({ hold: { reason: 'deploying' } });
});

test('a process that an agent started is no person: it moves nothing to done and holds nothing', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await claim(dir, 'T-1');
  const env = { ...process.env, BATON_ATTEMPT: '1.1' };
  const moved = await baton(dir, ['task', 'move', 'T-1', 'done', '--reason', 'I say so'], { env });
  expect([moved.code, JSON.parse(moved.stdout).code]).toEqual([1, 'APPROVER_IS_AGENT']);
  const held = await baton(dir, ['hold', '--reason', 'mine'], { env });
  expect(held.stdout + held.stderr).toContain('only a person may hold');
  expect(held.code).toBe(1);
});

test('a stray change is not forgiven by giving the task up and claiming it again', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const first = await start(dir, 'T-1');
  put(dir, { 'outside.txt': 'x' });
  expect(await finish(dir, 'T-1', first)).toMatchObject({ code: 'SCOPE_VIOLATION' });
  await ask(dir, ['task', 'move', 'T-1', 'blocked', '--reason', 'again', '--fence', String(first)]);
  const second = await start(dir, 'T-1');
  expect(await finish(dir, 'T-1', second)).toMatchObject({ code: 'SCOPE_VIOLATION' });
  rmSync(join(dir, 'outside.txt'));
  expect(await finish(dir, 'T-1', second)).toMatchObject({ code: 'OK' });
});
