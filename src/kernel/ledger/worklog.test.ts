import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { WORKLOG_FIELDS } from './decide.ts';
import type { LedgerRequest } from './fact.ts';
import { openBook, RUN } from './fixtures/book.ts';
import { runOf } from './state.ts';

type Add = Extract<LedgerRequest, { kind: 'worklog.add' }>;
const add = (entry: JsonObject = {}, over: Partial<Add> = {}): Add => {
  return { kind: 'worklog.add', task: 'T-1', by: 'ann', entry: { run_id: RUN, task_id: 'T-1', ...entry }, ...over };
};

const KNOWN = [...WORKLOG_FIELDS.required, ...WORKLOG_FIELDS.optional];
const WHOLE = { ...Object.fromEntries(KNOWN.map((name) => [name, 'x'])), run_id: RUN, task_id: 'T-1' };

test('a refused entry names its unknown members', () => {
  const book = openBook();
  book.create('T-1');
  expect(book.ask(add({ mcpServers: {}, x_fine: 1, hooks: [] }))).toMatchObject({
    code: 'SCHEMA_INVALID',
    reason: expect.stringContaining('"mcpServers"'),
    details: { unknown: ['mcpServers', 'hooks'] },
  });
});

/** Each row breaks its own rule and those below it. */
test.each<[string, string, Add]>([
  ['a task that is not there', 'LEDGER_INCONSISTENT', add({ task_id: 'T-9' }, { task: 'T-9', fence: 7 })],
  ['a claim that is over', 'CONCURRENCY_CONFLICT', add({ task_id: 'T-2' }, { fence: 7 })],
  ['an entry of another task', 'SCHEMA_INVALID', add({ task_id: 'T-2' }, { fence: 1 })],
  ['an entry of another run', 'SCHEMA_INVALID', add({ run_id: 'x' })],
  ['a member that a program could obey', 'SCHEMA_INVALID', add({ hooks: {} }, { fence: 1 })],
  ['an extension and every known member', 'OK', add({ ...WHOLE, x_hooks: {} }, { fence: 1 })],
  ['its own, under its claim', 'OK', add({}, { fence: 1 })],
  ['an agent without the token of its claim', 'MISSING_REQUIRED_INPUT', add({ task_id: 'T-2' }, { actor: 'agent' })],
  ['its own', 'OK', add()],
])('%s: %s', (_, code, request) => {
  const book = openBook();
  book.create('T-1');
  book.start('T-1');
  book.news();
  expect(book.ask(request).code).toBe(code);
  expect(book.news()).toEqual([code === 'OK' ? 'worklog.added' : 'task.refused']);
});

test.each<[string, JsonObject, string]>([
  ['blocked', {}, 'MISSING_REQUIRED_INPUT'],
  ['blocked', { code: 'TASK_TIMEOUT', next_step: ' ' }, 'MISSING_REQUIRED_INPUT'],
  ['blocked', { code: 'TASK_TIMEOUT', next_step: 'plan it again' }, 'OK'],
  ['failed', { next_step: 'x' }, 'MISSING_REQUIRED_INPUT'],
  ['canceled', {}, 'OK'],
  ['todo', {}, 'OK'],
])('a task that is %s has %o for its last words: %s', (status, entry, code) => {
  const book = openBook();
  book.create('T-1');
  if (status !== 'todo') book.move('T-1', status as 'blocked');
  expect(book.ask(add(entry)).code).toBe(code);
});

test('entries name a run as its payloads do', () => {
  const book = openBook();
  book.create('T-1');
  const run = runOf(book.ledger, RUN);
  if (run) run.runId = 'another name';
  expect(book.ask(add()).code).toBe('SCHEMA_INVALID');
  expect(book.ask(add({ run_id: 'another name' })).code).toBe('OK');
});
