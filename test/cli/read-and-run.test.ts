// An evaluator that may run things and edit nothing: what it changes is put back and its turn refused, caches stay.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, json, put, read } from './baton.ts';
import { coder, git, repository, row } from './repository.ts';

/** Runs a line of shell as the evaluator. */
function judged(line: string): JsonObject {
  const build = { ...coder, runner: 'command', command: ['sh', '-c', 'echo two > a.txt; echo built'] };
  const judge = { tools: 'readAndRun', prompt: 'Judge.', runner: 'command', command: ['sh', '-c', line] };
  return row({ Build: build, Judge: judge }, ['Build', 'Judge']);
}

async function cast(dir: string, config: JsonObject): Promise<CastView> {
  put(dir, { 'cast.json': config });
  return json<CastView>(await baton(dir, ['cast', '--file', 'cast.json', '--json', '--turns', 'do it']));
}

test('what a check writes into ignored files may change', async () => {
  const view = await cast(repository(), judged('echo cached > cache.log; cat a.txt'));
  expect([view.status, view.turns?.at(-1)?.output]).toEqual(['completed', 'two\n']);
});

test('a tracked and a new file that it changes are put back, and the turn is refused once', async () => {
  const dir = repository();
  const spoil =
    'if [ -e seen.log ]; then cat a.txt; ls new.txt 2>&1; else touch seen.log; echo bad > a.txt; echo x > new.txt; echo bad; fi';
  const view = await cast(dir, judged(`${spoil}; echo fine`));
  expect(view.status).toBe('completed');
  const [, refused, accepted] = view.turns ?? [];
  expect(refused?.verdict).toMatchObject({
    code: 'SCOPE_VIOLATION',
    reason: expect.stringContaining('its tools are readAndRun; it is put back'),
  });
  expect(accepted?.output).toMatch(/^two\n.*new\.txt.*\nfine\n$/);
  expect(git(dir, 'show', `baton/${view.cast}:a.txt`)).toBe('two');
  expect(existsSync(join(dir, 'new.txt'))).toBe(false);
});

test('one that never stops editing ends the cast, and nothing of it is on the branch', async () => {
  const dir = repository();
  const view = await cast(dir, judged('echo bad > a.txt; echo fine'));
  expect([view.status, view.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(git(dir, 'show', `baton/${view.cast}:a.txt`)).toBe('two');
});

test.each([
  ['a commit', 'echo bad > a.txt; git add -A; git -c user.name=x -c user.email=x@x commit -qm bad'],
  ['a branch that it moved', 'git reset -q --hard HEAD~1'],
  ['a change that it hid from git', 'git update-index --assume-unchanged a.txt; echo bad > a.txt'],
])('%s is put back too, so that the next attempt is judged by what it does itself', async (_what, spoil) => {
  const dir = repository();
  const view = await cast(dir, judged(`if [ -e seen.log ]; then cat a.txt; else touch seen.log; ${spoil}; echo x; fi`));
  const [, refused, accepted] = view.turns ?? [];
  expect([view.status, accepted?.output]).toEqual(['completed', 'two\n']);
  expect(refused?.verdict).toMatchObject({ code: 'SCOPE_VIOLATION' });
  expect(git(dir, 'log', '--format=%s', `main..baton/${view.cast}`)).toBe('Build (turn 1)');
});

/** A cast of an agent that runs checks, without any that may change files. */
async function checkedAlone(more: Record<string, string>) {
  const spoil =
    'if [ -e seen.log ]; then cat a.txt; else touch seen.log; echo bad > a.txt; echo x > new.txt; echo bad; fi';
  const judge = { tools: 'readAndRun', prompt: 'Judge.', runner: 'command', command: ['sh', '-c', spoil] };
  const dir = repository({ 'cast.json': row({ Judge: judge }, ['Judge']) });
  put(dir, more);
  const args = ['cast', '--file', 'cast.json', '--json', '--turns', 'do it'];
  return { dir, view: json<CastView>(await baton(dir, args)) };
}

test('without uncommitted files a cast that only runs checks has a worktree, where its changes are put back', async () => {
  const { dir, view } = await checkedAlone({});
  expect([view.status, view.turns?.at(-1)?.output]).toEqual(['completed', 'one\n']);
  expect(view.turns?.[0]?.verdict).toMatchObject({ code: 'SCOPE_VIOLATION' });
  expect([read(dir, 'a.txt'), existsSync(join(dir, 'new.txt'))]).toEqual(['one\n', false]);
  expect(git(dir, 'rev-parse', `baton/${view.cast}`)).toBe(git(dir, 'rev-parse', 'HEAD'));
});

test('with uncommitted files it sees them, and nothing of them is put back', async () => {
  const { dir, view } = await checkedAlone({ 'a.txt': 'mine\n' });
  expect(view.status).toBe('completed');
  expect([read(dir, 'a.txt'), existsSync(join(dir, 'new.txt'))]).toEqual(['bad\n', true]);
  expect((await baton(dir, ['show', 'latest'])).stdout).toContain('which may change nothing');
});

test('an attempt that changed a file and then failed leaves nothing for the next one', async () => {
  const spoil = 'if [ -e seen.log ]; then cat a.txt; else touch seen.log; echo bad > a.txt; kill -9 $$; fi';
  const view = await cast(repository(), judged(spoil));
  expect(view.turns?.map(({ verdict }) => verdict)).toMatchObject([{ code: 'OK' }, { allow: false }, { code: 'OK' }]);
  expect([view.status, view.turns?.at(-1)?.output]).toEqual(['completed', 'two\n']);
});
