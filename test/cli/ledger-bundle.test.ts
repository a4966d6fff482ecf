// A new agent is given a bundle and nothing else: no packets, no conversation, no list of tasks. It goes on where the one
// before it was killed.
import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, project, put } from './baton.ts';
import { ask, create, finish, packet, start } from './ledger-story.ts';

type Row = { readonly [field: string]: Json | undefined } & { readonly task_id: string; readonly status: string };
type Bundle = {
  readonly run_id: string;
  readonly objective: string;
  readonly ledger: readonly Row[];
  readonly dependencies: readonly { readonly task_id: string; readonly depends_on_task_id: string }[];
  readonly acceptance_targets: readonly { readonly task_id: string; readonly criteria: readonly string[] }[];
  readonly active_locks: readonly ({ readonly task_id: string } & JsonObject)[];
};

const RANK = ['critical', 'high', 'normal', 'low'];

/** The packet of the next task: the most urgent one that nobody works on and for which everything before it is done. */
function nextPacket(text: string): JsonObject | null {
  const bundle = JSON.parse(text) as Bundle;
  const done = new Set(bundle.ledger.filter(({ status }) => status === 'done').map(({ task_id }) => task_id));
  const before = (id: string) =>
    bundle.dependencies.filter(({ task_id }) => task_id === id).map((edge) => edge.depends_on_task_id);
  const [row] = bundle.ledger
    .filter(({ task_id, status }) => status === 'todo' && before(task_id).every((id) => done.has(id)))
    .sort((a, b) => RANK.indexOf(String(a.priority)) - RANK.indexOf(String(b.priority)));
  if (!row) return null;
  const { task_id } = row;
  const given = (name: string, value: Json | undefined) => (value === undefined ? {} : { [name]: value });
  return {
    schema_version: '1.0.0',
    run_id: bundle.run_id,
    packet_type: 'assignment',
    global_objective: row.x_objective ?? bundle.objective,
    task: {
      task_id,
      title: row.title ?? '',
      type: row.x_type ?? '',
      dependencies: before(task_id),
      lock_scope: row.lock_scope ?? [],
      forbidden_scope: row.x_forbidden_scope ?? [],
      acceptance_criteria: bundle.acceptance_targets.find((target) => target.task_id === task_id)?.criteria ?? [],
      worklog_path: row.x_worklog_path ?? '',
      timeout_seconds: row.timeout_seconds ?? 0,
      heartbeat_interval_seconds: row.heartbeat_interval_seconds ?? 0,
      priority: row.priority ?? '',
      ...given('report_path', row.x_report_path),
      ...given('x_read_scope', row.x_read_scope),
      ...given('x_checkers', row.x_checkers),
    },
    active_locks: bundle.active_locks.filter((lock) => lock.task_id !== task_id && lock.x_root === row.x_root),
    context_package: row.x_context_package ?? [],
    required_output_schema: 'subagent_result_v1',
  };
}

/** The result that a packet asks for. */
function resultFor({ run_id = '', task }: JsonObject): JsonObject {
  const { task_id, acceptance_criteria, worklog_path, lock_scope } = task as Record<string, Json>;
  const [scope] = lock_scope as readonly string[];
  return {
    schema_version: '1.0.0',
    run_id,
    task_id: task_id ?? '',
    status: 'done',
    changes: [{ resource: `${scope}/out.txt`, action: 'create' }],
    acceptance_check: (acceptance_criteria as readonly string[]).map((criterion) => ({
      ...{ criterion, status: 'pass', evidence: 'looked at it' },
    })),
    worklog_path: worklog_path ?? '',
    notes_for_orchestrator: [],
  };
}

test('whoever has the bundle alone goes on after the former holder was killed', async () => {
  const dir = project({
    '.baton/config.json': {
      materia: {},
      loadouts: {},
      checkers: { out: { file: 'work/T-2/out.txt', contains: 'finished' } },
    },
  });
  const wishes: Record<string, Parameters<typeof packet>[1]> = {
    'T-1': {},
    'T-2': {
      dependencies: ['T-1'],
      forbidden_scope: ['work/T-1'],
      acceptance_criteria: ['It works', 'It is written down'],
      x_checkers: { 'It is written down': 'out' },
      x_read_scope: ['docs'],
      report_path: 'reports/T-2.md',
      packet: { context_package: [{ kind: 'constraint', value: 'no new dependency' }] },
    },
    'T-3': { lock_scope: ['work/T-3', 'shared'] },
    'T-4': {
      dependencies: ['T-2', 'T-3'],
      type: 'serial',
      priority: 'low',
      packet: { global_objective: 'Tell everybody' },
    },
  };
  for (const [id, wish] of Object.entries(wishes)) expect((await create(dir, id, wish)).code).toBe('OK');
  expect((await finish(dir, 'T-1', await start(dir, 'T-1'), { changes: [] })).code).toBe('OK');
  const other = await start(dir, 'T-3', 'carl');
  const holder = spawn('sleep', ['600'], { stdio: 'ignore' });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await start(dir, 'T-2', 'ann', '--pid', String(holder.pid));
  // It had done half of it.
  put(dir, { 'work/T-2/out.txt': 'begun' });
  const gone = new Promise((resolve) => holder.once('exit', resolve));
  holder.kill('SIGKILL');
  await gone;
  expect((await ask(dir, ['watchdog'])).details).toMatchObject({ timed_out: [{ task: 'T-2', why: 'gone' }] });

  const bundle = async () => {
    const { stdout } = await baton(dir, ['bundle']);
    expect((await ask(dir, ['validate', 'operator/bundle', '--strict'], { input: stdout })).code).toBe('OK');
    return stdout;
  };
  const check = async (next: JsonObject | null) => {
    const checked = await ask(dir, ['validate', 'operator/assignment', '--strict'], { input: JSON.stringify(next) });
    expect([checked.code, checked.details.issues ?? []]).toEqual(['OK', []]);
    return next ?? {};
  };
  const hand = (fence: number, next: JsonObject) =>
    ask(dir, ['task', 'finish', '-', '--fence', String(fence)], { input: JSON.stringify(resultFor(next)) });
  const assigned = (id: string, over: JsonObject, locks: Json = []) => {
    const { task, ...top } = packet(id, wishes[id]) as JsonObject & { task: JsonObject };
    return { ...top, task: { ...task, ...over }, active_locks: locks };
  };

  const second = await check(nextPacket(await bundle()));
  const locks = ['work/T-3', 'shared'].map((resource) => ({ task_id: 'T-3', resource, active: true }));
  expect(second).toEqual(assigned('T-2', { priority: 'normal' }, locks));
  const fence = await start(dir, 'T-2', 'bob');
  // What the packet says is what counts: its checker, its criteria, its paths.
  expect((await hand(fence, second)).code).toBe('ACCEPTANCE_FAILED');
  put(dir, { 'work/T-2/out.txt': 'finished' });
  expect((await hand(fence, second)).code).toBe('OK');

  expect(nextPacket(await bundle())).toBeNull();
  expect((await finish(dir, 'T-3', other, { changes: [] })).code).toBe('OK');
  const last = await check(nextPacket(await bundle()));
  expect(last).toEqual(assigned('T-4', {}));
  expect((await hand(await start(dir, 'T-4', 'bob'), last)).code).toBe('OK');
  expect((await ask(dir, ['reconcile'])).code).toBe('OK');
});
