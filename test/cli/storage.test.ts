// A state folder or a log that cannot be used: one line with the way out, exit code 3, and nothing is touched.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { agent, BATON, baton, flow, json, project } from './baton.ts';

const good = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });
const files = { 'good.json': good, 'agents.json': { A: ['x', '$repeat'] } };
const casting = ['cast', '--file', 'good.json', '--agents', 'agents.json', 'x'];
const looking = [['casts'], ['status'], ['show', 'latest'], ['log'], ['watch', 'latest'], ['abort', '--all']];
/** A user and a group that own nothing here, and whose number no name belongs to. */
const STRANGER = 54_321;
const AS_STRANGER = ['setpriv', `--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups'];
/** Only root can become another user, who must then be able to reach the checkout. */
const canBecomeStranger = spawnSync(AS_STRANGER[0] ?? '', [...AS_STRANGER.slice(1), 'test', '-r', BATON]).status === 0;

type Trouble = { readonly make: (dir: string) => void; readonly words: readonly string[]; readonly code: string };

const troubles: Record<string, Trouble> = {
  'the state folder is a file': {
    make: (dir) => writeFileSync(join(dir, '.baton/state'), 'precious'),
    words: ['/.baton/state is a file', 'move it away', 'BATON_HOME'],
    code: 'STORAGE_FAILED',
  },
  'the log is no log': {
    make: (dir) => {
      mkdirSync(join(dir, '.baton/state'));
      writeFileSync(join(dir, '.baton/state/log.sqlite'), 'precious '.repeat(1000));
    },
    words: ['log.sqlite', 'damaged', 'restore it from a copy'],
    code: 'STORAGE_FAILED',
  },
  'the log has lost its tables': {
    make: (dir) => {
      mkdirSync(join(dir, '.baton/state'));
      const db = new DatabaseSync(join(dir, '.baton/state/log.sqlite'));
      db.exec('CREATE TABLE other (x); PRAGMA user_version = 1; PRAGMA journal_mode = WAL;');
      db.close();
    },
    words: ['log.sqlite', 'no such table: facts', 'damaged', 'restore it from a copy'],
    code: 'STORAGE_FAILED',
  },
  'the log is of a newer version': {
    make: (dir) => {
      mkdirSync(join(dir, '.baton/state'));
      const db = new DatabaseSync(join(dir, '.baton/state/log.sqlite'));
      db.exec('CREATE TABLE future (x); PRAGMA user_version = 99;');
      db.close();
    },
    words: ['log.sqlite', 'newer version', 'install that version', 'nothing was changed'],
    code: 'NEWER_LOG',
  },
};

const rows = Object.keys(troubles).flatMap((name) =>
  [...looking, casting, ['resume']].map((args) => [name, args] as const),
);

test.each(rows)('%s: baton %j', async (name, args) => {
  const { make, words, code } = troubles[name] as Trouble;
  const dir = project(files);
  make(dir);
  const before = contentOf(dir);
  const ran = await baton(dir, [...args, '--json']);
  expect([ran.code, ran.stderr]).toEqual([3, expect.stringMatching(/^baton: .+\n$/)]);
  for (const word of words) expect(ran.stderr).toContain(word);
  expect(json(ran)).toMatchObject({ allow: false, code });
  expect(contentOf(dir)).toBe(before);
});

test.skipIf(!existsSync('/proc/self')).each([
  ['below /proc, where nothing can be made', () => '/proc/baton/state', 'cannot be made'],
  ['below a file', (dir: string) => join(dir, 'good.json/state'), 'good.json is a file where a folder is needed'],
])('BATON_HOME %s: every cast is refused at once', async (_where, home, words) => {
  const dir = project(files);
  for (const args of [casting, [...casting, '--detach']]) {
    const ran = await baton(dir, args, { env: { BATON_HOME: home(dir) } });
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([3, '', expect.stringMatching(/^baton: .+BATON_HOME.+\n$/)]);
    expect(ran.stderr).toContain(words);
  }
});

test.skipIf(!canBecomeStranger)(
  'BATON_HOME in a folder that may be read only, as another user (needs root to become one)',
  async () => {
    const dir = project({ ...files, 'home/keep': '' });
    for (const name of ['', 'home']) chmodSync(join(dir, name), 0o755);
    const ran = await baton(dir, casting, asStranger({ BATON_HOME: join(dir, 'home') }));
    expect([ran.code, ran.stderr]).toEqual([
      3,
      expect.stringMatching(/^baton: you may not write to .+BATON_HOME.+\n$/),
    ]);
  },
);

test('the state folder is a link that leads nowhere', async () => {
  const dir = project(files);
  symlinkSync('/nowhere/at/all', join(dir, '.baton/state'));
  const ran = await baton(dir, casting);
  expect([ran.code, ran.stderr]).toEqual([3, expect.stringMatching(/^baton: .+ is a link that leads nowhere.+\n$/)]);
});

test.skipIf(!existsSync('/dev/full'))('an answer that cannot be written is not taken for one that was', async () => {
  const dir = project(files);
  for (const args of [casting, ['casts', '--json'], ['check', 'good.json']]) {
    const ran = await baton(dir, ['-c', '"$0" "$@" > /dev/full', BATON, ...args], { program: ['/bin/sh'] });
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('the answer could not be written')]);
  }
  expect(json<unknown[]>(await baton(dir, ['casts', '--json']))).toHaveLength(1);
});

test('.baton is a file', async () => {
  const dir = project({ 'inner/.baton': 'precious', 'inner/good.json': good, 'inner/agents.json': { A: ['x'] } });
  const inner = join(dir, 'inner');
  const [cast, init] = [await baton(inner, casting), await baton(inner, ['init'])];
  expect([cast.code, cast.stderr]).toEqual([3, expect.stringContaining('.baton is a file')]);
  expect([init.code, init.stderr]).toEqual([2, expect.stringContaining('.baton is a file')]);
  expect(readFileSync(join(inner, '.baton'), 'utf8')).toBe('precious');
});

test.skipIf(!canBecomeStranger)(
  'a state folder of somebody else, as another user (needs root to become one)',
  async () => {
    const dir = project(files);
    await baton(dir, casting);
    chmodSync(dir, 0o755);
    for (const args of [['casts'], ['status'], casting, ['resume']]) {
      const ran = await baton(dir, args, asStranger());
      expect([ran.code, ran.stderr]).toEqual([3, expect.stringMatching(/^baton: .+\n$/)]);
      expect(ran.stderr).toContain(`${dir}/.baton/state cannot be looked into`);
      expect(ran.stderr).toContain('BATON_HOME');
    }
  },
);

test.skipIf(!canBecomeStranger)('a log that may be read only (needs root to become another user)', async () => {
  const dir = project(files);
  await baton(dir, casting);
  for (const name of ['', '.baton', '.baton/state']) chmodSync(join(dir, name), 0o755);
  const ran = await baton(dir, ['casts'], asStranger());
  expect([ran.code, ran.stderr]).toEqual([3, expect.stringMatching(/^baton: .+writable.+BATON_HOME.+\n$/)]);
});

test.skipIf(!canBecomeStranger)('BATON_HOME moves the state; a user without a name acts by number', async () => {
  const dir = project(files);
  const home = join(dir, 'home');
  mkdirSync(home);
  chownSync(home, STRANGER, STRANGER);
  chmodSync(dir, 0o755);
  const how = asStranger({ BATON_HOME: home });
  expect((await baton(dir, casting, how)).code).toBe(0);
  const entries = json<{ by: string }[]>(await baton(dir, ['log', '--json'], how));
  expect(entries[0]?.by).toBe(`user:${STRANGER}`);
  expect(json<unknown[]>(await baton(dir, ['casts', '--json']))).toEqual([]);
});

test('BATON_HOME in a folder above is no workspace', async () => {
  const dir = project({ 'work/good.json': good, 'work/agents.json': { A: ['x'] } });
  const how = { env: { BATON_HOME: join(dir, '.baton') } };
  const status = json(await baton(join(dir, 'work'), ['status', '--json'], how));
  expect(status.workspace).toBe(join(dir, 'work'));
});

test('the state is for its owner only', async () => {
  const dir = project(files);
  await baton(dir, casting);
  expect(statSync(join(dir, '.baton/state')).mode & 0o077).toBe(0);
});

function asStranger(env: NodeJS.ProcessEnv = {}) {
  return { env, program: [...AS_STRANGER, BATON] };
}

function contentOf(dir: string): string {
  const state = join(dir, '.baton/state');
  return readFileSync(statSync(state).isDirectory() ? join(state, 'log.sqlite') : state, 'latin1');
}
