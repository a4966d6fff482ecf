// A log that is deleted or replaced under a running cast is noticed at the next commit: nothing is told as accepted, and the
// agents are stopped. `git clean -fdx` leaves the log alone.
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { baton, isRunning, project, put, start, supervisorIn, until, untilWritten } from './baton.ts';
import { coder, git, repository, row, writes } from './repository.ts';

const WAIT = `import { existsSync, writeFileSync } from 'node:fs';
writeFileSync('pid', String(process.pid));
while (!existsSync('go')) await new Promise((next) => setTimeout(next, 20));
console.log('{"context": "secret result"}');
await new Promise((next) => setTimeout(next, 200));`;

const log = (dir: string) => join(dir, '.baton/state/log.sqlite');

const WAYS: [string, (dir: string) => void][] = [
  ['deleted', (dir) => void ['', '-wal', '-shm'].map((name) => rmSync(`${log(dir)}${name}`, { force: true }))],
  ['deleted with its folder', (dir) => rmSync(join(dir, '.baton/state'), { recursive: true, force: true })],
  [
    'replaced by a copy',
    (dir) => {
      copyFileSync(log(dir), join(dir, 'copy'));
      renameSync(join(dir, 'copy'), log(dir));
    },
  ],
  ['robbed of its write-ahead file', (dir) => rmSync(`${log(dir)}-wal`)],
];

test.each(WAYS)(
  'a log that is %s: nothing is accepted, the agents end, and it is said what happened',
  async (_, take) => {
    const utility = (name: string) => ({ type: 'utility', command: ['node', name], parse: 'json' });
    const dir = project({
      'wait.mjs': WAIT,
      'cast.json': row({ a: utility('wait.mjs'), b: utility('wait.mjs') }, ['a', 'b']),
    });
    const running = start(dir, ['cast', '--file', 'cast.json', 'x']);
    const supervisor = await supervisorIn(dir);
    const pid = Number(await untilWritten(dir, 'pid'));
    take(dir);
    put(dir, { go: '' });
    const ended = await running.ended;
    expect([ended.code, ended.stderr]).toEqual([
      3,
      expect.stringMatching(/was deleted or replaced|cannot be|no such file/i),
    ]);
    expect(ended.stderr).not.toContain('✓ accepted');
    await until('the agents to end', () => !isRunning(pid) && !isRunning(supervisor));
  },
);

test('git clean -fdx leaves the log alone, and git does not see the state folder', async () => {
  const dir = repository();
  git(dir, 'rm', '-q', '--cached', '.gitignore');
  rmSync(join(dir, '.gitignore'));
  git(dir, 'commit', '-q', '-m', 'no rules');
  put(dir, { '.git/cast.json': row({ a: coder }, ['a']), '.git/agents.json': { a: [writes({ b: 'x' })] } });
  const args = ['cast', '--file', '.git/cast.json', '--agents', '.git/agents.json', 'x'];
  expect((await baton(dir, args)).code).toBe(0);
  expect(git(dir, 'status', '--short')).toBe('');
  expect(git(dir, 'clean', '-fdx')).toContain('Skipping repository .baton/state');
  expect(existsSync(log(dir))).toBe(true);
  expect((await baton(dir, args)).code).toBe(0);
  expect(git(dir, 'status', '--short')).toBe('');
  expect((await baton(dir, ['merge', 'latest'])).code).toBe(0);
  expect((await baton(dir, ['audit', 'verify'])).code).toBe(0);
});

test('a .gitignore of its owner that does not name the state folder: git add still works', async () => {
  const dir = repository();
  put(dir, { '.gitignore': '', '.baton/.gitignore': 'drafts/\n' });
  put(dir, { '.git/cast.json': row({ a: coder }, ['a']), '.git/agents.json': { a: [writes({ b: 'x' })] } });
  expect((await baton(dir, ['cast', '--file', '.git/cast.json', '--agents', '.git/agents.json', 'x'])).code).toBe(0);
  git(dir, 'add', '-A');
  expect(git(dir, 'status', '--short').split('\n')).toEqual(['A  .baton/.gitignore', 'M  .gitignore']);
});
