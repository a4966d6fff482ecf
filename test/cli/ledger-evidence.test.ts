// What a result claims is held against what is there: real changes, declared checkers, secrets, worklogs.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { validateWorklogText } from '../../src/dialects/operator/result.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { asProcesses, baton, isRunning, json, project, put, read, start as run, until, untilWritten } from './baton.ts';
import { ask, claim, codesIn, create, finish, heartbeat, packet, RUN, result, rows, start } from './ledger-story.ts';

const NOTHING = { changes: [] };
const git = (dir: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: dir, stdio: 'pipe' });

/** A project with two files, under git or not. */
function place(withGit: boolean): string {
  const dir = project({ 'work/T-1/a.ts': 'a', 'other/b.ts': 'b', '.gitignore': '.baton/state\n' });
  if (!withGit) return dir;
  git(dir, 'init', '-q');
  git(dir, 'add', '.');
  git(dir, 'commit', '-qm', 'one');
  return dir;
}

/** Each row is what an agent really does between claim and finish, whatever it reports. */
const DEEDS: [string, (dir: string) => void, string, readonly string[]][] = [
  ['nothing', () => undefined, 'OK', []],
  ['an edit inside', (dir) => put(dir, { 'work/T-1/a.ts': 'A', 'work/T-1/new/n.ts': 'n' }), 'OK', []],
  ['an edit outside', (dir) => put(dir, { 'other/b.ts': 'B' }), 'SCOPE_VIOLATION', ['other/b.ts']],
  ['a new file outside', (dir) => put(dir, { 'rogue.ts': 'r' }), 'SCOPE_VIOLATION', ['rogue.ts']],
  ['a file deleted outside', (dir) => rmSync(join(dir, 'other/b.ts')), 'SCOPE_VIOLATION', ['other/b.ts']],
  ['a link outside', (dir) => symlinkSync('/etc', join(dir, 'etc')), 'SCOPE_VIOLATION', ['etc']],
  [
    'an edit of the rules',
    (dir) => put(dir, { '.baton/config.json': '{}' }),
    'SCOPE_VIOLATION',
    ['.baton/config.json'],
  ],
  ['its own worklog', (dir) => put(dir, { 'worklogs/T-1.jsonl': '' }), 'OK', []],
];

test.each(DEEDS)('with git: %s', async (_, deed, code, outside) => {
  const dir = place(true);
  await expectDeed(dir, () => deed(dir), code, outside);
});

test.each(DEEDS)('without git: %s', async (_, deed, code, outside) => {
  const dir = place(false);
  await expectDeed(dir, () => deed(dir), code, outside);
});

test('what was committed outside is found too', async () => {
  const dir = place(true);
  const commit = () => {
    put(dir, { 'other/b.ts': 'B' });
    git(dir, 'commit', '-qam', 'two');
  };
  await expectDeed(dir, commit, 'SCOPE_VIOLATION', ['other/b.ts']);
});

async function expectDeed(dir: string, deed: () => void, code: string, outside: readonly string[]): Promise<void> {
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  deed();
  const verdict = await finish(dir, 'T-1', fence, NOTHING);
  expect([verdict.code, verdict.details.outside ?? []]).toEqual([code, outside]);
  if (code !== 'OK') expect(await codesIn(dir)).toEqual([code]);
}

test('what other tasks write on their own paths meanwhile is theirs, also when they are done before', async () => {
  const dir = place(false);
  await create(dir, 'T-1');
  await create(dir, 'T-2', { lock_scope: ['other'] });
  await create(dir, 'T-3', { lock_scope: ['third'] });
  const second = await start(dir, 'T-2', 'bob');
  const first = await start(dir, 'T-1');
  const third = await start(dir, 'T-3', 'cat');
  put(dir, { 'other/b.ts': 'by bob', 'third/c.ts': 'by cat', 'work/T-1/a.ts': 'by ann', 'worklogs/T-2.jsonl': '' });
  expect((await finish(dir, 'T-2', second, NOTHING)).code).toBe('OK');
  expect((await finish(dir, 'T-1', first, NOTHING)).code).toBe('OK');
  expect((await finish(dir, 'T-3', third, NOTHING)).code).toBe('OK');
});

test('a task is watched whoever starts it: a person, or a delta of an orchestrator', async () => {
  const dir = place(false);
  await create(dir, 'T-1');
  await create(dir, 'T-2', { lock_scope: ['second'] });
  await ask(dir, ['task', 'move', 'T-1', 'in_progress', '--reason', 'go', '--owner', 'ann']);
  const delta = { task_id: 'T-2', status: 'in_progress', owner: 'bob', reason: 'go', delta_id: 'd1' };
  await ask(dir, ['task', 'apply', '-', '--run', RUN], { input: JSON.stringify([delta]) });
  put(dir, { 'rogue.ts': 'x' });
  expect((await finish(dir, 'T-1', 1, NOTHING)).details.outside).toEqual(['rogue.ts']);
  expect((await finish(dir, 'T-2', 2, NOTHING)).details.outside).toEqual(['rogue.ts']);
  rmSync(join(dir, '.baton/state/claims/2.json'));
  expect((await finish(dir, 'T-2', 2, NOTHING)).code).toBe('MISSING_VALIDATOR');
});

test('a repository that vanished cannot vouch for anything', async () => {
  const dir = place(true);
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  rmSync(join(dir, '.git'), { recursive: true });
  expect((await finish(dir, 'T-1', fence, NOTHING)).code).toBe('MISSING_VALIDATOR');
});

const CHECKERS = {
  tests: { command: ['node', 'check.js'] },
  version: { json: 'package.json', path: 'version', equals: '2.0.0' },
  notes: { file: 'work/T-1/NOTES.md', contains: 'changed' },
  narrow: { diff: ['work/T-1/src'] },
};

test('a false claim is refused with what was found instead', async () => {
  const dir = project({
    '.baton/config.json': { materia: {}, loadouts: {}, checkers: CHECKERS },
    'check.js': 'console.log("2 tests failed"); process.exit(1)',
    'package.json': { version: '1.0.0' },
  });
  await create(dir, 'T-1', { x_checkers: { 'It works': 'tests' }, lock_scope: ['work/T-1', 'check.js'] });
  const fence = await start(dir, 'T-1');
  expect(await finish(dir, 'T-1', fence, NOTHING)).toMatchObject({
    code: 'ACCEPTANCE_FAILED',
    details: { found: [{ criterion: 'It works', found: 'exit code 1 instead of 0; it printed: 2 tests failed' }] },
  });
  put(dir, { 'check.js': 'process.exit(0)' });
  expect((await finish(dir, 'T-1', fence, NOTHING)).code).toBe('OK');
  expect(await codesIn(dir)).toEqual(['ACCEPTANCE_FAILED']);
});

test.each<[string, (dir: string) => void, string]>([
  ['version', () => undefined, 'version of package.json is "1.0.0" instead of "2.0.0"'],
  ['notes', () => undefined, 'work/T-1/NOTES.md does not exist'],
  ['narrow', (dir) => put(dir, { 'work/T-1/x.ts': 'x' }), 'work/T-1/x.ts was changed outside work/T-1/src'],
])('the checker %s looks for itself', async (name, deed, found) => {
  const dir = project({
    '.baton/config.json': { materia: {}, loadouts: {}, checkers: CHECKERS },
    'package.json': { version: '1.0.0' },
  });
  await create(dir, 'T-1', { x_checkers: { 'It works': name } });
  const fence = await start(dir, 'T-1');
  deed(dir);
  expect((await finish(dir, 'T-1', fence, NOTHING)).details.found).toEqual([{ criterion: 'It works', found }]);
  expect((await finish(dir, 'T-1', fence, { ...NOTHING, status: 'blocked' })).code).toBe('OK');
});

test('a packet names checkers that a person declared, and no others', async () => {
  const dir = project();
  expect((await create(dir, 'T-1', { x_checkers: { 'It works': 'rm -rf /' } })).code).toBe('MISSING_VALIDATOR');
  put(dir, { '.baton/config.json': { materia: {}, loadouts: {}, checkers: { bad: { command: 'npm test' } } } });
  const { code, stderr } = await baton(dir, ['task', 'create', '-'], { input: JSON.stringify(packet('T-1')) });
  expect(code).toBe(2);
  expect(stderr).toContain('checkers.bad.command');
});

test('nothing is run for a result that comes too late', async () => {
  const dir = project({
    '.baton/config.json': { materia: {}, loadouts: {}, checkers: { mark: { command: ['touch', 'ran'] } } },
  });
  await create(dir, 'T-1', { x_checkers: { 'It works': 'mark' }, lock_scope: ['.'] });
  const fence = await start(dir, 'T-1');
  await ask(dir, ['task', 'move', 'T-1', 'blocked', '--reason', 'taken away']);
  expect((await finish(dir, 'T-1', fence)).code).toBe('CONCURRENCY_CONFLICT');
  expect(() => read(dir, 'ran')).toThrow();
});

test('who is interrupted while a checker runs leaves nothing behind', async () => {
  const dir = project({
    '.baton/config.json': { materia: {}, loadouts: {}, checkers: { slow: { command: ['node', 'slow.js'] } } },
    'slow.js': 'require("fs").writeFileSync("work/T-1/pid", String(process.pid)); setTimeout(() => {}, 60000);',
    'work/T-1/a': '',
  });
  await create(dir, 'T-1', { x_checkers: { 'It works': 'slow' } });
  const fence = await start(dir, 'T-1');
  const finishing = run(dir, ['task', 'finish', '-', '--fence', String(fence)], {
    input: JSON.stringify(result('T-1', NOTHING)),
  });
  const pid = Number(await untilWritten(dir, 'work/T-1/pid'));
  finishing.child.kill('SIGTERM');
  expect((await finishing.ended).code).toBe(3);
  await until('the end of the checker', () => !isRunning(pid));
  expect(await rows(dir)).toMatchObject([{ status: 'in_progress' }]);
});

/** The result's own contract, in the order of its checks. */
test.each<[string, JsonObject, string]>([
  ['a result of nobody', { task_id: 'T-9' }, 'LEDGER_INCONSISTENT'],
  [
    'six notes, the sixth a secret',
    { notes_for_orchestrator: ['a', 'b', 'c', 'd', 'e', 'token=zz'] },
    'SCHEMA_INVALID',
  ],
  ['a secret in a note', { notes_for_orchestrator: ['DB_TOKEN=abc'] }, 'UNTRUSTED_CONTEXT_BLOCK'],
  [
    'a secret before a failing check',
    { notes_for_orchestrator: ['secret: hunter2abc'], acceptance_check: [] },
    'UNTRUSTED_CONTEXT_BLOCK',
  ],
  ['done without a check', { acceptance_check: [] }, 'ACCEPTANCE_FAILED'],
  [
    'another criterion',
    { acceptance_check: [{ criterion: 'it works', status: 'pass', evidence: 'x' }] },
    'ACCEPTANCE_FAILED',
  ],
  ['a change that leads out', { changes: [{ resource: 'work/T-1/../../x', action: 'edit' }] }, 'SCOPE_VIOLATION'],
  ['blocked without checks', { status: 'blocked', acceptance_check: [], changes: [] }, 'OK'],
])('finishing with %s: %s', async (_, over, code) => {
  const dir = project();
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  expect((await finish(dir, 'T-1', fence, over)).code).toBe(code);
  if (code !== 'OK') expect(await codesIn(dir)).toEqual([code]);
});

test('secrets in evidence are taken out before anything is stored', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  const key = 'AKIAIOSFODNN7EXAMPLE';
  const check = [{ criterion: 'It works', status: 'pass', evidence: `ran with ${key}` }];
  expect((await finish(dir, 'T-1', fence, { ...NOTHING, acceptance_check: check })).details.warnings).toHaveLength(1);
  expect((await baton(dir, ['log', '--json'])).stdout).not.toContain(key);
});

const entry = (over: JsonObject = {}): JsonObject => ({
  timestamp: '2026-01-31T09:30:00Z',
  run_id: RUN,
  task_id: 'T-1',
  actor: 'ann',
  action: 'edit',
  files_touched: ['work/T-1/a.ts'],
  decision: 'as planned',
  result: 'ok',
  next_step: 'test',
  ...over,
});
const log = (dir: string, over: JsonObject = {}, ...more: string[]) =>
  ask(dir, ['worklog', 'add', 'T-1', '-', ...more], { input: JSON.stringify(entry(over)) });

test('a worklog grows line by line, in a file that anybody can check', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const fence = await start(dir, 'T-1');
  expect(await log(dir)).toMatchObject({ code: 'OK', details: { entries: 1, file: join(dir, 'worklogs/T-1.jsonl') } });
  await log(dir, { action: 'test' }, '--fence', String(fence));
  expect((await log(dir, {}, '--fence', '99')).code).toBe('CONCURRENCY_CONFLICT');
  expect((await log(dir, { decision: 'password=hunter2abc' })).code).toBe('UNTRUSTED_CONTEXT_BLOCK');
  expect((await log(dir, { result: 'blocked' })).code).toBe('MISSING_REQUIRED_INPUT');
  expect((await log(dir, { task_id: 'T-2' })).code).toBe('SCHEMA_INVALID');
  expect((await finish(dir, 'T-1', fence, { ...NOTHING, status: 'failed' })).code).toBe('OK');
  const text = read(dir, 'worklogs/T-1.jsonl');
  expect(validateWorklogText(text)).toMatchObject({ code: 'OK', details: { entry_count: 3 } });
  const shown = json<readonly JsonObject[]>(await baton(dir, ['worklog', 'show', 'T-1', '--json']));
  expect(shown.map((line) => JSON.stringify(line)).join('\n')).toBe(text.trimEnd());
  expect(shown.at(-1)).toMatchObject({
    result: 'blocked',
    code: 'ACCEPTANCE_FAILED',
    next_step: expect.stringMatching(/./),
  });
  expect((await baton(dir, ['worklog', 'show', 'T-1'])).stdout.split('\n')).toHaveLength(4);
});

test('many writers at once tear no line and lose none', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1');
  await asProcesses(() =>
    Promise.all(Array.from({ length: 8 }, (_, index) => log(dir, { decision: `word ${index} `.repeat(50) }))),
  );
  const text = read(dir, 'worklogs/T-1.jsonl');
  expect(validateWorklogText(text)).toMatchObject({ details: { entry_count: 8 } });
  const shown = json<readonly JsonObject[]>(await baton(dir, ['worklog', 'show', 'T-1', '--json']));
  expect(shown.map((line) => JSON.stringify(line)).join('\n')).toBe(text.trimEnd());
});

test('a worklog that names somebody else’s file lies in the state folder', async () => {
  const dir = project({ 'worklogs/x.jsonl': '{}\n' });
  await create(dir, 'T-1', { worklog_path: 'worklogs/x.jsonl' });
  await start(dir, 'T-1');
  expect((await log(dir)).details.file).toBe(join(dir, '.baton/state/worklogs', RUN, 'T-1.jsonl'));
  expect(read(dir, 'worklogs/x.jsonl')).toBe('{}\n');
});

test('a root of its own: paths are locked, compared and logged there', async () => {
  const dir = project();
  mkdirSync(join(dir, 'lane'));
  put(dir, { 'in.json': packet('T-1', { lock_scope: ['src'] }) });
  await ask(dir, ['task', 'create', 'in.json', '--root', 'lane']);
  await create(dir, 'T-2', { lock_scope: ['src'] });
  const fence = await start(dir, 'T-1');
  expect((await claim(dir, 'T-2', 'bob')).code).toBe('OK');
  mkdirSync(join(dir, 'lane/docs'));
  writeFileSync(join(dir, 'lane/docs/x'), 'x');
  expect((await finish(dir, 'T-1', fence, NOTHING)).details.outside).toEqual(['docs/x']);
  expect((await ask(dir, ['lock', 'check', 'src', '--root', 'lane'])).details.conflicts).toHaveLength(1);
  expect((await heartbeat(dir, 'T-1', fence)).code).toBe('OK');
  expect(await rows(dir, '--status', 'in_progress')).toHaveLength(2);
});
