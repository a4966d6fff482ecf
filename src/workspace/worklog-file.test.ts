import { hash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { validateWorklogText } from '../dialects/operator/result.ts';
import type { Entry, Fact } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import { NO_LINE, syncWorklog, type WorklogPlace, worklogLines } from './worklog-file.ts';

const RUN = '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4';
const AT = '2026-01-31T09:30:00.000Z';

function place(path = 'worklogs/T-1.jsonl'): WorklogPlace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-worklog-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return { root, path, stateDir: join(root, '.baton', 'state'), run: RUN, task: 'T-1' };
}

function said(result: string, over: JsonObject = {}): JsonObject {
  const common = { timestamp: AT, run_id: RUN, task_id: 'T-1', actor: 'ann', action: 'edit' };
  return { ...common, files_touched: ['a.ts'], decision: '', next_step: 'go on', result, ...over };
}

function entry(fact: Fact): Entry {
  return { v: 1, seq: 1, at: AT, prev: '', by: 'user:ann', fact };
}

const added = (result: string, over: JsonObject = {}) =>
  entry({ kind: 'worklog.added', run: RUN, task: 'T-1', by: 'ann', entry: said(result, over) });
const claimed = entry({ kind: 'task.claimed', run: RUN, task: 'T-1', owner: 'ann', fence: 1, locks: [] });
const moved = (
  to: 'blocked' | 'failed' | 'todo' | 'done',
  code: 'TASK_TIMEOUT' | 'AGENT_FAILED' | null = 'TASK_TIMEOUT',
) =>
  entry({
    kind: 'task.moved',
    run: RUN,
    task: 'T-1',
    from: 'in_progress',
    to,
    owner: 'ann',
    code,
    reason: 'silent',
    replay: false,
    releases: true,
    retries: 1,
    notBefore: null,
    evidence: null,
  });

test.each([
  [moved('todo', null), 'it is handed out again'],
  [{ ...moved('todo', null), at: '2026-01-31T09:31:00.000Z' }, 'plan it again, then move it to todo or cancel it'],
  [moved('failed'), 'plan it again, then move it to todo or cancel it'],
])('the last entry of a silent task says what becomes of it: %#', (next, words) => {
  const [line = ''] = worklogLines([claimed, moved('blocked'), next]);
  expect(JSON.parse(line).next_step).toBe(words);
});

test('each line holds the hash of the line before it', () => {
  const [one = '', two = ''] = worklogLines([added('one'), added('two')]);
  expect(JSON.parse(one).x_prev).toBe(NO_LINE);
  expect(JSON.parse(two).x_prev).toBe(hash('sha256', one, 'hex'));
});

test('a chain that an entry brings along is not believed', () => {
  const [line = ''] = worklogLines([added('one', { x_prev: 'f'.repeat(64) })]);
  expect(JSON.parse(line).x_prev).toBe(NO_LINE);
});

test('secrets never reach the file', () => {
  expect(worklogLines([added('one', { decision: 'AKIAIOSFODNN7EXAMPLE' })]).join()).not.toContain('AKIA');
});

test.each<[string, readonly Entry[], readonly string[]]>([
  ['blocked without a word', [claimed, added('one'), moved('blocked')], ['one', 'blocked']],
  ['failed without a word', [claimed, moved('failed', null)], ['failed']],
  ['blocked after a last word', [claimed, added('blocked', { code: 'LOCK_CONFLICT' }), moved('blocked')], ['blocked']],
  [
    'a last word of an earlier claim',
    [added('blocked', { code: 'LOCK_CONFLICT' }), claimed, moved('blocked')],
    ['blocked', 'blocked'],
  ],
  ['done', [claimed, added('one'), moved('done', null)], ['one']],
  ['handed out again', [claimed, moved('blocked'), moved('todo', null)], ['blocked']],
  ['blocked, then failed', [claimed, moved('blocked'), moved('failed')], ['blocked']],
])('the last entry says why and what comes next: %s', (_, entries, results) => {
  const lines = worklogLines(entries);
  expect(lines.map((line) => JSON.parse(line).result)).toEqual(results);
  expect(validateWorklogText(lines.join('\n'))).toMatchObject({ code: 'OK' });
});

test('the last entry has a code of the contract, with the exact one beside it', () => {
  const [line = ''] = worklogLines([claimed, moved('blocked', 'AGENT_FAILED')]);
  expect(JSON.parse(line)).toMatchObject({ code: 'TASK_TIMEOUT', x_code: 'AGENT_FAILED' });
});

test('lines are appended as they come, and the same lines again change nothing', () => {
  const at = place();
  const [one = '', two = ''] = worklogLines([added('one'), added('two')]);
  const file = join(at.root, 'worklogs/T-1.jsonl');
  expect(syncWorklog(at, [one])).toEqual({ file, outcome: 'appended', entries: 1, found: null });
  expect(syncWorklog(at, [one, two]).outcome).toBe('appended');
  expect(syncWorklog(at, [one, two]).outcome).toBe('same');
  expect(readFileSync(file, 'utf8')).toBe(`${one}\n${two}\n`);
});

test('half a line, as a crash leaves it, is completed', () => {
  const at = place();
  const lines = worklogLines([added('one'), added('two')]);
  const { file } = syncWorklog(at, lines.slice(0, 1));
  appendFileSync(file, (lines[1] ?? '').slice(0, 20));
  expect(syncWorklog(at, lines).outcome).toBe('appended');
  expect(readFileSync(file, 'utf8')).toBe(`${lines.join('\n')}\n`);
});

test.each<[string, (file: string) => void]>([
  ['a line was changed', (file) => writeFileSync(file, readFileSync(file, 'utf8').replace('"ann"', '"bob"'))],
  ['the first line was cut', (file) => writeFileSync(file, readFileSync(file, 'utf8').replace(/^.*\n/, ''))],
  ['the beginning was written over', (file) => writeFileSync(file, `x\n${readFileSync(file, 'utf8')}`)],
  ['a line was added', (file) => appendFileSync(file, '{"forged":true}\n')],
])('%s: the file is written anew, and what was found is kept', (_, change) => {
  const at = place();
  const lines = worklogLines([added('one'), added('two')]);
  const { file } = syncWorklog(at, lines);
  change(file);
  const changed = readFileSync(file, 'utf8');
  const { outcome, found } = syncWorklog(at, lines);
  expect(outcome).toBe('rewritten');
  expect(readFileSync(file, 'utf8')).toBe(`${lines.join('\n')}\n`);
  expect(readFileSync(found ?? '', 'utf8')).toBe(changed);
});

const NAMED = 'worklogs/x.jsonl';

function made(root: string): string {
  mkdirSync(join(root, 'worklogs'));
  return join(root, 'worklogs');
}

test.each<[string, string, (root: string) => void]>([
  ['outside', '../x.jsonl', () => undefined],
  ['absolute', '/tmp/baton-never-written.jsonl', () => undefined],
  ['what governs the work', '.baton/worklogs/x.jsonl', () => undefined],
  ['the insides of git', '.git/worklogs/x.jsonl', () => undefined],
  ['settings of a program', '.claude/settings.json', () => undefined],
  ['settings at the top', '.mcp.json', () => undefined],
  ['through a link', 'worklogs/x.jsonl', (root) => symlinkSync('/tmp', join(root, 'worklogs'))],
  ['a link', NAMED, (root) => symlinkSync('/tmp/baton-never-written', join(made(root), 'x.jsonl'))],
  ['a folder', NAMED, (root) => mkdirSync(join(made(root), 'x.jsonl'))],
  ['below a file', 'worklogs/x.jsonl', (root) => writeFileSync(join(root, 'worklogs'), '')],
  ['a file of somebody else', NAMED, (root) => writeFileSync(join(made(root), 'x.jsonl'), 'export {};\n')],
  [
    'a worklog of another task',
    NAMED,
    (root) =>
      writeFileSync(
        join(made(root), 'x.jsonl'),
        `${JSON.stringify({ run_id: RUN, task_id: 'T-2', x_prev: NO_LINE })}\n`,
      ),
  ],
  [
    'a second name of a file',
    NAMED,
    (root) => {
      writeFileSync(join(root, 'y'), '');
      linkSync(join(root, 'y'), join(made(root), 'x.jsonl'));
    },
  ],
])('a path that leads elsewhere is left alone: %s', (_, path, prepare) => {
  const at = place(path);
  prepare(at.root);
  const lines = worklogLines([added('one')]);
  const { file } = syncWorklog(at, lines);
  expect(file).toBe(join(at.stateDir, 'worklogs', RUN, 'T-1.jsonl'));
  expect(readFileSync(file, 'utf8')).toBe(`${lines[0]}\n`);
  expect(existsSync('/tmp/baton-never-written')).toBe(false);
});

test('members that an entry of an older version kept are left out of the file, extensions are not', () => {
  const [line = ''] = worklogLines([added('one', { hooks: { PreToolUse: [] }, x_note: 1 })]);
  expect(JSON.parse(line)).toEqual({ ...said('one'), x_note: 1, x_prev: NO_LINE });
});

/** Casts whose planner calls both runs the same. */
const [ONE, TWO] = ['cast-1', 'cast-2'];
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const linesOf = (run: string, ...results: string[]) =>
  worklogLines(
    results.map((result) => entry({ kind: 'worklog.added', run, task: 'T-1', by: 'ann', entry: said(result) })),
    RUN,
  );

test.each<[string, string, (results: string[]) => readonly string[]]>([
  ['two casts that are called the same', ONE, (results) => linesOf(ONE, ...results)],
  ['a run by hand and a cast', RUN, (results) => worklogLines(results.map((result) => added(result)))],
  [
    'two runs with ids of their own',
    OTHER,
    (results) => worklogLines(results.map((result) => added(result, { run_id: OTHER }))),
  ],
])('%s append to the same file, and neither touches the lines of the other', (_, first, linesOfFirst) => {
  const at = place();
  const [one, two] = [
    { ...at, run: first },
    { ...at, run: TWO },
  ];
  const { file } = syncWorklog(one, linesOfFirst(['a']));
  const written: string[] = [readFileSync(file, 'utf8')];
  for (const sync of [
    () => syncWorklog(two, linesOf(TWO, 'x')),
    () => syncWorklog(one, linesOfFirst(['a', 'b'])),
    () => syncWorklog(two, linesOf(TWO, 'x', 'y')),
  ]) {
    expect(sync()).toMatchObject({ file, outcome: 'appended', found: null });
    const text = readFileSync(file, 'utf8');
    expect(text.startsWith(written.at(-1) ?? '')).toBe(true);
    written.push(text);
  }
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).result)).toEqual(['a', 'x', 'b', 'y']);
  for (const whose of [linesOfFirst(['a', 'b']), linesOf(TWO, 'x', 'y')]) {
    expect(lines.filter((line) => whose.includes(line))).toEqual(whose);
    expect(JSON.parse(whose[1] ?? '').x_prev).toBe(hash('sha256', whose[0] ?? '', 'hex'));
  }
  expect(syncWorklog(one, linesOfFirst(['a', 'b'])).outcome).toBe('same');
  expect(validateWorklogText(readFileSync(file, 'utf8')).code).toBe('OK');
});

test('a file that has to be written anew is not written through a link', () => {
  const at = place();
  const lines = worklogLines([added('one')]);
  const { file } = syncWorklog(at, lines);
  const precious = join(at.root, 'precious');
  writeFileSync(precious, 'precious');
  symlinkSync(precious, `${file}.new`);
  appendFileSync(file, '{"forged":true}\n');
  expect(syncWorklog(at, lines).outcome).toBe('rewritten');
  expect([readFileSync(precious, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['precious', `${lines.join('\n')}\n`]);
});

test('a file that has to be written anew keeps the lines of other runs', () => {
  const at = place();
  const one = { ...at, run: ONE };
  const { file } = syncWorklog(one, linesOf(ONE, 'a'));
  syncWorklog({ ...at, run: TWO }, linesOf(TWO, 'x'));
  writeFileSync(file, readFileSync(file, 'utf8').replace('"result":"a"', '"result":"forged"'));
  expect(syncWorklog(one, linesOf(ONE, 'a')).outcome).toBe('rewritten');
  expect(readFileSync(file, 'utf8')).toBe(`${[...linesOf(TWO, 'x'), ...linesOf(ONE, 'a')].join('\n')}\n`);
});

test('whose line it is, is not believed from the entry', () => {
  const [line = ''] = worklogLines([added('one', { x_cast: TWO })]);
  expect(JSON.parse(line)).not.toHaveProperty('x_cast');
});
