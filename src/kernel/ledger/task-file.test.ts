import { expect, test } from 'vitest';
import { openBook } from './fixtures/book.ts';
import { filesOf, isWorklogPath, refusalOfTaskFiles, reportOf } from './scope.ts';

test.each([
  ['worklogs/T-12.jsonl', 'OK'],
  ['./worklogs//T-12.jsonl', 'OK'],
  ['docs/worklogs/a/T-12.jsonl', 'OK'],
  ['a/../worklogs/T-12.jsonl', 'OK'],
  ['T-12.jsonl', 'SCOPE_VIOLATION'],
  ['worklogs.jsonl', 'SCOPE_VIOLATION'],
  ['worklogs', 'SCOPE_VIOLATION'],
  ['worklogs/T-12.json', 'SCOPE_VIOLATION'],
  ['worklogs/T-12.jsonl/x', 'SCOPE_VIOLATION'],
  ['worklogs/../package.jsonl', 'SCOPE_VIOLATION'],
  ['worklogs/.mcp.jsonl', 'SCOPE_VIOLATION'],
  ['/worklogs/T-12.jsonl', 'SCOPE_VIOLATION'],
  ['../worklogs/T-12.jsonl', 'SCOPE_VIOLATION'],
  ['package.json', 'SCOPE_VIOLATION'],
  ['.mcp.json', 'SCOPE_VIOLATION'],
  ['.claude/settings.json', 'SCOPE_VIOLATION'],
  ['.Claude\\settings.json', 'SCOPE_VIOLATION'],
  ['.claude/worklogs/T-12.jsonl', 'SCOPE_VIOLATION'],
  ['.codex/hooks.json', 'SCOPE_VIOLATION'],
  ['.git/worklogs/T-12.jsonl', 'SCOPE_VIOLATION'],
  ['.github/workflows/worklogs/T-12.jsonl', 'SCOPE_VIOLATION'],
  ['.baton/worklogs/T-12.jsonl', 'SCOPE_VIOLATION'],
])('a task with the worklog %s: %s', (worklog_path, code) => {
  const book = openBook();
  const verdict = book.create('T-1', { worklog_path });
  expect(verdict).toMatchObject(
    code === 'OK' ? { code } : { code, details: { path: 'task.worklog_path', resource: worklog_path } },
  );
  expect(Object.keys(book.ledger.tasks)).toHaveLength(code === 'OK' ? 1 : 0);
  expect(isWorklogPath(worklog_path)).toBe(code === 'OK');
});

test.each([
  ['reports/T-12.md', 'OK'],
  ['reports/T-12.json', 'OK'],
  ['docs/outputs/task__x.md', 'OK'],
  ['src/notes.txt', 'OK'],
  ['reports/T-12.sh', 'SCOPE_VIOLATION'],
  ['report.json', 'SCOPE_VIOLATION'],
  ['package.json', 'SCOPE_VIOLATION'],
  ['src2/notes.txt', 'SCOPE_VIOLATION'],
  ['src/.claude/settings.json', 'SCOPE_VIOLATION'],
  ['.mcp.json', 'SCOPE_VIOLATION'],
  ['.claude/orchestrator/outputs/task__x.md', 'SCOPE_VIOLATION'],
  ['/reports/T-12.md', 'SCOPE_VIOLATION'],
  ['reports/../../x.md', 'SCOPE_VIOLATION'],
])('a task of src with the report %s: %s', (report_path, code) => {
  const book = openBook();
  const verdict = book.create('T-1', { lock_scope: ['src'], report_path });
  expect(verdict).toMatchObject(
    code === 'OK' ? { code } : { code, details: { path: 'task.report_path', resource: report_path } },
  );
});

test('a task of an older version keeps only the files that may be its own', () => {
  const named = { worklogPath: '.claude/settings.json', reportPath: 'package.json', lockScope: ['src'] };
  expect([filesOf(named), reportOf(named)]).toEqual([[], null]);
  const sound = { worklogPath: './worklogs/T-1.jsonl', reportPath: 'reports//T-1.md', lockScope: ['src'] };
  expect([filesOf(sound), reportOf(sound)]).toEqual([['worklogs/T-1.jsonl', 'reports/T-1.md'], 'reports/T-1.md']);
});

test('a row without a worklog and a report is taken, and a long name is shown in part', () => {
  const none = { worklogPath: '', reportPath: null, lockScope: [] };
  expect([refusalOfTaskFiles('T-1', none), filesOf(none)]).toEqual([null, []]);
  const long = refusalOfTaskFiles('T-1', { ...none, worklogPath: 'x'.repeat(900) });
  expect(long?.reason).toContain(`"${'x'.repeat(200)}"`);
});
