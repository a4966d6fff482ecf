// What is in the place of the state and of files that are read: links are not followed, pipes and devices not waited for, and the
// log is for its owner alone.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { agent, BATON, baton, CHECKOUT, flow, json, project } from './baton.ts';

const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });
const files = { 'good.json': config, 'agents.json': { A: ['x', '$repeat'] } };
const CAST = ['cast', '--file', 'good.json', '--agents', 'agents.json', 'x'];

test.each([
  ['.baton', 'elsewhere'],
  ['.baton/state', 'elsewhere'],
  ['.baton/state/log.sqlite', '../../elsewhere/precious'],
  ['.baton/state/log.sqlite-wal', '../../elsewhere/precious'],
  ['.baton/state/attempts', '../../elsewhere'],
  ['.baton/state/checkpoints/checkpoints.txt', '../../../elsewhere/precious'],
  ['.baton/state/checkpoints/frontier.json.new', '../../../elsewhere/precious'],
])('a link in the place of %s is refused, and nothing is written where it leads', async (name, target) => {
  const dir = project(files);
  mkdirSync(join(dir, 'elsewhere'));
  writeFileSync(join(dir, 'elsewhere/precious'), '');
  if (name === '.baton') rmSync(join(dir, name), { recursive: true });
  else mkdirSync(join(dir, dirname(name)), { recursive: true });
  symlinkSync(target === 'elsewhere' ? join(dir, target) : target, join(dir, name));
  const ran = await baton(dir, [...CAST, '--json']);
  expect([ran.code, json(ran).code, ran.stderr]).toEqual([
    3,
    'STORAGE_FAILED',
    expect.stringContaining(`${name} is a link`),
  ]);
  expect(readFileSync(join(dir, 'elsewhere/precious'), 'utf8')).toBe('');
  expect(execFileSync('ls', ['-A', join(dir, 'elsewhere')], { encoding: 'utf8' })).toBe('precious\n');
  if (name.startsWith('.baton/state/log')) expect((await baton(dir, ['status'])).code).toBe(3);
});

test('a link in the place of .baton is refused with the state elsewhere too', async () => {
  const dir = project(files);
  renameSync(join(dir, '.baton'), join(dir, 'elsewhere'));
  symlinkSync('elsewhere', join(dir, '.baton'));
  const ran = await baton(dir, CAST, { env: { BATON_HOME: join(dir, 'home') } });
  expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('.baton is a link, and nothing is read')]);
});

test.each(['log.sqlite', 'checkpoints/checkpoints.txt'])(
  'a pipe in the place of %s is named, and nothing waits for it',
  async (name) => {
    const dir = project(files);
    const pipe = join(dir, '.baton/state', name);
    mkdirSync(dirname(pipe), { recursive: true });
    execFileSync('mkfifo', [pipe]);
    const said = expect.stringMatching(`${name}(?:: it)? is not a plain file`);
    const ran = await baton(dir, CAST);
    expect([ran.code, ran.stderr]).toEqual([3, said]);
    const audit = await baton(dir, ['audit', 'verify']);
    expect([audit.code === 0, audit.stdout + audit.stderr]).toEqual([false, said]);
    expect(audit.stdout + audit.stderr).not.toContain('TAMPERED');
    // It asks the log whether there was a registry.
    expect((await baton(dir, ['check'])).code).toBe(0);
    const verifier = [join(CHECKOUT, 'verifier/verify.mjs'), '--log', '.baton/state/log.sqlite'];
    expect((await baton(dir, verifier, { program: [process.execPath] })).code).not.toBe(0);
  },
);

test('in a folder that others may look into, the log is for its owner alone; one that was open is closed', async () => {
  const dir = project(files);
  mkdirSync(join(dir, '.baton/state'), { mode: 0o755 });
  const log = join(dir, '.baton/state/log.sqlite');
  await baton(dir, CAST);
  expect(statSync(log).mode & 0o777).toBe(0o600);
  chmodSync(log, 0o644);
  await baton(dir, ['casts']);
  expect(statSync(log).mode & 0o777).toBe(0o600);
});

test.each([
  ['check', (dir: string) => ['check', join(dir, 'pipe')]],
  ['check of a device', () => ['check', '/dev/zero']],
  ['cast', () => ['cast', '--file', '/dev/zero', 'x']],
  ['a script', (dir: string) => ['cast', '--file', 'good.json', '--agents', join(dir, 'pipe'), 'x']],
  ['validate', (dir: string) => ['validate', 'materia', join(dir, 'pipe')]],
  ['task create', (dir: string) => ['task', 'create', join(dir, 'pipe')]],
  ['verify', () => ['verify', '/dev/zero']],
  ['audit verify', (dir: string) => ['audit', 'verify', '--checkpoint', join(dir, 'pipe')]],
])('%s does not wait for a pipe or read a device without end', async (_, args) => {
  const dir = project(files);
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  const ran = await baton(dir, args(dir));
  expect([ran.code, ran.stdout + ran.stderr]).toEqual([2, expect.stringContaining('not a plain file')]);
});

test('what a shell hands over by a pipe is read', async () => {
  const dir = project(files);
  const ran = await baton(dir, ['-c', '"$0" check <(cat good.json)', BATON], { program: ['/bin/bash'] });
  expect(ran.code).toBe(0);
});
