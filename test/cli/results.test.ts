// What a cast produced is what its end shows: the last text, each item with the files it changed, and what a failed turn said.
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, flow, json, pinTeam, put, type Ran } from './baton.ts';
import { git, repository } from './repository.ts';

const YES: Json = { satisfied: true };
const PLAN: Json = { workItems: ['One', 'Two'].map((title) => ({ title, context: `do ${title}` })) };
const IDLE = 'There was nothing to do.';

/** The team that ships in a repository, where nothing was committed since. */
async function withTeam(agents: JsonObject): Promise<string> {
  const dir = repository({ '.gitignore': '*.log\n' });
  await pinTeam(dir);
  put(dir, { '.baton/script.json': agents });
  return dir;
}

const castIn = (dir: string, ...more: readonly string[]): Promise<Ran> =>
  baton(dir, ['cast', '--agents', '.baton/script.json', ...more, 'do it']);

test('a team that does nothing says so for each item, proposes no merge, and can be cleared away', async () => {
  const [said, ...judged] = [
    [IDLE, '$repeat'],
    [YES, '$repeat'],
    [YES, '$repeat'],
  ];
  const dir = await withTeam({
    ...{ 'Socket-3': [PLAN], 'Socket-4': said ?? [], 'Socket-5': judged[0] ?? [], 'Socket-6': judged[1] ?? [] },
    'Socket-7': ['The plan had two items.\n\nNo file was changed.'],
  });
  const { code, stdout, stderr } = await castIn(dir);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Narrate:\n {2}The plan had two items\.\n\n {2}No file was changed\.\n/);
  expect(stdout).toMatch(/^One +done +changed no file$/m);
  expect(stdout).toMatch(/^Two +done +changed no file$/m);
  expect(stdout).toMatch(/^It changed no file; `.* undo /m);
  expect(stdout).not.toMatch(/\bmerge\b|commit/);
  expect(stderr).toMatch(/✓ Build · 1\/2 One · changed no file/);
  expect(stderr).not.toContain('is not known');
  const [show, why] = await Promise.all([baton(dir, ['show']), baton(dir, ['why'])]);
  expect(show.stdout).toContain('The plan had two items.');
  expect(show.stdout).toMatch(/T-1 +One +done +changed no file$/m);
  expect(show.stdout).not.toMatch(/\bmerge\b|diff/);
  expect(why.stdout).toContain('The plan had two items.');
  expect(why.stdout).toContain('It changed no file.');
  expect(why.stdout).not.toMatch(/\bmerge\b/);
  expect(json<CastView>(await baton(dir, ['show', '--json'])).result).toEqual({
    last: expect.objectContaining({
      ...{ socket: 'Socket-7', materia: 'Narrate', text: 'The plan had two items.\n\nNo file was changed.' },
    }),
    failure: null,
    files: { count: 0, first: [] },
  });
  const { turns = [] } = json<CastView>(await baton(dir, ['show', '--turns', '--json']));
  const briefOf = (id: string) => turns.find(({ socket }) => socket === id)?.brief;
  expect(briefOf('Socket-5')).toContain('No file was changed for this item.');
  expect(briefOf('Socket-7')).toContain('T-1 One: done; no file changed\nT-2 Two: done; no file changed\n');
  expect((await baton(dir, ['gc', '--worktrees'])).stdout).toContain('Cleared 1 worktree away');
  expect(git(dir, 'branch', '--list', 'baton/*')).toBe('');
});

test('an empty plan says that nothing was planned', async () => {
  const dir = await withTeam({ 'Socket-3': [{ workItems: [] }], 'Socket-7': ['Nothing.'] });
  const { stdout, stderr } = await castIn(dir);
  expect(stdout).toMatch(/^Nothing was planned: the list of work items is empty\.$/m);
  expect(stderr).toContain('nothing was planned: Auto-Plan listed no items');
  expect((await baton(dir, ['why'])).stdout).toContain('Nothing was planned');
  const { turns = [] } = json<CastView>(await baton(dir, ['show', '--turns', '--json']));
  expect(turns.at(-1)?.brief).toContain('Nothing was planned: the list of work items is empty.');
});

test('what changed files is counted, and offered to be merged', async () => {
  const writes = { $turn: { output: 'Wrote it.', write: { 'b.txt': 'two\n' } } };
  const dir = await withTeam({
    ...{ 'Socket-3': [PLAN], 'Socket-4': [writes, IDLE], 'Socket-5': [YES, '$repeat'], 'Socket-6': [YES, '$repeat'] },
    'Socket-7': ['Done.'],
  });
  const { stdout } = await castIn(dir);
  expect(stdout).toMatch(/^One +done +1 file$/m);
  expect((await baton(dir, ['show'])).stdout).toContain('what it changed; then merge or undo');
  expect(stdout).toMatch(/^Two +done +changed no file$/m);
  expect(stdout).toMatch(/^ {2}take it over {2}.* merge /m);
  expect((await baton(dir, ['why'])).stdout).toMatch(/\bmerge\b/);
});

test('a refused output is shown safely, and its only issue is told once', async () => {
  const dir = await withTeam({ 'Socket-3': [{ workItems: [{ title: 'One' }] }, 'I cannot \u001b[31mplan this.'] });
  const { code, stdout, stderr } = await castIn(dir);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^What Auto-Plan said:\n {2}I cannot .\[31mplan this\.\n\nCast /);
  expect(stdout).not.toContain('\u001b');
  const reason = /the text holds no JSON object/g;
  expect(`${stderr}${stdout}`.match(reason)).toHaveLength(1);
  expect(stderr).toMatch(/✗ Auto-Plan · refused, one repair turn: .*at \$\.workItems\.0\.context/);
  expect(stderr).toMatch(/✗ Auto-Plan · refused · /);
  for (const look of ['show', 'why', 'watch']) {
    const shown = (await baton(dir, [look])).stdout;
    expect(shown, look).toMatch(/What Auto-Plan said:\n {2}I cannot/);
    // The list of turns in `show` has the verdict of each attempt.
    expect(shown.replace(/^turn +step[\s\S]*/m, '').match(reason), look).toHaveLength(1);
  }
  expect((await baton(dir, ['show', '--turn', '3'])).stdout.match(reason)).toHaveLength(1);
  expect(json<CastView>(await baton(dir, ['watch', '--json'])).result.failure).toMatchObject({
    ...{
      socket: 'Socket-3',
      materia: 'Auto-Plan',
      attempt: 2,
      code: 'NOT_JSON',
      text: 'I cannot \u001b[31mplan this.',
    },
    issues: [{ path: '$', message: 'the text holds no JSON object' }],
  });
});

test('the words that rejected the work are shown where it is not sent back again', async () => {
  const red: Json = { satisfied: false, context: '3 of 14 tests fail' };
  const dir = await withTeam({ 'Socket-3': [PLAN], 'Socket-4': ['Built.', '$repeat'], 'Socket-5': [red, '$repeat'] });
  const { code, stdout } = await castIn(dir);
  expect(code).toBe(1);
  const said = /^What Auto-Eval said:\n {2}.*"context":"3 of 14 tests fail"/m;
  expect(stdout).toMatch(said);
  expect(stdout).toContain('failed (EDGE_BUDGET_EXHAUSTED)');
  for (const look of ['show', 'why', 'watch']) expect((await baton(dir, [look])).stdout, look).toMatch(said);
});

test('the last words of a program that failed are kept without secrets and shown', async () => {
  const key = `AKIA${'B'.repeat(16)}`;
  const crash = { $turn: { fail: 'crash', output: `The disk is full.\nKey ${key}` } };
  const dir = await withTeam({ 'Socket-3': [crash, crash] });
  const { stdout, stderr } = await castIn(dir, '--json');
  expect(json<CastView>({ code: 1, stdout, stderr }).result.failure).toMatchObject({
    code: 'AGENT_FAILED',
    attempt: 2,
  });
  // Without closing lines the reason is on the line of the cast.
  expect(stderr).toMatch(/^failed: AGENT_FAILED: /m);
  const { stdout: shown } = await baton(dir, ['show']);
  expect(shown).toContain('What Auto-Plan said:\n  The disk is full.');
  expect(shown).not.toContain(key);
});

test('what a failed utility printed is shown, and all of it with its turn', async () => {
  const dir = repository();
  const command = [
    process.execPath,
    '-e',
    'for (let n = 1; n < 60; n++) console.log("test " + n + " is red"); process.exit(1)',
  ];
  put(dir, { 'cast.json': flow({ Test: { type: 'utility', command } }, { 'Socket-1': { materia: 'Test' } }) });
  const { stdout } = await baton(dir, ['cast', '--file', 'cast.json', 'do it']);
  // The end says what went wrong.
  expect(stdout).toMatch(/^What Test said:\n {2}… all of it: .* show \S+ --turn 1\n {2}test 20 is red\n/);
  expect(stdout).toContain('  test 59 is red\n');
  expect((await baton(dir, ['show', '--turn', '1'])).stdout).toContain('test 1 is red');
});

test('the demo warns of nothing', async () => {
  const dir = repository();
  const { code, stderr } = await baton(dir, ['demo', '--fast']);
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/^ *! /m);
});
