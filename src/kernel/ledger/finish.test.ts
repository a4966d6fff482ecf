import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import type { LedgerRequest } from './fact.ts';
import { type Book, openBook, packet, result, type WantedTask } from './fixtures/book.ts';

type Finish = Extract<LedgerRequest, { kind: 'task.finish' }>;
const finish = (fence: number, over: JsonObject = {}, more: Partial<Finish> = {}): Finish => {
  return { kind: 'task.finish', task: 'T-1', fence, result: result('T-1', over), ...more };
};

function atWork(wish: WantedTask = {}): { book: Book; fence: number } {
  const book = openBook();
  book.create('T-1', wish);
  const fence = book.start('T-1');
  book.news();
  return { book, fence };
}

const check = (criterion: string, status = 'pass', evidence = 'seen') => ({ criterion, status, evidence });
const changed = (...paths: string[]) => ({ changes: paths.map((resource) => ({ resource, action: 'edit' })) });

test('a result that shows everything ends the task and gives its locks back in the same fact', () => {
  const { book, fence } = atWork();
  book.now = 5000;
  expect(book.ask(finish(fence))).toMatchObject({
    allow: true,
    details: { from: 'in_progress', to: 'done', version: 2 },
  });
  expect(book.task('T-1')).toMatchObject({ status: 'done', owner: 'ann', fence: null, version: 2, code: null });
  expect([book.ledger.locks.held, book.news()]).toEqual([{}, ['task.moved']]);
  expect(book.facts.at(-1)?.fact).toMatchObject({ releases: true, evidence: { result: { status: 'done' } } });
});

const BAD_CHECKS = { acceptance_check: [] };
/** Each row breaks its own rule and all the rules below it. */
test.each<[string, string, WantedTask, JsonObject, Partial<Finish>, JsonObject]>([
  ['no such task', 'LEDGER_INCONSISTENT', {}, {}, { task: 'T-7' }, {}],
  ['the result of another task', 'SCHEMA_INVALID', {}, { task_id: 'T-2' }, { fence: 9 }, { task: 'T-1' }],
  ['the result of another run', 'SCHEMA_INVALID', {}, { run_id: 'x' }, { fence: 9 }, {}],
  [
    'another worklog than the assignment names',
    'SCHEMA_INVALID',
    {},
    { worklog_path: 'elsewhere.jsonl' },
    { fence: 9 },
    { path: 'worklog_path', expected: 'worklogs/T-1.jsonl' },
  ],
  [
    'an old fence',
    'CONCURRENCY_CONFLICT',
    {},
    { ...changed('x'), ...BAD_CHECKS },
    { fence: 9 },
    { fence: 9, current: 1 },
  ],
  ['outside, as reported', 'SCOPE_VIOLATION', {}, { ...changed('x/y'), ...BAD_CHECKS }, {}, { outside: ['x/y'] }],
  ['outside, as found', 'SCOPE_VIOLATION', {}, BAD_CHECKS, { changes: ['x'] }, { outside: ['x'] }],
  ['above its scope', 'SCOPE_VIOLATION', {}, { ...changed('work'), ...BAD_CHECKS }, {}, { outside: ['work'] }],
  ['out of the workspace', 'SCOPE_VIOLATION', {}, changed('work/T-1/../../../x'), {}, {}],
  ['outside although it was blocked', 'SCOPE_VIOLATION', {}, { status: 'blocked', ...changed('x') }, {}, {}],
  [
    'a criterion left out',
    'ACCEPTANCE_FAILED',
    {},
    { acceptance_check: [check('it works')] },
    {},
    { missing: ['It works'] },
  ],
  ['nothing checked', 'ACCEPTANCE_FAILED', {}, BAD_CHECKS, {}, { missing: ['It works'] }],
  [
    'a criterion that failed',
    'ACCEPTANCE_FAILED',
    {},
    { acceptance_check: [check('It works', 'fail')] },
    {},
    { failing_criteria: ['It works'] },
  ],
  [
    'another one that failed',
    'ACCEPTANCE_FAILED',
    {},
    { acceptance_check: [check('It works'), check('Lint', 'fail')] },
    {},
    { failing_criteria: ['Lint'] },
  ],
  [
    'no evidence',
    'ACCEPTANCE_FAILED',
    {},
    { acceptance_check: [check('It works', 'pass', ' ')] },
    {},
    { without_evidence: ['It works'] },
  ],
  [
    'a checker that did not run',
    'MISSING_VALIDATOR',
    { x_checkers: { 'It works': 'tests' } },
    {},
    {},
    { unchecked: [{ criterion: 'It works', checker: 'tests' }] },
  ],
  [
    'a checker that found otherwise',
    'ACCEPTANCE_FAILED',
    { x_checkers: { 'It works': 'tests' } },
    {},
    { checks: { 'It works': { pass: false, found: '2 failed' } } },
    { found: [{ criterion: 'It works', found: '2 failed' }] },
  ],
])('%s: %s', (_, code, wish, over, more, details) => {
  const { book, fence } = atWork(wish);
  expect(book.ask(finish(fence, over, more))).toMatchObject({ allow: false, code, details });
  expect(book.news()).toEqual(['task.refused']);
  expect(book.task('T-1')).toMatchObject({ status: 'in_progress', fence, version: 1 });
});

test.each([
  ['src', 'src/keep', 'src/keep', 'SCOPE_VIOLATION'],
  ['src', 'src/keep', 'src/keep/x', 'SCOPE_VIOLATION'],
  ['src', 'src/keep', 'src', 'SCOPE_VIOLATION'],
  ['src', 'src/keep', 'src/kept', 'OK'],
  ['.', '.baton', '.baton/config.json', 'SCOPE_VIOLATION'],
  ['.', '.baton', 'a/b', 'OK'],
  ['src', 'docs', 'src\\a.ts', 'OK'],
  ['src', 'docs', 'worklogs/T-1.jsonl', 'OK'],
  ['src', 'worklogs', 'worklogs/T-1.jsonl', 'SCOPE_VIOLATION'],
  ['src', 'docs', 'reports/report.md', 'OK'],
  ['caf\u00e9', 'docs', 'cafe\u0301/x', 'OK'],
])('within %s and apart from %s, a change of %s: %s', (scope, forbidden, change, code) => {
  const { book, fence } = atWork({
    lock_scope: [scope],
    forbidden_scope: [forbidden],
    report_path: 'reports/report.md',
  });
  expect(book.ask(finish(fence, { changes: [] }, { changes: [change] })).code).toBe(code);
});

test('a write inside the forbidden scope is listed as forbidden, whatever is claimed', () => {
  const { book, fence } = atWork({ lock_scope: ['src'], forbidden_scope: ['docs'] });
  const changes = ['docs/a.md', 'other/b.ts'].map((resource) => ({ resource, action: 'edit' }));
  const { code, reason, details } = book.ask(finish(fence, { changes }));
  expect([code, details.forbidden, details.outside]).toEqual(['SCOPE_VIOLATION', ['docs/a.md'], ['other/b.ts']]);
  expect(reason).toContain('"docs/a.md", which touches its forbidden_scope (and 1 more)');
});

test('where the disk does not tell capitals apart, neither do scopes', () => {
  for (const [foldCase, change, code] of [
    [true, 'SRC/a.ts', 'OK'],
    [false, 'SRC/a.ts', 'SCOPE_VIOLATION'],
    [true, 'src/Keep/a.ts', 'SCOPE_VIOLATION'],
  ] as const) {
    const book = openBook(foldCase);
    book.create('T-1', { lock_scope: ['src'], forbidden_scope: ['src/keep'] });
    expect(book.ask(finish(book.start('T-1'), changed(change))).code).toBe(code);
  }
});

test('all criteria pass when each is there, with evidence, and the checkers agree', () => {
  const criteria = ['It works', 'Lint clean'];
  const { book, fence } = atWork({ acceptance_criteria: criteria, x_checkers: { 'Lint clean': 'lint' } });
  const checks = { 'Lint clean': { pass: true, found: 'no findings' } };
  expect(book.ask(finish(fence, { acceptance_check: criteria.map((each) => check(each)) }, { checks })).code).toBe(
    'OK',
  );
});

test('the same result again is a replay: it is recorded and changes nothing', () => {
  const { book, fence } = atWork();
  book.ask(finish(fence));
  const before = JSON.stringify(book.ledger);
  expect(book.ask(finish(fence))).toMatchObject({ allow: true, details: { replay: true, version: 2 } });
  expect(book.facts.at(-1)?.fact).toMatchObject({ kind: 'task.moved', replay: true, releases: false });
  expect(JSON.stringify(book.ledger)).toBe(before);
  expect(book.ask(finish(fence, { status: 'failed' })).code).toBe('INVALID_TRANSITION');
  expect(book.ask(finish(fence + 1)).code).toBe('CONCURRENCY_CONFLICT');
});

test('a different result for a finished task is a conflict', () => {
  const { book, fence } = atWork();
  book.ask(finish(fence));
  const before = JSON.stringify(book.task('T-1'));
  const other = finish(fence, { notes_for_orchestrator: ['one more thing'] });
  expect(book.ask(other)).toMatchObject({ code: 'CONCURRENCY_CONFLICT', details: { task: 'T-1', status: 'done' } });
  expect(book.ask(finish(fence, { generated_at: '2026-03-01T06:00:00Z' })).details.replay).toBe(true);
  expect(JSON.stringify(book.task('T-1'))).toBe(before);
});

test('what a late loser sends is refused, whoever has the task now', () => {
  const { book, fence } = atWork();
  book.move('T-1', 'blocked');
  expect(book.ask(finish(fence))).toMatchObject({ code: 'CONCURRENCY_CONFLICT', details: { fence, current: null } });
  const second = book.start('T-1', 'bob');
  expect(book.ask(finish(fence))).toMatchObject({ code: 'CONCURRENCY_CONFLICT', details: { fence, current: second } });
  expect(book.ask(finish(second)).code).toBe('OK');
});

test.each<[string, JsonObject, WantedTask, object]>([
  ['blocked', {}, {}, { status: 'blocked', code: 'MISSING_REQUIRED_INPUT', retries: 1 }],
  ['failed', {}, {}, { status: 'blocked', code: 'ACCEPTANCE_FAILED', retries: 1 }],
  ['failed', { x_code: 'TASK_TIMEOUT' }, {}, { status: 'blocked', code: 'TASK_TIMEOUT' }],
  ['failed', { x_code: 'no such code' }, {}, { status: 'blocked', code: 'ACCEPTANCE_FAILED' }],
  ['failed', { notes_for_orchestrator: ['No key'] }, {}, { reason: 'No key' }],
])('a %s result with %j blocks the task', (status, over, wish, row) => {
  const { book, fence } = atWork(wish);
  expect(book.ask(finish(fence, { status, changes: [], acceptance_check: [], ...over })).allow).toBe(true);
  expect(book.task('T-1')).toMatchObject({ version: 2, fence: null, ...row });
  expect(book.ledger.locks.held).toEqual({});
});

test('the code of a failure is that of the last worklog entry of this claim', () => {
  const { book, fence } = atWork();
  const entry = { run_id: result('T-1').run_id ?? '', task_id: 'T-1', result: 'blocked', code: 'DEPENDENCY_NOT_MET' };
  book.ask({ kind: 'worklog.add', task: 'T-1', by: 'ann', entry });
  book.ask(finish(fence, { status: 'blocked' }));
  expect(book.task('T-1').code).toBe('DEPENDENCY_NOT_MET');
  book.ask(finish(book.start('T-1'), { status: 'blocked' }));
  expect(book.task('T-1').code).toBe('MISSING_REQUIRED_INPUT');
});

test('a failure is final when the retries are used up, unless trying again would not have helped', () => {
  const fail = (code?: string) => ({ status: 'failed', ...(code ? { x_code: code } : {}) });
  for (const [code, status, retries] of [
    [undefined, 'failed', 1],
    ['NON_COMPLIANT', 'blocked', 2],
  ] as const) {
    const { book, fence } = atWork();
    book.ask(finish(fence, fail(code)));
    expect(book.task('T-1').status).toBe('blocked');
    book.move('T-1', 'todo');
    book.ask(finish(book.start('T-1'), fail(code)));
    expect(book.task('T-1')).toMatchObject({ status, retries });
  }
});

test('a failure that ended the task may be reported again', () => {
  const book = openBook();
  book.ask({ kind: 'task.create', packet: packet('T-1'), retriesMax: 0 });
  const fence = book.start('T-1');
  for (const replay of [false, true]) {
    expect(book.ask(finish(fence, { status: 'failed' }))).toMatchObject({
      allow: true,
      details: { to: 'failed', replay },
    });
  }
});
