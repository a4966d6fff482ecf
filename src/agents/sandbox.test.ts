import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { confined } from './sandbox.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-sandbox-')));
  for (const name of ['project/.baton', 'project/.git', 'tree/.baton']) mkdirSync(join(dir, name), { recursive: true });
  for (const name of [
    'project/.baton/config.json',
    'tree/.baton/config.json',
    'tree/.git',
    'project/a.txt',
    'other.txt',
  ])
    writeFileSync(join(dir, name), 'as it was');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const place = (cwd: string) => ({ cwd: join(dir, cwd), configDir: join(dir, 'project', '.baton') });

test('without a sandbox the command stays as it is', () => {
  expect(confined(['node', 'x'], {}, place('tree'))).toEqual(['node', 'x']);
});

test.each([
  ['coding', false],
  ['readOnly', true],
  ['none', true],
  [{ type: 'custom', tools: ['Bash'] }, true],
  [undefined, true],
])('with the tools %j the network is cut off: %s', (tools, isCut) => {
  expect(confined(['x'], { sandbox: 'bwrap', tools }, place('tree')).includes('--unshare-net')).toBe(isCut);
});

test('a program that is missing fails the attempt instead of running it outside', () => {
  const [program = '', ...args] = confined(['true'], { sandbox: 'bwrap' }, place('tree'));
  expect(spawnSync(program, args, { env: { PATH: '/nowhere' } }).error?.message).toContain('ENOENT');
});

const probe = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-net', '--unshare-pid', 'true'], {
  encoding: 'utf8',
});
const why = probe.error ? probe.error.message : probe.stderr.trim();
const canRun = probe.status === 0;
if (!canRun) process.stderr.write(`bubblewrap cannot run here, so what it does is not tested: ${why}\n`);

/** Tries to write to each file, and answers which it could. */
function written(cwd: string, tools: string, files: readonly string[]): string[] {
  const script = `const { writeFileSync } = require('node:fs'); const done = [];
for (const file of ${JSON.stringify(files)}) try { writeFileSync(file, 'changed'); done.push(file); } catch {}
console.log(JSON.stringify(done));`;
  const argv = confined([process.execPath, '-e', script], { sandbox: 'bwrap', tools }, place(cwd));
  const ran = spawnSync(argv[0] ?? '', argv.slice(1), { encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  return JSON.parse(ran.stdout) as string[];
}

test.skipIf(!canRun)('in a worktree only the worktree can be changed, and not what governs it', () => {
  const at = (name: string) => join(dir, name);
  const forbidden = [
    at('project/a.txt'),
    at('project/.baton/config.json'),
    at('tree/.baton/config.json'),
    at('tree/.git'),
    '/etc/baton-test',
  ];
  expect(written('tree', 'coding', [at('tree/new.txt'), ...forbidden])).toEqual([at('tree/new.txt')]);
  expect(readFileSync(at('tree/new.txt'), 'utf8')).toBe('changed');
  for (const file of forbidden.slice(0, 4)) expect(readFileSync(file, 'utf8')).toBe('as it was');
});

test.skipIf(!canRun)('in the directory itself what governs the agents cannot be changed', () => {
  const files = ['project/a.txt', 'project/.baton/config.json'].map((name) => join(dir, name));
  expect(written('project', 'coding', files)).toEqual(files.slice(0, 1));
});

test.skipIf(!canRun)('the temporary folder is its own', () => {
  expect(written('tree', 'coding', ['/tmp/baton-sandbox-probe'])).toEqual(['/tmp/baton-sandbox-probe']);
  expect([existsSync('/tmp/baton-sandbox-probe'), readFileSync(join(dir, 'other.txt'), 'utf8')]).toEqual([
    false,
    'as it was',
  ]);
});

test.skipIf(!canRun)('without coding tools there is no network but the loop', () => {
  const argv = confined(['cat', '/proc/net/dev'], { sandbox: 'bwrap', tools: 'readOnly' }, place('tree'));
  const { stdout } = spawnSync(argv[0] ?? '', argv.slice(1), { encoding: 'utf8' });
  const devices = stdout.split('\n').flatMap((line) => /^\s*(\S+):/.exec(line)?.[1] ?? []);
  expect(devices).toEqual(['lo']);
});
