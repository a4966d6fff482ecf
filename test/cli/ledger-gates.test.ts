// The gates, as a script calls them: the payload on standard input, one verdict out.
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { project, put } from './baton.ts';
import { ask, create, RUN, result, start } from './ledger-story.ts';

const gate = (dir: string, name: string, payload: unknown) =>
  ask(dir, ['gate', name], { input: typeof payload === 'string' ? payload : JSON.stringify(payload) });

const assignment = {
  lock_scope: ['web/src'],
  forbidden_scope: [],
  acceptance_criteria: ['Lint clean'],
  worklog_path: 'worklogs/T-1.jsonl',
  timeout_seconds: 60,
  heartbeat_interval_seconds: 10,
};
const executed = (resource: string, worklog_path: string) => ({
  task_id: 'T-1',
  result: { ...result('T-1'), changes: [{ resource, action: 'edit' }], worklog_path },
  assignment,
});

test.each<[string, string, unknown, string]>([
  ['a payload that is no JSON', 'pre-dispatch', '{', 'SCHEMA_INVALID'],
  ['a dispatch', 'pre-dispatch', { task_id: 'T-1', assignment, active_locks: [] }, 'OK'],
  [
    'a dispatch on held paths',
    'pre-dispatch',
    { task_id: 'T-1', assignment, active_locks: [{ task_id: 'T-2', resource: 'web', active: true }] },
    'R-PD-003',
  ],
  ['a change above the scope', 'post-execution', executed('web', 'worklogs/T-1.jsonl'), 'R-PO-002'],
  ['a worklog that is a directory', 'post-execution', executed('web/src/x', 'logs'), 'R-PO-003'],
  ['a worklog that is not there', 'post-execution', executed('web/src/x', 'logs/none'), 'R-PO-003'],
  ['a result inside', 'post-execution', executed('web/src/x', 'worklogs/T-1.jsonl'), 'OK'],
  [
    'a completion',
    'pre-complete',
    {
      task_id: 'T-1',
      required_criteria: ['Lint clean'],
      acceptance_check: [{ criterion: 'lint clean', status: 'pass', evidence: 'x' }],
    },
    'R-PC-001',
  ],
  ['a table of locks', 'lock-update', [{ task_id: 'T-1', resource: '//', active: true }], 'R-LK-001'],
])('%s at %s', async (_, name, payload, code) => {
  const dir = project({ 'worklogs/T-1.jsonl': '{}\n' });
  expect((await gate(dir, name, payload)).code).toBe(code);
});

const REPORT = 'outputs/task__one.md';
const front = (over: JsonObject = {}) => {
  const fields = {
    schema_version: '1.0.0',
    run_id: RUN,
    task_id: 'T-1',
    status: 'blocked',
    worklog_path: 'w',
    ...over,
  };
  return `---\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n---\n`;
};

test.each<[string, (dir: string) => void, JsonObject, string]>([
  ['no report', () => undefined, {}, 'NON_COMPLIANT'],
  [
    'an old report',
    (dir) => {
      put(dir, { [REPORT]: front() });
      const then = Date.now() / 1000 - 90;
      utimesSync(join(dir, REPORT), then, then);
    },
    {},
    'NON_COMPLIANT',
  ],
  ['a report of another task', (dir) => put(dir, { [REPORT]: front({ task_id: 'T-2' }) }), {}, 'NON_COMPLIANT'],
  ['a report that says nothing', (dir) => put(dir, { [REPORT]: front({ status: 'fine' }) }), {}, 'SCHEMA_INVALID'],
  ['a fresh report', (dir) => put(dir, { [REPORT]: front() }), {}, 'OK'],
  ['no report, but it is somebody else’s task', () => undefined, { owner: 'bob' }, 'OK'],
  ['no report, but another task is asked about', () => undefined, { task_id: 'T-2' }, 'OK'],
])('stopping with %s: %s', async (_, prepare, payload, code) => {
  const dir = project();
  await create(dir, 'T-1', { report_path: REPORT });
  await create(dir, 'T-2');
  await start(dir, 'T-1');
  prepare(dir);
  expect((await gate(dir, 'stop', payload)).code).toBe(code);
});

test('who works on nothing may stop', async () => {
  const dir = project();
  expect((await gate(dir, 'stop', {})).code).toBe('OK');
  expect((await gate(dir, 'stop', { task_id: 'T-99' })).code).toBe('LEDGER_INCONSISTENT');
  await create(dir, 'T-1');
  expect((await gate(dir, 'stop', {})).code).toBe('OK');
  expect((await gate(dir, 'stop', [])).code).toBe('SCHEMA_INVALID');
});
