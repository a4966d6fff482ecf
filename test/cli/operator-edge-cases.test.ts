// What scripts meet at the edges of the operator contract, through the command line: which code wins, which place is named, and
// what the ledger does where two rules touch.
import { expect, test } from 'vitest';
import { EXAMPLE_ASSIGNMENT, EXAMPLE_RESULT } from '../../src/dialects/operator/brief.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project } from './baton.ts';
import { ask, claim, create, finish, RUN, rows, start } from './ledger-story.ts';

type Row = readonly [what: string, input: Json, code: string, details?: object, options?: JsonObject];

/** Each row is one line of `baton validate KIND --jsonl`; all of them are answered by one process. */
async function expectAnswers(kind: string, table: readonly Row[]): Promise<void> {
  const lines = table.map(([what, input, , , options = {}]) => {
    const payload = typeof input === 'string' ? { input_raw: input } : { input };
    return JSON.stringify({ id: what, ...payload, options });
  });
  const ran = await baton(project(), ['validate', kind, '--jsonl'], { input: lines.join('\n') });
  expect(ran.code).toBe(0);
  const answers = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  expect(answers.map(({ id, allow, code }) => [id, allow, code])).toEqual(
    table.map(([what, , code]) => [what, code === 'OK', code]),
  );
  for (const [index, [what, , , details = {}]] of table.entries()) {
    expect(answers[index]?.details, what).toMatchObject(details);
  }
}

const TASK = EXAMPLE_ASSIGNMENT.task as JsonObject;
const packet = (over: JsonObject): JsonObject => ({ ...EXAMPLE_ASSIGNMENT, ...over });
const task = (over: JsonObject): JsonObject => packet({ task: { ...TASK, ...over } });
const without = (object: JsonObject, name: string): JsonObject => {
  const { [name]: _, ...rest } = object;
  return rest;
};
const lock = (task_id: Json, resource: Json, active: Json = true): JsonObject => ({ task_id, resource, active });
const scoped = (lock_scope: Json, forbidden_scope: Json = [], active_locks: Json = []): JsonObject => ({
  ...task({ lock_scope, forbidden_scope }),
  active_locks,
});
const OVER_APP = lock('T-9', './app//');
const TORN = without(lock('T-8', 'docs'), 'active');

test('assignment packets', async () => {
  await expectAnswers('operator/assignment', [
    ['version 1.4', packet({ schema_version: '1.4' }), 'OK'],
    ['version 11.0.0', packet({ schema_version: '11.0.0' }), 'UNKNOWN_SCHEMA_VERSION'],
    [
      'no version, and a malformed run_id',
      { ...without(packet({}), 'schema_version'), run_id: 'x' },
      'MISSING_REQUIRED_INPUT',
      { missing: ['schema_version'] },
    ],
    ['task_id T-0003', task({ task_id: 'T-0003' }), 'OK'],
    ['task_id T-3b', task({ task_id: 'T-3b' }), 'SCHEMA_INVALID', { path: 'task.task_id' }],
    ['run_id of 36 zeros', packet({ run_id: '0'.repeat(36) }), 'OK'],
    [
      'a heartbeat as long as the timeout',
      task({ timeout_seconds: 120, heartbeat_interval_seconds: 120 }),
      'SCHEMA_INVALID',
      { path: 'task.heartbeat_interval_seconds' },
    ],
    [
      'no heartbeat',
      packet({ task: without(TASK, 'heartbeat_interval_seconds') }),
      'MISSING_REQUIRED_INPUT',
      { missing: ['heartbeat_interval_seconds'] },
    ],
    ['timeout 30 with heartbeat 29', task({ timeout_seconds: 30, heartbeat_interval_seconds: 29 }), 'OK'],
    [
      'timeout 29 with heartbeat 10',
      task({ timeout_seconds: 29, heartbeat_interval_seconds: 10 }),
      'SCHEMA_INVALID',
      { path: 'task.timeout_seconds' },
    ],
    ['a title of 501 characters', task({ title: 'x'.repeat(501) }), 'SCHEMA_INVALID', { path: 'task.title' }],
    ['priority null', task({ priority: null }), 'SCHEMA_INVALID', { path: 'task.priority' }],
    ['no priority', packet({ task: without(TASK, 'priority') }), 'OK'],
    ['a scope that overlaps itself', scoped(['app/ui', 'app/ui/button.tsx']), 'LOCK_CONFLICT'],
    ['forbidden below locked', scoped(['app/ui'], ['app/ui/theme']), 'SCOPE_VIOLATION'],
    ['forbidden with a common beginning only', scoped(['app/ui'], ['app/u']), 'OK'],
    ['a scope of white space', scoped(['\t']), 'SCHEMA_INVALID', { index: 0 }],
    [
      'another task holds what lies above',
      scoped(['app/ui/'], [], [OVER_APP]),
      'LOCK_CONFLICT',
      { task_id: 'T-12', resource: 'app/ui', conflict_task_id: 'T-9', conflict_resource: 'app' },
    ],
    ['it was released', scoped(['app/ui'], [], [{ ...OVER_APP, active: false }]), 'OK'],
    ['the task holds it itself', scoped(['app/ui'], [], [{ ...OVER_APP, task_id: 'T-12' }]), 'OK'],
    ['a conflict, then a torn record', scoped(['app'], [], [OVER_APP, TORN]), 'LOCK_CONFLICT'],
    ['a torn record, then a conflict', scoped(['app'], [], [TORN, OVER_APP]), 'SCHEMA_INVALID'],
    ['a released lock of no task', packet({ active_locks: [lock('worker-2', 'x', false)] }), 'SCHEMA_INVALID'],
    [
      'context of an unknown kind',
      packet({ context_package: [{ kind: 'link', value: 'x' }] }),
      'SCHEMA_INVALID',
      { index: 0 },
    ],
    ['criteria as text', task({ acceptance_criteria: 'tests pass' }), 'MISSING_REQUIRED_INPUT'],
    ['type as a list', task({ type: ['serial'] }), 'SCHEMA_INVALID', { path: 'task.type' }],
    ['an extension, strictly', packet({ x_budget: 3 }), 'OK', {}, { strict: true }],
    ['an unknown field', packet({ budget: 3 }), 'OK'],
    ['an unknown field, strictly', packet({ budget: 3 }), 'SCHEMA_INVALID', { path: 'budget' }, { strict: true }],
  ]);
});

const result = (over: JsonObject): JsonObject => ({ ...EXAMPLE_RESULT, ...over });
const noted = (...notes: string[]): JsonObject => result({ notes_for_orchestrator: notes });
const check = (status: string, criterion = 'c', evidence = 'seen'): JsonObject => ({ criterion, status, evidence });
const KEY_HEADER = ['-----BEGIN RSA ', 'PRIVATE KEY-----'].join('');
const REPORT = [
  '---',
  'schema_version: 1.0.0',
  `run_id: ${RUN}`,
  'task_id: T-12',
  'status: blocked',
  'files_touched:',
  'acceptance_check:',
  'notes_for_orchestrator:',
  'worklog_path: worklogs/T-12.jsonl',
];
const ASSIGNED = { pattern: 'generic_secret_assignment', index: 0 };

test('results', async () => {
  await expectAnswers('operator/result', [
    ['done without a check', result({ acceptance_check: [] }), 'ACCEPTANCE_FAILED'],
    ['blocked without a check', result({ status: 'blocked', acceptance_check: [] }), 'OK'],
    [
      'done with one failing check of three',
      result({ acceptance_check: [check('pass', 'a'), check('fail', 'b'), check('pass', 'c')] }),
      'ACCEPTANCE_FAILED',
      { failing_criteria: ['b'] },
    ],
    ['done with blank evidence', result({ acceptance_check: [check('pass', 'c', '   ')] }), 'SCHEMA_INVALID'],
    ['status canceled', result({ status: 'canceled' }), 'SCHEMA_INVALID', { path: 'status' }],
    ['six notes, the sixth a secret', noted('a', 'b', 'c', 'd', 'e', 'token=zz'), 'SCHEMA_INVALID'],
    ['a blank note, then a secret', noted('', 'token=zz'), 'SCHEMA_INVALID', { index: 0 }],
    ['a secret, then a blank note', noted('token=zz', ''), 'UNTRUSTED_CONTEXT_BLOCK', ASSIGNED],
    ['a secret with a space before its colon', noted('Secret : swordfish'), 'UNTRUSTED_CONTEXT_BLOCK', ASSIGNED],
    ['prose about secrets', noted('secrets: none'), 'OK'],
    ['a name that ends in token', noted('DB_TOKEN=abc'), 'UNTRUSTED_CONTEXT_BLOCK', ASSIGNED],
    [
      'failed, nothing changed, a key header',
      { ...noted(KEY_HEADER), status: 'failed', changes: [] },
      'UNTRUSTED_CONTEXT_BLOCK',
      { pattern: 'private_key_block' },
    ],
    [
      'a secret in evidence, which is scrubbed before it is stored',
      result({ acceptance_check: [check('pass', 'c', 'token=zz')] }),
      'OK',
      { warnings: [expect.stringContaining('acceptance_check[0].evidence')] },
    ],
    ['a report that is blocked, with empty lists', [...REPORT, '---', 'Prose.'].join('\n'), 'OK'],
    ['a report without a closing line', REPORT.join('\n'), 'SCHEMA_INVALID'],
  ]);
});

const held = (...paths: string[]): JsonObject => ({ locks: paths.map((path, index) => lock(`T-${index + 1}`, path)) });
const pair = (resource_a: string, resource_b: string) => ({
  conflicts: [{ task_a: 'T-1', resource_a, task_b: 'T-2', resource_b }],
});

test('tables of locks', async () => {
  await expectAnswers('operator/locks', [
    ['a folder and one below', held('web', 'web/src'), 'LOCK_CONFLICT', pair('web', 'web/src')],
    ['a common beginning', held('web', 'website'), 'OK', { active_lock_count: 2 }],
    ['two ways to write it', held('.\\web\\', 'web//src/'), 'LOCK_CONFLICT', pair('web', 'web/src')],
    ['both of one task', { locks: [lock('T-1', 'web'), lock('T-1', 'web/src')] }, 'OK'],
    ['other capitals', held('Web', 'web/src'), 'OK'],
    ['a star is a name', held('web/*', 'web/a.ts'), 'OK'],
    ['a star and its folder', held('web/*', 'web'), 'LOCK_CONFLICT', pair('web/*', 'web')],
    ['through ..', held('api/../web', 'web'), 'LOCK_CONFLICT', pair('web', 'web')],
    [
      'three below each other',
      held('d', 'd/e', 'd/e/f'),
      'LOCK_CONFLICT',
      {
        conflicts: [
          { resource_a: 'd', resource_b: 'd/e' },
          { resource_a: 'd', resource_b: 'd/e/f' },
          { resource_a: 'd/e', resource_b: 'd/e/f' },
        ],
      },
    ],
    [
      'a torn released record beside a conflict',
      { locks: [lock('T-1', 'a'), lock('T-2', 'a'), lock('T-3', 5, false)] },
      'SCHEMA_INVALID',
      { index: 2 },
    ],
    ['no table', {}, 'MISSING_REQUIRED_INPUT'],
    ['an empty table', { locks: [] }, 'OK', { active_lock_count: 0 }],
  ]);
});

const running = (last_heartbeat_at: Json, over: JsonObject = {}): JsonObject => ({
  task_id: 'T-1',
  status: 'in_progress',
  timeout_seconds: 300,
  last_heartbeat_at,
  ...over,
});
const watch = (now: string, ...tasks: JsonObject[]): JsonObject => ({ now, tasks });
const SIX = '2026-03-01T06:00:00Z';
const FIVE_MINUTES_LATER = '2026-03-01T06:05:00Z';
const DAYS_LATER = '2026-03-04T06:00:00Z';

test('the watchdog', async () => {
  await expectAnswers('operator/watchdog', [
    ['exactly as old as the limit', watch(FIVE_MINUTES_LATER, running(SIX)), 'OK', { timed_out_count: 0 }],
    [
      'one second older',
      watch('2026-03-01T06:05:01Z', running(SIX)),
      'R-WD-001',
      { contract_code: 'TASK_TIMEOUT', timed_out: [{ task_id: 'T-1', timeout_seconds: 300, age_seconds: 301 }] },
    ],
    ['30 s in the future', watch('2026-03-01T05:59:30Z', running(SIX)), 'OK'],
    ['31 s in the future', watch('2026-03-01T05:59:29Z', running(SIX)), 'R-WD-002'],
    ['silent and blocked', watch(DAYS_LATER, running(SIX, { status: 'blocked' })), 'OK'],
    ['in progress and never heard of', watch(SIX, without(running(SIX), 'last_heartbeat_at')), 'SCHEMA_INVALID'],
    ['a heartbeat with an offset', watch('2026-03-01T06:04:00Z', running('2026-03-01T09:00:00+03:00')), 'OK'],
    [
      'the age of a heartbeat with an offset',
      watch('2026-03-01T06:05:01Z', running('2026-03-01T09:00:00+03:00')),
      'R-WD-001',
      { timed_out: [{ age_seconds: 301 }] },
    ],
  ]);
});

const row = (task_id: string, status: string, over: JsonObject = {}): JsonObject => {
  return { task_id, status, owner: 'ann', ...over };
};
const AFTER_1 = { dependencies: ['T-1'] };
const issue = (code: string, over: object = {}) => ({ issues: [{ code, ...over }] });

test('reconciliation', async () => {
  await expectAnswers('operator/reconcile', [
    [
      'a lock of a task that is done',
      { ledger: [row('T-1', 'done')], active_locks: [lock('T-1', 'a')] },
      'LEDGER_INCONSISTENT',
    ],
    [
      'the same lock, released',
      { ledger: [row('T-1', 'done')], active_locks: [lock('T-1', 'a', false)] },
      'OK',
      { task_count: 1, active_lock_count: 0 },
    ],
    [
      'done before what it depends on',
      { ledger: [row('T-1', 'blocked'), row('T-2', 'done', AFTER_1)] },
      'LEDGER_INCONSISTENT',
      issue('DEPENDENCY_NOT_MET', { task_id: 'T-2', depends_on: 'T-1', depends_on_status: 'blocked' }),
    ],
    [
      'in progress and nobody’s',
      { ledger: [row('T-1', 'in_progress', { owner: ' ' })] },
      'LEDGER_INCONSISTENT',
      issue('LEDGER_INCONSISTENT', { task_id: 'T-1' }),
    ],
    [
      'a row twice, of which the first counts',
      { ledger: [row('T-1', 'done'), row('T-1', 'todo'), row('T-2', 'in_progress', AFTER_1)] },
      'LEDGER_INCONSISTENT',
      { issues: [{ code: 'LEDGER_INCONSISTENT', task_id: 'T-1', index: 1 }] },
    ],
    [
      'a released lock of a task that is not there',
      { ledger: [row('T-1', 'todo')], active_locks: [lock('T-9', 'a', false)] },
      'LEDGER_INCONSISTENT',
      issue('LEDGER_INCONSISTENT', { task_id: 'T-9' }),
    ],
  ]);
});

test('a packet without a priority is handed out as a normal one', async () => {
  const dir = project();
  for (const [id, wish] of [
    ['T-1', { priority: 'low' }],
    ['T-2', {}],
    ['T-3', { priority: 'normal' }],
    ['T-4', { priority: 'high' }],
  ] as const) {
    await create(dir, id, wish);
  }
  expect((await rows(dir)).map(({ priority }) => priority)).toEqual(['low', 'normal', 'normal', 'high']);
  const order: unknown[] = [];
  for (const _ of [1, 2, 3, 4]) order.push((await ask(dir, ['task', 'next', '--owner', 'ann'])).details.task);
  expect(order).toEqual(['T-4', 'T-2', 'T-3', 'T-1']);
});

test('an end that is said again is written down and changes nothing; another end is none', async () => {
  const dir = project();
  await create(dir, 'T-1');
  expect((await ask(dir, ['task', 'move', 'T-1', 'done', '--reason', 'x'])).code).toBe('INVALID_TRANSITION');
  await finish(dir, 'T-1', await start(dir, 'T-1', 'ann'), { changes: [] });
  await create(dir, 'T-2');
  await start(dir, 'T-2', 'bob');
  const logged = async () => json<JsonObject[]>(await baton(dir, ['log', '--after', '0', '--json']));
  const before = { rows: await rows(dir), locks: await baton(dir, ['lock', 'list', '--json']), log: await logged() };
  const again = await ask(dir, ['task', 'move', 'T-1', 'done', '--reason', 'seen twice', '--owner', 'eve']);
  expect(again).toMatchObject({ code: 'OK', details: { replay: true } });
  expect(await rows(dir)).toEqual(before.rows);
  expect((await baton(dir, ['lock', 'list', '--json'])).stdout).toBe(before.locks.stdout);
  expect((await logged()).slice(before.log.length)).toMatchObject([{ kind: 'task.moved', replay: true }]);
  expect((await ask(dir, ['task', 'move', 'T-1', 'failed', '--reason', 'x'])).code).toBe('INVALID_TRANSITION');
});

test('an old version is told before a move that is wrong besides', async () => {
  const dir = project();
  await create(dir, 'T-1');
  for (const status of ['blocked', 'todo', 'blocked', 'todo']) {
    await ask(dir, ['task', 'move', 'T-1', status, '--reason', 'x']);
  }
  const move = (version: string) =>
    ask(dir, ['task', 'move', 'T-1', 'done', '--reason', 'x', '--expected-version', version]);
  expect(await move('3')).toMatchObject({ code: 'CONCURRENCY_CONFLICT', details: { version: 4 } });
  expect((await move('4')).code).toBe('INVALID_TRANSITION');
});

test('a task whose dependency was canceled is not started', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2', { dependencies: ['T-1'] });
  await ask(dir, ['task', 'move', 'T-1', 'canceled', '--reason', 'x']);
  expect(await claim(dir, 'T-2')).toMatchObject({
    code: 'DEPENDENCY_NOT_MET',
    details: { unmet: [{ depends_on: 'T-1', status: 'canceled' }] },
  });
});
