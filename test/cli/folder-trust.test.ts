// The commands that a project brings along run only where a person said that its folder is trusted.
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, json, put } from './baton.ts';
import { coder, commit, git, repository, row, writes } from './repository.ts';

/** The environment of a user who trusts nothing yet. */
const stranger = (dir: string) => ({ env: { BATON_CONFIG: join(dir, '.git/user') } });

const CAST = ['cast', '--file', 'cast.json', '--agents', 'agents.json', '--json', 'do it'];

function withSetup(): string {
  const dir = repository();
  put(dir, {
    'cast.json': row({ a: coder }, ['a'], { worktree: { setup: ['touch', join(dir, 'ran.log')] } }),
    'agents.json': { a: [writes({ b: 'x' })] },
  });
  return dir;
}

test('a set-up step of an unknown folder does not run unasked; `baton trust` lets it run', async () => {
  const dir = withSetup();
  const refused = await baton(dir, CAST, stranger(dir));
  expect([refused.code, json(refused)]).toMatchObject([1, { allow: false, code: 'FOLDER_UNTRUSTED' }]);
  expect(JSON.stringify(json(refused).details)).toContain('touch');
  expect([existsSync(join(dir, 'ran.log')), git(dir, 'branch', '--list', 'baton/*')]).toEqual([false, '']);
  expect((await baton(dir, ['trust'], stranger(dir))).code).toBe(0);
  expect((await baton(dir, CAST, stranger(dir))).code).toBe(0);
  expect(existsSync(join(dir, 'ran.log'))).toBe(true);
});

test('a checker of an unknown folder does not run unasked', async () => {
  const dir = repository();
  const checkers = { mark: { command: ['touch', join(dir, 'ran.log')] } };
  put(dir, { 'cast.json': row({ a: coder }, ['a'], { checkers }), 'agents.json': { a: [writes({ b: 'x' })] } });
  const refused = await baton(dir, CAST, stranger(dir));
  expect([refused.code, json(refused)]).toMatchObject([1, { allow: false, code: 'FOLDER_UNTRUSTED' }]);
  expect(String(json(refused).reason)).toContain('checkers.mark runs `touch');
  expect(existsSync(join(dir, 'ran.log'))).toBe(false);
  expect((await baton(dir, ['trust'], stranger(dir))).code).toBe(0);
  expect((await baton(dir, CAST, stranger(dir))).code).toBe(0);
  expect(existsSync(join(dir, 'ran.log'))).toBe(true);
});

test('who runs `init` in a folder trusts it', async () => {
  const dir = withSetup();
  expect((await baton(dir, ['init'], stranger(dir))).code).toBe(0);
  expect((await baton(dir, CAST, stranger(dir))).code).toBe(0);
  expect(existsSync(join(dir, 'ran.log'))).toBe(true);
});

test('a cast without set-up and filters needs no trust, and an agent cannot give it', async () => {
  const dir = withSetup();
  put(dir, { 'cast.json': row({ a: coder }, ['a']) });
  expect((await baton(dir, CAST, stranger(dir))).code).toBe(0);
  const asAgent = { env: { ...stranger(dir).env, BATON_ATTEMPT: 'x', BATON_CAST: 'c' } };
  expect(json(await baton(dir, ['trust', '--json'], asAgent)).code).toBe('APPROVER_IS_AGENT');
});

/** A repository whose own configuration runs a filter for every file. */
function withFilter(): string {
  const dir = repository({ '.gitattributes': 'a.txt filter=x\n' });
  put(dir, {
    '.git/clean.sh': `#!/bin/sh\necho x >> ${join(dir, 'ran.log')}\ncat\n`,
    'cast.json': row({ a: coder }, ['a']),
    'agents.json': { a: [writes({ 'a.txt': 'two\n' })] },
  });
  chmodSync(join(dir, '.git/clean.sh'), 0o755);
  git(dir, 'config', 'filter.x.clean', join(dir, '.git/clean.sh'));
  git(dir, 'config', 'filter.x.smudge', join(dir, '.git/clean.sh'));
  return dir;
}

test('filters of an unknown repository run in no command of ours; once it is trusted they do, until .git/config changes', async () => {
  const dir = withFilter();
  put(dir, { 'a.txt': 'three\n' });
  await baton(dir, ['doctor'], stranger(dir));
  await baton(dir, ['diff'], stranger(dir));
  const refused = json(await baton(dir, CAST, stranger(dir)));
  expect([refused.code, (refused.details as JsonObject).drivers]).toEqual([
    'FOLDER_UNTRUSTED',
    ['filter.x.clean', 'filter.x.smudge'],
  ]);
  expect(existsSync(join(dir, 'ran.log'))).toBe(false);
  git(dir, 'checkout', '-q', 'a.txt');
  await baton(dir, ['trust'], stranger(dir));
  expect((await baton(dir, CAST, stranger(dir))).code).toBe(0);
  expect(existsSync(join(dir, 'ran.log'))).toBe(true);
  git(dir, 'config', 'filter.x.clean', 'other');
  expect(json(await baton(dir, CAST, stranger(dir))).code).toBe('FOLDER_UNTRUSTED');
  expect(json(await baton(dir, ['merge', '--json'], stranger(dir))).code).toBe('FOLDER_UNTRUSTED');
});

test('what .git/config includes counts as a part of it', async () => {
  const dir = withFilter();
  put(dir, { more: '[filter "y"]\n\tclean = cat\n' });
  git(dir, 'config', 'include.path', '../more');
  commit(dir, 'more');
  await baton(dir, ['trust'], stranger(dir));
  put(dir, { more: '[filter "y"]\n\tclean = touch ran.log\n' });
  const { details } = json(await baton(dir, CAST, stranger(dir))) as { details: JsonObject };
  expect(details.drivers).toEqual(['filter.x.clean', 'filter.x.smudge', 'filter.y.clean']);
});

test('`init` does not trust filters that nobody has seen', async () => {
  const dir = repository();
  git(dir, 'config', 'filter.f.clean', `sh -c "echo ran >> '${join(dir, 'ran.log')}'; cat"`);
  put(dir, { '.gitattributes': '*.txt filter=f\n' });
  expect((await baton(dir, ['init'], stranger(dir))).code).toBe(0);
  put(dir, { 'cast.json': row({ a: coder }, ['a']), 'agents.json': { a: ['x'] } });
  const refused = await baton(dir, CAST, stranger(dir));
  expect(json(refused)).toMatchObject({ code: 'FOLDER_UNTRUSTED', details: { drivers: ['filter.f.clean'] } });
  expect(existsSync(join(dir, 'ran.log'))).toBe(false);
});
