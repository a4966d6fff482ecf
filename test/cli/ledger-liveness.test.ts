// Signs of life through the real command line: who is heard of keeps its task, who is not loses it, and a claim that was
// lost gives nobody a second chance.
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project, start as run, until } from './baton.ts';
import { type Answer, ask, codesIn, create, finish, heartbeat, later, rows, start } from './ledger-story.ts';

const watchdog = (dir: string, seconds: number) => ask(dir, ['watchdog'], later(seconds));

test('a heartbeat changes nothing in the log, and is seen in the list', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  const head = json<{ head: number }>(await baton(dir, ['status', '--json'])).head;
  expect(await heartbeat(dir, 'T-1', fence, later(40))).toMatchObject({ code: 'OK', details: { timeout_seconds: 60 } });
  expect(json<{ head: number }>(await baton(dir, ['status', '--json'])).head).toBe(head);
  const [row] = await rows(dir);
  expect(Date.parse(String(row?.last_heartbeat_at)) - Date.now()).toBeGreaterThan(20_000);
});

test.each<[string, readonly string[], string]>([
  ['another task', ['T-2', '--owner', 'ann', '--fence', '1'], 'CONCURRENCY_CONFLICT'],
  ['another owner', ['T-1', '--owner', 'bob', '--fence', '1'], 'CONCURRENCY_CONFLICT'],
  ['another fence', ['T-1', '--owner', 'ann', '--fence', '2'], 'CONCURRENCY_CONFLICT'],
  ['no such task', ['T-9', '--owner', 'ann', '--fence', '1'], 'LEDGER_INCONSISTENT'],
  ['its own', ['T-1', '--owner', 'ann', '--fence', '1'], 'OK'],
])('a heartbeat for %s: %s', async (_, args, code) => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2');
  await start(dir, 'T-1');
  expect((await ask(dir, ['heartbeat', ...args])).code).toBe(code);
  expect(await codesIn(dir)).toEqual(code === 'OK' ? [] : [code]);
});

test('a silent task is blocked, gives its paths back and is handed out again; the second time a person decides', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const first = await start(dir, 'T-1');
  expect((await watchdog(dir, 50)).code).toBe('OK');
  const found = await watchdog(dir, 62);
  expect(found).toMatchObject({
    code: 'R-WD-001',
    details: {
      contract_code: 'TASK_TIMEOUT',
      timed_out: [
        { task_id: 'T-1', owner: 'ann', timeout_seconds: 60, why: 'silent', status: 'todo', escalates: false },
      ],
    },
  });
  expect(await rows(dir)).toMatchObject([{ status: 'todo', version: 3, retry_count: 1, owner: 'unassigned' }]);
  expect(json(await baton(dir, ['lock', 'list', '--json']))).toEqual([]);
  expect((await finish(dir, 'T-1', first)).code).toBe('CONCURRENCY_CONFLICT');
  expect((await heartbeat(dir, 'T-1', first)).code).toBe('CONCURRENCY_CONFLICT');
  expect((await ask(dir, ['lock', 'check', 'work/T-1/a', '--fence', String(first)])).code).toBe('CONCURRENCY_CONFLICT');
  const second = await ask(dir, ['task', 'claim', 'T-1', '--owner', 'bob'], later(63));
  expect(second.details.fence).toBe(2);
  expect(await watchdog(dir, 130)).toMatchObject({ details: { timed_out: [{ status: 'blocked', escalates: true }] } });
  expect(await codesIn(dir)).toContain('TASK_TIMEOUT');
  const shown = json<readonly JsonObject[]>(await baton(dir, ['worklog', 'show', 'T-1', '--json']));
  expect(shown.at(-1)).toMatchObject({ result: 'blocked', code: 'TASK_TIMEOUT' });
});

test('who was heard of in time keeps the task, and a heartbeat from the future is reported', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  await heartbeat(dir, 'T-1', fence, later(50));
  expect((await watchdog(dir, 62)).code).toBe('OK');
  expect(await watchdog(dir, 0)).toMatchObject({ code: 'R-WD-002', details: { skewed: [{ task_id: 'T-1' }] } });
});

test('an owner whose process is gone loses the task at once; one that only runs slowly does not', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: 'ignore' });
  await start(dir, 'T-1', 'ann', '--pid', String(child.pid));
  expect((await watchdog(dir, 5)).code).toBe('OK');
  expect(await watchdog(dir, 62)).toMatchObject({
    details: { timed_out: [{ why: 'silent', observed: expect.stringMatching(/process \d+ is \w+ .*: slow/) }] },
  });
  await ask(dir, ['task', 'claim', 'T-1', '--owner', 'ann', '--pid', String(child.pid)], later(63));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  expect(await watchdog(dir, 64)).toMatchObject({
    details: { timed_out: [{ why: 'gone', observed: `process ${child.pid} is gone` }] },
  });
});

test('the watchdog goes on looking until it is told to stop', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  const { child, ended, stderr } = run(dir, ['watchdog', '--follow'], later(62));
  await until('the first look', () => stderr().includes('next look in'));
  child.kill('SIGTERM');
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as Answer).code).toBe('R-WD-001');
});
