// The commands that a project brings along run only where a person said that its folder is trusted.
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { initRepository } from '../init-repository.ts';
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

/** Adds a repository as a submodule; answers its folder. */
function addSubmodule(dir: string, name: string): string {
  const inner = join(dir, name);
  mkdirSync(inner);
  initRepository(inner);
  put(inner, { 'x.txt': 'x\n', '.gitattributes': '*.txt filter=x\n' });
  commit(inner, 'inner');
  commit(dir, 'outer');
  return inner;
}

test('filters of a submodule run in no command of ours', async () => {
  const dir = repository();
  put(dir, { 'cast.json': row({ a: coder }, ['a']), 'agents.json': { a: [writes({ b: 'x' })] } });
  const sub = addSubmodule(dir, 'sub');
  const all = [sub, addSubmodule(sub, 'below')];
  commit(dir, 'both');
  for (const one of all) {
    git(one, 'config', 'filter.x.clean', `sh -c "echo ran >> '${dir}/ran.log'; cat"`);
    utimesSync(join(one, 'x.txt'), 1, 1);
  }
  await baton(dir, ['doctor'], stranger(dir));
  const seen = json(await baton(dir, [...CAST, '--in-place'], stranger(dir)));
  expect([seen.status, existsSync(join(dir, 'ran.log'))]).toEqual(['completed', false]);
  git(dir, 'status');
  expect(existsSync(join(dir, 'ran.log'))).toBe(true);
});

test('missing objects are fetched only where a person trusts what .git/config says about it', async () => {
  const dir = repository();
  put(dir, { 'cast.json': row({ a: coder }, ['a']), 'agents.json': { a: [writes({ b: 'x' })] }, 'a.txt': 'two\n' });
  commit(dir, 'two');
  git(dir, 'clone', '-q', '--bare', '.', '.git/origin');
  const id = git(dir, 'rev-parse', 'HEAD:a.txt');
  const ran = join(dir, 'ran.log');
  const settings = { url: join(dir, '.git/origin'), promisor: 'true', uploadpack: `touch '${ran}'; git-upload-pack` };
  for (const [name, value] of Object.entries(settings)) git(dir, 'config', `remote.origin.${name}`, value);
  git(dir, 'config', 'core.repositoryformatversion', '1');
  git(dir, 'config', 'extensions.partialClone', 'origin');
  git(join(dir, '.git/origin'), 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  rmSync(join(dir, '.git/objects', id.slice(0, 2), id.slice(2)));
  await baton(dir, ['doctor'], stranger(dir));
  await baton(dir, ['init'], stranger(dir));
  const paused = await baton(dir, CAST, stranger(dir));
  expect([json(paused).status, existsSync(ran)]).toEqual(['paused', false]);
  expect(`${paused.stdout}${paused.stderr}`).toContain('only in a folder that a person trusts');
  await baton(dir, ['trust'], stranger(dir));
  expect([json(await baton(dir, CAST, stranger(dir))).status, existsSync(ran)]).toEqual(['completed', true]);
});

test('files that look like a bare repository bring no configuration', async () => {
  const dir = repository({ '.gitattributes': '*.txt filter=x\n', 'app/x.txt': 'one\n' });
  const app = join(dir, 'app');
  for (const name of ['HEAD', 'index', 'objects', 'refs']) {
    cpSync(join(dir, '.git', name), join(app, name), { recursive: true });
  }
  const settings = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${dir}\n[filter "x"]\n\tclean = "echo ran >> '${dir}/ran.log'; cat"\n`;
  put(app, {
    config: settings,
    '.baton/config.json': row({ a: coder }, ['a']),
    'agents.json': { a: [writes({ b: 'x' })] },
  });
  put(app, { 'x.txt': 'two\n' });
  await baton(app, ['doctor'], stranger(dir));
  await baton(app, ['cast', '--in-place', '--agents', 'agents.json', 'do it'], stranger(dir));
  await baton(app, ['diff', 'latest'], stranger(dir));
  expect(existsSync(join(dir, 'ran.log'))).toBe(false);
  git(app, 'status', '--short');
  expect(existsSync(join(dir, 'ran.log'))).toBe(true);
});
