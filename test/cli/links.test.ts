// Links are followed before paths are compared: of two claims to the same file one wins, whatever names they use.
import { linkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import { baton, cast, json, project, put, until } from './baton.ts';
import { ask, claim, create, finish, packet, RUN, start } from './ledger-story.ts';
import { coder, commit, repository, row, writes } from './repository.ts';

function linked(): string {
  const dir = project({ 'src/a': 'one\n' });
  symlinkSync('src', join(dir, 'lnk'));
  return dir;
}

test.each([
  ['src/a', 'lnk/a'],
  ['lnk/a', 'src/a'],
  ['lnk', 'src/new/file'],
])('%s is claimed, so %s is not', async (held, wanted) => {
  const dir = linked();
  await create(dir, 'T-1', { lock_scope: [held] });
  await create(dir, 'T-2', { lock_scope: [wanted] });
  await start(dir, 'T-1');
  expect(await claim(dir, 'T-2', 'bob')).toMatchObject({ code: 'LOCK_CONFLICT', details: { holder: { path: held } } });
  for (const path of ['src/new/file', 'lnk/new/file', join(dir, 'lnk/new/file')]) {
    expect((await ask(dir, ['lock', 'check', path])).allow).toBe(held !== 'lnk');
  }
});

test('a file with two names has one owner', async () => {
  const dir = project({ 'src/a': 'one\n' });
  linkSync(join(dir, 'src/a'), join(dir, 'b'));
  await create(dir, 'T-1', { lock_scope: ['src/a'] });
  await create(dir, 'T-2', { lock_scope: ['b'] });
  put(dir, { 'three.json': packet('T-3', { lock_scope: ['a'] }) });
  expect((await ask(dir, ['task', 'create', 'three.json', '--root', 'src'])).code).toBe('OK');
  await start(dir, 'T-2');
  for (const id of ['T-1', 'T-3']) expect((await claim(dir, id, 'bob')).code).toBe('LOCK_CONFLICT');
  expect((await ask(dir, ['lock', 'check', 'src/a'])).code).toBe('LOCK_CONFLICT');
});

test('a folder that holds the workspace is no root', async () => {
  const dir = project({ 'src/a': 'one\n' });
  put(dir, { 'one.json': packet('T-1', { lock_scope: ['x'] }) });
  expect(await ask(dir, ['task', 'create', 'one.json', '--root', '..'])).toMatchObject({ code: 'SCOPE_VIOLATION' });
});

test('the folder of a task is compared with its links followed', async () => {
  const dir = linked();
  const alias = join(dir, 'here');
  symlinkSync('.', alias);
  symlinkSync('.baton', join(dir, 'rules'));
  put(dir, {
    'one.json': packet('T-1', { lock_scope: ['src/a'] }),
    'two.json': packet('T-2', { lock_scope: ['src/a'] }),
  });
  put(dir, { 'three.json': packet('T-3', { lock_scope: ['a'] }), 'four.json': packet('T-4', { lock_scope: ['a'] }) });
  const made = (file: string, root: string) => ask(dir, ['task', 'create', file, '--root', root]);
  for (const [file, root] of [
    ['one.json', '.'],
    ['two.json', alias],
    ['three.json', 'src'],
    ['four.json', 'lnk'],
  ] as const)
    expect((await made(file, root)).code).toBe('OK');
  await start(dir, 'T-1');
  for (const id of ['T-2', 'T-3', 'T-4']) expect((await claim(dir, id, 'bob')).code).toBe('LOCK_CONFLICT');
  expect((await made('four.json', 'rules')).code).toBe('SCOPE_VIOLATION');
});

test('a task that works through a link is held to where the link leads', async () => {
  const dir = linked();
  await create(dir, 'T-1', { lock_scope: ['lnk/a'] });
  const fence = await start(dir, 'T-1');
  expect((await ask(dir, ['lock', 'check', 'src/a', '--fence', String(fence)])).code).toBe('OK');
  put(dir, { 'src/a': 'two\n', 'src/b': 'stray\n' });
  const changes = { changes: [{ resource: 'lnk/a', action: 'edit' }] };
  expect(await finish(dir, 'T-1', fence, changes)).toMatchObject({
    code: 'SCOPE_VIOLATION',
    details: { outside: ['src/b'] },
  });
  rmSync(join(dir, 'src/b'));
  expect((await finish(dir, 'T-1', fence, changes)).code).toBe('OK');
});

test('a link that is made after the claim gives no right to where it leads', async () => {
  const dir = project({ 'src/a': 'one\n' });
  await create(dir, 'T-1', { lock_scope: ['new'] });
  const fence = await start(dir, 'T-1');
  symlinkSync('src', join(dir, 'new'));
  put(dir, { 'new/a': 'two\n' });
  expect(await finish(dir, 'T-1', fence, { changes: [] })).toMatchObject({
    code: 'SCOPE_VIOLATION',
    details: { outside: ['src/a'] },
  });
});

test('a link out of the project, or to what governs the work, cannot be locked', async () => {
  const dir = linked();
  symlinkSync('/tmp', join(dir, 'out'));
  symlinkSync('.baton', join(dir, 'rules'));
  for (const path of ['out/x', 'rules/x']) {
    const id = path === 'out/x' ? 'T-1' : 'T-2';
    await create(dir, id, { lock_scope: [path] });
    expect(await claim(dir, id)).toMatchObject({ code: 'SCOPE_VIOLATION', details: { resource: path } });
  }
});

test('a cast in place waits for a task that holds the same folder under its other name', async () => {
  const dir = linked();
  await create(dir, 'T-1', { lock_scope: ['src'] });
  await start(dir, 'T-1');
  put(dir, {
    'cast.json': row({ a: { ...coder, lockScope: ['lnk'] } }, ['a']),
    'agents.json': { a: [writes({ 'src/b': 'x' })] },
  });
  const args = ['cast', '--file', 'cast.json', '--agents', 'agents.json', '--detach', '--json', 'do it'];
  const { cast: id } = json<CastView>(await baton(dir, args));
  // A detached cast answers before its first turn asks for its lock.
  await until('the wait for T-1', async () => (await baton(dir, ['why', String(id)])).stdout.includes('T-1'));
  const shown = json<CastView>(await baton(dir, ['show', String(id), '--json']));
  expect(shown.path).toEqual([]);
  await ask(dir, ['task', 'move', 'T-1', 'canceled', '--run', RUN, '--reason', 'done']);
  await baton(dir, ['watch', String(id)]);
  expect(json<CastView>(await baton(dir, ['show', String(id), '--json'])).status).toBe('completed');
});

test('in a worktree a turn with a scope through a link keeps what it changed, and nothing outside of it', async () => {
  const dir = repository({ 'src/a': 'one\n' });
  symlinkSync('src', join(dir, 'lnk'));
  commit(dir, 'a link');
  const config = row({ a: { ...coder, lockScope: ['lnk'] } }, ['a']);
  expect((await cast(dir, config, { a: [writes({ 'src/a': 'two\n' })] })).status).toBe('completed');
  const strayed = await cast(dir, config, { a: [writes({ 'docs/a': 'two\n' }), '$repeat'] });
  expect([strayed.status, strayed.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
});
