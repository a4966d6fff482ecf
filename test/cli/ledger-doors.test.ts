// What the commands of the ledger let nobody slip past: the rules themselves, what a claim was given, the names of tasks, and
// a ledger that does not agree with itself.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, cast, flow, json, project, put, read } from './baton.ts';
import { ask, claim, codesIn, create, finish, packet, RUN, start } from './ledger-story.ts';

const config = (checkers: JsonObject = {}) => ({ materia: {}, loadouts: {}, checkers });
const NEVER = { t: { file: 'never' } };
const TOUCH = { t: { command: ['touch', 'ran'] } };
const NOTHING = { changes: [] };

function repository(files: Record<string, JsonObject | string>): string {
  const dir = project(files);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: dir });
  git('init', '-q', '.');
  git('add', '.');
  git('commit', '-qm', 'first');
  return dir;
}

test.each([true, false])(
  'checkers are those of the claim, and who changes them is found out (git ignores them: %s)',
  async (ignored) => {
    const dir = repository({
      '.baton/config.json': config(NEVER),
      '.gitignore': ignored ? '.baton\n' : '.baton/state\n',
    });
    await create(dir, 'T-1', { x_checkers: { 'It works': 't' } });
    const fence = await start(dir, 'T-1');
    expect((await finish(dir, 'T-1', fence, NOTHING)).code).toBe('ACCEPTANCE_FAILED');
    put(dir, { '.baton/config.json': config(TOUCH) });
    expect(await finish(dir, 'T-1', fence, NOTHING)).toMatchObject({
      code: 'SCOPE_VIOLATION',
      details: { outside: ['.baton/config.json'] },
    });
    expect(existsSync(join(dir, 'ran'))).toBe(false);
    put(dir, { '.baton/config.json': config(NEVER) });
    expect((await finish(dir, 'T-1', fence, NOTHING)).code).toBe('ACCEPTANCE_FAILED');
  },
);

test('what governs the work is no task’s to lock', async () => {
  const dir = project();
  expect((await create(dir, 'T-1', { lock_scope: ['.baton'] })).code).toBe('SCOPE_VIOLATION');
  expect((await create(dir, 'T-2', { lock_scope: [join(dir, '.baton/config.json')] })).code).toBe('SCOPE_VIOLATION');
  put(dir, { 'in.json': packet('T-3', { lock_scope: ['.'] }) });
  expect((await ask(dir, ['task', 'create', 'in.json', '--root', '.baton'])).code).toBe('SCOPE_VIOLATION');
  expect((await create(dir, 'T-4', { lock_scope: ['.'] })).code).toBe('OK');
});

test('a workspace without a ledger has nobody who is silent, and nothing that disagrees', async () => {
  const dir = project();
  expect(await ask(dir, ['watchdog'])).toMatchObject({ code: 'OK', details: { timed_out: [], timed_out_count: 0 } });
  expect((await ask(dir, ['reconcile'])).details).toMatchObject({
    task_count: 0,
    active_lock_count: 0,
    event_count: 0,
  });
});

test('a bundle and a reconciliation know the locks of every root', async () => {
  const dir = project();
  put(dir, { 'in.json': packet('T-1'), 'lane/x': '' });
  await ask(dir, ['task', 'create', 'in.json', '--root', 'lane']);
  await start(dir, 'T-1');
  expect((await ask(dir, ['reconcile'])).details).toMatchObject({ active_lock_count: 1 });
  const bundle = json(await baton(dir, ['bundle']));
  expect(bundle.active_locks).toEqual([{ task_id: 'T-1', resource: 'work/T-1', active: true, x_root: 'lane' }]);
});

test('blockers have codes of the contract, also those of a person’s move', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await ask(dir, ['task', 'move', 'T-1', 'blocked', '--reason', 'x']);
  const run = await baton(dir, ['bundle']);
  expect(json(run).open_blockers).toEqual([
    { task_id: 'T-1', code: 'MISSING_REQUIRED_INPUT', x_code: 'ABORTED', reason: 'x' },
  ]);
  expect((await ask(dir, ['validate', 'operator/bundle', '--strict'], { input: run.stdout })).code).toBe('OK');
});

test.each<[string, JsonObject, string]>([
  ['a number for a task', { task_id: 5 }, 'SCHEMA_INVALID'],
  ['a task that nobody knows', { task_id: 'T-99' }, 'LEDGER_INCONSISTENT'],
  ['a run that nobody knows', { run_id: '0'.repeat(36) }, 'LEDGER_INCONSISTENT'],
  ['the task in progress', { task_id: 'T-1' }, 'NON_COMPLIANT'],
  ['a task that is not in progress', { task_id: 'T-2' }, 'OK'],
  ['an owner who has no task', { owner: 'zoe' }, 'OK'],
])('whoever stops and names %s: %s', async (_what, payload, code) => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2');
  await start(dir, 'T-1');
  expect((await ask(dir, ['gate', 'stop'], { input: JSON.stringify(payload) })).code).toBe(code);
});

test('a result belongs to the worklog that its assignment names', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  expect((await finish(dir, 'T-1', fence, { ...NOTHING, worklog_path: 'mine.jsonl' })).code).toBe('SCHEMA_INVALID');
  expect((await finish(dir, 'T-1', fence, { ...NOTHING, worklog_path: './worklogs/T-1.jsonl' })).code).toBe('OK');
});

test('the entry with which Baton closed a worklog is counted, and a worklog whose beginning was cut is written again', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  await ask(dir, ['task', 'move', 'T-1', 'blocked', '--reason', 'x']);
  const entry = { timestamp: '2026-01-31T09:30:00Z', run_id: RUN, task_id: 'T-1', actor: 'ann', action: 'edit' };
  const plain = { ...entry, files_touched: [], decision: 'd', result: 'ok', next_step: 'n' };
  const buries = await ask(dir, ['worklog', 'add', 'T-1', '-'], { input: JSON.stringify(plain) });
  expect(buries).toMatchObject({ code: 'MISSING_REQUIRED_INPUT', details: { missing: ['code'] } });
  const input = JSON.stringify({ ...plain, code: 'NON_COMPLIANT' });
  expect((await ask(dir, ['worklog', 'add', 'T-1', '-'], { input })).details).toMatchObject({ entries: 2 });
  const whole = read(dir, 'worklogs/T-1.jsonl');
  put(dir, { 'worklogs/T-1.jsonl': whole.slice(whole.indexOf('\n') + 1) });
  const ran = await baton(dir, ['worklog', 'add', 'T-1', '-'], { input });
  expect(ran.stderr).toMatch(/was changed by somebody else; it was written again/);
  expect(read(dir, 'worklogs/T-1.jsonl').startsWith(whole)).toBe(true);
});

test('a write that is refused is in the log', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  expect((await ask(dir, ['lock', 'check', 'src', '--fence', String(fence)])).code).toBe('SCOPE_VIOLATION');
  await ask(dir, ['task', 'move', 'T-1', 'blocked', '--reason', 'x']);
  expect((await ask(dir, ['lock', 'check', 'work/T-1', '--fence', String(fence)])).code).toBe('CONCURRENCY_CONFLICT');
  expect(await codesIn(dir)).toEqual(expect.arrayContaining(['SCOPE_VIOLATION', 'CONCURRENCY_CONFLICT']));
});

test('a search in vain, a look at a held path and a ledger that disagrees are in the log, too', async () => {
  const dir = project();
  await create(dir, 'T-1', { dependencies: ['T-9'] });
  await create(dir, 'T-2');
  await start(dir, 'T-2');
  expect((await ask(dir, ['task', 'next', '--owner', 'z'])).code).toBe('LEDGER_INCONSISTENT');
  expect((await ask(dir, ['lock', 'check', 'work/T-2'])).code).toBe('LOCK_CONFLICT');
  expect(await ask(dir, ['reconcile'])).toMatchObject({ code: 'LEDGER_INCONSISTENT', details: { event_count: 1 } });
  const told = json<readonly JsonObject[]>(await baton(dir, ['log', '--after', '0', '--json']));
  const refused = told.filter(({ kind }) => kind === 'task.refused').map(({ asked, code }) => [asked, code]);
  expect(refused).toEqual([
    ['next', 'LEDGER_INCONSISTENT'],
    ['write', 'LOCK_CONFLICT'],
    ['reconcile', 'LEDGER_INCONSISTENT'],
  ]);
  await ask(dir, ['task', 'move', 'T-1', 'canceled', '--reason', 'x']);
  expect((await ask(dir, ['task', 'next', '--owner', 'z'])).code).toBe('NOT_ALLOWED_NOW');
});

test('nothing is assigned before the ledger agrees with itself', async () => {
  const dir = project();
  await create(dir, 'T-1', { dependencies: ['T-9'] });
  const head = { schema_version: '1.0.0', run_id: RUN, active_locks: [], blockers: [], next_actions: [] };
  const envelope = { ...head, ledger_delta: [], assignments: [packet('T-2')] };
  expect(await ask(dir, ['task', 'apply', '-'], { input: JSON.stringify(envelope) })).toMatchObject({
    code: 'LEDGER_INCONSISTENT',
    details: { assigned: [], reconcile: { code: 'LEDGER_INCONSISTENT' } },
  });
  expect((await claim(dir, 'T-2')).code).toBe('LEDGER_INCONSISTENT');
});

test('an orchestrator that declines is answered with its own code', async () => {
  const dir = project();
  const input = 'BLOCKED: global_objective';
  expect((await ask(dir, ['task', 'apply', '-'], { input })).code).toBe('MISSING_REQUIRED_INPUT');
  expect((await ask(dir, ['validate', 'operator/orchestrator'], { input })).code).toBe('MISSING_REQUIRED_INPUT');
});

test('the bundle of a cast whose items nobody assigned states its request and its limits', async () => {
  const dir = project();
  const worker = { tools: 'coding', prompt: 'Do it.' };
  const settings = flow({ Worker: worker }, { 'Socket-1': { materia: 'Worker' } }, { budget: { maxTokens: 5000 } });
  const { cast: id } = await cast(dir, settings, { Worker: ['done'] });
  const bundle = json(await baton(dir, ['bundle', '--run', String(id)]));
  expect([bundle.objective, bundle.constraints]).toEqual(['do it', { budget: { maxTokens: 5000 } }]);
});
