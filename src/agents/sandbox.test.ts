import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { whyNoSandbox } from '../../test/bubblewrap.ts';
import type { Tools } from '../kernel/graph/config.ts';
import { confined } from './sandbox.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync('/tmp/baton-sandbox-'));
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

test.each<[string | undefined, Tools | undefined, boolean, string]>([
  [undefined, undefined, false, '--bind'],
  ['command', 'coding', false, '--bind'],
  ['command', { type: 'custom', tools: ['read', 'Bash(git *)'] }, false, '--bind'],
  ['command', { type: 'custom', tools: ['Read', 'ls'] }, true, '--ro-bind'],
  ['command', 'readAndRun', false, '--bind'],
  ['command', 'readOnly', true, '--ro-bind'],
  ['command', 'none', true, '--ro-bind'],
  ['claude', 'readOnly', false, '--ro-bind'],
  ['codex', 'none', false, '--ro-bind'],
])(
  'runner %s with the tools %j: its network is cut off %s, its folder is mounted by %s',
  (runner, tools, isCut, how) => {
    const materia = { sandbox: 'bwrap', ...(runner && { runner }), ...(tools && { tools }) } as const;
    const argv = confined(['x'], materia, place('tree'));
    expect(argv.includes('--unshare-net')).toBe(isCut);
    const at = argv.indexOf(join(dir, 'tree'));
    expect(argv[at - 1]).toBe(how);
  },
);

test('a program that is reached by a link brings the packages it lies among', () => {
  const file = join(dir, 'node_modules', 'agent', 'cli.js');
  mkdirSync(dirname(file), { recursive: true });
  mkdirSync(join(dir, 'node_modules', '.bin'));
  writeFileSync(file, '', { mode: 0o755 });
  symlinkSync(file, join(dir, 'node_modules', '.bin', 'agent'));
  const argv = confined([join(dir, 'node_modules', '.bin', 'agent')], { sandbox: 'bwrap' }, place('tree'));
  const shown = argv.filter((_, index) => argv[index - 1] === '--ro-bind-try');
  expect(shown).toEqual(expect.arrayContaining([join(dir, 'node_modules', '.bin'), join(dir, 'node_modules')]));
});

test.each<[string, string, (home: string) => Readonly<Record<string, string>>, string, readonly string[]]>([
  ['codex', '.codex', (HOME) => ({ HOME }), 'auth.json', ['sessions', 'state_5.sqlite']],
  ['codex', 'elsewhere', (home) => ({ CODEX_HOME: join(home, 'elsewhere') }), 'config.toml', ['log']],
  ['pi', '.pi/agent', (HOME) => ({ HOME }), 'models.json', ['sessions']],
  ['pi', 'mine', (home) => ({ PI_CODING_AGENT_DIR: join(home, 'mine') }), 'auth.json', ['models-store.json']],
])(
  '%s has %s of its own: what a person put there is shown, what it wrote itself is not',
  (runner, name, env, shown, hidden) => {
    const home = join(dir, 'home');
    const folder = join(home, name);
    for (const file of [shown, ...hidden]) mkdirSync(join(folder, file), { recursive: true });
    const argv = confined(['x'], { sandbox: 'bwrap', runner, tools: 'coding' }, place('tree'), env(home));
    const at = argv.indexOf(folder);
    expect(argv.slice(at - 1, at + 4)).toEqual([
      '--tmpfs',
      folder,
      '--ro-bind-try',
      join(folder, shown),
      join(folder, shown),
    ]);
    expect(argv.filter((arg) => hidden.some((file) => arg.startsWith(join(folder, file))))).toEqual([]);
    expect(at).toBeGreaterThan(argv.indexOf(join(dir, 'tree')));
  },
);

test('a folder of its own that is not there yet is made, one that is a link is mounted where it leads, and others need none', () => {
  const home = join(dir, 'home');
  const mounted = (runner: string, env: Readonly<Record<string, string>>) => {
    const argv = confined(['x'], { sandbox: 'bwrap', runner, tools: 'coding' }, place('tree'), env);
    return argv.filter((arg, index) => argv[index - 1] === '--tmpfs' && arg !== '/tmp');
  };
  expect(mounted('codex', { HOME: home })).toEqual([join(home, '.codex')]);
  expect(existsSync(join(home, '.codex'))).toBe(true);
  symlinkSync(join(home, '.codex'), join(home, 'link'));
  expect(mounted('codex', { CODEX_HOME: join(home, 'link') })).toEqual([join(home, '.codex')]);
  const sessions = { HOME: home, PI_CODING_AGENT_SESSION_DIR: join(home, 'said') };
  expect(mounted('pi', sessions)).toEqual([join(home, '.pi', 'agent'), join(home, 'said')]);
  expect([mounted('claude', { HOME: home }), mounted('command', { HOME: home }), mounted('codex', {})]).toEqual([
    [],
    [],
    [],
  ]);
});

test('a folder of its own around the project does not hide it', () => {
  const argv = confined(['x'], { sandbox: 'bwrap', runner: 'codex', tools: 'coding' }, place('tree'), {
    CODEX_HOME: dir,
  });
  expect(argv.indexOf(dir)).toBeLessThan(argv.indexOf(join(dir, 'tree')));
});

test('a program that is missing fails the attempt instead of running it outside', () => {
  const [program = '', ...args] = confined(['true'], { sandbox: 'bwrap' }, place('tree'));
  expect(spawnSync(program, args, { env: { PATH: '/nowhere' } }).error?.message).toContain('ENOENT');
});

const canRun = whyNoSandbox() === null;

/** Tries to write to each file, and answers which it could. */
function written(cwd: string, tools: Tools, files: readonly string[]): string[] {
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

test.skipIf(!canRun)('with tools that only read nothing of the project can be changed', () => {
  expect(written('tree', 'none', [join(dir, 'tree/new.txt'), '/tmp/baton-sandbox-own'])).toEqual([
    '/tmp/baton-sandbox-own',
  ]);
});

test.skipIf(!canRun)('the temporary folder is its own', () => {
  expect(written('tree', 'coding', ['/tmp/baton-sandbox-probe'])).toEqual(['/tmp/baton-sandbox-probe']);
  expect([existsSync('/tmp/baton-sandbox-probe'), readFileSync(join(dir, 'other.txt'), 'utf8')]).toEqual([
    false,
    'as it was',
  ]);
});

test.skipIf(!canRun)(
  'a program writes in a folder of its own, reads what a person put there, and leaves nothing of it',
  () => {
    const home = join(dir, 'home');
    mkdirSync(join(home, '.codex', 'sessions'), { recursive: true });
    writeFileSync(join(home, '.codex', 'auth.json'), 'key');
    const script = 'cat auth.json; echo x > state; mkdir sessions; echo x > sessions/s; echo x > auth.json; true';
    const inside = ['sh', '-c', `cd "$0" && { ${script}; }`, join(home, '.codex')];
    const argv = confined(inside, { sandbox: 'bwrap', runner: 'codex', tools: 'none' }, place('tree'), { HOME: home });
    const ran = spawnSync(argv[0] ?? '', argv.slice(1), { encoding: 'utf8' });
    expect([ran.status, ran.stdout]).toEqual([0, 'key']);
    expect(readdirSync(join(home, '.codex')).sort()).toEqual(['auth.json', 'sessions']);
    expect(readdirSync(join(home, '.codex', 'sessions'))).toEqual([]);
    expect(readFileSync(join(home, '.codex', 'auth.json'), 'utf8')).toBe('key');
  },
);

test.skipIf(!canRun)('without coding tools there is no network but the loop', () => {
  const argv = confined(['cat', '/proc/net/dev'], { sandbox: 'bwrap', tools: 'readOnly' }, place('tree'));
  const { stdout } = spawnSync(argv[0] ?? '', argv.slice(1), { encoding: 'utf8' });
  const devices = stdout.split('\n').flatMap((line) => /^\s*(\S+):/.exec(line)?.[1] ?? []);
  expect(devices).toEqual(['lo']);
});
