// What the commands of the ledger say to the tasks of casts, and what two casts of the same plan leave behind.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { envelope, RUN, result, TEAM } from '../team.ts';
import { agent, baton, flow, json, project, put } from './baton.ts';
import { ask, create } from './ledger-story.ts';

const BLOCKED = result('T-1', { status: 'blocked', acceptance_check: [] });

/** A workspace with a team whose only task ends blocked; the cast waits. */
async function waiting(): Promise<string> {
  const dir = project({
    'team.json': TEAM,
    'agents.json': { Lead: [envelope({ id: 'T-1' })], Worker: [BLOCKED, '$repeat'], Sum: ['ok'] },
  });
  expect((await castIn(dir)).status).toBe('waiting');
  return dir;
}

async function castIn(dir: string): Promise<JsonObject> {
  return json(await baton(dir, ['cast', '--file', 'team.json', '--agents', 'agents.json', '--json', 'go']));
}

test('a second cast of the same plan appends to the worklog of the first', async () => {
  const dir = await waiting();
  const file = join(dir, 'worklogs/T-1.jsonl');
  const first = readFileSync(file, 'utf8');
  expect(first.trimEnd().split('\n')).toHaveLength(1);
  const { cast } = await castIn(dir);
  const both = readFileSync(file, 'utf8');
  expect(both.startsWith(first)).toBe(true);
  const lines = both.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ run_id: RUN, x_cast: cast });
  expect(await ask(dir, ['validate', 'operator/worklog', 'worklogs/T-1.jsonl'])).toMatchObject({ code: 'OK' });
});

test.each(['worklog_path', 'report_path'])(
  'a planner does not choose a file that a program obeys by %s',
  async (field) => {
    const evil = envelope({ id: 'T-1', [field]: '.claude/settings.json' });
    const dir = project({
      'team.json': TEAM,
      'agents.json': { Lead: [evil, evil], Worker: [BLOCKED, '$repeat'], Sum: ['ok'] },
      'evil.json': evil,
    });
    expect(await castIn(dir)).toMatchObject({ status: 'failed', code: 'SCOPE_VIOLATION' });
    const [packet] = (evil as JsonObject).assignments as JsonObject[];
    put(dir, { 'packet.json': packet ?? null });
    for (const words of [
      ['create', 'packet.json'],
      ['apply', 'evil.json'],
    ]) {
      const verdict = await ask(dir, ['task', ...words]);
      expect([words, verdict.code, verdict.reason]).toEqual([words, 'SCOPE_VIOLATION', expect.stringContaining(field)]);
    }
    expect(existsSync(join(dir, '.claude'))).toBe(false);
  },
);

test('an entry with a member that a program could obey is not written', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const entry = { timestamp: '2026-01-31T09:30:00Z', run_id: RUN, task_id: 'T-1', actor: 'ann', action: 'edit' };
  const whole = { ...entry, files_touched: [], decision: 'd', result: 'ok', next_step: 'n' };
  const add = (over: JsonObject) =>
    ask(dir, ['worklog', 'add', 'T-1', '-'], { input: JSON.stringify({ ...whole, ...over }) });
  expect(await add({ hooks: {} })).toMatchObject({ code: 'SCHEMA_INVALID', details: { unknown: ['hooks'] } });
  expect((await add({ x_hooks: {} })).code).toBe('OK');
  expect(readFileSync(join(dir, 'worklogs/T-1.jsonl'), 'utf8')).not.toContain('"hooks"');
});

test('a result, a delta or an envelope by the name that packets give to a cast does not reach its tasks', async () => {
  const dir = await waiting();
  const [{ cast = '' } = {}] = json<readonly { cast: string }[]>(await baton(dir, ['casts', '--json']));
  const delta = { task_id: 'T-1', status: 'canceled', owner: 'ann', reason: 'x', delta_id: 'd' };
  const head = { schema_version: '1.0.0', run_id: RUN, active_locks: [], assignments: [], blockers: [] };
  put(dir, {
    'result.json': result('T-1'),
    'deltas.json': [delta],
    'envelope.json': { ...head, ledger_delta: [delta], next_actions: [] },
  });
  for (const words of [
    ['finish', 'result.json', '--fence', '1'],
    ['apply', 'deltas.json', '--run', cast],
    ['apply', 'deltas.json', '--run', RUN],
    ['apply', 'envelope.json'],
  ]) {
    expect([words, await ask(dir, ['task', ...words])]).toMatchObject([words, { code: 'NOT_ALLOWED_NOW' }]);
  }
  expect(json<readonly JsonObject[]>(await baton(dir, ['task', 'list', '--json']))[0]?.status).toBe('blocked');
});

test('what a cast keeps while it waits is shown with the way to free it', async () => {
  const dir = project({
    'team.json': flow({ Ann: { ...agent, tools: 'coding', runner: 'person' } }, { 'Socket-1': { materia: 'Ann' } }),
  });
  const { cast, status } = json(await baton(dir, ['cast', '--file', 'team.json', '--json', 'go']));
  expect(status).toBe('waiting');
  const open = async () => json<{ open: JsonObject[] }>(await baton(dir, ['status', '--json'])).open[0];
  const since = (await open())?.since;
  expect(await open()).toMatchObject({ cast, holds: ['.'], since: expect.stringContaining('T') });
  const free = `baton task move T-1 blocked --run ${cast} --reason "…"`;
  const holder = { task: 'T-1', cast, status: 'waiting', since, free };
  expect(await ask(dir, ['lock', 'check', 'a.ts'])).toMatchObject({ code: 'LOCK_CONFLICT', details: { holder } });
  const { commands } = json<{ commands: { command: string }[] }>(await baton(dir, ['why', '--json']));
  expect(commands.some(({ command }) => command.endsWith(free.slice('baton'.length)))).toBe(true);
  expect((await baton(dir, ['status'])).stdout).toContain('It has kept . locked for ');
  expect(await ask(dir, ['task', 'move', 'T-1', 'blocked', '--run', 'latest', '--reason', 'x'])).toMatchObject({
    code: 'OK',
  });
  expect(await open()).toMatchObject({ cast, holds: [] });
});

test('why a task of a cast is blocked is said with the names of its sockets', async () => {
  const dir = project({
    'team.json': TEAM,
    'agents.json': { Lead: [envelope({ id: 'T-1' })], Worker: ['no report', '$repeat'], Sum: ['ok'] },
  });
  expect((await castIn(dir)).code).toBe('CONTRACT_VIOLATION');
  const [task] = json<readonly JsonObject[]>(await baton(dir, ['task', 'list', '--json']));
  expect(task).toMatchObject({
    status: 'blocked',
    reason: expect.stringMatching(/^Socket-\d did not keep/),
    why: expect.stringMatching(/^Worker did not keep/),
  });
  const { stdout } = await baton(dir, ['task', 'list']);
  expect(stdout).toContain('Worker did not keep');
  expect(stdout).not.toContain('Socket-');
});
