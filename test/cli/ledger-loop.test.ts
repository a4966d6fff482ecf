// One run from its plan to its end: six tasks with dependencies and scopes, one owner that falls silent, one change outside,
// one false claim, one secret in a note. Everything that was refused stands in the log with its code.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { WantedTask } from '../../src/kernel/ledger/fixtures/book.ts';
import { baton, json, project, put } from './baton.ts';
import { ask, claim, codesIn, finish, later, packet, RUN, rows } from './ledger-story.ts';

const TASKS: readonly [string, WantedTask][] = [
  ['T-1', { lock_scope: ['plan'], priority: 'critical' }],
  ['T-2', { lock_scope: ['api'], dependencies: ['T-1'], priority: 'high' }],
  ['T-3', { lock_scope: ['web'], dependencies: ['T-1'] }],
  ['T-4', { lock_scope: ['web/theme'], dependencies: ['T-1'], x_checkers: { 'It works': 'theme' } }],
  ['T-5', { lock_scope: ['docs'], dependencies: ['T-2', 'T-3', 'T-4'], type: 'serial' }],
  ['T-6', { lock_scope: ['.'], dependencies: ['T-5'] }],
];
const NOTHING = { changes: [] };

test('a run from its plan to its end', { timeout: 300_000 }, async () => {
  const checkers = { theme: { json: 'web/theme/theme.json', path: 'dark', equals: true } };
  const dir = project({ '.baton/config.json': { materia: {}, loadouts: {}, checkers }, 'web/theme/theme.json': '{}' });
  const envelope = {
    schema_version: '1.0.0',
    run_id: RUN,
    ledger_delta: TASKS.map(([id]) => ({
      task_id: id,
      status: 'todo',
      owner: 'unassigned',
      reason: 'planned',
      delta_id: `plan-${id}`,
      x_create: true,
    })),
    assignments: TASKS.map(([id, wish]) => packet(id, wish)),
    active_locks: [],
    blockers: [],
    next_actions: ['dispatch T-1'],
  };
  const planned = await ask(dir, ['task', 'apply', '-'], { input: JSON.stringify(envelope) });
  expect(planned).toMatchObject({
    code: 'OK',
    details: { assigned: TASKS.map(([id]) => id), reconcile: { code: 'OK' } },
  });
  const next = async (owner: string, seconds = 0): Promise<[string, number]> => {
    const verdict = await ask(dir, ['task', 'next', '--owner', owner], seconds === 0 ? {} : later(seconds));
    return [String(verdict.details.task), Number(verdict.details.fence)];
  };

  expect(await next('ann')).toEqual(['T-1', 1]);
  expect(await ask(dir, ['task', 'next', '--owner', 'bob'])).toMatchObject({ code: 'DEPENDENCY_NOT_MET' });
  expect((await finish(dir, 'T-1', 1, NOTHING)).code).toBe('OK');

  // An owner falls silent; what it was to do is done by another.
  expect(await next('ann')).toEqual(['T-2', 2]);
  expect(await ask(dir, ['watchdog'], later(62))).toMatchObject({ code: 'R-WD-001' });
  expect(await next('bob', 63)).toEqual(['T-2', 3]);
  expect((await finish(dir, 'T-2', 2, NOTHING)).code).toBe('CONCURRENCY_CONFLICT');
  expect((await finish(dir, 'T-2', 3, NOTHING)).code).toBe('OK');

  // A change outside the scope is found, whatever the result says.
  expect(await next('ann')).toEqual(['T-3', 4]);
  expect(await claim(dir, 'T-4', 'bob')).toMatchObject({ code: 'LOCK_CONFLICT', details: { holder: { task: 'T-3' } } });
  put(dir, { 'api/rogue.ts': 'x' });
  expect(await finish(dir, 'T-3', 4, NOTHING)).toMatchObject({
    code: 'SCOPE_VIOLATION',
    details: { outside: ['api/rogue.ts'] },
  });
  rmSync(join(dir, 'api'), { recursive: true });
  expect((await finish(dir, 'T-3', 4, NOTHING)).code).toBe('OK');

  // A claim that is not so is refused with what was found.
  expect(await next('bob')).toEqual(['T-4', 5]);
  expect(await finish(dir, 'T-4', 5, NOTHING)).toMatchObject({
    code: 'ACCEPTANCE_FAILED',
    details: { found: [{ found: 'there is no dark of web/theme/theme.json' }] },
  });
  put(dir, { 'web/theme/theme.json': '{"dark":true}' });
  expect((await finish(dir, 'T-4', 5, NOTHING)).code).toBe('OK');

  // A secret does not get through.
  expect(await next('ann')).toEqual(['T-5', 6]);
  const note = { notes_for_orchestrator: ['deployed with AKIAIOSFODNN7EXAMPLE'] };
  expect((await finish(dir, 'T-5', 6, { ...NOTHING, ...note })).code).toBe('UNTRUSTED_CONTEXT_BLOCK');
  expect((await finish(dir, 'T-5', 6, NOTHING)).code).toBe('OK');

  expect(await next('ann')).toEqual(['T-6', 7]);
  expect((await finish(dir, 'T-6', 7, NOTHING)).code).toBe('OK');
  expect((await rows(dir)).map(({ status }) => status)).toEqual(TASKS.map(() => 'done'));
  expect(await ask(dir, ['reconcile'])).toMatchObject({ code: 'OK', details: { active_lock_count: 0 } });
  const codes = await codesIn(dir);
  for (const code of [
    'TASK_TIMEOUT',
    'CONCURRENCY_CONFLICT',
    'LOCK_CONFLICT',
    'SCOPE_VIOLATION',
    'ACCEPTANCE_FAILED',
    'UNTRUSTED_CONTEXT_BLOCK',
  ]) {
    expect(codes).toContain(code);
  }
  expect((await baton(dir, ['log', '--json'])).stdout).not.toContain('AKIA');
  const metrics = json<{ runs: readonly JsonObject[] }>(await baton(dir, ['status', '--metrics', '--json']));
  expect(metrics.runs).toMatchObject([
    { tasks: 6, dispatches: 7, retriesAttempted: 1, retriesSucceeded: 1, firstPasses: 5 },
  ]);
});
