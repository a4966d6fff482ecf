import { expect, test } from 'vitest';
import { validateOperator } from './read.ts';
import { resultFromReport } from './result.ts';

const HEAD = ['schema_version: 1.0.0', 'run_id: 3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4', 'task_id: T-12'];
const report = (...lines: string[]) => ['---', ...lines, '---', '', '# Summary', 'All is well.'].join('\n');
const DONE = [
  ...HEAD,
  'status: "done"',
  'files_touched:',
  '  - resource: tests/api.test.ts',
  '    action: edit',
  '  - resource: "src/api.ts"',
  "    action: 'create'",
  'acceptance_check:',
  '  - criterion: All endpoint tests pass',
  '    status: pass',
  '    evidence: "npm test: 14 passed"',
  'notes_for_orchestrator:',
  '  - "Ready for merge"',
  '  - No conflicts: see #12',
  'worklog_path: worklogs/T-12.jsonl',
];

test('a report states the fields of a result', () => {
  expect(resultFromReport(report(...DONE))).toEqual({
    schema_version: '1.0.0',
    run_id: '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4',
    task_id: 'T-12',
    status: 'done',
    changes: [
      { resource: 'tests/api.test.ts', action: 'edit' },
      { resource: 'src/api.ts', action: 'create' },
    ],
    acceptance_check: [{ criterion: 'All endpoint tests pass', status: 'pass', evidence: 'npm test: 14 passed' }],
    worklog_path: 'worklogs/T-12.jsonl',
    notes_for_orchestrator: ['Ready for merge', 'No conflicts: see #12'],
  });
});

const BLOCKED = [...HEAD, 'status: blocked', 'worklog_path: w.jsonl'];
const LISTS = ['files_touched:', 'acceptance_check:', 'notes_for_orchestrator:'];
test.each<[string, string, string]>([
  ['a whole one', report(...DONE), 'OK'],
  ['CRLF and blank lines before it', `\n\n${report(...DONE).replaceAll('\n', '\r\n')}`, 'OK'],
  ['blocked with empty lists', report(...BLOCKED, ...LISTS), 'OK'],
  ['blocked with inline lists', report(...BLOCKED, ...LISTS.map((line) => `${line} []`)), 'OK'],
  ['blocked without lists', report(...BLOCKED), 'OK'],
  ['lists without indentation', report(...BLOCKED, 'notes_for_orchestrator:', '- one', '- two'), 'OK'],
  ['comments', report(...HEAD, 'status: blocked # for now', '# why', 'worklog_path: w'), 'OK'],
  [
    'a block of text',
    report(
      ...BLOCKED,
      'acceptance_check:',
      '  - criterion: c',
      '    status: fail',
      '    evidence: |',
      '      one',
      '      two',
    ),
    'OK',
  ],
  ['no closing line', report(...BLOCKED).replace('\n---\n', '\n'), 'SCHEMA_INVALID'],
  ['no version', report(...BLOCKED.slice(1)), 'UNKNOWN_SCHEMA_VERSION'],
  ['no worklog', report(...HEAD, 'status: blocked'), 'MISSING_REQUIRED_INPUT'],
  ['no status', report(...HEAD, 'worklog_path: w'), 'SCHEMA_INVALID'],
  ['a list that is text', report(...BLOCKED, 'notes_for_orchestrator: fine'), 'SCHEMA_INVALID'],
  ['a secret in a note', report(...BLOCKED, 'notes_for_orchestrator:', '  - token=zz'), 'UNTRUSTED_CONTEXT_BLOCK'],
  ['done without a check', report(...HEAD, 'status: done', 'worklog_path: w'), 'ACCEPTANCE_FAILED'],
])('a report with %s: %#', (_what, text, code) => {
  expect(validateOperator('operator/result', text).code).toBe(code);
});

test('blocks of text keep their lines or join them, and plain text goes on below', () => {
  const check = [
    'acceptance_check:',
    '  - criterion: >',
    '      one',
    '      two',
    '    status: pass',
    '    evidence: |',
    '      a',
    '      b',
  ];
  const lines = [...check, '  - criterion: plain', '      and more', '    status: pass', '    evidence: "a\\tb"'];
  expect(resultFromReport(report(...lines))?.acceptance_check).toEqual([
    { criterion: 'one two', status: 'pass', evidence: 'a\nb' },
    { criterion: 'plain and more', status: 'pass', evidence: 'a\tb' },
  ]);
});

test.each(['', '---', '--- a', '# Title\n---\n---', '{"a": 1}', '----\na: b\n----'])('%j is no report', (text) => {
  expect(resultFromReport(text)).toBeNull();
});

test.each([' ', '\t', '- ', '  - a: b\n', 'a: ', '#', 'k:\n', '"', '\u2028', 'key: \u2028 '])(
  'takes linear time on many of %j',
  { timeout: 60_000 },
  (piece) => {
    const text = `---\nstatus:${piece.repeat(Math.ceil(300_000 / piece.length))}\u2028x\n---\n`;
    const started = performance.now();
    resultFromReport(text);
    expect(performance.now() - started).toBeLessThan(60_000);
  },
);
